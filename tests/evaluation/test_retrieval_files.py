"""Published retrieval files: small ones of each kind, malformed ones, and recall counted slowly."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.overrides import TorchFunctionMode

from litotes.data import json_files, retrieval_files
from litotes.data.retrieval_files import pictures_of_split, read_pictures, reroot
from litotes.errors import DataError
from litotes.evaluation import retrieval
from litotes.evaluation.record import DRAWS, Record
from litotes.evaluation.retrieval import (
    RetrievalTask,
    caption_weights,
    recalls,
    retrieval_ranks,
)


def lay(root, files):
    """Write texts, and empty files where nothing is given."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return root


def read(kind, source, images=None):
    """What was read, by paths below the folder of pictures."""
    folder = images or retrieval_files.image_folder(kind, source)
    return [
        (path.relative_to(folder).as_posix(), captions, split)
        for path, captions, split in read_pictures(kind, source, images)
    ]


NEGBENCH = """filepath,captions
/home/x/coco/val2017/1.jpg,"['A dog, no cat.', ""It isn't a cat.""]"
/home/x/coco/val2017/2.jpg,"['A ""cat""',
 'A cat']"
"""


def test_negbench(tmp_path):
    lay(tmp_path, {"COCO_val_retrieval.csv": NEGBENCH, "coco/val2017/1.jpg": "", "2.jpg": ""})
    assert read("negbench", tmp_path / "COCO_val_retrieval.csv") == [
        ("coco/val2017/1.jpg", ("A dog, no cat.", "It isn't a cat."), ""),
        ("2.jpg", ('A "cat"', "A cat"), ""),
    ]


def test_the_frozen_negated_captions_are_read(shared_data):
    source = shared_data / "flickr8k" / "negated_retrieval_dev.csv"
    pictures = read_pictures("negbench", source, shared_data / "flickr8k" / "images")
    assert len(pictures) == 1000
    assert {len(picture.captions) for picture in pictures} == {5}
    assert all(picture.path.is_file() for picture in pictures)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("filepath\na.jpg\n", "line 1: the column 'captions' is missing"),
        ("filepath,captions\na.jpg,['a']\nb.jpg\n", "line 3: the row must have 2 values"),
        ("filepath,captions\na.jpg,\"['a']\nb.jpg,['a']\n", "the row from line 2 on is no CSV"),
        ("filepath,captions\na.jpg,\"['a',\n'b']\"\n,['a']\n", "line 4, column 'filepath': is emp"),
        ("filepath,captions\na.jpg,['a'\n", "line 2, column 'captions': .* at its character"),
        ("filepath,captions\na.jpg,__import__('os')\n", "line 2, column 'captions': must be a Py"),
        (f"filepath,captions\na.jpg,{'[' * 5000}\n", "line 2, column 'captions'"),
        ("filepath,captions\na.jpg,[]\n", "line 2, column 'captions': .*at least one"),
        ("filepath,captions\na.jpg,'a dog'\n", "line 2, column 'captions': .*at least one"),
        ("filepath,captions\na.jpg,\"['a', 3]\"\n", "line 2, column 'captions': .*at least one"),
        ("filepath,captions\na.jpg,\"['a', ' ']\"\n", "line 2, column 'captions': .*none of them"),
        ("filepath,captions\nv/video7.mp4,['a']\n", "line 2, column 'filepath': .* is a video"),
        ("image_path,correct_answer,caption_0\n", "is of multiple choice: .*negbench-mcq="),
        ("filepath,captions\n", "holds no picture"),
        ("filepath,captions\na.jpg,['\xff']\n", "no text in UTF-8"),
    ],
)
def test_a_malformed_negbench_file_says_where(tmp_path, rows, problem):
    (tmp_path / "retrieval.csv").write_bytes(rows.encode("latin-1"))
    with pytest.raises(DataError, match=problem):
        read_pictures("negbench", tmp_path / "retrieval.csv")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("chexpert_binary_mcq.csv", "X-rays"), ("msr_vtt_retrieval.csv", "videos")],
)
def test_videos_and_x_rays_are_refused(tmp_path, name, problem):
    with pytest.raises(DataError, match=problem):
        read_pictures("negbench", tmp_path / name)


