"""Classification: against slow plain counts and open_clip's own classifier, and odd folders."""

import math
import re
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from open_clip import SimpleTokenizer, build_zero_shot_classifier
from PIL import Image
from tests.steering.test_direction import PAIRS

from litotes.errors import DataError
from litotes.evaluation import classification
from litotes.evaluation.classification import (
    CIFAR,
    CS,
    PROMPTS,
    ClassificationTask,
    LinearProbeTask,
    hit_shares,
    read_pictures,
    split_pictures,
)
from litotes.language.cues import has_negation
from litotes.steering import NegationDirection
from litotes.strategies import Plain, Steer, Subtract

COUNTS = {"apple": 1, "boat": 2, "cat": 3, "dog": 3, "lawn_mower": 1, "owl": 4, "sea": 2}
TEMPLATES = ["a photo of a {}.", "{}", "some {} in the {}"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))


def draw(path, rng, colour=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = rng.integers(0, 256, (4, 4, 3))
    if colour is not None:
        pixels = pixels // 8 + colour
    Image.fromarray(pixels.astype(np.uint8)).resize((40, 32)).save(path)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for label, count in COUNTS.items():
        for i in range(count):
            draw(tmp_path / "pictures" / label / f"{i}.png", rng)
    return tmp_path / "pictures"


def touch(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_accuracies_are_those_of_a_plain_count(folder, tiny_encoder, monkeypatch):
    """Over classes and pictures in several parts, with vectors of open_clip's classifier."""
    monkeypatch.setattr(classification, "CLASSES_AT_ONCE", 3)
    monkeypatch.setattr(classification, "TABLE", 20)
    (record,) = ClassificationTask.read(folder, templates=TEMPLATES).run(tiny_encoder)
    names = [label.replace("_", " ") for label in COUNTS]
    prompts = [lambda name, t=t: t.replace("{}", name) for t in TEMPLATES]
    classes = build_zero_shot_classifier(
        tiny_encoder.model, SimpleTokenizer(), names, prompts, num_classes_per_batch=None
    )
    top = {1: [], 5: []}
    per_class = []
    for i, (label, count) in enumerate(COUNTS.items()):
        files = [folder / label / f"{j}.png" for j in range(count)]
        ranked = (tiny_encoder.encode_images(files) @ classes).argsort(1, descending=True).tolist()
        for k, hits in top.items():
            hits += [float(i in row[:k]) for row in ranked]
        per_class.append(np.mean([row[0] == i for row in ranked]))
    assert record.outcomes["top-1"] == top[1]
    assert record.outcomes["top-5"] == top[5]
    assert record.outcomes["mean per class"] == pytest.approx(per_class, abs=1e-6)
    assert record.metrics["mean per class"].value == pytest.approx(np.mean(per_class))
    assert record.settings == {"classes": 7, "prompts": TEMPLATES}


def test_class_vectors_are_the_ensembles_of_open_clip(folder, tiny_encoder):
    task = ClassificationTask.read(folder, templates="simple")
    expected = build_zero_shot_classifier(
        tiny_encoder.model,
        SimpleTokenizer(),
        list(task.names.values()),
        classification.SIMPLE_IMAGENET_TEMPLATES,
    )
    found = task.class_vectors(tiny_encoder, Plain())
    torch.testing.assert_close(found, expected.T, atol=1e-5, rtol=0)
    (record,) = task.run(tiny_encoder)
    assert record.settings["prompts"] == "simple"


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=6), st.data())
def test_a_tie_counts_as_its_share(scores, data):
    """As the mean over all orders of the classes, of which the sort keeps that of equals."""
    target = data.draw(st.integers(0, len(scores) - 1))
    k = data.draw(st.integers(1, 5))
    found = []
    for order in permutations(range(len(scores))):
        ranked = sorted(order, key=lambda i: -scores[i])
        found.append(target in ranked[:k])
    share = hit_shares(torch.tensor([scores]).float(), torch.tensor([target]), k)
    assert share.item() == pytest.approx(np.mean(found))


def test_classes_of_one_name_share_their_hits(folder, tiny_encoder):
    alike = dict.fromkeys(COUNTS, "thing")
    (record,) = ClassificationTask.read(folder, alike, ["a {}"]).run(tiny_encoder)
    assert record.metrics["top-1"].value == pytest.approx(1 / 7, abs=1e-6)
    assert record.metrics["top-5"].value == pytest.approx(5 / 7, abs=1e-6)


