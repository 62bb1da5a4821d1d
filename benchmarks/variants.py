"""Recipes with some of their settings changed: trained, measured, and shown as a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import forget
from litotes.cli.train import examples_of
from litotes.evaluation.record import Metric, read_records, write_records
from litotes.evaluation.report import interval_text, value_text
from litotes.evaluation.retrieval import RetrievalTask
from litotes.evaluation.task import Task
from litotes.strategies import Plain
from litotes.training.adapt import adapt
from litotes.training.recipe import HanclipRecipe, SlipformRecipe, read_recipe

Tasks = Mapping[str, Task]
Metrics = Mapping[str, Metric]

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


@dataclass(frozen=True)
class Variant:
    """A recipe and the settings that are put in place of its own; no recipe for the base."""

    name: str
    recipe: str = ""
    changes: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name, as a folder's."""
        return "-".join(re.findall(r"[\w-]+", self.name))

    def read(self, *more: str) -> HanclipRecipe | SlipformRecipe:
        """The recipe, changed."""
        recipe = read_recipe(RECIPES / f"{self.recipe}.toml", [*self.changes, *more])
        assert isinstance(recipe, HanclipRecipe | SlipformRecipe)
        return recipe


def measured(
    variant: Variant,
    run: Path,
    split: str,
    tasks: Tasks,
    data: Path | None = None,
    model: str = "scenes",
) -> Metrics:
    """All metrics of a variant, by the names of task and metric."""
    files = {name: run / split / f"{name or 'common'}.jsonl" for name in tasks}
    missing = [name for name, file in files.items() if not file.exists()]
    if missing:
        encoder = trained(variant, run, data, model)
        for name in missing:
            files[name].parent.mkdir(exist_ok=True)
            write_records(files[name], tasks[name].run(encoder, [Plain()]))
        forget(encoder)
    return {
        f"{name} {metric}".strip(): value
        for name, file in files.items()
        for record in read_records(file)
        for metric, value in record.metrics.items()
    }


def trained(variant: Variant, run: Path, data: Path | None, model: str) -> DualEncoder:
    """A variant's encoder."""
    run.mkdir(parents=True, exist_ok=True)
    if (run / "adapter").exists():
        return litotes.load(model, adapter=run / "adapter")
    encoder = litotes.load(model)
    if variant.recipe:
        recipe = variant.read()
        adapt(encoder, examples_of(recipe, data, run), recipe, run)
    return encoder


def table(rows: Mapping[str, Sequence[Metrics]], columns: Mapping[str, str]) -> str:
    """A Markdown table, a line a variant."""
    return "\n".join(
        [
            f"| variant | {' | '.join(columns.values())} |",
            f"| --- |{' ---: |' * len(columns)}",
            *(row(name, seeds, columns) for name, seeds in rows.items()),
        ]
    )


def row(name: str, seeds: Sequence[Metrics], columns: Mapping[str, str]) -> str:
    """A line of the table."""
    cells = (cell(key, [s[key] for s in seeds]) for key in columns)
    return f"| {name} | {' | '.join(cells)} |"


def cell(name: str, seeds: Sequence[Metric]) -> str:
    """The mean, and the ends of all seeds' intervals."""
    low, high = min(s.low for s in seeds), max(s.high for s in seeds)
    mean = sum(s.value for s in seeds) / len(seeds)
    return f"{value_text(name, mean)} {interval_text(name, low, high)}"


def joined(task: RetrievalTask) -> RetrievalTask:
    """All captions of a picture as one long description."""
    pictures = [
        picture._replace(captions=(" ".join(picture.captions),)) for picture in task.pictures
    ]
    return replace(task, name="long-retrieval", pictures=pictures)