def karpathy(split, name, *captions, folder="val2014"):
    sentences = [{"tokens": c.split(), "raw": c, "sentid": 0} for c in captions]
    return {"filepath": folder, "filename": name, "split": split, "sentences": sentences}


def test_karpathy(tmp_path):
    images = [
        karpathy("test", "1.jpg", "A dog. ", "Dogs"),
        karpathy("restval", "2.jpg", "A cat"),
        karpathy("train", "3.jpg", "A cow", folder="train2014"),
    ]
    lay(tmp_path, {"dataset_coco.json": {"images": images, "dataset": "coco"}, "1.jpg": ""})
    source = tmp_path / "dataset_coco.json"
    assert read("karpathy", source) == [
        ("1.jpg", ("A dog.", "Dogs"), "test"),
        ("val2014/2.jpg", ("A cat",), "train"),
        ("train2014/3.jpg", ("A cow",), "train"),
    ]
    pictures = read_pictures("karpathy", source)
    assert len(pictures_of_split(source, pictures, "train")) == 2
    with pytest.raises(DataError, match="no split 'dev': it has test, train"):
        pictures_of_split(source, pictures, "dev")


def test_flickr30k_names_its_pictures_without_a_folder(tmp_path):
    image = karpathy("val", "1.jpg", "A dog")
    del image["filepath"]
    lay(tmp_path, {"dataset_flickr30k.json": {"images": [image]}})
    assert read("karpathy", tmp_path / "dataset_flickr30k.json") == [
        ("1.jpg", ("A dog",), "val"),
    ]


COCO = {
    "info": {},
    "images": [{"id": 7, "file_name": "7.jpg"}, {"id": 8, "file_name": "8.jpg"}],
    "annotations": [
        {"image_id": 8, "id": 1, "caption": "A cat\n"},
        {"image_id": 7, "id": 2, "caption": "A dog"},
        {"image_id": 8, "id": 3, "caption": "Cats"},
    ],
}


def test_coco(tmp_path):
    lay(tmp_path, {"captions_val2017.json": COCO})
    assert read("coco", tmp_path / "captions_val2017.json") == [
        ("7.jpg", ("A dog",), ""),
        ("8.jpg", ("A cat", "Cats"), ""),
    ]


def test_the_folder_of_coco(tmp_path):
    """Each file is a split, with its pictures in a folder of its name."""
    other = {"images": [{"id": 7, "file_name": "9.jpg"}], "annotations": COCO["annotations"][1:2]}
    files = {
        "annotations/captions_train2017.json": other,
        "annotations/captions_val2017.json": COCO,
    }
    found = [
        ("train2017/9.jpg", ("A dog",), "train2017"),
        ("val2017/7.jpg", ("A dog",), "val2017"),
        ("val2017/8.jpg", ("A cat", "Cats"), "val2017"),
    ]
    lay(tmp_path, files | {"val2017/7.jpg": ""})
    assert read("coco", tmp_path) == found
    lay(tmp_path, {"images/val2017/7.jpg": ""})
    assert retrieval_files.image_folder("coco", tmp_path) == tmp_path / "images"
    assert read("coco", tmp_path) == found
    with pytest.raises(DataError, match=r"has no annotations/captions_\*\.json"):
        read_pictures("coco", tmp_path / "images")


def conversation(image, caption):
    turns = [{"from": "human", "value": "<image>\nDescribe."}, {"from": "gpt", "value": caption}]
    return {"id": image, "image": image, "conversations": turns}


