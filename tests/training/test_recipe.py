"""Recipes: what is wrong in them is said."""

from pathlib import Path

import pytest

from litotes.errors import DataError
from litotes.training.recipe import read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize("recipe", ["mini", "scenes"])
@pytest.mark.parametrize("seed", [-1, 2**31, 10**30, 0.5])
def test_a_seed_that_none_of_the_generators_takes_is_refused(tmp_path, recipe, seed):
    lines = (RECIPES / f"{recipe}.toml").read_text().splitlines()
    seeds = [i for i, line in enumerate(lines) if line.split("=")[0].strip() == "seed"]
    assert seeds
    lines[seeds[0]] = f"seed = {seed}"
    (tmp_path / "r.toml").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"r\.toml.*seed"):
        read_recipe(tmp_path / "r.toml")