def test_a_strategy_changes_nothing(folder, tiny_encoder):
    steer = Steer(NegationDirection.fit(tiny_encoder, PAIRS), alpha=0.4)
    task = ClassificationTask.read(folder, templates="simple")
    plain, *others = task.run(tiny_encoder, [Plain(), Subtract(), steer])
    for record in others:
        assert record.outcomes == plain.outcomes
        assert record.metrics == plain.metrics
        assert record.data_fingerprint == plain.data_fingerprint


def test_hardly_a_built_in_prompt_reads_as_negated():
    """So that strategies agree; one breed is named for what it lacks."""
    names = [*classification.IMAGENET_CLASSNAMES, *" ".join(CIFAR.values()).split()]
    assert {name for name in names if has_negation(f"a photo of the {name}.")} <= {
        "Mexican hairless dog (xoloitzcuintli)"
    }
    prompts = [t.replace("{}", "dog") for templates in PROMPTS.values() for t in templates]
    assert not any(map(has_negation, prompts))


@pytest.mark.parametrize(("name", "count"), [("cifar10", 10), ("cifar100", 100)])
def test_built_in_names_are_complete(name, count):
    names = CIFAR[name].split()
    assert len(set(names)) == count
    assert sorted(names) == names


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_vector_that_is_no_number_is_an_error_that_names_the_prompt(folder, tiny_encoder, value):
    class Broken:
        name = "broken"

        def vectors(self, queries, encoder):
            vectors = Plain().vectors(queries, encoder)
            vectors[[q.raw == "no dog" for q in queries]] = value
            return vectors

    with pytest.raises(DataError, match="'no dog'"):
        ClassificationTask.read(folder, templates=["no {}"]).run(tiny_encoder, [Broken()])


def test_classes_without_pictures_are_wrong_answers(folder, tiny_encoder):
    names = {label: label for label in COUNTS} | {"yak": "yak"}
    task = ClassificationTask.read(folder, names, ["{}"])
    (record,) = task.run(tiny_encoder)
    assert record.settings["classes"] == 8
    assert len(record.outcomes["mean per class"]) == 7


def test_top_5_needs_more_than_five_classes(tmp_path, tiny_encoder):
    rng = np.random.default_rng(0)
    for label in "abcde":
        draw(tmp_path / "few" / label / "0.png", rng)
    (record,) = ClassificationTask.read(tmp_path / "few", templates=["{}"]).run(tiny_encoder)
    assert set(record.metrics) == {"top-1", "mean per class"}


def test_deeper_folders_count_to_their_class_and_other_files_to_none(tmp_path):
    root = touch(
        tmp_path / "odd",
        *("dog/b.jpg", "dog/more/yet/a.PNG", "cat/c.jpeg", "cat/notes.txt"),
        *("labels.csv", ".hidden.jpg", ".thumbnails/d.jpg"),
    )
    assert read_pictures(root) == {
        "cat": [root / "cat/c.jpeg"],
        "dog": [root / "dog/b.jpg", root / "dog/more/yet/a.PNG"],
    }


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([], r"odd holds no picture: .*n01440764_tench\.jpg"),
        (["dog/notes.txt", "cat/readme.md"], "odd holds no picture"),
        (["dog/a.jpg", "cat/notes.txt"], "class folder .*cat holds no picture"),
        (["dog/a.jpg", "cat/b.jpg", "c.jpg"], r"c\.jpg lies beside class folders"),
        (["train/dog/a.jpg", "test/dog/b.jpg"], r"holds splits \(test, train\), not classes"),
        (["n01440764_tench.jpg", "tench.jpg"], r"tench\.jpg does not say its class"),
        (["dog/a.jpg", "dog/b.jpg"], "one class only, 'dog'"),
        (["n01440764_x.jpg", "n99999999_y.jpg"], "'n99999999' is none of the 1000"),
    ],
)
def test_an_odd_folder_is_named_and_what_is_wrong(tmp_path, files, problem):
    root = tmp_path / "odd"
    root.mkdir()
    touch(root, *files)
    with pytest.raises(DataError, match=problem):
        ClassificationTask.read(root)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        ClassificationTask.read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("classes", "templates", "problem"),
    [
        ("cifar1", None, "no class names 'cifar1': choose imagenet, cifar10, cifar100"),
        ("cifar10", None, "'apple' is none of the 10 .*: airplane, automobile"),
        ({"apple": "apple"}, None, "'boat' is none of the 1"),
        (None, "best", "no prompts 'best': choose openai, simple"),
        (None, ["a {}", "a {c}"], "prompt 2, 'a {c}', needs {}"),
        (None, [], "at least one prompt"),
    ],
)
def test_wrong_names_and_prompts_say_what_would_be_right(folder, classes, templates, problem):
    with pytest.raises(DataError, match=problem):
        ClassificationTask.read(folder, classes, templates)