@pytest.mark.parametrize("piece", [1, 100, 1 << 22])
def test_of_sharegpt4v_the_beginning_is_the_test_set(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(json_files, "_PIECE", piece)
    monkeypatch.setattr(retrieval_files, "SHAREGPT4V_TEST", 2)
    items = [conversation(f"coco/{i}.jpg", f"The é{i}.\nIt sits.") for i in range(4)]
    text = json.dumps(items, ensure_ascii=False)
    # What follows the test set need not even be valid.
    for source in (text, json.dumps(items[:2]), text[:-100] + "…"):
        (tmp_path / "a.json").write_text(source, encoding="utf-8")
        assert read("sharegpt4v", tmp_path / "a.json") == [
            (f"coco/{i}.jpg", (f"The é{i}. It sits.",), "test") for i in range(2)
        ]


def test_urban1k(tmp_path):
    captions = {f"caption/{i}.txt": f"Street {i}.\nNever read.\n" for i in (1, 10, 2)}
    lay(tmp_path, captions | {f"image/{i}.jpg": "" for i in (1, 10, 2)} | {"caption/._1.txt": ""})
    assert read("urban1k", tmp_path) == [
        (f"{i}.jpg", (f"Street {i}.",), "") for i in ("1", "10", "2")
    ]
    lay(tmp_path, {"caption/3.txt": "Street"})
    with pytest.raises(DataError, match=r"3\.txt has no picture"):
        read_pictures("urban1k", tmp_path)
    lay(tmp_path, {"image/3.png": "", "image/4.png": ""})
    with pytest.raises(DataError, match=r"1 of 5 pictures .* first is .*4\.png, .*4\.txt"):
        read_pictures("urban1k", tmp_path)


def test_a_folder_of_pictures_with_texts(tmp_path):
    lay(tmp_path, {"b.jpg": "", "b.txt": "A dog\n\nDogs", "s/a.png": "", "s/a.txt": "A cat"})
    lay(tmp_path, {"README.txt": "mine"})
    assert read("folder", tmp_path) == [
        ("b.jpg", ("A dog", "Dogs"), ""),
        ("s/a.png", ("A cat",), ""),
    ]
    lay(tmp_path, {"b.txt": "\n"})
    with pytest.raises(DataError, match=r"b\.txt, line 1, column 1: is empty"):
        read_pictures("folder", tmp_path)


TOKENS = "1.jpg#0\tA dog , running .\r\n2.jpg#0\tA cat .\r\n1.jpg#1\tDogs #1\r\n"


def test_flickr_tokens(tmp_path):
    lay(tmp_path, {"results_20130124.token": TOKENS})
    assert read("flickr", tmp_path / "results_20130124.token") == [
        ("1.jpg", ("A dog , running .", "Dogs #1"), ""),
        ("2.jpg", ("A cat .",), ""),
    ]


def test_flickr8k_has_its_splits_in_lists_beside_it(tmp_path):
    lay(tmp_path, {"Flickr8k.token.txt": TOKENS, "Flickr_8k.devImages.txt": "2.jpg\n"})
    splits = [split for _, _, split in read("flickr", tmp_path / "Flickr8k.token.txt")]
    assert splits == ["unlisted", "dev"]


def test_kaggles_flickr8k(tmp_path):
    rows = 'image,caption\n1.jpg,"A dog , running ."\n2.jpg,A cat .\n1.jpg,Dogs #1\n'
    lay(tmp_path, {"captions.txt": rows, "a.token": TOKENS})
    assert read("flickr", tmp_path / "captions.txt") == read("flickr", tmp_path / "a.token")


def test_kaggles_flickr30k(tmp_path):
    """As published: spaces behind the bars, and one line without the second bar."""
    rows = (
        "image_name| comment_number| comment\n1.jpg| 0| A dog , running .\n"
        "2.jpg| 4   A cat .\n1.jpg| 1|  Dogs #1\n"
    )
    lay(tmp_path, {"results.csv": rows, "a.token": TOKENS})
    assert read("flickr", tmp_path / "results.csv") == read("flickr", tmp_path / "a.token")


def changed(content, path, value):
    """A copy of JSON content with one value set, or taken out."""
    content = json.loads(json.dumps(content))
    *above, last = path
    holder = content
    for step in above:
        holder = holder[step]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return content


KARPATHY = {"images": [karpathy("test", "1.jpg", "a", "b"), karpathy("test", "2.jpg", "a")]}
SHARED = [conversation("1.jpg", "a"), conversation("2.jpg", "b")]


@pytest.mark.parametrize(
    ("kind", "content", "before", "problem"),
    [
        # The value that is wrong stands on the same line as, and right after, what is given.
        ("karpathy", changed(KARPATHY, ["images", 0, "split"], 5), '"split": ', "valid string"),
        (
            "karpathy",
            changed(KARPATHY, ["images", 0, "sentences", 1, "raw"], " "),
            '"raw": (?=" ")',
            r"images\.0\.sentences\.1\.raw",
        ),
        (
            "karpathy",
            changed(KARPATHY, ["images", 1, "sentences"], []),
            '"sentences": (?=\\[])',
            "",
        ),
        ("karpathy", {"images": 3}, '"images": ', "valid list"),
        ("karpathy", {"annotations": []}, "", "images: Field required"),
        ("karpathy", [], "", "valid dictionary"),
        ("coco", changed(COCO, ["images", 1, "id"], "x"), '"id": (?="x")', r"images\.1\.id"),
        ("coco", changed(COCO, ["annotations", 1, "image_id"], 9), '"image_id": (?=9)', "image 9"),
        ("coco", changed(COCO, ["annotations"], []), r'"images": \[\s*', "image 7 has no caption"),
        ("sharegpt4v", changed(SHARED, [1, "image"], 5), '"image": (?=5)', "1.image"),
        ("sharegpt4v", {"a": 1}, "", "must be a list"),
        (
            "sharegpt4v",
            changed(SHARED, [0, "conversations"], []),
            '"conversations": (?=\\[])',
            "a turn from 'gpt'",
        ),
        ("sharegpt4v", changed(SHARED, [1, "image"], None), r"},\s*(?={\s*\"id\")", "1.image"),
    ],
)
def test_wrong_json_says_the_line_and_column(tmp_path, kind, content, before, problem):
    text = json.dumps(content, indent=1)
    start = re.search(before, text).end() if before else 0
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=f"line {line}, column {column}: .*{problem}"):
        read_pictures(kind, tmp_path / "a.json")


