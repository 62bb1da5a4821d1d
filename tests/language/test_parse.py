"""Queries taken apart: the gold table, properties, and the development data."""

import ast
import csv
import importlib.util
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litotes.language import Query, has_negation, parse, parse_all


def _load(name: str) -> ModuleType:
    # Tests are imported by path (importlib mode), so a neighbour is not importable by name.
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gold, held_out = _load("gold"), _load("held_out")
unhurried = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])

#: Words that build any sort of nonsense sentence around the cues.
WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "a the dog dogs man woman hat beach red wearing riding is are was not no without n't isn't "
        "can't nobody nothing none never neither nor and or but , . ; : who that it with in on of "
        "missing absent shirtless unlit smoke-free there this image shows does have any except "
        "from to one ones 'no' \" ( ) - 3 running quickly made lacks visible seen photo hat's",
    )
)
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join)
PLAIN_WORDS = st.sampled_from(
    ["a", "the", "dog", "man", "hat", "red", "wearing", "on", "and", "with", "knot", "notebook"]
)
PLAIN_SENTENCES = st.lists(PLAIN_WORDS, max_size=10).map(" ".join)


#: What double negations, contractions and articles that agree put in.
ADDED = {"a", "an", "with", "people", "is", "are", "have", "does", "do", "can", "not", "in"}


@pytest.mark.parametrize(("query", "affirmed", "negated"), gold.GOLD, ids=lambda part: str(part))
def test_gold(query: str, affirmed: str, negated: tuple[str, ...]) -> None:
    assert parse(query) == Query(affirmed, negated, query)


@pytest.mark.parametrize("query", gold.AFFIRMATIVE)
def test_false_friends_stay_as_they_are(query: str) -> None:
    assert not has_negation(query)
    assert parse(query) == Query(query, (), query)


@pytest.mark.parametrize(("query", "affirmed"), gold.DOUBLE_NEGATIONS)
def test_double_negation_affirms(query: str, affirmed: str) -> None:
    assert not has_negation(query)
    assert parse(query) == Query(affirmed, (), query)


def test_held_out_queries() -> None:
    wanted = [Query(shown, excluded, query) for query, shown, excluded in held_out.PARSES]
    parsed = parse_all([query.raw for query in wanted])
    wrong = [pair for pair in zip(parsed, wanted, strict=True) if pair[0] != pair[1]]
    assert len(wrong) <= 0.03 * len(wanted), wrong


@pytest.mark.parametrize("query", held_out.AFFIRMATIVE)
def test_more_false_friends_stay_as_they_are(query: str) -> None:
    assert parse(query) == Query(query, (), query)


def test_the_written_sets_are_large_and_apart() -> None:
    queries = [query for query, _, _ in (*gold.PARSES, *held_out.PARSES)]
    assert len(set(queries)) == len(queries) >= 300


@pytest.mark.shared
def test_no_written_query_is_of_simpleneg(shared_data: Path) -> None:
    table = json.loads((shared_data / "simpleneg/simpleneg.json").read_text())
    published = {query.lower() for query, _, _ in table}
    assert published.isdisjoint(q.lower() for q, _, _ in (*gold.PARSES, *held_out.PARSES))


@pytest.mark.parametrize("query", [query for query, _, _ in gold.GOLD])
def test_gate_opens_for_every_negated_query(query: str) -> None:
    assert has_negation(query)


def test_the_example_of_the_manual() -> None:
    query = "a man riding a bike but not wearing a helmet"
    assert parse(query) == Query("a man riding a bike", ("a man wearing a helmet",), query)


def test_is_negated() -> None:
    assert parse("a dog, no ball").is_negated
    assert not parse("a dog").is_negated


def test_surrounding_white_space_and_raw() -> None:
    assert parse("  a dog \n") == Query("a dog", (), "  a dog \n")
    assert parse("  a dog,\n no  ball \t") == Query("a dog", ("a ball",), "  a dog,\n no  ball \t")


@pytest.mark.parametrize(
    ("plain", "query"),
    [
        ("a man who isn't smiling", "a man who isn’t smiling"),
        ("a man who isn't smiling", "a man who isnt smiling"),
        ("a bird that can't fly", "a bird that cannot fly"),
        ("a bird that can't fly", "a bird that cant fly"),
        ("a garden without flowers", "a garden with out flowers"),
    ],
)
def test_spellings(plain: str, query: str) -> None:
    same = parse(plain)
    assert same.is_negated
    assert parse(query) == Query(same.affirmed, same.negated, query)


def test_respelling_leaves_other_meanings() -> None:
    for query in ("a tree with out of focus lights", "any dog but with a hat", "all but a few"):
        assert parse(query) == Query(query, (), query)


