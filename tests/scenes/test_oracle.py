"""The judge that is never wrong, and the truth that it tells."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from litotes.errors import DataError, ImageError
from litotes.scenes.captions import caption, description
from litotes.scenes.drawing import draw
from litotes.scenes.graph import (
    Between,
    Claim,
    Exists,
    Fact,
    Located,
    Not,
    Phrase,
    Placed,
    Region,
    Related,
    Relation,
    SceneGraph,
    Thing,
    Truth,
    truth,
)
from litotes.scenes.kinds import COLOURS, KINDS
from litotes.scenes.negation import (
    exclude_colour,
    false_negated_caption,
    negated_caption,
    negated_positive_caption,
)
from litotes.scenes.oracle import OracleJudge
from litotes.scenes.world import scene_graph

GRAPHS = [scene_graph("test", 7, number, uncommon=number % 2 == 1) for number in range(150)]
RELATIONS: tuple[Relation, ...] = ("left", "right", "above", "below", "next to")
REGIONS: tuple[Region, ...] = ("left", "right", "top", "bottom", "middle")


@pytest.fixture(scope="module")
def judge() -> OracleJudge:
    return OracleJudge(GRAPHS)


# Answers.


@pytest.mark.parametrize("say", [caption, negated_caption, negated_positive_caption])
def test_true_sentences(judge: OracleJudge, say: Callable) -> None:
    for number, graph in enumerate(GRAPHS):
        text = say(graph, Random(number)).text.removesuffix(".")
        assert judge.ask(draw(graph), f"Does the picture show {text}?") == "yes"
        assert judge.holds(draw(graph), text) is True


@pytest.mark.parametrize("hybrid", [True, False])
def test_false_sentences(judge: OracleJudge, hybrid: bool) -> None:
    for number, graph in enumerate(GRAPHS):
        text = false_negated_caption(graph, Random(number), hybrid=hybrid).text.removesuffix(".")
        assert judge.ask(draw(graph), f"Can you see {text}?") == "no"
        assert judge.holds(draw(graph), text) is False


def test_descriptions_hold(judge: OracleJudge) -> None:
    for number, graph in enumerate(GRAPHS):
        assert judge.holds(draw(graph), description(graph, Random(number)).text) is True


def test_answers_about_other_scenes_are_the_truth(judge: OracleJudge) -> None:
    for number, (graph, other) in enumerate(zip(GRAPHS, reversed(GRAPHS), strict=True)):
        said = caption(other, Random(number))
        assert judge.holds(draw(graph), said.text) is truth(said.statement, graph)


def test_exclusion_of_a_colour(judge: OracleJudge) -> None:
    for number, graph in enumerate(GRAPHS):
        kind, colour = graph.things[0].kind, graph.things[0].colour
        text = exclude_colour(kind, colour, Random(number)).text
        assert judge.holds(draw(graph), text) is False


def test_what_could_be_said_either_way_is_unclear() -> None:
    graph = SceneGraph("street", (Thing("car", "red", "medium", 40, 40),))
    judge = OracleJudge([graph])
    assert judge.ask(draw(graph), "Is there a big car in the picture?") == "unclear"
    assert judge.ask(draw(graph), "Is there a big bus in the picture?") == "no"
    assert judge.ask(draw(graph), "Is there a red car in the picture?") == "yes"
    assert judge.ask(draw(graph), "Is a car on the left?") == "unclear"
    assert judge.ask(draw(graph), "Is there no car?") == "no"
    assert judge.ask(draw(graph), "Is this a street?") == "yes"
    assert judge.holds(draw(graph), "no big car") is None


# Pictures.


def test_a_picture_may_be_a_file_an_image_or_pixels(judge: OracleJudge, tmp_path: Path) -> None:
    for number, graph in enumerate(GRAPHS[:20]):
        image, file = Image.fromarray(draw(graph)), tmp_path / f"{number}.png"
        image.save(file)
        text = caption(graph, Random(number)).text
        for picture in (image, image.convert("RGBA"), file, str(file), draw(graph)):
            assert judge.holds(picture, text) is True


def test_other_pictures_are_refused(judge: OracleJudge, tmp_path: Path) -> None:
    pixels = draw(GRAPHS[0]).copy()
    pixels[50, 50, 0] ^= 1
    for picture in (pixels, draw(GRAPHS[0]).astype(float), np.zeros((1, 1, 3), np.uint8)):
        with pytest.raises(DataError, match="not one of the 150 scenes"):
            judge.ask(picture, "Is there a dog in the picture?")
    lossy = tmp_path / "lossy.jpg"
    Image.fromarray(draw(GRAPHS[0])).save(lossy)
    with pytest.raises(DataError, match=r"lossy\.jpg .* PNG"):
        judge.holds(lossy, "a dog")


def test_files_and_sentences_that_cannot_be_read(judge: OracleJudge, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="does not exist"):
        judge.ask(tmp_path / "none.png", "Is there a dog in the picture?")
    with pytest.raises(DataError, match="cannot read the question"):
        judge.ask(draw(GRAPHS[0]), "What is that?")
    with pytest.raises(DataError, match="cannot read the sentence"):
        judge.holds(draw(GRAPHS[0]), "a dog is a dog")


# Truth, by a second implementation. A claim is true if it is so under the strictest reading of its
# words, false if it is not so even under the loosest, and unclear between.


def test_truth_is_what_strict_and_loose_readings_agree_on() -> None:
    seen: set[tuple[str, Truth]] = set()
    for number, graph in enumerate(GRAPHS):
        for claim in some_claims(graph, Random(number)):
            strict, loose = (holds(claim, graph, is_loose) for is_loose in (False, True))
            assert not strict or loose
            expected = True if strict else None if loose else False
            assert truth([claim], graph) is expected, (claim, graph)
            seen.add((name_of(claim), expected))
    names = {*RELATIONS, "Exists", "Placed", "Between"}
    assert seen >= set(product(names, (True, False, None)))
    assert seen >= {("Located", True), ("Located", False)}


def test_counts_are_exact() -> None:
    seen = set()
    for graph in GRAPHS:
        for thing, size, count in product(graph.things, (None, "small", "large"), range(1, 6)):
            phrase = Phrase(thing.kind, None, size, count)
            found = {len(chosen) == count for chosen in possible(phrase, graph)}
            expected = found.pop() if len(found) == 1 else None
            assert truth([Exists(phrase)], graph) is expected, (phrase, graph)
            seen.add(expected)
    assert seen == {True, False, None}


def test_a_denial_is_the_opposite() -> None:
    opposite = {True: False, False: True, None: None}
    for number, graph in enumerate(GRAPHS):
        for claim in some_claims(graph, Random(number)):
            assert truth([Not(claim)], graph) is opposite[truth([claim], graph)]


def test_a_statement_is_as_true_as_its_least_true_claim() -> None:
    order = (False, None, True)
    for number, graph in enumerate(GRAPHS):
        claims: list[Claim] = list(some_claims(graph, Random(number)))
        for few in (claims[:2], claims[2:5], claims[5:6], []):
            values = [truth([claim], graph) for claim in few]
            assert truth(few, graph) is min(values, key=order.index, default=True)


def some_claims(graph: SceneGraph, rng: Random) -> Iterator[Fact]:
    """Claims near the truth, of every sort."""

    def phrase() -> Phrase:
        thing = rng.choice(graph.things)
        kind = rng.choice([thing.kind] * 4 + [KINDS[thing.kind].category, rng.choice(list(KINDS))])
        colour = rng.choice([None, None, thing.colour, rng.choice(list(COLOURS))])
        return Phrase(kind, colour, rng.choice([None, None, "small", "large"]))

    for _ in range(4):
        yield Exists(phrase())
        yield Placed(phrase(), rng.choice(REGIONS))
        yield Between(phrase(), phrase(), phrase())
        yield Located(rng.choice([graph.background, "beach"]))
        for relation in RELATIONS:
            yield Related(phrase(), relation, phrase())


def name_of(claim: Fact) -> str:
    return claim.relation if isinstance(claim, Related) else type(claim).__name__


def holds(claim: Fact, graph: SceneGraph, is_loose: bool) -> bool:
    if isinstance(claim, Located):
        return claim.background == graph.background
    if isinstance(claim, Exists):
        phrases, stand = [claim.phrase], lambda a: True
    elif isinstance(claim, Placed):
        phrases, stand = [claim.phrase], lambda a: is_placed(a, claim.region, is_loose)
    elif isinstance(claim, Related):
        phrases = [claim.a, claim.b]
        stand = lambda a, b: is_related(a, claim.relation, b, is_loose)  # noqa: E731
    else:
        phrases = [claim.a, claim.b, claim.c]
        stand = lambda a, b, c: is_between(a, b, c, is_loose)  # noqa: E731
    return any(
        all(fits(phrase, thing, is_loose) for phrase, thing in zip(phrases, things, strict=True))
        and stand(*things)
        for things in permutations(graph.things, len(phrases))
    )


def fits(phrase: Phrase, thing: Thing, is_loose: bool) -> bool:
    sizes = {thing.size, None} | (
        {"small", "large"} if thing.size == "medium" and is_loose else set()
    )
    return (
        phrase.kind in {thing.kind, KINDS[thing.kind].category}
        and phrase.colour in {thing.colour, None}
        and phrase.size in sizes
    )


def possible(phrase: Phrase, graph: SceneGraph) -> Iterable[list[Thing]]:
    """Every choice of the things of a description that an honest viewer could make."""
    choices = [{fits(phrase, thing, False), fits(phrase, thing, True)} for thing in graph.things]
    for chosen in product(*choices):
        yield [thing for thing, is_in in zip(graph.things, chosen, strict=True) if is_in]


def edges(thing: Thing) -> tuple[int, int, int, int]:
    half = thing.side // 2
    return thing.x - half, thing.x + half, thing.y - half, thing.y + half


def is_related(a: Thing, relation: Relation, b: Thing, is_loose: bool) -> bool:
    if relation == "next to":
        left, right, top, bottom = edges(a)
        b_left, b_right, b_top, b_bottom = edges(b)
        gap = max(b_left - right, left - b_right, b_top - bottom, top - b_bottom)
        return gap < 20 if is_loose else gap <= 6
    ways = {"left": b.x - a.x, "right": a.x - b.x, "above": b.y - a.y, "below": a.y - b.y}
    return ways[relation] > 0 if is_loose else ways[relation] >= 12


def is_between(a: Thing, b: Thing, c: Thing, is_loose: bool) -> bool:
    dx, dy = c.x - b.x, c.y - b.y
    square = dx * dx + dy * dy
    share = Fraction((a.x - b.x) * dx + (a.y - b.y) * dy, square)
    foot_x, foot_y = b.x + share * dx, b.y + share * dy
    away = (a.x - foot_x) ** 2 + (a.y - foot_y) ** 2
    if is_loose:
        return 0 < share < 1 and away < 25**2
    tenth = Fraction(1, 10)
    return 2 * tenth <= share <= 8 * tenth and away <= 10**2 and square >= 30**2


def is_placed(thing: Thing, region: Region, is_loose: bool) -> bool:
    x, y = thing.x - 48, thing.y - 48
    if region == "middle":
        limit = 23 if is_loose else 12
        return -limit <= x <= limit and -limit <= y <= limit
    way = {"left": -x, "right": x, "top": -y, "bottom": y}[region]
    return way > 0 if is_loose else way >= 10
