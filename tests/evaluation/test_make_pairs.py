"""SugarCrepe's kinds of pairs: on a small world whose photographs are known, and as frozen."""

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from litotes.cli import app
from litotes.data.captions import read_captions
from litotes.errors import DataError
from litotes.evaluation.make_pairs import (
    LOG,
    PAIRS_OF_SWAPS,
    SWAPS,
    Source,
    make_pairs,
    write_pairs,
)
from litotes.evaluation.pairs.edits import Relation, Thing, learn
from litotes.evaluation.pairs.evidence import words_of
from litotes.evaluation.sugarcrepe import SPLITS, SugarCrepeTask
from litotes.language.edits import Edit, edited
from litotes.language.phrasing import indefinite_article
from litotes.language.sentences import read
from litotes.strategies import Plain

# What a language model made of captions, in the form of SugarCrepe.
SUGARCREPE = {
    "replace_obj": [
        ("A dog runs on the grass.", "A cat runs on the grass."),
        ("A man holds an umbrella.", "A woman holds an umbrella."),
        ("The dog is next to a fire hydrant.", "The dog is next to a mailbox."),
    ],
    "replace_att": [
        ("A red car stands on a street.", "An orange car stands on a street."),
        ("A man in a red hat.", "A man in a blue hat."),
    ],
    "replace_rel": [
        ("A man is standing on a bridge.", "A man is sitting on a bridge."),
        ("A cat on a table.", "A cat under a table."),
    ],
    "add_obj": [
        ("A man holds a ball.", "A man holds a ball and an umbrella."),
        ("A dog on a bench.", "A dog on a bench and a fire hydrant."),
    ],
    "add_att": [
        ("A dog on a bench.", "A spotted dog on a bench."),
        ("A dog on a street.", "A dog on a snowy street."),
    ],
}

PEOPLE = ("man", "woman")
ANIMALS = ("dog", "cat")
COLOURS = ("red", "orange", "blue")
PLACES = ("bench", "street")
FORMS = ("standing", "sitting")


HELD = ("a ball", "an umbrella", "a ball and an umbrella")


def world() -> dict[str, list[str]]:
    """Captions of 144 photographs, of which each names all that there is, and most of it twice."""
    captions = {}
    dressed = [(a, b) for a, b in product(COLOURS, COLOURS) if a != b]
    kinds = product(PEOPLE, ANIMALS, dressed, PLACES, FORMS, HELD)
    for i, (person, animal, (hat, shirt), place, verb, held) in enumerate(kinds):
        watching, watched = (person, animal) if i % 2 else (animal, person)
        of_hat, of_shirt = indefinite_article(hat), indefinite_article(shirt)
        captions[f"{i}.jpg"] = [
            f"A {person} in {of_hat} {hat} hat and {of_shirt} {shirt} shirt holds {held} .",
            f"A {person} is {verb} on a {place} .",
            f"A {watching} is watching a {watched} .",
            f"The {person} holds {held} while a {animal} waits .",
        ]
    return captions


CAPTIONS = world()


def write_sugarcrepe(folder):
    folder.mkdir(exist_ok=True)
    for kind, pairs in SUGARCREPE.items():
        content = {
            str(i): {"filename": f"{i}.jpg", "caption": true, "negative_caption": false}
            for i, (true, false) in enumerate(pairs)
        }
        (folder / f"{kind}.json").write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def sugarcrepe(tmp_path_factory):
    return write_sugarcrepe(tmp_path_factory.mktemp("made") / "sugarcrepe")


@pytest.fixture(scope="module")
def source(sugarcrepe):
    return Source.read(sugarcrepe, CAPTIONS.values())


@pytest.fixture(scope="module")
def pairs(source):
    return make_pairs(CAPTIONS, source)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def difference(pair) -> tuple[list[str], list[str]]:
    """The words that a pair takes out and puts in, without articles and "and"."""
    out, into = Counter(words(pair.caption)), Counter(words(pair.negative_caption))
    small = {"a", "an", "and"}
    return sorted((out - into).keys() - small), sorted((into - out).keys() - small)


# --- what is learned --------------------------------------------------------------------------


