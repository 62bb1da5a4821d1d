"""Training the bundled model: a run that is killed goes on to the same weights."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from litotes.backbones.mini import encoder_of, towers
from litotes.errors import DataError
from litotes.training.mini import train_mini
from litotes.training.recipe import read_recipe

RECIPE = """
method = "mini"
seed = 3
views = 3
epochs = 3
batch_size = 4
head_lr = 1e-3
text_lr = 1e-4
weight_decay = 0.05
warmup = 0.1
frozen_layers = 4
cell_drop = 0.3
token_drop = 0.1
average = 0.9
"""
# Kills itself without warning when the second epoch has begun.
KILLED = """
import os, signal, sys
from pathlib import Path
import litotes.training.mini as mini
from litotes.training.recipe import read_recipe
epoch = mini._epoch
def killing(encoder, recipe, examples, number):
    for step, loss in enumerate(epoch(encoder, recipe, examples, number)):
        if number == 1 and step == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        yield loss
mini._epoch = killing
recipe, data, run = map(Path, sys.argv[1:])
mini.train_mini(read_recipe(recipe), data, run)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "images").mkdir()
    rng = np.random.default_rng(0)
    lines = ["image,split,caption"]
    for i in range(9):
        noise = rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / "images" / f"{i}.png")
        lines += [f"{i}.png,train,picture number {i} {'very ' * i}nice", f"{i}.png,train,it is {i}"]
    (folder / "captions.csv").write_text("\n".join(lines) + "\n")
    (folder / "recipe.toml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    run = tmp_path_factory.mktemp("whole")
    return run, train_mini(read_recipe(data / "recipe.toml"), data, run)


def test_a_killed_run_goes_on_to_the_same_weights(data, whole, tmp_path):
    command = [sys.executable, "-c", KILLED, data / "recipe.toml", data, tmp_path]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert json.loads((tmp_path / "metrics.jsonl").read_text())["epoch"] == 1
    weights = train_mini(read_recipe(data / "recipe.toml"), data, tmp_path)
    assert weights.keys() == whole[1].keys()
    for name, tensor in weights.items():
        assert torch.equal(tensor, whole[1][name]), name


def test_what_is_written_loads_and_changes_the_heads_and_upper_layers_only(whole):
    run, weights = whole
    written = load_file(run / "mini.safetensors")
    assert written.keys() == weights.keys()
    assert not [name for name in written if "trunk" in name or "embeddings" in name]
    assert not [name for name in written if ".layer." in name and int(name.split(".")[4]) < 4]
    trained = encoder_of(towers(), written)
    untrained = encoder_of(towers(), {})
    assert trained.text_fingerprint != untrained.text_fingerprint
    losses = [json.loads(line)["loss"] for line in (run / "metrics.jsonl").open()]
    assert len(losses) == 3
    assert all(0 < loss < 10 for loss in losses)


def test_a_run_goes_on_with_its_own_recipe_only(data, whole, tmp_path):
    (tmp_path / "other.toml").write_text(RECIPE.replace("seed = 3", "seed = 4"))
    with pytest.raises(DataError, match="another recipe"):
        train_mini(read_recipe(tmp_path / "other.toml"), data, whole[0])


def test_fewer_photographs_than_a_batch_are_an_error(data, tmp_path):
    (tmp_path / "large.toml").write_text(RECIPE.replace("batch_size = 4", "batch_size = 10"))
    with pytest.raises(DataError, match=r"9 photographs .* one batch of 10"):
        train_mini(read_recipe(tmp_path / "large.toml"), data, tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("epochs = 3", "epochs = 0"), "epochs"),
        (("epochs = 3", "epoch = 3"), "epoch: Extra inputs"),
        (("seed = 3", "seed = "), "no TOML"),
        (('"mini"', '"maxi"'), "method"),
    ],
)
def test_a_wrong_recipe_says_which_setting(tmp_path, change, problem):
    (tmp_path / "r.toml").write_text(RECIPE.replace(*change))
    with pytest.raises(DataError, match=problem):
        read_recipe(tmp_path / "r.toml")


def test_the_recipe_in_the_repository_is_valid():
    assert read_recipe(Path(__file__).parents[2] / "recipes" / "mini.toml").method == "mini"
