"""Sentences about scenes mean what their sayers say they mean, and are good English."""

import re
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litotes.errors import DataError
from litotes.scenes import captions, grammar
from litotes.scenes.captions import Caption, absent_kind, caption, description
from litotes.scenes.grammar import (
    CLOTHES_EXCLUSION_FORMS,
    COLOUR_EXCLUSION_FORMS,
    FORMS,
    HYBRID_FORMS,
    LIST_FORMS,
    NEGATED_POSITIVE_FORMS,
    NEGATIVE_FORMS,
    PLACE_FORMS,
    QUESTIONS,
    REGION_WORDS,
    RELATION_EXCLUSION_FORMS,
    RELATION_WORDS,
)
from litotes.scenes.graph import (
    Between,
    Claim,
    Exists,
    Located,
    Not,
    Phrase,
    Placed,
    Related,
    SceneGraph,
    Statement,
    truth,
)
from litotes.scenes.kinds import BACKGROUNDS, CATEGORIES, COLOURS, KINDS
from litotes.scenes.negation import (
    exclude_colour,
    exclude_kind,
    exclude_relation,
    false_negated_caption,
    negated_caption,
    negated_positive_caption,
)
from litotes.scenes.reading import read, read_question
from litotes.scenes.world import scene_graph

RELATIONS = tuple(RELATION_WORDS)
COUNTABLE = (*KINDS, *(name for name, plural in CATEGORIES.items() if plural))
SAYERS: dict[str, tuple[Callable[[SceneGraph, Random], Caption], bool]] = {
    "caption": (caption, True),
    "description": (description, True),
    "negated": (lambda g, rng: negated_caption(g, rng, hybrid=False), True),
    "negated hybrid": (negated_caption, True),
    "false": (lambda g, rng: false_negated_caption(g, rng, hybrid=False), False),
    "false hybrid": (false_negated_caption, False),
    "negated positive": (negated_positive_caption, True),
}
"""What says something of a scene, and whether that is true."""

scenes = st.builds(
    scene_graph,
    split=st.sampled_from(["train", "dev", "test"]),
    seed=st.just(0),
    number=st.integers(0, 10**6),
    uncommon=st.booleans(),
)
seeds = st.integers(0, 10**6)


def quick(examples: int) -> settings:
    return settings(max_examples=examples)


# What is said is what is read, and it is true or false as it should be.


@pytest.mark.parametrize(("say", "is_true"), SAYERS.values(), ids=SAYERS)
@quick(80)
@given(graph=scenes, seed=seeds)
def test_what_is_said_of_a_scene(
    say: Callable[[SceneGraph, Random], Caption], is_true: bool, graph: SceneGraph, seed: int
) -> None:
    rng = Random(seed)
    for _ in range(4):
        said = say(graph, rng)
        statement = read(said.text)
        assert statement == said.statement
        assert truth(statement, graph) is is_true
        assert_good_english(said.text)


