"""What HANCLIP trains on, from captioned photographs: quadruplets, or statements of known truth."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.captions import read_captions
from litotes.data.files import write_atomically
from litotes.data.json_lines import as_lines, digest
from litotes.data.quadruplets import Quadruplet, read_quadruplets
from litotes.errors import DataError
from litotes.language.sentences import clean
from litotes.language.statements import (
    AFFIRMATIVE,
    CAPTIONED,
    HYBRID,
    NEGATIVE,
    say,
)
from litotes.mining.quadruplets import drawn_order, quadruplets, rule_negator
from litotes.mining.things import Content, find_content
from litotes.training.adapt import shuffled_batches, with_bank
from litotes.training.fit import Anchor, Batch
from litotes.training.hanclip import Captions, loss_of, quadruplet_batch, statement_batch
from litotes.training.recipe import HanclipRecipe

MIN_IMAGES = 20
"""Photographs that must show a thing for statements to be made of it."""
USUAL = 0.7
"""Share of statements whose lacking thing is drawn by how usual it would be there."""
PROMPT = "a photo of {}"
"""What the thing that an anchor excludes is put into, as the strategy `subtract` does it."""


class QuadrupletExamples:
    """Quadruplets of photographs.

    Args:
        recipe: which loss.
        records: the quadruplets.
        folder: of the photographs.
    """

    def __init__(self, recipe: HanclipRecipe, records: Sequence[Quadruplet], folder: Path) -> None:
        assert recipe.loss
        self.loss, self.normalized = loss_of(recipe.loss), recipe.loss.normalize
        self.records = records
        names = list(dict.fromkeys(record.image for record in records))
        self.paths = [folder / name for name in names]
        place = {name: i for i, name in enumerate(names)}
        self.places = [place[record.image] for record in records]
        self.rows = shuffled_batches(len(records), recipe.batch_size, recipe.fit.seed)
        self.fingerprint = digest(records)

    def batch(self, step: int) -> Batch:
        """The next quadruplets."""
        rows = self.rows(step)
        said = [self.records[row] for row in rows]
        captions = [Captions(r.positive, r.negated_positive, r.negative) for r in said]
        return quadruplet_batch([self.places[row] for row in rows], captions, self.loss)

    def pictures(self, numbers: Sequence[int]) -> list[Path]:
        """Their files."""
        return [self.paths[number] for number in numbers]

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """Vectors ``(N, d)`` of all photographs; of unit length where the loss wants that."""
        if self.normalized:
            return image_vectors(encoder, self.paths)
        return encoder.encode_images(self.paths, normalize=False)

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Captions and their negations."""
        return [(record.positive, record.negative) for record in self.records[:count]]


