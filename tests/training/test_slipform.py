"""Slipform's batches of captioned photographs."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from torch.nn.functional import normalize

from litotes.data.concrete_pairs import ConcretePair
from litotes.errors import DataError
from litotes.losses.cement import CementLoss
from litotes.training.recipe import FitSettings, SlipformRecipe
from litotes.training.slipform import PairExamples, read_pairs


def recipe(**changes: object) -> SlipformRecipe:
    """A small one."""
    settings = {
        "method": "slipform", "count": 40, "batch_size": 4, "negatives": "text",
        "cement": {"m_min": 0.5, "m_max": 3.0}, "fit": FitSettings(steps=2, lr=1e-3),
    }  # fmt: skip
    return SlipformRecipe.model_validate(settings | changes)


def pairs(images: int = 10, each: int = 4, picture: str = "") -> list[ConcretePair]:
    """Captions of photographs, all different."""
    return [
        ConcretePair(
            image=f"{i}.jpg", caption=f"a dog {i} {j}", changed=f"a cat {i} {j}", keyword="dog",
            replacement="cat", kind="object", way="replace", score=1 + (i + j) % 4,
            source="word", picture=picture,
        )
        for i in range(images)
        for j in range(each)
    ]  # fmt: skip


def test_no_photograph_stands_twice_in_a_batch_and_all_have_their_turn() -> None:
    examples = PairExamples(recipe(), pairs(), Path("photos"), Path("drawn"))
    seen: Counter[int] = Counter()
    captions = set()
    for step in range(40):
        batch = examples.batch(step)
        assert len(set(batch.pictures)) == 4
        seen.update(batch.pictures)
        for number, caption in zip(batch.pictures, batch.texts, strict=False):
            assert caption.startswith(f"a dog {examples.paths[number].stem} ")
        captions.update(batch.texts[:4])
    assert len(seen) == 10
    assert len(captions) > 20
    assert examples.batch(7).texts == examples.batch(7).texts


@pytest.mark.parametrize("negatives", ["batch", "text", "pairs"])
def test_the_loss_is_that_of_the_recipe(negatives: str) -> None:
    wanted = recipe(negatives=negatives)
    examples = PairExamples(wanted, pairs(picture="x.jpg"), Path("photos"), Path("drawn"))
    batch = examples.batch(3)
    torch.manual_seed(0)
    images = torch.randn(len(batch.pictures), 8)
    texts = torch.randn(len(batch.texts), 8)
    found = batch.loss(images, texts).total
    if negatives == "batch":
        logits = normalize(images, dim=-1) @ normalize(texts, dim=-1).T / 0.01
        own = torch.arange(4)
        expected = sum(torch.nn.functional.cross_entropy(t, own) for t in (logits, logits.T)) / 2
    else:
        by_caption = {pair.caption: pair.score for pair in examples.pairs}
        scores = torch.tensor([by_caption[text] for text in batch.texts[:4]])
        loss = CementLoss(m_min=0.5, m_max=3.0)
        changed = images[4:] if negatives == "pairs" else None
        expected = loss(images[:4], texts[:4], texts[4:], scores, changed).total
    torch.testing.assert_close(found, expected)


def test_pictures_of_changed_captions_stand_behind_the_photographs() -> None:
    made = [ConcretePair(**{**vars(pair), "picture": f"{n}.jpg"}) for n, pair in enumerate(pairs())]
    examples = PairExamples(recipe(negatives="pairs"), made, Path("photos"), Path("drawn"))
    batch = examples.batch(0)
    paths = examples.pictures(batch.pictures)
    for caption, path in zip(batch.texts[:4], paths[4:], strict=True):
        (number,) = (n for n, pair in enumerate(made) if pair.caption == caption)
        assert path == Path("drawn") / f"{number}.jpg"


def test_what_is_missing_is_said() -> None:
    with pytest.raises(DataError, match="captions of 3 photographs could be changed"):
        PairExamples(recipe(), pairs(3), Path("photos"), Path("drawn"))
    with pytest.raises(DataError, match="no picture of the change of 'a dog 0 0'"):
        PairExamples(recipe(negatives="pairs"), pairs(), Path("photos"), Path("drawn"))


def test_pictures_are_asked_for_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="litotes draw"):
        read_pairs(recipe(negatives="pairs"), tmp_path, tmp_path / "run")
    assert not (tmp_path / "run").exists()