@quick(100)
@given(graph=scenes, seed=seeds)
def test_captions_that_deny(graph: SceneGraph, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(captions, "NEGATED_SHARE", 1)
        said = [caption(graph, Random(seed + i)) for i in range(4)]
    for one in said:
        assert read(one.text) == one.statement
        assert truth(one.statement, graph) is True
        assert_good_english(one.text)


@quick(100)
@given(graph=scenes, seed=seeds)
def test_exclusions(graph: SceneGraph, seed: int) -> None:
    rng = Random(seed)
    shown, other = rng.choice(graph.things).kind, absent_kind(graph, rng)
    said = [
        exclude_kind(shown, other, rng),
        exclude_colour(shown, rng.choice(list(COLOURS)), rng),
        exclude_relation(shown, rng.choice(RELATIONS), other, rng),
    ]
    for one in said:
        assert read(one.text) == one.statement
        assert_good_english(one.text)
    # What is absent is nowhere, so nothing stands beside it.
    assert truth(said[0].statement, graph) is True
    assert truth(said[2].statement, graph) is True


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("a man in red", (Exists(Phrase("man", "red")),)),
        ("Here are two small orange cats.", (Exists(Phrase("cat", "orange", "small", 2)),)),
        ("exactly one big watering can", (Exists(Phrase("watering can", None, "large", 1)),)),
        ("three fish, no sheep", (Exists(Phrase("fish", count=3)), Not(Exists(Phrase("sheep"))))),
        (
            "a kitchen with an egg to the left of a little person in blue",
            (
                Related(Phrase("egg"), "left", Phrase("person", "blue", "small")),
                Located("kitchen"),
            ),
        ),
        (
            "a bear has a white fox to its right",
            (Related(Phrase("fox", "white"), "right", Phrase("bear")),),
        ),
        (
            "a tree and two cars, there are no animals",
            (Exists(Phrase("tree")), Exists(Phrase("car", count=2)), Not(Exists(Phrase("animal")))),
        ),
        (
            "A woman who isn't in green.",
            (Exists(Phrase("woman")), Not(Exists(Phrase("woman", "green")))),
        ),
        (
            "This picture shows a beach. On the left of the scene we find a crab. We also find "
            "a kite. It looks like a page of a picture book for young children.",
            (Located("beach"), Placed(Phrase("crab"), "left"), Exists(Phrase("kite"))),
        ),
    ],
)
def test_examples(text: str, statement: Statement) -> None:
    assert read(text) == statement


# Every form of every table is readable, whatever fills it.


def test_there_are_many_forms() -> None:
    assert len(set(FORMS)) == len(FORMS) >= 60


@pytest.mark.parametrize("form", LIST_FORMS + PLACE_FORMS)
@pytest.mark.parametrize("denial", ["", *grammar.DENIALS])
def test_forms_of_lists(form: str, denial: str) -> None:
    for seed in range(8):
        rng = Random(f"{form} {seed}")
        claims, words = list_of(rng)
        if form in PLACE_FORMS:
            claims, words = in_place(claims, words, rng)
        if denial:
            missing = rng.choice(list(KINDS))
            word = grammar.noun(missing, plural=rng.random() < 0.5)
            claims = [*claims, Not(Exists(Phrase(missing)))]
            words |= {"bare": word, "word": captions.word_with(word)}
            words |= {"them": grammar.noun(missing, plural=True)}
        assert_reads(form + denial, words, claims, rng)


RELATION_TABLES = (
    *(grammar.RELATION_FORMS + grammar.RELATION_PLACE_FORMS),
    *(grammar.RELATION_MORE_FORMS + grammar.RELATION_MORE_PLACE_FORMS),
)


@pytest.mark.parametrize("form", RELATION_TABLES)
def test_forms_of_relations(form: str) -> None:
    for seed in range(20):
        rng = Random(f"{form} {seed}")
        claims, words = related(rng)
        if "{c}" in form:
            more, listed = list_of(rng)
            claims, words = claims + more, words | {"c": listed["list"]}
        if form in grammar.RELATION_PLACE_FORMS + grammar.RELATION_MORE_PLACE_FORMS:
            claims, words = in_place(claims, words, rng)
        assert_reads(form, words, claims, rng)


@pytest.mark.parametrize("form", grammar.BETWEEN_FORMS)
def test_forms_of_between(form: str) -> None:
    for seed in range(20):
        rng = Random(f"{form} {seed}")
        claims, words = between(rng)
        assert_reads(form, words, claims, rng)


@pytest.mark.parametrize("form", HYBRID_FORMS + NEGATIVE_FORMS + NEGATED_POSITIVE_FORMS)
def test_forms_of_negation(form: str) -> None:
    for seed in range(20):
        rng = Random(f"{form} {seed}")
        claims, words = ([], {}) if form in NEGATIVE_FORMS else list_of(rng)
        if form not in NEGATED_POSITIVE_FORMS:
            claims, words = denying(claims, words, rng)
        assert_reads(form, words, claims, rng)