class StatementExamples:
    """Statements about what photographs show and lack.

    Of every photograph of a batch one thing that it shows and one that it lacks are affirmed and
    denied in one wording each; and a caption stands alone, with a true denial, and with a false
    one. As what a photograph shows and lacks is known of all of them, each statement is read
    against a bank of other photographs too, which costs nothing where their vectors are at hand.

    Args:
        recipe: all settings.
        captions: of each photograph, by name.
        content: what they show and lack.
        folder: of the photographs.
    """

    def __init__(
        self,
        recipe: HanclipRecipe,
        captions: Mapping[str, Sequence[str]],
        content: Content,
        folder: Path,
    ) -> None:
        assert recipe.truth
        self.recipe, self.settings, self.content = recipe, recipe.truth, content
        self.paths = [folder / name for name in captions]
        self.captions = [[clean(text) for text in texts] for texts in captions.values()]
        known = content.shown.any(1) & content.lacking.any(1)
        self.usable = np.flatnonzero(known)[: recipe.count].tolist()
        if len(self.usable) < recipe.batch_size:
            raise DataError(
                f"what is shown and what is lacking is known of {len(self.usable)} photographs, "
                f"fewer than one batch of {recipe.batch_size}: more captions are needed, or a "
                "lower batch_size in the recipe"
            )
        self.rows = shuffled_batches(len(self.usable), recipe.batch_size, recipe.fit.seed)
        self.fingerprint = _digest(captions)

    def batch(self, step: int) -> Batch:
        """Statements about the next photographs."""
        rng = Random(f"{self.recipe.fit.seed} {step}")
        rows = [self.usable[row] for row in self.rows(step)]
        pictures = with_bank(rows, len(self.paths), self.settings.bank, rng)
        said = [self._statements(row, rng) for row in rows]
        truth = np.concatenate([self._truth(made, pictures) for made in said])
        texts = [[statement.text for statement in made] for made in said]
        anchors = [s.anchor for made in said for s in made if s.anchor is not None]
        anchors += [Anchor(rng.choice(rng.choice(self.captions))) for _ in rows]
        return statement_batch(pictures, texts, torch.from_numpy(truth), self.settings, anchors)

    def pictures(self, numbers: Sequence[int]) -> list[Path]:
        """Their files."""
        return [self.paths[number] for number in numbers]

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """Unit vectors ``(N, d)`` of all photographs."""
        return image_vectors(encoder, self.paths)

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Affirmations, and denials of the same thing or of another beside it."""
        rng = Random(self.recipe.fit.seed)
        pairs = []
        for row in islice(cycle(self.usable), count):
            made = self._statements(row, rng)
            first, second = rng.choice(((3, 4), (3, 5), (0, 1)))
            pairs.append((made[first].text, made[second].text))
        return list(dict(pairs).items())

    def _statements(self, row: int, rng: Random) -> "list[_Statement]":
        shown = np.flatnonzero(self.content.shown[row]).tolist()
        lacking = np.flatnonzero(self.content.lacking[row]).tolist()
        a = rng.choice(shown)
        usual = self.content.company[row, lacking].tolist()
        b = rng.choices(lacking, usual if rng.random() < USUAL and any(usual) else None)[0]
        caption = rng.choice(self.captions[row])
        made = [_Statement(caption, row, (), (), Anchor(caption))]
        made += [self._captioned(caption, row, thing, rng) for thing in (b, a)]
        for form, affirms, denies in (
            (AFFIRMATIVE, True, False),
            (NEGATIVE, False, True),
            (HYBRID, True, True),
        ):
            wording, sentence = rng.choice(form), rng.random() < 0.5
            for one, other in ((a, b), (b, a)):
                text = self._say(wording, one, other, sentence)
                affirmed, denied = (one,) if affirms else (), (other,) if denies else ()
                anchor = self._anchor(text, affirmed, denied)
                made.append(_Statement(text, None, affirmed, denied, anchor))
        return made

    def _captioned(self, caption: str, row: int, thing: int, rng: Random) -> "_Statement":
        denial, sentence = rng.choice(CAPTIONED)[0], rng.random() < 0.5
        text = self._say(denial, thing, thing, sentence, caption)
        anchor = Anchor(text, caption, self._prompted(thing), self.settings.caption_beta)
        return _Statement(text, row, (), (thing,), anchor)

    def _say(self, form: str, a: int, b: int, sentence: bool, caption: str = "") -> str:
        first, second = (self.content.things[i].wording for i in (a, b))
        return say(form, first, second, sentence=sentence, caption=caption)

    def _anchor(self, text: str, affirmed: Sequence[int], denied: Sequence[int]) -> Anchor | None:
        """Affirmations stay where they are; what only denies finds its place by contrast."""
        if not denied:
            return Anchor(text)
        if not affirmed:
            return None
        affirmed_text, denied_text = self._prompted(affirmed[0]), self._prompted(denied[0])
        return Anchor(text, affirmed_text, denied_text, self.settings.beta)

    def _prompted(self, thing: int) -> str:
        return PROMPT.format(self.content.things[thing].phrase)

    def _truth(self, made: "Sequence[_Statement]", pictures: Sequence[int]) -> NDArray[np.int8]:
        """Of each statement about each picture ``(S, B)``: 1, 0, or -1 where it is not known."""
        shown, lacking = self.content.shown[pictures], self.content.lacking[pictures]
        table = np.empty((len(made), len(pictures)), dtype=np.int8)
        for line, said in enumerate(made):
            true, false = np.ones(len(pictures), dtype=bool), np.zeros(len(pictures), dtype=bool)
            if said.owner is not None:
                # As usual, another photograph's caption counts as false.
                true = np.array(pictures) == said.owner
                false = ~true
            for thing in said.affirmed:
                true, false = true & shown[:, thing], false | lacking[:, thing]
            for thing in said.denied:
                true, false = true & lacking[:, thing], false | shown[:, thing]
            table[line] = np.where(false, 0, np.where(true, 1, -1))
        return table


@dataclass(frozen=True)
class _Statement:
    """A statement, as a conjunction of claims.

    Attributes:
        text: how it is said.
        owner: the photograph whose caption it holds, if any.
        affirmed, denied: things, by number.
        anchor: where its vector should be, if that is known.
    """

    text: str
    owner: int | None
    affirmed: Sequence[int]
    denied: Sequence[int]
    anchor: Anchor | None


PhotographExamples: TypeAlias = QuadrupletExamples | StatementExamples


def read_photographs(recipe: HanclipRecipe, data: Path, run: Path) -> PhotographExamples:
    """Examples of the train split of captioned photographs.

    Quadruplets are those of ``quadruplets.jsonl`` in the folder of the run; where there is no such
    file, as `litotes quadruplets` writes it, they are made by rule and written.

    Raises:
        DataError: the data is missing or malformed, or too little for a batch.
    """
    captions = read_captions(data, "train")
    if recipe.truth:
        content = find_content(list(captions.values()), MIN_IMAGES)
        return StatementExamples(recipe, captions, content, data / "images")
    file = run / "quadruplets.jsonl"
    if not file.exists():
        pairs = drawn_order(captions, recipe.fit.seed)
        made = quadruplets(pairs, rule_negator(pairs), seed=recipe.fit.seed)
        records = [numbered.quadruplet for numbered in islice(made, recipe.count)]
        run.mkdir(parents=True, exist_ok=True)
        write_atomically(file, as_lines(records))
    records = read_quadruplets(file)
    if len(records) < recipe.batch_size:
        raise DataError(
            f"{file} holds {len(records)} quadruplets, fewer than one batch of "
            f"{recipe.batch_size}: more captions are needed, or a lower batch_size in the recipe"
        )
    return QuadrupletExamples(recipe, records[: recipe.count], data / "images")


def _digest(captions: Mapping[str, Sequence[str]]) -> str:
    return hashlib.sha256(json.dumps(captions).encode()).hexdigest()[:16]
