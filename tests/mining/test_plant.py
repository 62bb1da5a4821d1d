"""Changed captions: what each depends on, and that processes change nothing."""

import importlib
from itertools import islice
from random import Random

import pytest

from litotes.data.concrete_pairs import ConcretePair
from litotes.errors import LitotesError
from litotes.mining import plant as planting
from litotes.mining.plant import plant, said
from litotes.mining.planting import Dropped, Rewrite
from litotes.mining.quadruplets import drawn_order

CAPTIONS = {
    "1.jpg": [
        "A dog runs on green grass .",
        "Two brown dogs chase a tennis ball .",
        "A dog runs on green grass .",
    ],
    "2.jpg": ["Two men sit on a wooden bench .", "No children here .", "He is there ."],
    "3.jpg": ["A woman in a red dress is walking along a beach .", "Women walk by the sea ."],
    "4.jpg": ["A very long day ."],
}

# In a file of its own, as other processes must find it.
REWRITERS = '''
import os

from litotes.mining.planting import Dropped, Rewrite

WORDS = ("thing", "stuff", "object", "piece", "matter")


def by_any_word(seeds):
    """The first keyword, unless "matter" is drawn for it, as another word."""
    made = []
    for doc, keywords, said, rng in seeds:
        word, first = rng.choice(WORDS), keywords[0]
        text = f"{doc[: first.start]} {word} {doc[first.end :]}"
        dropped = word == "matter"
        made.append(Dropped("no matter") if dropped else Rewrite(text, first, word))
    return made


def dying(seeds):
    os._exit(1)
'''


@pytest.fixture
def rewriters(tmp_path, monkeypatch):
    (tmp_path / "rewriters_of_the_test.py").write_text(REWRITERS)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("rewriters_of_the_test")


def first_keyword(seeds):
    return [Rewrite(f"not {doc.text}", keywords[0], "thing") for doc, keywords, *_ in seeds]


def many(count):
    nouns, rng = ("dog", "cat", "boy", "horse", "car", "bench"), Random(0)
    texts = (f"A {rng.choice(nouns)} is near {i} {rng.choice(nouns)}s ." for i in range(count))
    return {f"{i}.jpg": [text] for i, text in enumerate(texts)}


def test_every_caption_gives_a_pair_or_a_reason():
    found = list(plant(CAPTIONS, first_keyword))
    order = drawn_order(CAPTIONS, 0)
    assert [number for number, _ in found] == list(range(len(order)))
    for (number, made), (image, text) in zip(found, order, strict=True):
        if text in ("No children here .", "He is there ."):
            assert made == Dropped("a negation" if "No" in text else "no keyword")
            continue
        assert isinstance(made, ConcretePair), text
        assert (made.image, made.caption) == (image, text.replace(" .", "."))
        assert made.keyword in made.caption
        assert (made.replacement, made.way) == ("thing", "replace")
        assert number in {
            n for n, m in plant(CAPTIONS, first_keyword) if isinstance(m, ConcretePair)
        }
    pairs = {made.caption: made for _, made in found if isinstance(made, ConcretePair)}
    chase = pairs["Two brown dogs chase a tennis ball."]
    assert (chase.keyword, chase.kind, chase.score) == ("dogs", "object", 5.0)
    assert pairs["A woman in a red dress is walking along a beach."].source == "word"


def test_options_choose_the_keyword():
    def keywords(**options):
        made = (made for _, made in plant(CAPTIONS, first_keyword, **options))
        found = (pair for pair in made if isinstance(pair, ConcretePair))
        return {pair.caption: pair for pair in found}

    concrete, abstract = keywords(), keywords(choice="lc")
    assert concrete.keys() == abstract.keys()
    assert all(concrete[text].score >= abstract[text].score for text in concrete)
    assert any(concrete[text].score > abstract[text].score for text in concrete)
    counts = keywords(kinds=["count"])
    assert {pair.keyword for pair in counts.values()} == {"Two"}
    seen = keywords(kinds=["attribute"], measure="visual")
    rated = keywords(kinds=["attribute"])
    red = "A woman in a red dress is walking along a beach."
    assert seen[red].keyword == rated[red].keyword == "red"
    assert seen[red].score > rated[red].score


def test_what_is_made_depends_on_seed_and_place_alone(monkeypatch, rewriters):
    captions = many(40)
    whole = list(plant(captions, rewriters.by_any_word, choice="random"))
    assert sum(isinstance(made, Dropped) for _, made in whole) not in (0, 40)
    assert list(plant(captions, rewriters.by_any_word, choice="random")) == whole
    assert list(plant(captions, rewriters.by_any_word, choice="random", seed=1)) != whole
    for batch in (7, 1000):
        monkeypatch.setattr(planting, "BATCH", batch)
        for start in (0, 1, 13, 39, 40):
            rest = list(plant(captions, rewriters.by_any_word, choice="random", start=start))
            assert rest == whole[start:]


def test_captions_are_parsed_with_the_same_ones_wherever_a_run_begins(monkeypatch):
    monkeypatch.setattr(planting, "BATCH", 10)
    together = []
    read = planting.read
    monkeypatch.setattr(planting, "read", lambda texts: together.append(texts) or read(texts))
    list(plant(many(30), first_keyword, start=0))
    whole = together.copy()
    together.clear()
    list(plant(many(30), first_keyword, start=17))
    assert together == whole[1:]


def test_processes_make_the_same_in_the_same_order(monkeypatch, rewriters):
    monkeypatch.setattr(planting, "BATCH", 8)
    captions = many(50)
    whole = list(plant(captions, rewriters.by_any_word, start=3))
    assert list(plant(captions, rewriters.by_any_word, start=3, processes=2)) == whole
    # One that is not used up ends its processes, too.
    some = list(islice(plant(captions, rewriters.by_any_word, start=3, processes=2), 4))
    assert some == whole[:4]


def test_a_process_that_dies_is_an_error(rewriters):
    with pytest.raises(LitotesError, match="fewer processes"):
        list(plant(CAPTIONS, rewriters.dying, processes=2))


def test_all_that_is_said_of_a_picture_is_known():
    seeds = []

    def noting(some):
        seeds.extend(some)
        return [Dropped("noted")] * len(some)

    assert not any(isinstance(made, ConcretePair) for _, made in plant(CAPTIONS, noting))
    first = {"dog", "dogs", "run", "runs", "chase", "tennis", "ball", "grass", "two"}
    assert all(first <= seed.said for seed in seeds if seed.doc.text.startswith("A dog"))
    words = said(["A man 's T-shirt .", "Children's bikes; geese, riding", "He saw leaves"])
    assert {"man", "t-shirt", "shirt", "child", "children", "bike", "bikes"} <= words
    assert {"goose", "geese", "ride", "see", "leaf", "leave", "leaves"} <= words
    assert "" not in words
    assert said([]) == frozenset()