def test_curly_quotes_and_case() -> None:
    assert parse("a man who isn’t smiling").negated == ("a man smiling",)
    assert parse("A DOG, NO BALL").negated[0].lower() == "a ball"


def test_bytes_that_are_no_text_are_read_past() -> None:
    query = parse("a caf\udce9 without people")
    assert query.negated == ("people",)
    assert query.raw == "a caf\udce9 without people"


@given(st.text(max_size=80) | SENTENCES)
@unhurried
def test_never_raises_and_leaves_no_negation_in_the_parts(text: str) -> None:
    query = parse(text)
    assert query.raw == text
    assert all(thing and not has_negation(thing) for thing in query.negated)
    assert isinstance(query.affirmed, str)
    # What cannot be read is affirmed as it stands.
    assert not has_negation(query.affirmed) or not query.is_negated


@given(SENTENCES)
@unhurried
def test_parts_hold_words_of_the_query(text: str) -> None:
    query = parse(text)
    said = set(re.findall(r"\w+", text.lower()))
    assert set(re.findall(r"\w+", query.affirmed.lower())) <= said | ADDED


@given(PLAIN_SENTENCES)
@unhurried
def test_without_a_cue_nothing_changes(text: str) -> None:
    assert parse(f" {text} ") == Query(text, (), f" {text} ")


@given(st.lists(SENTENCES, max_size=6))
@unhurried
def test_parse_all_equals_one_by_one(texts: list[str]) -> None:
    assert parse_all(texts) == [parse(text) for text in texts]


@pytest.mark.parametrize("text", ["no " * 4000, "a dog without " * 700, "'" * 10_000, "n't" * 3000])
def test_very_long_text_is_affirmed_as_it_stands(text: str) -> None:
    assert parse(text) == Query(text.strip(), (), text)


def test_threads_share_the_model() -> None:
    queries = [query for query, _, _ in gold.GOLD[:20]] * 3
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parse, queries)) == parse_all(queries)


def _bare(text: str) -> str:
    return re.sub(r"^(?:an?|the) ", "", text.lower())


@pytest.mark.shared
@pytest.mark.parametrize("split", ["dev", "train"])
def test_exclusion_wordings_all_parse_to_their_pair(shared_data: Path, split: str) -> None:
    pairs = json.loads((shared_data / f"flickr8k/exclusion_{split}.json").read_text())
    wanted = {
        query: (pair["shown"], (pair["excluded"],)) for pair in pairs for query in pair["queries"]
    }
    got = {
        query.raw: (_bare(query.affirmed), tuple(map(_bare, query.negated)))
        for query in parse_all(list(wanted))
    }
    assert got == wanted


#: How the multiple-choice captions are worded: (pattern, with groups shown and excluded).
CHOICES = [
    re.compile(pattern)
    for pattern in (
        r"There is (?P<shown>.+) in this picture, but no (?P<excluded>.+)\.",
        r"This image includes (?P<shown>.+) but not (?P<excluded>.+)\.",
        r"(?P<shown>.+) can be seen here, without (?P<excluded>.+)\.",
        r"There is no (?P<excluded>.+) in this picture\.(?P<shown>)",
        r"This image does not include (?P<excluded>.+)\.(?P<shown>)",
        r"(?P<excluded>.+) cannot be seen here\.(?P<shown>)",
    )
]


def _captions(table: Path) -> Iterator[str]:
    with table.open(newline="") as lines:
        for row in csv.DictReader(lines):
            yield from (row[f"caption_{place}"] for place in range(4))


@pytest.mark.shared
def test_multiple_choice_captions(shared_data: Path) -> None:
    captions = sorted(set(_captions(shared_data / "flickr8k/mcq_dev.csv")))
    for query in parse_all(captions):
        match = next((m for choice in CHOICES if (m := choice.fullmatch(query.raw))), None)
        if match is None:
            assert query.negated == (), query
        else:
            assert _bare(query.affirmed) == _bare(match["shown"]), query
            assert tuple(map(_bare, query.negated)) == (_bare(match["excluded"]),), query


@pytest.mark.shared
def test_negated_captions_lose_their_cue(shared_data: Path) -> None:
    with (shared_data / "flickr8k/negated_retrieval_dev.csv").open(newline="") as lines:
        captions = [c for row in csv.DictReader(lines) for c in ast.literal_eval(row["captions"])]
    queries = parse_all(captions[:1000])
    read = sum(query.is_negated and not has_negation(query.affirmed) for query in queries)
    assert read >= 0.99 * len(queries)
