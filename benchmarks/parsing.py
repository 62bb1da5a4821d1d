"""How well queries are taken apart: by the rules, and by a language model if one is named.

    python benchmarks/parsing.py [--data DATA] [--into docs/parsing.md] [--llm MODEL --llm-url URL]

Compares parses with those written by hand in tests/language (gold.py, held_out.py), and with what
SimpleNeg's questions ask about (DATA/simpleneg/simpleneg.json), and times a query. The held-out
queries were written before the rules were tried on them, but the rules have been mended since: what
they got of them at first is in docs/parsing.md, and cannot be measured again.

*Parts*: affirmed text and every excluded text equal the ones written by hand, letter for letter.
*Scope*: the right words are excluded, whatever the wording: stems of content words only. On
SimpleNeg, which has no parses, only scope can be told: the excluded part holds the words behind the
cue that only the first question asks about, and no word that it does not ask about; the affirmed
part holds the words that the second question asks about, and none of those.
"""

import argparse
import json
import re
import runpy
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from nltk.stem import SnowballStemmer
from scipy.stats import binomtest

from litotes.evaluation.report import markdown_rows, update_block
from litotes.language import Query, has_negation, parse, parse_all
from litotes.language.cues import find_cues, plain
from litotes.language.lexicon import listed
from litotes.language.llm_parser import LlmParser

Parser = Callable[[Sequence[str]], list[Query]]
Gold = tuple[str, str, tuple[str, ...]]

TESTS = Path(__file__).resolve().parents[1] / "tests" / "language"
SETS = {"gold": "gold.py", "held out": "held_out.py"}
HEADER = ("queries", "count", "parts", "scope")

_WORD = re.compile(r"[^\W_]+")
_STEM = SnowballStemmer("english").stem
# Words of grammar and of frames: they name nothing that is in a picture or not.
_EMPTY = listed(
    """
    a an the this that these those any some all each every one ones thing something anything it its
    he him his she her they them their there who whom whose which where what is are was were be been
    being do does did have has had having can could and or but with of in on at to from by for as
    while s t image picture photo photograph scene visible present shown showing seen contain
    """
)
# How SimpleNeg's questions put what its queries say: another word for the same thing.
_ALIKE = {
    "tv": "televis", "children": "child", "peopl": "person", "anyon": "person", "men": "man",
    "women": "woman", "knive": "knife", "leav": "leaf", "buse": "bus", "phone": "telephon",
    "sit": "seat",
}  # fmt: skip


def main() -> None:
    """Measure, and print a table or put it into a page."""
    arguments = _arguments()
    ways: dict[str, Parser] = {"rules": parse_all}
    if arguments.llm:
        ways[arguments.llm] = LlmParser(arguments.llm, arguments.llm_url)
    rows: list[tuple[str, ...]] = [HEADER, ("---", "---:", "---:", "---:")]
    for name, way in ways.items():
        for source, *figures in _measured(way, arguments.data, arguments.show):
            rows.append((f"{source}, {name}", *figures))
        if isinstance(way, LlmParser):
            print(f"{name}: {way.fallbacks} queries were left to the rules")
    table = markdown_rows(rows)
    print(table, *_times(), sep="\n")
    if arguments.into:
        update_block(arguments.into, "parsing", table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that holds simpleneg/simpleneg.json")
    parser.add_argument("--into", type=Path, help="Markdown file with the markers parsing")
    parser.add_argument("--show", action="store_true", help="print what differs")
    parser.add_argument("--llm", help="also measure this model")
    parser.add_argument("--llm-url", default="http://localhost:8000/v1", help="of its server")
    return parser.parse_args()


def _measured(way: Parser, data: Path | None, show: bool) -> Iterator[tuple[str, ...]]:
    """A row for each set: its name, size, and accuracies."""
    for name, file in SETS.items():
        wanted = [Query(shown, out, query) for query, shown, out in _written(file)]
        parsed = way([query.raw for query in wanted])
        pairs = list(zip(parsed, wanted, strict=True))
        same = [got == want for got, want in pairs]
        if show:
            print(*(f"{want}\n  not {got}" for got, want in pairs if got != want), sep="\n")
        scope = [_sides(got) == _sides(want) for got, want in pairs]
        yield name, str(len(pairs)), _share(same), _share(scope)
    if data:
        table = json.loads((data / "simpleneg" / "simpleneg.json").read_text("utf-8"))
        asked = list(zip(way([query for query, _, _ in table]), table, strict=True))
        right = [_asks_the_same(got, out, shown) for got, (_, out, shown) in asked]
        if show:
            wrong = (pair for pair, fits in zip(asked, right, strict=True) if not fits)
            print(*(f"{got}\n  but {asks[1:]}" for got, asks in wrong), sep="\n")
        yield "SimpleNeg", str(len(asked)), "", _share(right)


def _written(file: str) -> list[Gold]:
    parses: list[Gold] = runpy.run_path(str(TESTS / file))["PARSES"]
    return parses


def _sides(query: Query) -> tuple[frozenset[str], frozenset[str]]:
    """The content words on either side; owners repeated with what is excluded do not count."""
    affirmed = _content(query.affirmed)
    return affirmed, _content(" ".join(query.negated)) - affirmed


def _asks_the_same(query: Query, about_excluded: str, about_shown: str) -> bool:
    text = plain(query.raw)
    first = next(find_cues(text), None)
    before = _content(text[: first.start] if first else text)
    said, affirmed = _content(text), _content(query.affirmed)
    negated = _content(" ".join(query.negated))
    excluded, shown = _content(about_excluded), _content(about_shown)
    # Of "a sofa without a cat" the first question may ask about "a cat on the sofa".
    only_excluded = (excluded - shown - before) & said
    return bool(
        negated
        and negated <= excluded | affirmed
        and negated & excluded
        and not only_excluded & affirmed
        and only_excluded <= negated
        and shown & said <= affirmed
    )


@cache
def _content(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _EMPTY)
    return frozenset(_ALIKE.get(stem, stem) for stem in map(_STEM, words))


def _share(right: Sequence[bool]) -> str:
    """Per cent, with Wilson's 95 % interval."""
    found = binomtest(sum(right), len(right)).proportion_ci(method="wilson")
    return f"{100 * sum(right) / len(right):.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _times() -> list[str]:
    """Median time of one query, the model warm: with a cue, and without."""
    lines = []
    for negated in (True, False):
        queries = (query for query, _, _ in _written("gold.py") if has_negation(query) is negated)
        times = [_seconds(query) for query in queries]
        said = "with a cue" if negated else "without a cue"
        median, slow = (1e3 * t for t in (statistics.median(times), max(times)))
        lines.append(f"{said}: {median:.3f} ms a query (median), {slow:.3f} ms the slowest")
    return lines


def _seconds(query: str) -> float:
    """The fastest of three runs, so that what else the machine does weighs little."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        parse(query)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
