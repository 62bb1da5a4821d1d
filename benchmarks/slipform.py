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

from litotes.evaluation.sugarcrepe import SugarCrepeTask
from litotes.scenes.evaluation import ScenesTask
from variants import (
    PHOTOGRAPH_COLUMNS,
    Columns,
    Study,
    Tasks,
    Variant,
    photograph_tasks,
    scenes_tasks,
    swept,
)

CONTROL, INFONCE = "negatives=batch", ("cement.m_min=0.0", "cement.m_max=0.0")
NEGCLIP = ("negatives=text", "plant.choice=negclip", *INFONCE)
ALL = 'plant.kinds=["object", "attribute", "relation"]'
SHORT = ("count=7200", "fit.steps=150", "direction=false", ALL)
KEEP = "fit.preserve=30.0"
LONG = ("count=96000", "batch_size=24", "fit.steps=4000")


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
    short("D_random, fixed margin 3", "cement.m_min=3.0", "cement.m_max=3.0"),
    short("D_random, margins 0 to 4", "cement.m_min=0.0"),
    short("D_random, margins 0 to 8", "cement.m_min=0.0", "cement.m_max=8.0"),
    short("D_hc by visual strength, Cement", "plant.choice=hc", "plant.score=visual"),
    short("D_random by visual strength, Cement", "plant.score=visual"),
    short("D_random, Cement, text alone", "negatives=text"),
    short("D_random, Cement, preservation", KEEP),
    short("D_random, Cement, no relations", 'plant.kinds=["object", "attribute"]'),
)
HEADLINES = {
    "scenes": (
        Variant("base"),
        Variant("control: InfoNCE", "slipform-scenes", (CONTROL,)),
        Variant("NegCLIP's recipe", "slipform-scenes", NEGCLIP),
        Variant("Slipform", "slipform-scenes"),
        Variant("Slipform, preservation", "slipform-scenes", (KEEP,)),
        Variant("Slipform, four times as long", "slipform-scenes", LONG, once=True),
    ),
    "mini": (
        Variant("base"),
        Variant("control: InfoNCE", "slipform", (CONTROL,)),
        Variant("NegCLIP's recipe", "slipform", NEGCLIP),
        Variant("Slipform", "slipform"),
        Variant("Slipform, preservation", "slipform", (KEEP,)),
    ),
}
MEASURES = (
    *("pairs", "winoground", "retrieval", "long retrieval"),
    *("classification", "linear probe"),
)
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
    "linear probe": "linear probe",
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
    **PHOTOGRAPH_COLUMNS,
}


def main() -> None:
    """Train and measure what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=Path, help="folder of the frozen pairs")
    Study("slipform", HEADLINES, sweep, measures).run(parser)


def sweep(runs: Path, count: int) -> str:
    """The table of all parts; a linear probe would take as long as all else."""
    columns = {name: title for name, title in SCENES_COLUMNS.items() if name != "linear probe"}
    task = ScenesTask("dev", count, measures=tuple(m for m in MEASURES if m != "linear probe"))
    return swept(SWEEP, runs, task, columns)


def measures(options: argparse.Namespace) -> tuple[Tasks, Columns]:
    """The frozen pairs and what else a photograph may be asked; or pairs of scenes."""
    if options.model == "scenes":
        return scenes_tasks(options, MEASURES), SCENES_COLUMNS | UNCOMMON_COLUMNS
    pairs = SugarCrepeTask.read(options.pairs, options.data / "flickr8k" / "images")
    return {"pairs": pairs, **photograph_tasks(options.data, options.split)}, MINI_COLUMNS


if __name__ == "__main__":
    main()
