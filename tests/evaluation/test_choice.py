"""Multiple choice and pairs: each task against a slow loop, ties, NaN, and malformed files."""

import csv
import json
import math
import pickle
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from litotes.errors import DataError
from litotes.evaluation import ccneg, choice
from litotes.evaluation.ccneg import CcNegTask
from litotes.evaluation.choice import cosines, share_of_best
from litotes.evaluation.negbench import COLUMNS, MultipleChoiceTask, option_kinds
from litotes.evaluation.sugarcrepe import (
    PLUS_SPLITS,
    SPLITS,
    SugarCrepePlusTask,
    SugarCrepeTask,
)
from litotes.evaluation.winoground import WinogroundTask, winoground_hits
from litotes.strategies import Plain, Subtract

PICTURES = 6
DIM = 32


@pytest.fixture
def images(tmp_path, monkeypatch):
    """A folder of pictures of noise, ``0.png`` to ``5.png``."""
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(PICTURES):
        pixels = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8) // (1 + i % 3)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    return folder


class Constant:
    """An encoder that sees as another does and gives every text the same vector."""

    def __init__(self, encoder, value):
        self.label = "constant"
        self.dim = encoder.dim
        self.image_fingerprint = encoder.image_fingerprint
        self.text_fingerprint = f"constant-{value}"
        self.encode_images = encoder.encode_images
        self.value = value

    def encode_texts(self, texts):
        return torch.full((len(texts), DIM), self.value)


class Slow:
    """Cosines one by one, in float64: no batches, no cache, nothing of the package but encoding."""

    def __init__(self, encoder, images):
        self.encoder = encoder
        pictures = [self.image(images / f"{i}.png") for i in range(PICTURES)]
        self.mean = sum(pictures) / PICTURES

    def image(self, path):
        return self.encoder.encode_images([path])[0].double().numpy()

    def text(self, caption):
        return self.encoder.encode_texts([caption])[0].double().numpy()

    def scores(self, path, captions, *, blind=False):
        picture = self.mean if blind else self.image(path)
        return [float(picture @ self.text(caption)) for caption in captions]


def by_strategy(records):
    return {record.strategy: record for record in records}


# --- what all share ---------------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.randoms())
def test_ties_are_shared_and_the_order_of_options_does_not_matter(values, random):
    scores = torch.tensor([values], dtype=torch.float)
    shares = share_of_best(scores)[0]
    best = [i for i, value in enumerate(values) if value == max(values)]
    expected = [1 / len(best) if i in best else 0 for i in range(len(values))]
    assert shares.tolist() == pytest.approx(expected)
    order = random.sample(range(len(values)), len(values))
    assert torch.equal(share_of_best(scores[:, order])[0], shares[order])


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_chunks_do_not_change_scores(monkeypatch, chunk):
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(5, 4, generator=generator)
    texts = torch.randn(15, 4, generator=generator)
    monkeypatch.setattr(choice, "CHUNK", chunk)
    expected = np.array([[i @ t for t in texts[3 * n : 3 * n + 3]] for n, i in enumerate(images)])
    np.testing.assert_allclose(cosines(images, texts, [""] * 15), expected, atol=1e-6)


# --- files in the published formats -----------------------------------------------------------

THINGS = ("dog", "cat", "bus", "car", "hat", "ball", "tree", "boat", "horse", "table", "kite")
WORDINGS = {
    "affirmed": "A {} is beside a {}.",
    "negated": "There is no {} and no {}.",
    "hybrid": "A {}, but no {}.",
}
TYPES = {"affirmed": "positive", "negated": "Negation", "hybrid": "hybrid"}


class Drawn:
    """A question of which the kinds of options are known."""

    def __init__(self, image, rng):
        self.image = image
        self.kinds = rng.sample([*WORDINGS, rng.choice(list(WORDINGS))], 4)
        self.options = [WORDINGS[kind].format(*rng.sample(THINGS, 2)) for kind in self.kinds]
        self.right = rng.randrange(4)

    @property
    def type(self):
        return self.kinds[self.right]

    def turn(self, by):
        self.kinds = [*self.kinds[-by:], *self.kinds[:-by]]
        self.options = [*self.options[-by:], *self.options[:-by]]
        self.right = (self.right + by) % 4
        return self


