"""Training the model of scenes: a run that is killed goes on to the same weights."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from litotes.errors import DataError
from litotes.losses.words import WordPrediction, inverse_document_frequency
from litotes.scenes.captions import NEGATED_SHARE
from litotes.scenes.graph import Not
from litotes.scenes.sampling import sample
from litotes.scenes.training import train_scenes, words
from litotes.training import contrastive
from litotes.training.muon import orthogonalised
from litotes.training.recipe import read_recipe

RECIPE = """
method = "scenes"
seed = 3
steps = 6
batch_size = 6
long_every = 3
long_batch_size = 4
lr = 1e-3
weight_decay = 0.05
warmup = 0.1
words_weight = 0.5
patch_dropout = 0.5
whole = 0.3
"""
# Kills itself without warning in the fourth step.
KILLED = """
import os, signal, sys
from pathlib import Path
from litotes.scenes import training
from litotes.training import contrastive
from litotes.training.recipe import read_recipe
contrastive.EVERY = 2
batch = training._batch
def killing(recipe, step):
    if step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch(recipe, step)
training._batch = killing
training.train_scenes(read_recipe(Path(sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    file = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    file.write_text(RECIPE)
    return file


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(contrastive, "EVERY", 2)


def test_a_killed_run_goes_on_to_the_same_weights(recipe, tmp_path, often):
    whole = train_scenes(read_recipe(recipe), tmp_path / "whole")
    killed = tmp_path / "killed"
    command = [sys.executable, "-c", KILLED, recipe, killed]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not (killed / "scenes.safetensors").exists()
    resumed = train_scenes(read_recipe(recipe), killed)
    assert resumed.keys() == whole.keys()
    for name, tensor in resumed.items():
        assert torch.equal(tensor, whole[name]), name
    assert load_file(killed / "scenes.safetensors").keys() == whole.keys()
    steps = [json.loads(line)["step"] for line in (killed / "metrics.jsonl").open()]
    assert steps == [2, 4, 6]


def test_a_damaged_checkpoint_and_another_recipe_are_errors(recipe, tmp_path, often):
    run = tmp_path / "run"
    train_scenes(read_recipe(recipe), run)
    (run / "checkpoint.pt").write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match="damaged"):
        train_scenes(read_recipe(recipe), run)
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.replace("seed = 3", "seed = 4"))
    with pytest.raises(DataError, match="another recipe"):
        train_scenes(read_recipe(other), run)


def test_the_recipe_in_the_repository_is_valid():
    assert read_recipe(Path(__file__).parents[2] / "recipes" / "scenes.toml").method == "scenes"


def test_what_it_is_trained_on_denies_as_seldom_as_the_web():
    said = [caption_ for scene in sample(8000) for caption_ in scene.captions]
    negated = sum(any(isinstance(c, Not) for c in each.statement) for each in said)
    assert 0.6 * NEGATED_SHARE < negated / len(said) < 1.2 * NEGATED_SHARE


def test_every_word_of_captions_is_in_the_vocabulary():
    known = set(words())
    for scene in sample(200, 5, "test"):
        for text in (scene.captions[0].text, scene.description.text):
            letters = "".join(c if c.isalpha() else " " for c in text.lower())
            assert set(letters.split()) <= known


def test_orthogonalised_matrices_have_singular_values_about_one():
    for shape in ((30, 80), (80, 30), (64, 64)):
        matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        values = torch.linalg.svdvals(orthogonalised(matrix))
        assert 0.5 < values.median() < 1.3
        assert values.max() < 1.4


def test_word_prediction_is_least_where_a_vector_points_to_its_words():
    idf = inverse_document_frequency(
        [torch.tensor([0, 1, 2]), torch.tensor([0, 1, 3])], tokens=5, ignored={0}
    )
    assert idf[0] == 0
    assert idf[1] == 0
    assert idf[2] == idf[3] == pytest.approx(torch.log(torch.tensor(2.0)))
    loss = WordPrediction(idf, dim=8)
    ids = torch.tensor([[0, 1, 2]])
    right, wrong = (loss.words[row].detach()[None] for row in (2, 3))
    assert loss(right, ids) < loss(wrong, ids)
