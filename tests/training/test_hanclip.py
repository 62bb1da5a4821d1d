"""What HANCLIP trains on: truth of statements, anchors, and whole runs from a recipe."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import litotes
from litotes.errors import DataError, LitotesWarning
from litotes.language import has_negation
from litotes.losses.truth import TruthContrast
from litotes.mining.things import find_content
from litotes.scenes.adaptation import SceneExamples, scene_statements
from litotes.scenes.graph import truth
from litotes.training.adapt import adapt, shuffled_batches
from litotes.training.photographs import StatementExamples, read_photographs
from litotes.training.recipe import TruthLossSettings, read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"
QUADRUPLETS = RECIPES / "hanclip.toml"
STATEMENTS = RECIPES / "hanclip-plus-mini.toml"
SMALL = ("count=12", "batch_size=4", "fit.steps=2", "fit.warmup_steps=1", "direction=false")


def captioned(things):
    """Five captions each of pictures of one of some things, with another nearby."""
    return {
        f"{i}.jpg": [
            f"A {thing} is on the grass.",
            f"There is a brown {thing} near a {other}.",
            f"The {thing} and the {other} are outside.",
            f"A {thing} by a {other}.",
            f"A small {thing} stands next to a {other}.",
        ]
        for i, (thing, other) in enumerate(things)
    }


THINGS = [("dog", "bench"), ("cat", "bench"), ("horse", "tent"), ("dog", "tent")] * 8


@pytest.fixture
def folder(tmp_path):
    captions = captioned(THINGS)
    lines = ["image,split,caption"]
    (tmp_path / "images").mkdir()
    for name, texts in captions.items():
        lines += [f"{name},train,{text}" for text in texts]
        pixels = np.random.default_rng(int(name[:-4])).integers(0, 255, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / name)
    (tmp_path / "captions.csv").write_text("\n".join(lines))
    return tmp_path


def statement_examples(*changes):
    recipe = read_recipe(STATEMENTS, [*SMALL, *changes])
    captions = captioned(THINGS)
    content = find_content(list(captions.values()), 4)
    return StatementExamples(recipe, captions, content, Path("images"))


def test_statements_are_true_and_false_of_just_the_photographs_that_show_so():
    batch = statement_examples("truth.bank=30").batch(0)
    truths = [
        cell.cell_contents
        for cell in batch.loss.__closure__
        if torch.is_tensor(cell.cell_contents) and cell.cell_contents.shape[0] == len(batch.texts)
    ]
    table = next(t for t in truths if t.shape[1] == len(batch.pictures))
    assert len(set(batch.pictures)) == len(batch.pictures) > 4
    for text, row in zip(batch.texts, table, strict=True):
        words = text.lower()
        if "grass" in words or "outside" in words or " by a" in words or "near a" in words:
            continue  # captions, which are of one photograph
        if "small" in words:
            continue
        for place, picture in enumerate(batch.pictures):
            shown = set(THINGS[picture])
            named = {t for t in ("dog", "cat", "horse", "bench", "tent") if t in words}
            if not has_negation(text) and len(named) == 1 and row[place] >= 0:
                assert (named <= shown) == bool(row[place]), text


def test_a_caption_is_true_of_its_own_photograph_alone_and_its_false_denial_of_none():
    examples = statement_examples()
    batch = examples.batch(0)
    count = len(batch.texts) // 4
    assert count == 9
    anchors = {anchor.text: anchor for anchor in batch.anchors}
    for start in range(0, len(batch.texts), count):
        caption, true, false = batch.texts[start : start + 3]
        assert has_negation(true)
        assert has_negation(false)
        assert anchors[caption].excluded is None
        assert anchors[true].affirmed == caption
        assert anchors[true].excluded.startswith("a photo of ")


def test_batches_depend_on_the_seed_and_the_step_alone():
    once, again = statement_examples(), statement_examples()
    other = statement_examples("fit.seed=1")
    assert once.batch(3).texts == again.batch(3).texts
    assert once.batch(3).texts != other.batch(3).texts
    rows = shuffled_batches(10, 3, 0)
    epoch = [row for step in range(3) for row in rows(step)]
    assert len(set(epoch)) == 9
    assert rows(1) != rows(4)


def test_too_few_photographs_for_a_batch_are_refused():
    with pytest.raises(DataError, match="fewer than one batch of 500"):
        statement_examples("batch_size=500", "count=500")


def test_contrast_over_a_table_of_truth_is_a_mean_over_true_pairs_against_false_ones():
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(5, 8, generator=generator)
    texts = torch.randn(7, 8, generator=generator)
    table = torch.randint(-1, 2, (7, 5), generator=generator)
    by_text, by_image = TruthContrast(0.1)(images, texts, table)
    cosine = torch.nn.functional.cosine_similarity(texts[:, None], images[None], dim=-1)

    def expected(scores, table):
        rows = []
        for line, known in zip((scores / 0.1).double(), table, strict=True):
            false = line[known == 0].exp().sum()
            losses = [
                -(line[i].exp() / (line[i].exp() + false)).log()
                for i in (known == 1).nonzero().flatten()
            ]
            if losses and len(line[known == 0]):
                rows.append(torch.stack(losses).mean())
        return torch.stack(rows).mean().float()

    torch.testing.assert_close(by_text, expected(cosine, table))
    torch.testing.assert_close(by_image, expected(cosine.T, table.T))


def test_contrast_asks_for_nothing_where_nothing_is_known():
    texts = torch.randn(3, 4, requires_grad=True)
    total = sum(TruthContrast()(torch.randn(2, 4), texts, -torch.ones(3, 2)))
    total.backward()
    assert total == 0
    assert torch.equal(texts.grad, torch.zeros(3, 4))


def test_scenes_statements_are_both_true_and_false_of_their_scene():
    examples = SceneExamples(read_recipe(QUADRUPLETS, ["model=scenes", *SMALL]))
    for row, graph in enumerate(examples.graphs):
        said = scene_statements(graph, TruthLossSettings(), examples._rng(row))
        values = [truth(made.statement, graph) for made in said.captions]
        assert True in values
        assert False in values
        for anchor in said.anchors:
            assert has_negation(anchor.text) == (anchor.excluded is not None)
            assert not has_negation(anchor.excluded or "")
            assert not has_negation(anchor.affirmed or "")


def test_scenes_quadruplets_are_true_true_and_false():
    examples = SceneExamples(read_recipe(QUADRUPLETS, ["model=scenes", "count=200"]))
    for row, graph in enumerate(examples.graphs):
        positive, negated, negative = examples.made(row)
        assert truth(positive.statement, graph) is True, positive.text
        assert truth(negated.statement, graph) is True, negated.text
        assert truth(negative.statement, graph) is False, negative.text
        assert has_negation(negative.text)


@pytest.mark.parametrize("change", [None, "lora.dense=true", "lora=none"])
def test_a_run_on_scenes_ends_in_an_adapter_or_in_weights(tmp_path, change):
    lora = change != "lora=none"
    changes = ["model=scenes", *SMALL, *([change] if change else [])]
    recipe = read_recipe(QUADRUPLETS, changes)
    encoder = litotes.load("scenes")
    before = encoder.text_fingerprint
    image = encoder.image_fingerprint
    adapt(encoder, SceneExamples(recipe), recipe, tmp_path, progress=False)
    assert encoder.text_fingerprint != before
    assert encoder.image_fingerprint == image
    if not lora:
        assert (tmp_path / "model.safetensors").exists()
        return
    loaded = litotes.load("scenes", adapter=tmp_path / "adapter")
    assert loaded.text_fingerprint == encoder.text_fingerprint
    texts = ["a red car but no dog"]
    assert torch.equal(loaded.encode_texts(texts), encoder.encode_texts(texts))
    note = json.loads((tmp_path / "adapter" / "litotes.json").read_text())["note"]
    assert note["recipe"]["count"] == 12


def test_an_adapter_is_kept_where_no_direction_can_be_fitted(tmp_path):
    recipe = read_recipe(QUADRUPLETS, ["model=scenes", *SMALL, "direction=true"])
    examples = SceneExamples(recipe)
    examples.negation_pairs = lambda count: [("a dog", "a dog ")] * 20
    with pytest.warns(LitotesWarning, match="no negation direction"):
        adapt(litotes.load("scenes"), examples, recipe, tmp_path, progress=False)
    assert litotes.load("scenes", adapter=tmp_path / "adapter").label == "scenes + adapter"


def test_quadruplets_of_photographs_are_made_once_and_read_again(folder, tmp_path):
    run = tmp_path / "run"
    recipe = read_recipe(QUADRUPLETS, SMALL)
    examples = read_photographs(recipe, folder, run)
    made = (run / "quadruplets.jsonl").read_bytes()
    again = read_photographs(recipe, folder, run)
    assert (run / "quadruplets.jsonl").read_bytes() == made
    assert again.batch(0).texts == examples.batch(0).texts
    assert len(examples.batch(0).texts) == 12
    assert all(path.is_file() for path in examples.pictures(examples.batch(0).pictures))


def test_a_recipe_has_one_loss(tmp_path):
    file = tmp_path / "both.toml"
    file.write_text(f"{QUADRUPLETS.read_text()}\n[truth]\n")
    with pytest.raises(DataError, match="either"):
        read_recipe(file)


def test_settings_on_the_command_line_take_the_place_of_the_recipes():
    recipe = read_recipe(QUADRUPLETS, ["fit.lr=1e-3", "loss.geometry=cosine", "lora=none"])
    assert recipe.fit.lr == 1e-3
    assert recipe.loss.geometry == "cosine"
    assert recipe.lora is None
    with pytest.raises(DataError, match="write it as"):
        read_recipe(QUADRUPLETS, ["lr"])
    with pytest.raises(DataError, match=r"loss\.geometry"):
        read_recipe(QUADRUPLETS, ["loss.geometry=flat"])