def drawn_questions():
    rng = Random(0)
    return [Drawn(f"{i % PICTURES}.png", rng) for i in range(24)]


def write_mcq(file, questions):
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        for q in questions:
            path = f"data/coco/images/val2017/{q.image}"
            writer.writerow([path, q.right, *q.options, TYPES[q.type]])
    return file


def words(rng):
    """A caption of words drawn by lot: a random encoder finds some closer than others."""
    return " ".join(rng.sample(THINGS, 4))


def write_ccneg(file, pairs, **changes):
    content = {
        "image_paths": [f"/workspace/datasets/cc3m/{i % PICTURES}.png" for i in range(len(pairs))],
        "annotations": [
            {"json": {"caption": c, "status": "ok"}, "sop_data": {"negative-prompt": n, "n": 1}}
            for c, n in pairs
        ],
        "num_ops": {1: [0]},
    }
    torch.save(content | changes, file)
    return file


def drawn_pairs():
    rng = Random(1)
    return [(f"{words(rng)}, {words(rng)}", f"no {words(rng)}, {words(rng)}") for _ in range(24)]


def write_sugarcrepe(folder):
    folder.mkdir()
    rng = Random(2)
    for s, split in enumerate(SPLITS):
        # Identifiers are not contiguous in the published files.
        content = {
            str(3 * i): {
                "filename": f"{(s + i) % PICTURES}.png",
                "caption": f"{split} {i} {words(rng)}",
                "negative_caption": f"{split} {i} {words(rng)}",
            }
            for i in range(3 + s % 3)
        }
        (folder / f"{split}.json").write_text(json.dumps(content, indent=4))
    return folder


def write_sugarcrepe_plus(folder):
    folder.mkdir()
    rng = Random(3)
    for s, split in enumerate(PLUS_SPLITS):
        content = [
            {
                "id": i,
                "filename": f"{(s + i) % PICTURES}.png",
                "caption": f"{split} {i} {words(rng)}",
                "caption2": f"{split} {i} {words(rng)}",
                "negative_caption": f"{split} {i} {words(rng)}",
            }
            for i in range(4 + s)
        ]
        (folder / f"{split}.json").write_text(json.dumps(content, indent=1))
    return folder


def write_winoground(file):
    rng = Random(4)
    lines = [
        {
            "id": i,
            "image_0": f"{i % PICTURES}",
            "image_1": f"{(i + 1) % PICTURES}.png",
            # A line of JSON may hold what Python takes for the end of a line.
            "caption_0": f"{words(rng)}\u2028{words(rng)}",
            "caption_1": f"{words(rng)} {words(rng)}",
            "tag": "Object",
            "secondary_tag": "",
            "num_main_preds": 1,
            "collapsed_tag": "Object",
        }
        for i in range(24)
    ]
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n")
    return file


def all_tasks(folder: Path, images):
    """One task of each kind, on the same pictures."""
    return {
        "multiple choice": MultipleChoiceTask.read(
            write_mcq(folder / "mcq.csv", drawn_questions()), images
        ),
        "cc-neg": CcNegTask.read(write_ccneg(folder / "ccneg.pt", drawn_pairs()), images),
        "sugarcrepe": SugarCrepeTask.read(write_sugarcrepe(folder / "sc"), images),
        "sugarcrepe++": SugarCrepePlusTask.read(write_sugarcrepe_plus(folder / "scpp"), images),
        "winoground": WinogroundTask.read(write_winoground(folder / "examples.jsonl"), images),
    }


# --- against a slow loop ----------------------------------------------------------------------


def is_mixed(values):
    """Some right and some wrong: else little would be compared."""
    return 0 < np.mean(values) < 1