def test_edits_are_learned_both_ways_with_the_words_they_need(sugarcrepe):
    edits = learn(sugarcrepe)
    assert edits.nouns["dog"] == ["cat"]
    assert edits.nouns["cat"] == ["dog"]
    assert edits.nouns["mailbox"] == ["fire hydrant"]
    assert edits.looks["red"] == ["blue", "orange"]
    assert edits.relations[Relation("", "under")] == [Relation("", "on")]
    assert Relation("sit", "") in edits.relations[Relation("stand", "")]
    assert edits.things["and"] == [Thing("fire hydrant", False), Thing("umbrella", False)]
    assert edits.added_looks == {"snowy": ["street"], "spotted": ["dog"]}


def test_pairs_that_differ_in_more_than_one_place_teach_nothing(tmp_path):
    folder = write_sugarcrepe(tmp_path / "sugarcrepe")
    twice = {"0": {"caption": "A dog and a bus.", "negative_caption": "A cat and a train."}}
    (folder / "replace_obj.json").write_text(json.dumps(twice))
    assert learn(folder).nouns == {}


@pytest.mark.parametrize("content", [None, "[]", '{"0": {"caption": "A dog."}}'])
def test_a_file_that_is_missing_or_malformed_is_named(tmp_path, content):
    folder = write_sugarcrepe(tmp_path / "sugarcrepe")
    file = folder / "add_obj.json"
    file.unlink()
    if content is not None:
        file.write_text(content)
    with pytest.raises(DataError, match=r"add_obj\.json"):
        learn(folder)


# --- what is made -----------------------------------------------------------------------------


def test_what_is_put_in_is_in_no_caption_of_the_photograph(pairs):
    for kind in SPLITS:
        for pair in pairs.kinds[kind]:
            out, into = difference(pair)
            said = {form for doc in read(CAPTIONS[pair.image]) for form in words_of(doc)}
            if kind in SWAPS:
                assert out == into == []
                assert pair.caption != pair.negative_caption
            else:
                assert into
                assert not said & set(into)
            if kind.startswith("add"):
                assert not out


def test_true_captions_are_the_photographs_own(pairs):
    for made in pairs.kinds.values():
        for pair in made:
            own = {text.replace(" .", ".") for text in CAPTIONS[pair.image]}
            assert pair.caption in own


def test_one_pair_a_photograph_and_kind_but_for_swaps(pairs):
    for kind, made in pairs.kinds.items():
        most = max(Counter(pair.image for pair in made).values())
        assert most <= (PAIRS_OF_SWAPS if kind in SWAPS else 1)


def test_articles_agree(pairs):
    for pair in (pair for made in pairs.kinds.values() for pair in made):
        for article, word in re.findall(r"\b(an?) (\w+)", pair.negative_caption.lower()):
            assert article == indefinite_article(word), pair.negative_caption