@pytest.mark.parametrize("kind", ["karpathy", "coco", "sharegpt4v"])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"image": "a",\n "conversations" 3}]', "line 2, column 18: is no JSON: Expecting ':'"),
        ('[\n{"image": "a"}', "line 2, column 15: is no JSON: Expecting ',' delimiter"),
        ('[{"a": "b\n', "line 1, column"),
        ("", "line 1, column 1: is no JSON"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_what_is_no_json_says_where(tmp_path, kind, content, problem):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match=problem):
        read_pictures(kind, tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1.jpg#0\tA dog\n1.jpg A dog\n", "line 2, column 1"),
        ("1.jpg\tA dog\n", "line 1, column 1"),
        ("1.jpg#0\t \n", "line 1, column 8"),
        ("1.jpg#0 A dog\n", "line 1, column 1"),
        ("image,caption\n1.jpg,a\n1.jpg,\n", "line 3, column 'caption': is empty"),
        ("image,caption\n1.jpg,a,b\n", "line 2: the row must have 2 values"),
        (
            "image_name| comment_number| comment\n1.jpg| 0| a\n1.jpg| b\n",
            "line 3: must be the pict",
        ),
        ("image_name| comment_number| comment\n1.jpg| 0|\n", "line 2: must be the picture's name"),
        ("\n", "holds no picture"),
    ],
)
def test_malformed_flickr_captions_say_where(tmp_path, content, problem):
    lay(tmp_path, {"captions.txt": content})
    with pytest.raises(DataError, match=problem):
        read_pictures("flickr", tmp_path / "captions.txt")


@pytest.mark.parametrize("kind", ["negbench", "karpathy", "coco", "sharegpt4v", "flickr"])
def test_a_missing_file_is_named(tmp_path, kind):
    with pytest.raises(DataError, match=r"cannot read .*nowhere\.x"):
        read_pictures(kind, tmp_path / "nowhere.x")


def test_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"'coc' is no kind .* coco"):
        read_pictures("coc", tmp_path)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a/b/1.jpg", "a/b/1.jpg"),
        ("/else/where/a/b/1.jpg", "a/b/1.jpg"),
        ("/b/1.jpg", "b/1.jpg"),
        ("data/images/1.jpg", "1.jpg"),
        ("D:\\coco\\b\\1.jpg", "b/1.jpg"),
        ("../../b/1.jpg", "b/1.jpg"),
        ("x/2.jpg", "x/2.jpg"),
        ("/x/2.jpg", "2.jpg"),
    ],
)
def test_paths_of_other_machines_are_found_by_their_longest_tail(tmp_path, name, place):
    lay(tmp_path, {"a/b/1.jpg": "", "b/1.jpg": "", "1.jpg": ""})
    assert reroot(tmp_path, name) == tmp_path / place