def test_multiple_choice_equals_a_slow_loop(tmp_path, images, tiny_encoder):
    questions = drawn_questions()
    task = MultipleChoiceTask.read(write_mcq(tmp_path / "mcq.csv", questions), images)
    records = by_strategy(task.run(tiny_encoder, [Plain(), Subtract()]))
    assert list(records) == ["plain", "subtract", "blind"]
    slow = Slow(tiny_encoder, images)
    types = {"mcq positive": "affirmed", "mcq negative": "negated", "mcq hybrid": "hybrid"}
    for name in ("plain", "blind"):
        scores = [
            slow.scores(images / q.image, q.options, blind=name == "blind") for q in questions
        ]
        chosen = [int(np.argmax(s)) for s in scores]
        hits = [float(c == q.right) for c, q in zip(chosen, questions, strict=True)]
        assert is_mixed(hits)
        outcomes, metrics = records[name].outcomes, records[name].metrics
        assert outcomes["mcq overall"] == hits
        for metric, kind in types.items():
            own = [hit for hit, q in zip(hits, questions, strict=True) if q.type == kind]
            assert outcomes[metric] == own
            assert outcomes[f"chose {kind} wrongly"] == [
                float(c != q.right and q.kinds[c] == kind)
                for c, q in zip(chosen, questions, strict=True)
            ]
        macro = np.mean([np.mean(outcomes[metric]) for metric in types])
        assert metrics["mcq macro"].value == pytest.approx(macro)
        assert records[name].settings["chance"] == 0.25
    assert records["subtract"].settings["beta"] == Subtract().beta


def test_the_place_of_the_right_option_does_not_matter(tmp_path, images, tiny_encoder):
    turned = [question.turn(i % 4) for i, question in enumerate(drawn_questions())]
    tasks = [
        MultipleChoiceTask.read(write_mcq(tmp_path / "a.csv", drawn_questions()), images),
        MultipleChoiceTask.read(write_mcq(tmp_path / "b.csv", turned), images),
    ]
    for encoder in (tiny_encoder, Constant(tiny_encoder, 0.1)):
        one, other = (task.run(encoder, [Plain()]) for task in tasks)
        assert [record.outcomes for record in one] == [record.outcomes for record in other]


def test_ccneg_equals_a_slow_loop(tmp_path, images, tiny_encoder, monkeypatch):
    """The last of the file are evaluated, and negated captions lose their commas."""
    monkeypatch.setattr(ccneg, "EVALUATED", 20)
    pairs = drawn_pairs()
    task = CcNegTask.read(write_ccneg(tmp_path / "ccneg.pt", pairs), images)
    records = by_strategy(task.run(tiny_encoder, [Plain()]))
    slow = Slow(tiny_encoder, images)
    for name in ("plain", "blind"):
        hits = []
        for i, (true, negated) in list(enumerate(pairs))[-20:]:
            path, captions = images / f"{i % PICTURES}.png", (true, negated.replace(",", ""))
            first, second = slow.scores(path, captions, blind=name == "blind")
            hits.append(float(first > second))
        assert is_mixed(hits)
        assert records[name].outcomes == {"accuracy": hits}


def test_sugarcrepe_equals_a_slow_loop(tmp_path, images, tiny_encoder):
    folder = write_sugarcrepe(tmp_path / "sc")
    records = by_strategy(SugarCrepeTask.read(folder, images).run(tiny_encoder, [Plain()]))
    slow = Slow(tiny_encoder, images)
    for name in ("plain", "blind"):
        for split in SPLITS:
            hits = []
            for item in json.loads((folder / f"{split}.json").read_text()).values():
                captions = (item["caption"], item["negative_caption"])
                path = images / item["filename"]
                first, second = slow.scores(path, captions, blind=name == "blind")
                hits.append(float(first > second))
            assert records[name].outcomes[split] == hits
        shares = [records[name].metrics[split].value for split in SPLITS]
        assert is_mixed(shares)
        assert records[name].metrics["macro"].value == pytest.approx(np.mean(shares))


def test_sugarcrepe_plus_equals_a_slow_loop(tmp_path, images, tiny_encoder):
    folder = write_sugarcrepe_plus(tmp_path / "scpp")
    records = by_strategy(SugarCrepePlusTask.read(folder, images).run(tiny_encoder, [Plain()]))
    slow = Slow(tiny_encoder, images)
    for split in PLUS_SPLITS:
        image_text, text_only = [], []
        for item in json.loads((folder / f"{split}.json").read_text()):
            captions = [item[c] for c in ("caption", "caption2", "negative_caption")]
            p1, p2, n = slow.scores(images / item["filename"], captions)
            image_text.append(float(p1 > n and p2 > n))
            a, b, c = map(slow.text, captions)
            text_only.append(float(a @ b > a @ c and a @ b > b @ c))
        assert records["plain"].outcomes[f"{split} image-text"] == image_text
        assert records["plain"].outcomes[f"{split} text-only"] == text_only
        assert records["blind"].outcomes[f"{split} text-only"] == text_only
    for name in ("image-text macro", "text-only macro"):
        assert is_mixed(records["plain"].metrics[name].value)
    assert list(records["plain"].averages) == ["image-text macro", "text-only macro"]


