"""Recipes with some of their settings changed: trained, measured, and shown as a table."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import forget
from litotes.cli.train import examples_of
from litotes.evaluation.classification import ClassificationTask
from litotes.evaluation.record import Metric, read_records, write_records
from litotes.evaluation.report import interval_text, update_block, value_text
from litotes.evaluation.retrieval import RetrievalTask
from litotes.evaluation.task import Task
from litotes.scenes.evaluation import ScenesTask
from litotes.strategies import Plain
from litotes.training.adapt import adapt
from litotes.training.recipe import HanclipRecipe, SlipformRecipe, read_recipe

Tasks = Mapping[str, Task]
Metrics = Mapping[str, Metric]

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


@dataclass(frozen=True)
class Variant:
    """A recipe and the settings that are put in place of its own; no recipe for the base.

    One that is there for comparison alone may be run once, with the first seed.
    """

    name: str
    recipe: str = ""
    changes: tuple[str, ...] = ()
    once: bool = False

    @property
    def slug(self) -> str:
        """The name, as a folder's."""
        return "-".join(re.findall(r"[\w-]+", self.name))

    def read(self, *more: str) -> HanclipRecipe | SlipformRecipe:
        """The recipe, changed."""
        recipe = read_recipe(RECIPES / f"{self.recipe}.toml", [*self.changes, *more])
        assert isinstance(recipe, HanclipRecipe | SlipformRecipe)
        return recipe


Columns = Mapping[str, str]
Headlines = Mapping[str, Sequence[Variant]]


@dataclass(frozen=True)
class Study:
    """What a method's script trains and measures.

    Attributes:
        name: of the method.
        headlines: the rows of each model, the base first.
        sweep: prints the rows of a method's parts from the folder of runs and a count of scenes.
        measures: the tasks of the options, and their columns.
    """

    name: str
    headlines: Headlines
    sweep: Callable[[Path, int], str]
    measures: Callable[[argparse.Namespace], tuple[Tasks, Columns]]

    def run(self, parser: argparse.ArgumentParser) -> None:
        """Train and measure what is missing, then print the tables."""
        parser.add_argument("what", choices=("sweep", "headline"))
        parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
        parser.add_argument("--model", choices=tuple(self.headlines), default="scenes")
        parser.add_argument("--data", type=Path, help="folder that holds flickr8k, cifar10, …")
        parser.add_argument("--split", default="dev")
        parser.add_argument("--seeds", type=int, default=1)
        parser.add_argument("--count", type=int, default=300, help="scenes of a measure")
        parser.add_argument("--into", type=Path, help="Markdown file with the markers")
        options = parser.parse_args()
        if options.what == "sweep":
            name, content = f"{self.name}-sweep", self.sweep(options.runs, options.count)
        else:
            name, content = f"{self.name}-{options.model}-{options.split}", self._headline(options)
        if options.into:
            update_block(options.into, name, content)
        print(f"\n{content}")

    def _headline(self, options: argparse.Namespace) -> str:
        """Base, controls and ours, each with all seeds."""
        model, variants = options.model, self.headlines[options.model]
        tasks, columns = self.measures(options)
        rows: dict[str, list[Metrics]] = {variant.name: [] for variant in variants}
        # All variants with one seed before the next.
        for seed in range(options.seeds):
            for variant in variants:
                if seed and (variant.once or not variant.recipe):
                    continue
                seeded = replace(variant, changes=(*variant.changes, f"fit.seed={seed}"))
                run = options.runs / f"{model}-{variant.slug}-{seed}"
                flickr = options.data / "flickr8k" if model == "mini" else None
                metrics = measured(seeded, run, options.split, tasks, flickr, model)
                rows[variant.name].append(metrics)
                print(row(variant.name, [metrics], columns), flush=True)
        return table(rows, columns)


def swept(variants: Sequence[Variant], runs: Path, task: Task, columns: Columns) -> str:
    """The table of a method's parts, with one seed."""
    rows = {}
    for variant in variants:
        run = runs / f"sweep-{variant.slug}"
        rows[variant.name] = [measured(variant, run, "dev", {"": task})]
        print(row(variant.name, rows[variant.name], columns), flush=True)
    return table(rows, columns)


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
        if record.strategy == Plain.name  # and not the blind baseline beside it
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
    rule = f"| --- |{' ---: |' * (len(columns) + 1)}"
    lines = [row(name, seeds, columns) for name, seeds in rows.items()]
    return "\n".join([f"| variant | seeds | {' | '.join(columns.values())} |", rule, *lines])


def row(name: str, seeds: Sequence[Metrics], columns: Mapping[str, str]) -> str:
    """A line of the table."""
    cells = (cell(key, [s[key] for s in seeds]) for key in columns)
    return f"| {name} | {len(seeds)} | {' | '.join(cells)} |"


def cell(name: str, seeds: Sequence[Metric]) -> str:
    """The mean, and the ends of all seeds' intervals."""
    low, high = min(s.low for s in seeds), max(s.high for s in seeds)
    mean = sum(s.value for s in seeds) / len(seeds)
    return f"{value_text(name, mean)} {interval_text(name, low, high)}"


def photograph_tasks(data: Path, split: str) -> Tasks:
    """Plain retrieval, of short and long captions, and what else a photograph may be asked."""
    retrieval = RetrievalTask.read(data / "flickr8k", split)
    return {
        "retrieval": retrieval,
        "long retrieval": _joined(retrieval),
        "cifar10": ClassificationTask.read(data / "cifar10", "cifar10"),
        # CLIP's 80 prompts would take longer than all else.
        "imagenet": ClassificationTask.read(data / "imagenet_sample", "imagenet", "simple"),
    }


PHOTOGRAPH_COLUMNS = {
    "retrieval rSum": "plain rSum",
    "long retrieval rSum": "long rSum",
    "cifar10 top-1": "CIFAR-10",
    "imagenet top-1": "ImageNet sample",
    "imagenet top-5": "top-5",
}


def scenes_tasks(options: argparse.Namespace, measures: tuple[str, ...]) -> Tasks:
    """Drawn scenes, of the common world and the uncommon one."""
    return {
        name: ScenesTask(options.split, options.count, uncommon=bool(name), measures=measures)
        for name in ("", "uncommon")
    }


def _joined(task: RetrievalTask) -> RetrievalTask:
    """All captions of a picture as one long description."""
    pictures = [
        picture._replace(captions=(" ".join(picture.captions),)) for picture in task.pictures
    ]
    return replace(task, name="long-retrieval", pictures=pictures)