def test_two_pictures_are_never_taken_for_one(tmp_path):
    rows = "filepath,captions\nval/1.jpg,['a']\ntrain/1.jpg,['b']\n"
    lay(tmp_path, {"a.csv": rows, "images/1.jpg": ""})
    with pytest.raises(DataError, match=r"'val/1\.jpg' and 'train/1\.jpg' would both be"):
        read_pictures("negbench", tmp_path / "a.csv", tmp_path / "images")


def test_a_picture_on_two_lines_is_one_picture(tmp_path):
    rows = "filepath,captions\n1.jpg,['a']\n2.jpg,['b']\n1.jpg,['c']\n"
    lay(tmp_path, {"a.csv": rows})
    assert read("negbench", tmp_path / "a.csv") == [
        ("1.jpg", ("a", "c"), ""),
        ("2.jpg", ("b",), ""),
    ]


def negbench_recalls(texts, images, owner):
    """NegBench's rule with the whole table, as its paper and program state it."""
    scores = texts @ images.T
    right = owner[:, None] == torch.arange(len(images))
    found = {}
    for way, table, mark in (("text→image", scores, right), ("image→text", scores.T, right.T)):
        order = table.argsort(dim=1, descending=True)
        for k in (1, 5, 10):
            hit = mark.gather(1, order[:, :k]).any(1)
            found[f"{way} R@{k}"] = float(hit.double().mean())
    return found


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 12))
def test_recall_is_negbenchs(seed, count, chunk):
    """Also where pictures have unlike numbers of captions: each caption counts once."""
    generator = torch.Generator().manual_seed(seed)
    each = torch.randint(1, 6, (count,), generator=generator)
    owner = torch.arange(count).repeat_interleave(each)
    owner = owner[torch.randperm(len(owner), generator=generator)]
    texts = torch.randn(len(owner), 5, generator=generator, dtype=torch.double).float()
    images = torch.randn(count, 5, generator=generator, dtype=torch.double).float()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "SCORES", chunk * count)
        ranks = retrieval_ranks(texts, images, owner, [""] * len(owner))
    weights = caption_weights(owner)
    found = {
        name: np.average(values, weights=weights.get(name))
        for name, values in recalls(*ranks, owner).items()
    }
    assert found == pytest.approx(negbench_recalls(texts, images, owner), abs=1e-9)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=12), st.integers(0, 10_000))
