"""Slipform (arXiv 2604.13313): what captions and changed captions of a batch are judged by."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.captions import read_captions
from litotes.data.concrete_pairs import ConcretePair, read_concrete_pairs
from litotes.data.files import write_atomically
from litotes.data.json_lines import as_lines, digest
from litotes.errors import DataError
from litotes.language.negator import negation_pairs
from litotes.losses.cement import CementLoss
from litotes.losses.hanclip import LossParts
from litotes.losses.infonce import info_nce
from litotes.mining.negclip import WordSwapper
from litotes.mining.plant import plant
from litotes.mining.rewrite_rule import RuleRewriter
from litotes.training.adapt import shuffled_batches
from litotes.training.fit import Anchor, Batch
from litotes.training.recipe import SlipformRecipe


class ConcreteBatch(NamedTuple):
    """Pictures with their captions, and the captions with a keyword changed.

    Attributes:
        pictures: numbers of ``N`` pictures.
        captions: of each.
        changed: of each caption.
        concreteness: of each changed keyword, 1 to 5.
        changed_pictures: numbers of pictures that the changed captions are true of; or none.
    """

    pictures: Sequence[int]
    captions: Sequence[str]
    changed: Sequence[str]
    concreteness: Sequence[float]
    changed_pictures: Sequence[int] = ()


def cement_batch(batch: ConcreteBatch, recipe: SlipformRecipe) -> Batch:
    """What a step of a recipe encodes, and its loss."""
    loss = CementLoss(**recipe.cement.model_dump())
    concreteness = torch.tensor(batch.concreteness)
    count, paired = len(batch.captions), bool(batch.changed_pictures)

    def judged(images: Tensor, texts: Tensor) -> LossParts:
        seen, changed = (images[:count], images[count:]) if paired else (images, None)
        c = concreteness.to(images.device)
        return loss(seen, texts[:count], texts[count:], c, changed)

    def control(images: Tensor, texts: Tensor) -> LossParts:
        scale = torch.tensor(1 / recipe.cement.temperature, device=images.device)
        return LossParts(info_nce(images, texts, scale), {})

    anchors = [Anchor(text) for text in batch.captions]
    if recipe.negatives == "batch":
        return Batch(batch.pictures, batch.captions, control, anchors)
    pictures = [*batch.pictures, *batch.changed_pictures]
    return Batch(pictures, [*batch.captions, *batch.changed], judged, anchors)


class PairExamples:
    """Captions of photographs, each with a keyword changed.

    In a batch no photograph stands twice, so that no caption counts as false of its own.

    Args:
        recipe: which loss.
        pairs: captions and changed captions.
        photographs: their folder.
        drawn: the folder of the pictures of changed captions.

    Raises:
        DataError: the recipe asks for such pictures and a pair has none, or there are fewer
            photographs than a batch takes.
    """

    def __init__(
        self,
        recipe: SlipformRecipe,
        pairs: Sequence[ConcretePair],
        photographs: Path,
        drawn: Path,
    ) -> None:
        self.recipe, self.pairs = recipe, pairs
        of_image: dict[str, list[int]] = {}
        for number, pair in enumerate(pairs):
            of_image.setdefault(pair.image, []).append(number)
        if len(of_image) < recipe.batch_size:
            raise DataError(
                f"captions of {len(of_image)} photographs could be changed, fewer than one batch "
                f"of {recipe.batch_size}: more captions are needed, or a lower batch_size"
            )
        self.numbers = list(of_image.values())
        self.paths = [photographs / name for name in of_image]
        self.paired = recipe.negatives == "pairs"
        if self.paired:
            bare = next((pair.caption for pair in pairs if not pair.picture), None)
            if bare is not None:
                raise DataError(
                    f"there is no picture of the change of {bare!r}: `litotes draw` makes them, "
                    f"or set negatives=text"
                )
            self.paths += [drawn / pair.picture for pair in pairs]
        self.rows = shuffled_batches(len(self.numbers), recipe.batch_size, recipe.fit.seed)
        self.fingerprint = digest(pairs)

    def batch(self, step: int) -> Batch:
        """The next photographs, each with one of its captions."""
        rows = self.rows(step)
        rng = Random(f"{self.recipe.fit.seed} {step}")
        chosen = [rng.choice(self.numbers[row]) for row in rows]
        pairs = [self.pairs[number] for number in chosen]
        first = len(self.numbers)
        return cement_batch(
            ConcreteBatch(
                rows,
                [pair.caption for pair in pairs],
                [pair.changed for pair in pairs],
                [pair.score for pair in pairs],
                [first + number for number in chosen] if self.paired else (),
            ),
            self.recipe,
        )

    def pictures(self, numbers: Sequence[int]) -> list[Path]:
        """Their files."""
        return [self.paths[number] for number in numbers]

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """Unit vectors ``(N, d)`` of all pictures."""
        return image_vectors(encoder, self.paths)

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Captions and their negations, made by rule."""
        return negation_pairs([pair.caption for pair in self.pairs[:count]])


def read_pairs(recipe: SlipformRecipe, data: Path, run: Path) -> PairExamples:
    """Examples of the train split of captioned photographs.

    Changed captions are those of ``pairs.jsonl`` in the folder of the run; where there is no such
    file, as `litotes plant` or `litotes draw` writes it, they are made by rule and written.

    Raises:
        DataError: the data is missing or malformed, or too little for a batch.
    """
    file = run / "pairs.jsonl"
    if not file.exists():
        if recipe.negatives == "pairs":
            raise DataError(
                f"there is no {file}: to train on pictures of changed captions, make them with "
                f"`litotes plant` and `litotes draw`, and put its pairs.jsonl there; or set "
                f"negatives=text"
            )
        captions = read_captions(data, "train")
        choice = recipe.plant.choice
        made = plant(
            captions,
            WordSwapper() if choice == "negclip" else RuleRewriter.from_captions(captions),
            choice="random" if choice == "negclip" else choice,
            measure=recipe.plant.score,
            kinds=recipe.plant.kinds,
            seed=recipe.fit.seed,
        )
        run.mkdir(parents=True, exist_ok=True)
        pairs = (pair for _, pair in made if isinstance(pair, ConcretePair))
        write_atomically(file, as_lines(pairs))
    kept = read_concrete_pairs(file)[: recipe.count]
    return PairExamples(recipe, kept, data / "images", file.parent)
