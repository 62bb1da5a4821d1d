"""HANCLIP's parts, one by one, on drawn scenes: trains each variant and measures it on dev.

    python benchmarks/hanclip_sweep.py --runs runs/hanclip-sweep [--into docs/hanclip.md]

Every variant is ``recipes/hanclip.toml`` with the settings that its name stands for, of 5,000
quadruplets unless it says otherwise, with one seed. What was trained and measured already, in the
folder of the runs, is not done again. The table says, of every variant, what it gains and costs;
below it stand the share of false captions that are true of another picture of their batch, and
how far from the centre of the ball pictures and captions lie.
"""

import argparse
from pathlib import Path

import torch

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.evaluation.record import Record, read_records, write_records
from litotes.evaluation.report import update_block
from litotes.geometry.poincare import exp0
from litotes.scenes.adaptation import SceneExamples
from litotes.scenes.evaluation import ScenesTask, truth_table
from litotes.strategies import Plain
from litotes.training.hanclip import train_hanclip
from litotes.training.recipe import HanclipRecipe, read_recipe

RECIPE = Path(__file__).resolve().parents[1] / "recipes" / "hanclip.toml"
SHORT = ("count=5000", "fit.steps=78", "fit.warmup_steps=50")
VARIANTS: dict[str, tuple[str, ...]] = {
    "base": (),
    "HCO + ATNL": (),
    "HCO only": ("loss.alpha=0.0",),
    "α 0.5": ("loss.alpha=0.5",),
    "α 2": ("loss.alpha=2.0",),
    "control: cosine": ("loss.geometry=cosine",),
    "control: euclidean": ("loss.geometry=euclidean",),
    "c 0.01": ("loss.curvature=0.01",),
    "c 1": ("loss.curvature=1.0",),
    "not normalised": ("loss.normalize=false",),
    "own negatives only": ("loss.negatives=own",),
    "vision": ("lora.towers=vision",),
    "vision and text": ("lora.towers=both",),
    "all text weights": ("lora=none", "fit.lr=5e-6"),
    "1,000 quadruplets": ("count=1000", "fit.steps=15", "fit.warmup_steps=10"),
    "20,000 quadruplets": ("count=20000", "fit.steps=312", "fit.warmup_steps=200"),
    "learning rate 1e-3": ("fit.lr=1e-3",),
}
SHOWN = {
    "mcq positive": "mcq pos.",
    "mcq negative": "neg.",
    "mcq hybrid": "hybrid",
    "mcq macro": "macro",
    "negated rSum": "negated rSum",
    "exclude object: violating@10": "violating@10",
    "rSum": "rSum",
    "long rSum": "long rSum",
    "classification": "classif.",
}
MEASURES = (
    "multiple choice",
    "negated retrieval",
    "exclusion",
    "retrieval",
    "long retrieval",
    "classification",
)


def main() -> None:
    """Train and measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--count", type=int, default=300, help="scenes of a measure")
    parser.add_argument("--into", type=Path, help="Markdown file with the markers")
    options = parser.parse_args()
    rows = {}
    for number, (name, changes) in enumerate(VARIANTS.items()):
        run = options.runs / f"{number:02d}"
        rows[name] = measured(name, changes, run, options.count)
        print(row(name, rows[name]), flush=True)
    table = "\n".join(
        [
            f"| variant | {' | '.join(SHOWN.values())} | uncommon macro | uncommon rSum |",
            f"| --- |{' ---: |' * (len(SHOWN) + 2)}",
            *(row(name, records) for name, records in rows.items()),
        ]
    )
    notes = f"{table}\n\n{false_negatives()}\n\n{radii(options.runs)}"
    if options.into:
        update_block(options.into, "hanclip-sweep", notes)
    print(f"\n{notes}")


def measured(name: str, changes: tuple[str, ...], run: Path, count: int) -> list[Record]:
    """The records of a variant, common world and uncommon one."""
    file = run / "records.jsonl"
    if file.exists():
        return read_records(file)
    encoder = trained(name, changes, run)
    tasks = [ScenesTask("dev", count, uncommon=u, measures=MEASURES) for u in (False, True)]
    records = [record for task in tasks for record in task.run(encoder, [Plain()])]
    run.mkdir(parents=True, exist_ok=True)
    write_records(file, records)
    return records


def trained(name: str, changes: tuple[str, ...], run: Path) -> DualEncoder:
    """A variant's encoder."""
    encoder = litotes.load("scenes")
    if name != "base":
        recipe = recipe_of(changes)
        train_hanclip(encoder, SceneExamples(recipe), recipe, run)
    return encoder


def recipe_of(changes: tuple[str, ...]) -> HanclipRecipe:
    """The recipe of a variant."""
    recipe = read_recipe(RECIPE, ["model=scenes", "direction=false", *SHORT, *changes])
    assert isinstance(recipe, HanclipRecipe)
    return recipe


def row(name: str, records: list[Record]) -> str:
    """A line of the table; sums as they are, shares in per cent."""
    common, uncommon = (record.metrics for record in records)
    cells = [shown(key, common[key].value) for key in SHOWN]
    cells += [shown(key, uncommon[key].value) for key in ("mcq macro", "rSum")]
    return f"| {name} | {' | '.join(cells)} |"


def shown(name: str, value: float) -> str:
    """A figure with one digit behind the point."""
    return f"{value if name.endswith('rSum') else 100 * value:.1f}"


def false_negatives() -> str:
    """How often a false caption is true of another picture of its batch, exactly."""
    examples = SceneExamples(recipe_of(()))
    true = known = 0
    for step in range(20):
        rows = examples.rows(step)
        statements = [examples.made(row)[2].statement for row in rows]
        table = truth_table(statements, [examples.graphs[row] for row in rows])
        others = ~torch.eye(len(rows), dtype=torch.bool)
        true += int((table[others] == 1).sum())
        known += int((table[others] >= 0).sum())
    return (
        f"Of the false captions of other pictures in a batch of 64, {100 * true / known:.1f} % are "
        "true of a picture that they are contrasted with."
    )


def radii(runs: Path) -> str:
    """Mean distance from the centre of the ball, without normalisation, before and after."""
    lines = ["| encoder | pictures | P | P′ | N |", "| --- | ---: | ---: | ---: | ---: |"]
    lines.append(radius_row("base", litotes.load("scenes")))
    adapter = runs / f"{list(VARIANTS).index('not normalised'):02d}" / "adapter"
    lines.append(radius_row("not normalised", litotes.load("scenes", adapter=adapter)))
    return "\n".join(lines)


@torch.no_grad()
def radius_row(name: str, encoder: DualEncoder) -> str:
    """Of 500 quadruplets."""
    examples = SceneExamples(recipe_of(("count=500",)))
    groups = [encoder.encode_images(examples.pictures(range(500)), normalize=False)]
    for texts in zip(*(examples.captions(row) for row in range(500)), strict=True):
        ids, _ = encoder.text.tokenize(texts)
        groups.append(torch.cat([encoder.text.run(part) for part in ids.split(100)]))
    means = [exp0(vectors, 0.1).norm(dim=-1).mean() for vectors in groups]
    return f"| {name} | {' | '.join(f'{mean:.4f}' for mean in means)} |"


if __name__ == "__main__":
    main()