def test_an_interval_of_recall_is_that_of_resampled_pictures(each, seed):
    """Pictures are drawn with all their captions, so that no recall leaves 0 to 100 %."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(len(each)), each)
    hits = rng.random(len(owner)) < rng.choice([0.2, 0.8, 1.0])
    ranks = torch.tensor(np.where(hits, 0, 99)), torch.zeros(len(each), dtype=torch.long)
    encoder = SimpleNamespace(label="e", image_fingerprint="i", text_fingerprint="t")
    outcomes = recalls(*ranks, torch.tensor(owner))
    record = Record.make(
        encoder,
        task="t",
        split="s",
        data="d",
        outcomes=outcomes,
        weights=caption_weights(torch.tensor(owner)),
        averages={"rSum": list(outcomes)},
    )
    found = record.metrics["text→image R@1"]
    assert found.value == pytest.approx(hits.mean())
    draws = np.random.default_rng(0).integers(0, len(each), (DRAWS, len(each)))
    drawn = [np.concatenate([hits[owner == i] for i in row]).mean() for row in draws]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert 0 <= found.low <= found.high <= 1 + 1e-12
    total = record.metrics["rSum"]
    assert total.value == pytest.approx(300 * hits.mean() + 300)
    assert total.high <= 600 + 1e-9


def small_vectors(count):
    return st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=count)


@settings(max_examples=60)
@given(st.data())
def test_ranks_with_ties_are_those_of_a_double_loop(data):
    """Vectors of small whole numbers: their scores are exact and often equal."""
    images = data.draw(small_vectors(1))
    owner = data.draw(st.lists(st.integers(0, len(images) - 1), min_size=1, max_size=12))
    texts = [data.draw(small_vectors(1))[0] for _ in owner]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "SCORES", data.draw(st.integers(1, 30)))
        to_image, to_text = retrieval_ranks(
            torch.tensor(texts).float(), torch.tensor(images).float(), torch.tensor(owner), texts
        )
    scores = [[sum(np.multiply(text, image)) for image in images] for text in texts]
    for i, row in enumerate(scores):
        assert to_image[i] == sum(s >= row[owner[i]] for j, s in enumerate(row) if j != owner[i])
    for j in set(owner):
        best = max(scores[i][j] for i in range(len(texts)) if owner[i] == j)
        ahead = [i for i in range(len(texts)) if owner[i] != j and scores[i][j] >= best]
        assert to_text[j] == len(ahead)


class Largest(TorchFunctionMode):
    """Keeps the size of the largest tensor that anything gives back."""

    values = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.values = max(self.values, result.numel())
        return result


def test_the_table_of_all_scores_is_never_made(monkeypatch):
    monkeypatch.setattr(retrieval, "SCORES", 2000)
    owner = torch.arange(900) % 300
    texts, images = torch.randn(900, 2), torch.randn(300, 2)
    with Largest() as largest:
        retrieval_ranks(texts, images, owner, [""] * 900)
    assert largest.values <= 2000


@pytest.fixture
def negbench_folder(tmp_path, monkeypatch):
    """Twelve coloured cards with one to three captions each."""
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))
    (tmp_path / "val2017").mkdir()
    lines = ["filepath,captions"]
    for i in range(12):
        colour = (20 * i, 255 - 20 * i, 37 * i % 256)
        Image.new("RGB", (40, 30), colour).save(tmp_path / "val2017" / f"{i}.png")
        captions = [f"card {i}, no {word}" for word in ("dog", "cat", "cow")[: 1 + i % 3]]
        lines.append(f'/data/coco/val2017/{i}.png,"{captions}"')
    (tmp_path / "COCO_val_negated.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_task_from_a_published_file(negbench_folder, tiny_encoder):
    source = negbench_folder / "COCO_val_negated.csv"
    record = RetrievalTask.read_published("negbench", source).run(tiny_encoder)[0]
    assert (record.task, record.split) == ("negbench-retrieval", "COCO_val_negated")
    texts = [f"card {i}, no {w}" for i in range(12) for w in ("dog", "cat", "cow")[: 1 + i % 3]]
    owner = torch.tensor([i for i in range(12) for _ in range(1 + i % 3)])
    scores = (
        tiny_encoder.encode_texts(texts)
        @ tiny_encoder.encode_images([negbench_folder / f"val2017/{i}.png" for i in range(12)]).T
    )
    hits = [
        sum(s >= row[own] for s in row) <= 5
        for row, own in zip(scores.tolist(), owner, strict=True)
    ]
    assert record.metrics["text→image R@5"].value == pytest.approx(sum(hits) / len(hits), abs=1e-6)
    rsum = 100 * sum(record.metrics[part].value for part in record.averages["rSum"])
    assert record.metrics["rSum"].value == pytest.approx(rsum)
    assert record.weights["text→image R@5"] == [1, 2, 3] * 4


def test_missing_pictures_are_named_when_the_task_runs(negbench_folder, tiny_encoder):
    (negbench_folder / "val2017" / "3.png").unlink()
    task = RetrievalTask.read_published("negbench", negbench_folder / "COCO_val_negated.csv")
    with pytest.raises(DataError, match=r"1 of 12 pictures are missing; the first is .*3\.png"):
        task.run(tiny_encoder)


def test_a_task_is_of_one_split(tmp_path):
    images = [karpathy("test", "1.jpg", "A dog"), karpathy("restval", "2.jpg", "A cat")]
    lay(tmp_path, {"dataset_coco.json": {"images": images}})
    task = RetrievalTask.read_published("karpathy", tmp_path / "dataset_coco.json", name="coco")
    assert [picture.path.name for picture in task.pictures] == ["1.jpg"]
    assert (task.name, task.split) == ("coco", "dataset_coco-test")