@pytest.mark.parametrize(
    "form", COLOUR_EXCLUSION_FORMS + CLOTHES_EXCLUSION_FORMS + RELATION_EXCLUSION_FORMS
)
def test_forms_of_exclusions(form: str) -> None:
    wearers = [kind for kind in KINDS if grammar.wears(kind)]
    for seed in range(20):
        rng = Random(f"{form} {seed}")
        if form in RELATION_EXCLUSION_FORMS:
            (claim,), words = related(rng)
            assert isinstance(claim, Related)
            claims: list[Claim] = [Exists(claim.a), Not(claim)]
        else:
            kind = rng.choice(wearers if form in CLOTHES_EXCLUSION_FORMS else sorted(KINDS))
            colour = rng.choice(sorted(COLOURS))
            words = {"one": grammar.noun_phrase(Phrase(kind), rng), "colour": colour}
            claims = [Exists(Phrase(kind)), Not(Exists(Phrase(kind, colour)))]
        assert_reads(form, words, claims, rng)


@pytest.mark.parametrize("form", QUESTIONS)
@pytest.mark.parametrize("end", ["?", ""])
def test_forms_of_questions(form: str, end: str) -> None:
    for seed in range(20):
        rng = Random(f"{form} {seed}")
        if "{list}" in form:
            claims, words = list_of(rng)
        elif "{relation}" in form:
            claims, words = related(rng)
        elif "between" in form:
            claims, words = between(rng)
        elif "{region}" in form:
            subject, region = a_phrase(rng), rng.choice(list(REGION_WORDS))
            words = {
                "a": grammar.noun_phrase(subject, rng),
                "region": rng.choice(REGION_WORDS[region]),
            }
            claims = [Placed(subject, region)]
        elif "{bare}" in form:
            claims, words = denying([], {}, rng)
        else:
            claims, words = in_place([], {}, rng)
        text = form.format(**words)
        assert read_question(text[0].upper() + text[1:] + end) == tuple(claims)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Is there a red car in the picture?", (Exists(Phrase("car", "red")),)),
        ("Is there a red car?", (Exists(Phrase("car", "red")),)),
        ("Are there two people in the picture?", (Exists(Phrase("person", count=2)),)),
        ("Is there no dog?", (Not(Exists(Phrase("dog"))),)),
        ("Are there no dogs in the picture?", (Not(Exists(Phrase("dog"))),)),
        ("Is a dog at the top?", (Placed(Phrase("dog"), "top"),)),
        ("Is this a night scene?", (Located("night"),)),
        (
            "does the picture show a dog but no cat?",
            (Exists(Phrase("dog")), Not(Exists(Phrase("cat")))),
        ),
        (
            "Can you see a dog under a tree at night?",
            (Related(Phrase("dog"), "below", Phrase("tree")), Located("night")),
        ),
    ],
)
def test_examples_of_questions(text: str, statement: Statement) -> None:
    assert read_question(text) == statement


@quick(100)
@given(graph=scenes, seed=seeds, say=st.sampled_from([caption, negated_caption]))
def test_any_sentence_can_be_asked(
    graph: SceneGraph, seed: int, say: Callable[[SceneGraph, Random], Caption]
) -> None:
    said = say(graph, Random(seed))
    plain = said.text.removesuffix(".")
    assert read_question(f"Does the picture show {plain}?") == said.statement


# Nothing else is.


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no form"),
        (".", "no form"),
        ("a zebra on the beach", "'zebra'"),
        ("a red", "no form"),
        ("two dog", "no form"),
        ("a dogs", "no form"),
        ("no red", "no form"),
        ("a dog a cat", "no form"),
        ("a dog between a cat", "no form"),
        ("a dog between a cat and a bird and a tree", "no form"),
        ("a dog and a cat is left of a bird and", "no form"),
        ("a car in red", "no form"),
        ("a dog in the kitchen. blah", "'blah'"),
        ("A0", "'a0'"),
        ("is there a dog?", "'dog\\?'|no form"),
    ],
)
def test_other_sentences_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read(text)


