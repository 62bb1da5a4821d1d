"""The main job on drawn scenes, where it is known exactly which answers are right.

Run by `make demo`: draws 500 scenes, indexes them with the `scenes` model, and answers six queries
by the plain model and by the default strategy side by side.
"""

from pathlib import Path

from rich.console import Console
from rich.table import Table

import litotes
from litotes import strategies
from litotes.data.files import write_atomically
from litotes.language import Query
from litotes.scenes import OracleJudge, sample, write_scenes
from litotes.search import Result
from litotes.search.sheet import contact_sheet

DEMO = Path("demo")
SCENES = 500
SHOWN = 6
QUERIES = (
    "a red car",
    "a chair but no table",
    "a beach without umbrellas",
    "a tree that is not green",
    "a woman who is not in red",
    "a cup, not next to a bowl",
)


def main() -> None:
    """Draw, index, ask, and show which answers are right."""
    scenes = sample(SCENES, split="test")
    folder = DEMO / "scenes"
    for _ in write_scenes(scenes, folder):
        pass
    oracle = OracleJudge(scene.graph for scene in scenes)

    def right(query: Query, result: Result) -> bool | None:
        return oracle.holds(result.path, query.raw)

    index = litotes.PhotoIndex.open(folder / "images", _indexed(folder / "images"))
    ways = [strategies.get("plain"), strategies.get("default")]
    table = Table(title=f"Right among the first {SHOWN}, says the oracle", title_justify="left")
    table.add_column("query")
    for way in ways:
        table.add_column(way.name, justify="right")
    asked = []
    for text in QUERIES:
        query = litotes.parse(text)
        answers = {way.name: index.search(query, SHOWN, way) for way in ways}
        asked.append((query, answers))
        counts = (sum(right(query, r) is True for r in answers[way.name]) for way in ways)
        table.add_row(text, *(f"{count} of {SHOWN}" for count in counts))
    page = contact_sheet(index, asked, title="Litotes on drawn scenes", judge=right)
    write_atomically(DEMO / "scenes.html", page)
    Console().print(table)
    print(f"Look at {DEMO / 'scenes.html'}: green frames are right, red ones are wrong.")


def _indexed(folder: Path) -> litotes.DualEncoder:
    encoder = litotes.load("scenes")
    litotes.PhotoIndex.build(folder, encoder)
    return encoder


if __name__ == "__main__":
    main()
