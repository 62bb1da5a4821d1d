"""Slipform, part by part and as a whole: trains every variant, measures it, and prints tables.

    python benchmarks/slipform.py sweep --runs RUNS [--into docs/slipform.md]
    python benchmarks/slipform.py headline --model scenes --runs RUNS [--seeds 3] [--into FILE]
    python benchmarks/slipform.py headline --model mini --data DATA --pairs MADE --runs RUNS

Each variant is a recipe with some of its settings changed. What was trained or measured already,
in the folder of the runs, is not done again. A cell is the mean over the seeds, and from the lowest
to the highest end of their 95 % intervals. MADE is what `litotes make-benchmark --pairs` writes.
"""

import argparse
from pathlib import Path

from litotes.evaluation.classification import ClassificationTask
from litotes.evaluation.report import update_block
from litotes.evaluation.retrieval import RetrievalTask
from litotes.evaluation.sugarcrepe import SugarCrepeTask
from litotes.scenes.evaluation import ScenesTask
from variants import Metrics, Tasks, Variant, joined, measured, row, table

CONTROL, INFONCE = "negatives=batch", ("cement.m_min=0.0", "cement.m_max=0.0")
NEGCLIP = ("negatives=text", "plant.choice=negclip", *INFONCE)
SHORT = ("count=5000", "fit.steps=150", "batch_size=32", "direction=false")
KEEP = "fit.preserve=30.0"


def short(name: str, *changes: str) -> Variant:
    """A variant of the sweep."""
    return Variant(name, "slipform-scenes", (*SHORT, *changes))


def chosen(choice: str, *changes: str) -> tuple[Variant, Variant]:
    """A way to choose keywords, with InfoNCE and with Cement."""
    plant = f"plant.choice={choice}"
    return (
        short(f"D_{choice}, InfoNCE", plant, *INFONCE),
        short(f"D_{choice}, Cement", plant),
    )


SWEEP = (
    Variant("base"),
    short("control: InfoNCE on the same captions", CONTROL),
    short("NegCLIP's recipe", *NEGCLIP),
    *chosen("hc"),
    *chosen("random"),
    *chosen("lc"),
    short(
        "D_random, fixed margin 2", "plant.choice=random", "cement.m_min=2.0", "cement.m_max=2.0"
    ),
    short("D_random, margins 0 to 8", "plant.choice=random", "cement.m_max=8.0"),
    short("D_random, margins 2 to 4", "plant.choice=random", "cement.m_min=2.0"),
    short("D_hc by visual strength, Cement", "plant.choice=hc", "plant.score=visual"),
    short("D_random by visual strength, Cement", "plant.choice=random", "plant.score=visual"),
    short("D_random, Cement, text alone", "plant.choice=random", "negatives=text"),
    short("D_random, Cement, preservation", "plant.choice=random", KEEP),
)
HEADLINES = {
    "scenes": (
        Variant("base"),
        Variant("control: InfoNCE", "slipform-scenes", (CONTROL,)),
        Variant("NegCLIP's recipe", "slipform-scenes", NEGCLIP),
        Variant("Slipform", "slipform-scenes"),
        Variant("Slipform, preservation", "slipform-scenes", (KEEP,)),
    ),
    "mini": (
        Variant("base"),
        Variant("control: InfoNCE", "slipform", (CONTROL,)),
        Variant("NegCLIP's recipe", "slipform", NEGCLIP),
        Variant("Slipform", "slipform"),
        Variant("Slipform, preservation", "slipform", (KEEP,)),
    ),
}
MEASURES = ("pairs", "winoground", "retrieval", "long retrieval", "classification")
_PAIRS = {
    f"{way} {what}": f"{way} {what}" if what == "object" else what
    for way in ("replace", "swap", "add")
    for what in ("object", "attribute", "relation")
}
SCENES_COLUMNS = {
    **_PAIRS,
    "winoground text": "Winoground text",
    "winoground image": "image",
    "winoground group": "group",
    "rSum": "plain rSum",
    "long rSum": "long rSum",
    "classification": "classification",
}
UNCOMMON_COLUMNS = {
    "uncommon replace object": "uncommon: replace object",
    "uncommon swap object": "swap object",
    "uncommon winoground group": "group",
    "uncommon rSum": "plain rSum",
}
MINI_COLUMNS = {
    **{
        f"pairs {split}": split.replace("_", " ")
        for split in (
            *("replace_obj", "replace_att", "replace_rel"),
            *("swap_obj", "swap_att", "add_obj", "add_att"),
        )
    },
    "pairs macro": "pairs macro",
    "retrieval rSum": "plain rSum",
    "long retrieval rSum": "long rSum",
    "cifar10 top-1": "CIFAR-10",
    "imagenet top-1": "ImageNet sample",
    "imagenet top-5": "top-5",
}