def test_no_edit_dominates_and_words_are_put_in_as_often_as_taken_out(pairs):
    limit = max(1, len(CAPTIONS) // 100)
    for kind in ("replace_obj", "replace_att", "replace_rel"):
        edits = Counter()
        excess = Counter()
        for pair in pairs.kinds[kind]:
            out, into = map(" ".join, difference(pair))
            edits[out, into] += 1
            excess[into] += 1
            excess[out] -= 1
        assert max(edits.values()) <= limit
        assert max(map(abs, excess.values())) <= max(1, limit // 2)


def test_the_log_adds_up(pairs):
    for kind in SPLITS:
        images = {pair.image for pair in pairs.kinds[kind]}
        left_out = sum(pairs.log["left_out"][kind].values())
        assert len(images) + left_out == pairs.log["photographs"] == len(CAPTIONS)
        assert pairs.log["pairs"][kind] == len(pairs.kinds[kind])


def test_longer_and_rarer_captions_are_counted(pairs):
    for kind in ("add_att", "add_obj"):
        assert pairs.log["told_by_words"][kind]["false is longer"] == 1.0
    for kind in SWAPS:
        assert pairs.log["told_by_words"][kind]["false has rarer words"] == pytest.approx(
            0.5, abs=0.1
        )


def test_another_seed_makes_others_and_the_same_seed_the_same(source, pairs):
    assert make_pairs(CAPTIONS, source, seed=0) == pairs
    assert make_pairs(CAPTIONS, source, seed=1).kinds != pairs.kinds


def test_too_little_to_make_pairs_of_is_an_error(source):
    with pytest.raises(DataError, match="no caption can be changed by"):
        make_pairs({"a.jpg": ["Snow falls .", "It is cold ."]}, source)


DOCS = read([text for texts in list(CAPTIONS.values())[:6] for text in texts])


@settings(max_examples=60)
@given(st.sampled_from(DOCS), st.data())
def test_edits_change_nothing_else(doc, data):
    start = data.draw(st.integers(0, len(doc) - 2))
    end = data.draw(st.integers(start, len(doc) - 1))
    word = data.draw(st.sampled_from(["apple", "tall"]))
    said = words(edited(doc, Edit(start, end, word)))
    kept = [t.lower_ for t in doc if t.is_alpha]
    before = sum(t.is_alpha for t in doc[:start])
    behind = sum(t.is_alpha for t in doc[end:])
    # Only the article right before may have changed.
    assert said[: max(0, before - 1)] == kept[: max(0, before - 1)]
    assert said[len(said) - behind :] == kept[len(kept) - behind :]
    assert said[before] == word
    assert len(said) == before + 1 + behind


# --- files ------------------------------------------------------------------------------------


def test_files_are_read_back_by_the_task(pairs, tmp_path, tiny_encoder):
    fingerprint = write_pairs(pairs, tmp_path / "made")
    images = tmp_path / "images"
    images.mkdir()
    for image in CAPTIONS:
        Image.new("RGB", (32, 32)).save(images / image)
    task = SugarCrepeTask.read(tmp_path / "made", images)
    assert {split: len(made) for split, made in task.splits.items()} == pairs.log["pairs"]
    question = task.splits["replace_obj"][0]
    pair = pairs.kinds["replace_obj"][0]
    assert question.options == (pair.caption, pair.negative_caption)
    records = task.run(tiny_encoder, [Plain()])
    assert records[0].data_fingerprint == fingerprint


def test_pairs_are_not_lost_to_others(source, pairs, tmp_path):
    write_pairs(pairs, tmp_path)
    write_pairs(pairs, tmp_path)
    with pytest.raises(DataError, match="another seed"):
        write_pairs(make_pairs(CAPTIONS, source, seed=1), tmp_path)


def write_world(folder):
    (folder / "images").mkdir()
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow(["image", "split", "caption"])
        for image, texts in CAPTIONS.items():
            (folder / "images" / image).touch()
            writer.writerows([image, "mine", text] for text in texts)
    return [str(folder / "captions.csv"), str(folder / "images"), "--split", "mine"]


def test_the_command_writes_the_same_whatever_the_hash_seed(pairs, sugarcrepe, tmp_path):
    arguments = write_world(tmp_path)
    arguments += ["--pairs", str(sugarcrepe), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "litotes", "make-benchmark", *arguments],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert write_pairs(pairs, tmp_path / "here") in done.stdout
    for name in [f"{split}.json" for split in SPLITS] + [LOG]:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_a_folder_that_is_no_sugarcrepe_is_an_error(tmp_path):
    arguments = [*write_world(tmp_path), "--pairs", str(tmp_path / "images")]
    result = CliRunner().invoke(app, ["make-benchmark", *arguments])
    assert result.exit_code
    assert isinstance(result.exception, DataError)
    assert "add_att.json" in str(result.exception)


# What Slipform is measured on, fixed before any training on Flickr8k's captions.
FROZEN = {"dev": "db9e47edeafb5505", "test": "e671732e3f8f029c"}


@pytest.mark.shared
def test_flickr8ks_pairs_are_the_frozen_ones(shared_data, tmp_path):
    captions = shared_data / "flickr8k" / "captions.csv"
    source = Source.read(shared_data / "sugarcrepe", read_captions(captions, None).values())
    for split, expected in FROZEN.items():
        made = make_pairs(read_captions(captions, split), source)
        assert write_pairs(made, tmp_path / split) == expected
