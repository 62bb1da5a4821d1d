"""Queries taken apart by a language model: what its answers are checked for, and its failures."""

import json
from collections import Counter

import pytest

from litotes.language import Query, parse
from litotes.language.llm import TRIES
from litotes.language.llm_parser import LlmParser, check

HELMET = "a man riding a bike but not wearing a helmet"
GOOD = '{"affirmed": "a man riding a bike", "negated": ["a man wearing a helmet"]}'


@pytest.mark.parametrize(
    ("query", "affirmed", "negated"),
    [
        (HELMET, "a man riding a bike", ["a man wearing a helmet"]),
        (HELMET, "a man riding a bike", ["a helmet"]),
        ("neither dogs nor cats", "", ["dogs", "cats"]),
        ("a child who has never worn glasses", "a child", ["a child wearing glasses"]),
        ("a shirtless man under an unlit lamp", "a man under a lamp", ["a shirt", "a lit lamp"]),
        ("a street with nobody on it", "a street", ["a person on a street"]),
        ("a car-free street", "a street", ["cars"]),
        ("This image does not contain a person.", "", ["a person"]),
        ("a beach; no dogs", "a beach", ["dogs", "dogs"]),
    ],
)
def test_answers_that_will_do(query, affirmed, negated):
    said = json.dumps({"affirmed": affirmed, "negated": negated})
    for answer in (said, f"```json\n{said}\n```", f"Sure! {said} Anything else?"):
        assert check(query, answer) == Query(affirmed, tuple(dict.fromkeys(negated)), query)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "A man riding a bike.",
        "{}",
        "[]",
        "}{",
        '{"affirmed": "a man riding a bike"}',
        '{"affirmed": "a man riding a bike", "negated": "a man wearing a helmet"}',
        '{"affirmed": null, "negated": ["a man wearing a helmet"]}',
        '{"affirmed": "a man", "negated": ["a helmet"], "reason": "because"}',
        '{"affirmed": "a man riding a bike", "negated": []}',
        '{"affirmed": "a man riding a bike", "negated": [" "]}',
        '{"affirmed": "a man riding a bike", "negated": ["a man not wearing a helmet"]}',
        '{"affirmed": "a man without a helmet", "negated": ["a helmet"]}',
        '{"affirmed": "a helmetless man", "negated": ["a helmet"]}',
        '{"affirmed": "a man riding a bike", "negated": ["a man wearing a cap"]}',
        '{"affirmed": "a woman riding a bike", "negated": ["a helmet"]}',
        '{"affirmed": "a person riding a bike", "negated": ["a helmet"]}',
        '{"affirmed": "a helmet", "negated": ["a helmet"]}',
        '{"affirmed": "", "negated": ["a helmet"]}',
        GOOD[:-1],
    ],
)
def test_answers_that_cannot_be_right(answer):
    assert check(HELMET, answer) is None


def test_bad_answers_are_asked_for_again_and_then_left_to_the_rules(server):
    dog = '{"affirmed": "a dog", "negated": ["the ball"]}'
    server.says = {
        f"Query: {HELMET}": GOOD,
        "Query: a dog, no ball": ["Let me see.", '{"affirmed": "a cat"}', dog],
        "Query: a lake without boats": ["garbage", '{"affirmed": "a pond", "negated": ["boats"]}'],
        "Query: a hill, no trees": "unused",
    }
    server.plan = {"Query: a hill, no trees": ["refuse"], f"Query: {HELMET}": ["broken", "cut"]}
    queries = [HELMET, "a dog, \n no ball", "a dog", "a lake without boats", "a hill, no trees"]
    parser = LlmParser("m", server.url)
    assert parser(queries) == [
        parse(HELMET),
        Query("a dog", ("the ball",), queries[1]),
        parse("a dog"),
        parse("a lake without boats"),
        parse("a hill, no trees"),
    ]
    assert parser.fallbacks == 2
    asked = [f"Query: {' '.join(query.split())}" for query in queries]
    assert server.asked == Counter(dict(zip(asked, [3, 3, 0, TRIES, 1], strict=True)))


def test_nothing_to_ask_asks_nothing(server):
    parser = LlmParser("m", server.url, options={"max_tokens": 900})
    for queries in ([], ["a dog", "a no-parking sign", "no " * 3000]):
        assert parser(queries) == [parse(query) for query in queries]
    assert not server.log
    assert parser.fallbacks == 0
    settings = {"model": "m", "options": {"max_tokens": 900}, "prompt": LlmParser.prompt_version}
    assert parser.settings == settings