def test_winoground_equals_a_slow_loop(tmp_path, images, tiny_encoder):
    file = write_winoground(tmp_path / "examples.jsonl")
    records = by_strategy(WinogroundTask.read(file, images).run(tiny_encoder, [Plain()]))
    slow = Slow(tiny_encoder, images)
    text, image = [], []
    for i, line in enumerate(file.read_text().strip().split("\n")):
        captions = [json.loads(line)[f"caption_{c}"] for c in range(2)]
        paths = [images / f"{(i + j) % PICTURES}.png" for j in range(2)]
        (s00, s10), (s01, s11) = (slow.scores(path, captions) for path in paths)
        text.append(s00 > s10 and s11 > s01)
        image.append(s00 > s01 and s11 > s10)
    assert is_mixed(text)
    assert is_mixed(image)
    assert records["plain"].outcomes == {
        "text score": [float(t) for t in text],
        "image score": [float(i) for i in image],
        "group score": [float(t and i) for t, i in zip(text, image, strict=True)],
    }
    assert all(metric.value == 0 for metric in records["blind"].metrics.values())


def test_winoground_scores_of_each_outcome():
    scores = torch.tensor(
        [
            [[2.0, 1.0], [1.0, 2.0]],  # all right
            [[2.0, 1.0], [3.0, 4.0]],  # each picture prefers its caption, caption 0 the wrong one
            [[2.0, 3.0], [1.0, 4.0]],  # each caption prefers its picture, picture 0 the wrong one
            [[1.0, 1.0], [1.0, 1.0]],  # ties are wrong
        ]
    )
    hits = {name: values.tolist() for name, values in winoground_hits(scores).items()}
    assert hits == {
        "text score": [True, True, False, False],
        "image score": [True, False, True, False],
        "group score": [True, False, False, False],
    }


# --- ties, NaN, missing pictures: every task --------------------------------------------------


def test_an_encoder_that_cannot_tell_captions_apart_reaches_chance(tmp_path, images, tiny_encoder):
    chance = {
        "multiple choice": {"mcq macro": 1 / 4, "mcq overall": 1 / 4},
        "cc-neg": {"accuracy": 1 / 2},
        "sugarcrepe": {"macro": 1 / 2},
        "sugarcrepe++": {"image-text macro": 1 / 3, "text-only macro": 1 / 3},
        # As published: a tie is wrong.
        "winoground": {"text score": 0, "image score": 0, "group score": 0},
    }
    for name, task in all_tasks(tmp_path, images).items():
        records = task.run(Constant(tiny_encoder, 0.1), [Plain()])
        assert [record.strategy for record in records] == ["plain", "blind"]
        assert set(records[0].metrics) == set(records[1].metrics)
        for record in records:
            assert record.task == name
            known = record.settings["chance"]
            # What choosing by lot reaches is said of metrics that are there.
            assert not isinstance(known, dict) or known.keys() <= record.metrics.keys()
            for metric, value in chance[name].items():
                assert record.metrics[metric].value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_an_error_that_names_the_caption(
    tmp_path, images, tiny_encoder, value
):
    first = {
        "multiple choice": drawn_questions()[0].options[0],
        "cc-neg": drawn_pairs()[0][0],
        "sugarcrepe": "add_att 0 ",
        "sugarcrepe++": "replace_att 0 ",
        "winoground": words(Random(4)),
    }
    for name, task in all_tasks(tmp_path, images).items():
        with pytest.raises(DataError, match=f"{first[name]}.*not finite"):
            task.run(Constant(tiny_encoder, value), [Plain()])