def main() -> None:
    """Train and measure what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("sweep", "headline"))
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--model", choices=("scenes", "mini"), default="scenes")
    parser.add_argument("--data", type=Path, help="folder that holds flickr8k, cifar10, …")
    parser.add_argument("--pairs", type=Path, help="folder of the frozen pairs")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--count", type=int, default=300, help="scenes of a measure")
    parser.add_argument("--into", type=Path, help="Markdown file with the markers")
    options = parser.parse_args()
    if options.what == "sweep":
        name, content = "slipform-sweep", sweep(options.runs, options.count)
    else:
        name, content = f"slipform-{options.model}-{options.split}", headline(options)
    if options.into:
        update_block(options.into, name, content)
    print(f"\n{content}")


def sweep(runs: Path, count: int) -> str:
    """The table of all parts."""
    rows = {}
    tasks = {"": ScenesTask("dev", count, measures=MEASURES)}
    for variant in SWEEP:
        rows[variant.name] = [measured(variant, runs / f"sweep-{variant.slug}", "dev", tasks)]
        print(row(variant.name, rows[variant.name], SCENES_COLUMNS), flush=True)
    return table(rows, SCENES_COLUMNS)


def headline(options: argparse.Namespace) -> str:
    """Base, controls and ours, each with all seeds."""
    model, split = options.model, options.split
    if model == "mini":
        tasks, columns = photograph_tasks(options.data, options.pairs, split), MINI_COLUMNS
    else:
        columns = SCENES_COLUMNS | UNCOMMON_COLUMNS
        tasks = {
            name: ScenesTask(split, options.count, uncommon=bool(name), measures=MEASURES)
            for name in ("", "uncommon")
        }
    rows: dict[str, list[Metrics]] = {variant.name: [] for variant in HEADLINES[model]}
    # All variants with one seed before the next.
    for seed in range(options.seeds):
        for variant in HEADLINES[model][bool(seed) :]:
            seeded = Variant(variant.name, variant.recipe, (*variant.changes, f"fit.seed={seed}"))
            run = options.runs / f"{model}-{variant.slug}-{seed}"
            flickr = options.data / "flickr8k" if model == "mini" else None
            rows[variant.name].append(measured(seeded, run, split, tasks, flickr, model))
            print(row(variant.name, rows[variant.name][-1:], columns), flush=True)
    return table(rows, columns)


def photograph_tasks(data: Path, pairs: Path, split: str) -> Tasks:
    """The frozen pairs, plain retrieval, and what else a photograph may be asked."""
    flickr = data / "flickr8k"
    retrieval = RetrievalTask.read(flickr, split)
    return {
        "pairs": SugarCrepeTask.read(pairs, flickr / "images"),
        "retrieval": retrieval,
        "long retrieval": joined(retrieval),
        "cifar10": ClassificationTask.read(data / "cifar10", "cifar10"),
        "imagenet": ClassificationTask.read(data / "imagenet_sample", "imagenet"),
    }


if __name__ == "__main__":
    main()
