"""How a judge's errors move the score: the oracle of drawn scenes, its answers flipped at rates.

Prints the share of right pictures among the first five (Avg.5 of retrieval and negation) that
judges of several error rates report, for the plain model and for the default strategy.
"""

import argparse
import tempfile
from itertools import permutations
from pathlib import Path
from random import Random

import litotes
import litotes.scenes
from litotes import strategies
from litotes.evaluation.judged import JudgedTask
from litotes.evaluation.judges import FunctionJudge, JudgedQuery, flipped
from litotes.evaluation.report import update_block
from litotes.scenes import OracleJudge, sample, write_scenes
from litotes.scenes.grammar import noun_phrase
from litotes.scenes.graph import Phrase
from litotes.scenes.negation import exclude_kind

RATES = (0.0, 0.02, 0.05, 0.1, 0.2)
METRIC = "ret.+neg. Avg.5"


def main() -> None:
    """Draw, search, and judge with errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--into", type=Path, help="Markdown file with the markers judge-errors")
    arguments = parser.parse_args()
    scenes = sample(arguments.scenes, split="dev")
    graphs = [scene.graph for scene in scenes]
    queries = [_asked(a, b, Random(i)) for i, (a, b) in enumerate(_pairs(graphs))]
    oracle = FunctionJudge(OracleJudge(graphs).ask, "oracle")
    encoder = litotes.load("scenes")
    ways = [strategies.get("plain"), strategies.get("default")]
    with tempfile.TemporaryDirectory() as folder:
        for _ in write_scenes(scenes, Path(folder)):
            pass
        task = JudgedTask(queries[: arguments.queries], Path(folder) / "images", "scenes")
        lines = ["| answers flipped | " + " | ".join(way.name for way in ways) + " |"]
        lines.append("| ---: |" + " ---: |" * len(ways))
        for rate in RATES:
            records = task.run(encoder, ways, flipped(oracle, rate, rate))
            found = (f"{100 * record.metrics[METRIC].value:.1f}" for record in records)
            lines.append(f"| {rate:.0%} | {' | '.join(found)} |")
    print("\n".join(lines))
    if arguments.into:
        update_block(arguments.into, "judge-errors", "\n".join(lines))


def _asked(shown: str, excluded: str, rng: Random) -> JudgedQuery:
    """A query, and questions that the oracle reads: not those that parsing the query gives."""
    shows, excludes = (
        f"Is there {noun_phrase(Phrase(k), rng)} in the picture?" for k in (shown, excluded)
    )
    return JudgedQuery(exclude_kind(shown, excluded, rng).text, shows, (excludes,))


def _pairs(graphs: list[litotes.scenes.SceneGraph]) -> list[tuple[str, str]]:
    """Kinds that are together in five scenes or more, in random order."""
    together: dict[tuple[str, str], int] = {}
    for graph in graphs:
        for pair in permutations({thing.kind for thing in graph.things}, 2):
            together[pair] = together.get(pair, 0) + 1
    found = sorted(pair for pair, count in together.items() if count >= 5)
    Random(0).shuffle(found)
    return found


if __name__ == "__main__":
    main()