def test_missing_pictures_are_named_and_counted(tmp_path, images, tiny_encoder):
    (images / "1.png").unlink()
    (images / "2.png").unlink()
    for task in all_tasks(tmp_path, images).values():
        with pytest.raises(DataError, match=r"2 of 6 pictures .* first is .*[12]\.png"):
            task.run(tiny_encoder, [Plain()])


# --- malformed files --------------------------------------------------------------------------

HEADER = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "line 1: the column 'image_path' is missing"),
        (HEADER.replace("caption_2,", ""), "line 1: the column 'caption_2' is missing"),
        (HEADER, "holds no question"),
        (f"{HEADER}\na.png,0,x,y,z,w\n", "line 2: the row must have 7 values"),
        (f"{HEADER}\na.png,0,x,,z,w,hybrid\n", "line 2, column 'caption_1': is empty"),
        (f"{HEADER}\na.png,0,x,y,z,w,hybrid,v\n", "line 2: the row must have 7 values"),
        (
            f'{HEADER}\na.png,0,"x\nx",y,z,w,hybrid\na.png,4,x,y,z,w,hybrid\n',
            "line 4: 'correct_answer' must be one of 0, 1, 2, 3, not '4'",
        ),
        (f"{HEADER}\na.png,one,x,y,z,w,hybrid\n", "line 2: 'correct_answer' .* not 'one'"),
        (f"{HEADER}\na.png,0,x,y,z,w,maybe\n", "line 2: 'correct_answer_template' .* not 'maybe'"),
        (f'{HEADER}\na.png,0,"x"x,y,z,w,hybrid\n', "the row from line 2 on is no CSV"),
        (f"{HEADER}\na.png,0,\xff,y,z,w,hybrid\n", "UTF-8"),
        (f"{HEADER}\nvideo7.mp4,0,x,y,z,w,hybrid\n", "line 2: .* video 'video7.mp4'"),
        (HEADER.replace("image", "video"), "line 1: the column 'video_path' is of videos"),
        (f"{HEADER}\nCheXpert-v1/a.jpg,0,x,y,z,w,hybrid\n", "line 2: .* medical"),
        (f"{HEADER},No Finding,Pleural Effusion", "line 1: 'No Finding' .* medical"),
    ],
)
def test_a_malformed_multiple_choice_file_says_where(tmp_path, content, problem):
    file = tmp_path / "mcq.csv"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=problem) as error:
        MultipleChoiceTask.read(file, tmp_path)
    assert "mcq.csv" in str(error.value)


def test_negbench_binary_medical_file_is_refused_by_its_name(tmp_path):
    file = tmp_path / "chexpert_binary_mcq.csv"
    file.write_text("image_path,correct_answer,caption_0,caption_1\n")
    with pytest.raises(DataError, match="medical"):
        MultipleChoiceTask.read(file, tmp_path)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"annotations": None}, "lists image_paths and annotations"),
        ({"image_paths": ["0.png"]}, "1 image_paths and 24 annotations"),
        ({"image_paths": [], "annotations": []}, "at least one"),
        ({"image_paths": ["0.png", 1] * 12}, "annotation 1: .* not 1"),
        (
            {"annotations": [{"json": {"caption": "x"}, "sop_data": {}}] * 24},
            r"annotation 0: sop_data\.negative-prompt: Field required",
        ),
        (
            {"annotations": [{"sop_data": {"negative-prompt": "x"}}] * 24},
            "annotation 0: json: Field required",
        ),
        ({"annotations": ["a caption"] * 24}, "annotation 0: "),
    ],
)
def test_a_ccneg_file_of_another_layout_says_what_is_wrong(tmp_path, changes, problem):
    file = write_ccneg(tmp_path / "ccneg.pt", drawn_pairs(), **changes)
    with pytest.raises(DataError, match=problem):
        CcNegTask.read(file, tmp_path)