@pytest.mark.parametrize(
    "text", ["", "?", "a dog", "is there a dog and", "is there", "why is there a dog?"]
)
def test_other_questions_are_refused(text: str) -> None:
    with pytest.raises(DataError, match="one that can be read: 'Is there a red car"):
        read_question(text)


@quick(100)
@given(
    st.text()
    | st.lists(
        st.sampled_from(re.findall(r"\S+", "a an two dog dogs no not red in left of and , . is ?"))
    ).map(" ".join)
)
def test_nonsense_raises_nothing_else(text: str) -> None:
    for reader in (read, read_question):
        with suppress(DataError):
            assert all(isinstance(claim, Claim) for claim in reader(text))


# What fills the forms.


def a_phrase(rng: Random, *, counted: bool = True) -> Phrase:
    return Phrase(
        rng.choice(COUNTABLE),
        rng.choice([None, *COLOURS]),
        rng.choice([None, "small", "large"]),
        rng.choice([None, None, 1, 2, 3, 4, 5]) if counted else None,
    )


Filled = tuple[list[Claim], dict[str, str]]


def list_of(rng: Random) -> Filled:
    phrases = [a_phrase(rng) for _ in range(rng.randint(1, 4))]
    return list(map(Exists, phrases)), grammar.list_words(phrases, rng)


def related(rng: Random) -> Filled:
    a, b, relation = a_phrase(rng), a_phrase(rng), rng.choice(RELATIONS)
    words = {
        "a": grammar.noun_phrase(a, rng),
        "b": grammar.noun_phrase(b, rng),
        "relation": rng.choice(RELATION_WORDS[relation]),
        "inverse": rng.choice(grammar.INVERSE_WORDS[relation]),
    }
    return [Related(a, relation, b)], words


def between(rng: Random) -> Filled:
    phrases = [a_phrase(rng) for _ in range(3)]
    words = [grammar.noun_phrase(phrase, rng) for phrase in phrases]
    return [Between(*phrases)], dict(zip("abc", words, strict=True))


def in_place(claims: list[Claim], words: dict[str, str], rng: Random) -> Filled:
    place = rng.choice(list(BACKGROUNDS))
    return [*claims, Located(place)], words | grammar.place_words(place)


def denying(claims: list[Claim], words: dict[str, str], rng: Random) -> Filled:
    denied = a_phrase(rng, counted=False)
    return [*claims, Not(Exists(denied))], words | grammar.denied_words(denied, rng)


def assert_reads(form: str, words: dict[str, str], claims: list[Claim], rng: Random) -> None:
    text = grammar.sentence(form.format(**words), rng)
    assert read(text) == tuple(claims)


# English.

_ADJECTIVES = rf"(?: (?:small|little|big|large))?(?: (?:{'|'.join(COLOURS)}))?"
_SINGULARS = "|".join(kind.name for kind in KINDS.values() if kind.name != kind.plural)
_PLURALS = "|".join(kind.plural for kind in KINDS.values() if kind.name != kind.plural)
_MANY = "two|three|four|five"
_MISTAKES = (
    r"\ba [aeiou]",
    r"\ban [^aeiou]",
    rf"\b(?:{_MANY}|any|are no){_ADJECTIVES} (?:{_SINGULARS})\b",
    rf"\b(?:an?|one|is no){_ADJECTIVES} (?:{_PLURALS})\b",
    rf"\b(?:there|here) is (?:{_MANY})\b",
    r"\b(?:there|here) are (?:an?|exactly)\b",
    r"  |^ | $|[{}]| ,|,,|\.\.",
)


def assert_good_english(text: str) -> None:
    for mistake in _MISTAKES:
        assert not re.search(mistake, text.lower()), text


@pytest.mark.parametrize(
    "text", ["a apple", "an dog", "two small red dog", "a dogs", "there is two dogs", "no  dog"]
)
def test_mistakes_are_found(text: str) -> None:
    with pytest.raises(AssertionError):
        assert_good_english(text)