@pytest.mark.parametrize("layout", ["{}_some_name_2.jpg", "{}/1.jpg", "{}_tench/1.jpg"])
def test_wordnet_ids_mean_all_of_imagenet(tmp_path, layout):
    """Also where only some of its classes have pictures."""
    ids = {"n02085620": "Chihuahua", "n15075141": "toilet paper", "n01440764": "tench"}
    root = touch(tmp_path / "odd", *(layout.format(i) for i in ids))
    task = ClassificationTask.read(root)
    assert list(task.pictures) == sorted(ids)
    assert len(task.names) == 1000
    assert ids == {i: task.names[i] for i in ids}


@pytest.mark.shared
def test_real_folders_are_read(shared_data):
    cifar = ClassificationTask.read(shared_data / "cifar10")
    assert cifar.names == ClassificationTask.read(shared_data / "cifar10", "cifar10").names
    assert {label: len(group) for label, group in cifar.pictures.items()} == dict.fromkeys(
        CIFAR["cifar10"].split(), 100
    )
    task = ClassificationTask.read(shared_data / "imagenet_sample")
    assert list(task.pictures) == list(task.names)
    # The files' own names are an older list: most agree, and one place off none would.
    files = [group[0].stem[10:] for group in task.pictures.values()]
    pairs = zip(files, task.names.values(), strict=True)
    letters = [(re.sub("[^a-z]", "", a.lower()), re.sub("[^a-z]", "", b.lower())) for a, b in pairs]
    assert sum(a == b for a, b in letters) > 700


@given(st.lists(st.integers(2, 30), min_size=2, max_size=5), st.integers(0, 99))
def test_a_split_holds_out_a_fifth_of_each_class(sizes, seed):
    pictures = {str(i): [f"{i}-{j}" for j in range(size)] for i, size in enumerate(sizes)}
    most, held_out = split_pictures(pictures, seed)
    for label, group in pictures.items():
        assert sorted(most[label] + held_out[label]) == sorted(group)
        assert len(held_out[label]) == max(1, len(group) // 5)
    assert split_pictures(pictures, seed) == (most, held_out)


def test_a_split_goes_by_its_seed():
    pictures = {"a": [str(i) for i in range(100)]}
    assert split_pictures(pictures, 0) != split_pictures(pictures, 1)


@pytest.fixture
def colours(tmp_path):
    """A train folder of red and blue pictures, and a test folder where the names are swapped."""
    rng = np.random.default_rng(0)
    tints = {"red": (200, 0, 0), "blue": (0, 0, 200)}
    for i in range(8):
        for label, other in (("red", "blue"), ("blue", "red")):
            draw(tmp_path / "train" / label / f"{i}.png", rng, tints[label])
            draw(tmp_path / "swapped" / label / f"{i}.png", rng, tints[other])
    return tmp_path


def test_a_probe_learns_what_the_pictures_show(colours, tiny_encoder):
    (record,) = LinearProbeTask.read(colours / "train").run(tiny_encoder, [Plain(), Subtract()])
    assert record.metrics["accuracy"].value == 1
    assert len(record.outcomes["accuracy"]) == 2
    assert record.settings["C"] in CS
    again = LinearProbeTask.read(colours / "train").run(tiny_encoder)
    assert again == [record]


def test_a_probe_learns_from_the_train_folder_alone(colours, tiny_encoder):
    task = LinearProbeTask.read(colours / "train", colours / "swapped")
    (record,) = task.run(tiny_encoder)
    assert record.outcomes["accuracy"] == [0.0] * 16
    assert record.split == "swapped"


@pytest.mark.parametrize(
    ("train", "test", "problem"),
    [
        (["a/1.jpg", "a/2.jpg", "a/3.jpg"], None, "one class only, 'a'"),
        (["a/1.jpg", "a/2.jpg", "a/3.jpg", "b/1.jpg", "b/2.jpg"], None, "'b' has 2 pictures"),
        (["a/1.jpg", "a/2.jpg", "b/1.jpg"], ["a/3.jpg"], "'b' has 1 pictures"),
        (["a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"], ["c/1.jpg"], "'c' is not among the 2 of"),
    ],
)
def test_folders_that_no_probe_can_be_fitted_on(tmp_path, train, test, problem):
    folders = [touch(tmp_path / "one", *train)]
    folders += [touch(tmp_path / "two", *test)] if test else []
    with pytest.raises(DataError, match=problem):
        LinearProbeTask.read(*folders)