class Runs:
    """What a pickle can be made to do."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_nothing_in_a_ccneg_file_is_executed(tmp_path):
    file = tmp_path / "ccneg.pt"
    mark = tmp_path / "executed"
    for content in (Runs(mark), {"image_paths": [Runs(mark)], "annotations": [{}]}):
        torch.save(content, file)
        with pytest.raises(DataError, match="more than plain data"):
            CcNegTask.read(file, tmp_path)
        file.write_bytes(pickle.dumps(content, protocol=2))
        with pytest.raises(DataError, match=r"ccneg\.pt"):
            CcNegTask.read(file, tmp_path)
    assert not mark.exists()


def test_a_damaged_ccneg_file_is_named(tmp_path):
    file = write_ccneg(tmp_path / "ccneg.pt", drawn_pairs())
    whole = file.read_bytes()
    for content in (b"", b"no torch file", whole[: len(whole) // 2]):
        file.write_bytes(content)
        with pytest.raises(DataError, match=r"ccneg\.pt"):
            CcNegTask.read(file, tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{\n"0": {,}}', r"line 2, column 7: is no JSON"),
        ("{}", "holds no captions"),
        ("[]", "valid dictionary"),
        ('{"7": {"filename": "a.jpg", "caption": "x"}}', "column 7: 7.negative_caption: Field req"),
        ('{"7": {"filename": "a.jpg", "caption": "", "negative_caption": "y"}}', "7.caption"),
    ],
)
def test_a_malformed_sugarcrepe_file_says_where(tmp_path, content, problem):
    folder = write_sugarcrepe(tmp_path / "sc")
    (folder / "swap_obj.json").write_text(content)
    with pytest.raises(DataError, match=problem) as error:
        SugarCrepeTask.read(folder, tmp_path)
    assert "swap_obj.json" in str(error.value)


def test_a_malformed_sugarcrepe_plus_file_says_where(tmp_path):
    folder = write_sugarcrepe_plus(tmp_path / "scpp")
    content = [{"filename": "a.jpg", "caption": "x", "negative_caption": "y"}]
    (folder / "replace_rel.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"replace_rel\.json, line 1.*0\.caption2: Field required"):
        SugarCrepePlusTask.read(folder, tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "holds no example"),
        ('{"image_0": "a", "image_1": "b", "caption_0": "x"}', "line 1: .*caption_1"),
        ("\nno json", "line 2: .*line 1 column"),
        ("\xff", "is no text in UTF-8"),
    ],
)
def test_a_malformed_winoground_file_says_where(tmp_path, content, problem):
    file = tmp_path / "examples.jsonl"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=problem) as error:
        WinogroundTask.read(file, tmp_path)
    assert "examples.jsonl" in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    for task, name in (
        (MultipleChoiceTask, "mcq.csv"),
        (CcNegTask, "ccneg.pt"),
        (WinogroundTask, "examples.jsonl"),
    ):
        with pytest.raises(DataError, match=f"cannot read .*{name}"):
            task.read(tmp_path / name, tmp_path)
    for task in (SugarCrepeTask, SugarCrepePlusTask):
        with pytest.raises(DataError, match="cannot read"):
            task.read(tmp_path / "nowhere", tmp_path)


# --- the real files ---------------------------------------------------------------------------


@pytest.mark.shared
def test_the_real_sugarcrepe_files(shared_data, tmp_path, tiny_encoder):
    task = SugarCrepeTask.read(shared_data / "sugarcrepe", tmp_path)
    assert sum(map(len, task.splits.values())) == 7511
    assert {split: len(questions) for split, questions in task.splits.items()} == {
        "add_att": 692,
        "add_obj": 2062,
        "replace_att": 788,
        "replace_obj": 1652,
        "replace_rel": 1406,
        "swap_att": 666,
        "swap_obj": 245,
    }
    # COCO's pictures are not here: all that are named are missing.
    with pytest.raises(DataError, match=r"(\d+) of \1 pictures .*000000085329\.jpg"):
        task.run(tiny_encoder, [Plain()])


@pytest.mark.shared
def test_the_frozen_multiple_choice_files(shared_data):
    folder = shared_data / "flickr8k"
    task = MultipleChoiceTask.read(folder / "mcq_dev.csv", folder / "images")
    types = [question.type for question in task.questions]
    assert {t: types.count(t) for t in set(types)} == dict.fromkeys(
        ("positive", "negative", "hybrid"), 804
    )
    kind = {"positive": "affirmed", "negative": "negated", "hybrid": "hybrid"}
    some = task.questions[::8]
    kinds = option_kinds([question.options[question.right] for question in some])
    agree = np.mean([kind[q.type] == k for q, k in zip(some, kinds, strict=True)])
    assert agree > 0.98
