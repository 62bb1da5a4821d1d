"""The first pictures of each strategy for some queries, side by side, as a part of a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from PIL import Image

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.html import escaped, jpeg_data
from litotes.data.images import open_image
from litotes.evaluation.exclusion import ExclusionTask
from litotes.evaluation.task import query_scores
from litotes.strategies import Images, Strategy

QUERIES = 10
SHOWN = 6
_SIDE = 150

_STYLE = """
.answers { display: grid; grid-template-columns: max-content repeat(6, minmax(60px, 150px));
  gap: 6px 8px; align-items: center; margin: 0 0 26px; overflow-x: auto; }
.answers img { width: 100%; aspect-ratio: 1; object-fit: cover; border-radius: 6px; }
.answers .right { border: 3px solid #2a9d4a; }
.answers .wrong { border: 3px solid #d33a2c; }
.answers .other { border: 3px solid transparent; }
"""


class Answer(NamedTuple):
    """What one strategy finds for a query: its pictures, each right, wrong, or neither (None)."""

    who: str
    pictures: Sequence[tuple[Path, bool | None]]


def top_pictures(
    task: ExclusionTask, encoder: DualEncoder, strategies: Sequence[Strategy]
) -> dict[str, list[Answer]]:
    """By query the answers of all strategies, of the first pairs of a task in one wording each.

    As the measure does it, pictures of unknown content are left out.
    """
    names = task.photographs()
    row = {name: i for i, name in enumerate(names)}
    images = Images(image_vectors(encoder, [task.images / name for name in names]))
    pairs = task.pairs[:QUERIES]
    queries = [pair.queries[0] for pair in pairs]
    found: dict[str, list[Answer]] = {query: [] for query in queries}
    for strategy in strategies:
        scores = query_scores(encoder, strategy, queries, images)
        who = " ".join([strategy.name, *encoder.label.split(" ")[1:]])
        for pair, query, line in zip(pairs, queries, scores, strict=True):
            states = dict.fromkeys(pair.not_shown, None)
            states |= dict.fromkeys(pair.right, True) | dict.fromkeys(pair.violating, False)
            known = [row[name] for name in states]
            order = torch.tensor(known)[line[known].argsort(descending=True, stable=True)]
            best = [names[i] for i in order[:SHOWN].tolist()]
            found[query].append(Answer(who, [(task.images / n, states[n]) for n in best]))
    return found


def pictures_html(answers: dict[str, list[Answer]]) -> str:
    """A part of a page: of each query a line a strategy."""
    parts = (
        f"<h3>{escaped(query)}</h3><div class='answers'>{''.join(map(_line, lines))}</div>"
        for query, lines in answers.items()
    )
    return f"<style>{_STYLE}</style><section><h2>First pictures</h2>{''.join(parts)}</section>"


def _line(answer: Answer) -> str:
    frames = {True: "right", False: "wrong", None: "other"}
    pictures = "".join(
        f'<img class="{frames[state]}" src="{_data(path)}" alt="{escaped(path.name)}" '
        'loading="lazy">'
        for path, state in answer.pictures
    )
    # A grid has a cell for each that is missing too.
    empty = "<span></span>" * (SHOWN - len(answer.pictures))
    return f"<span>{escaped(answer.who)}</span>{pictures}{empty}"


def _data(path: Path) -> str:
    image = open_image(path)
    image.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    return jpeg_data(image, quality=80)
