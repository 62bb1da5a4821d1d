"""`litotes gradients`: how much of a contrastive gradient hard negatives carry."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from litotes.cli.common import (
    DEFAULT_MODEL,
    Adapter,
    AsJson,
    Device,
    ModelName,
    Pretrained,
    given_folder,
    given_path,
    given_target,
    load_named,
    print_json,
    printable,
)

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.evaluation.gradients import PairVectors, Share

TEMPERATURE = 0.01
NOTE = (
    "Per cent of the gradient on positives that hard negatives carry; easy ones carry the rest.\n"
    "In brackets 95 % intervals, over batches."
)


def gradients(
    pairs: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PAIRS.jsonl]",
            parser=given_path,
            help="Captions with a word changed, as `litotes plant` writes them.  "
            "[default: drawn scenes]",
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            parser=given_folder,
            metavar="DIR",
            help="Folder of the photographs.  [default: images/ beside the file]",
        ),
    ] = None,
    sizes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Batch sizes.")
    ] = "64,128,256,512,1024,2048",
    m_min: Annotated[
        float, typer.Option(help="Cement's margin of abstract keywords, in logits.")
    ] = 2.0,
    m_max: Annotated[
        float, typer.Option(help="Cement's margin of concrete keywords, in logits.")
    ] = 4.0,
    temperature: Annotated[
        float | None,
        typer.Option(min=1e-4, help=f"τ.  [default: the model's own, or else {TEMPERATURE}]"),
    ] = None,
    draws: Annotated[int, typer.Option(min=2, help="Batches of each size.")] = 10,
    count: Annotated[int, typer.Option("-n", "--count", min=4, help="How many scenes.")] = 4096,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn by lot.")] = 0,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    plot: Annotated[
        Path | None, typer.Option(parser=given_target, help="Plot the shares there, .svg or .png.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            parser=given_target,
            help="Put the table into this Markdown file, between its markers, gradients-MODEL.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure which share of the gradient on positives hard negatives carry, and which easy ones.

    InfoNCE against Cement loss (arXiv 2604.13313), by batch size, from a model's similarities.
    Without --model, scenes are measured with the model scenes, all else with mini.
    """
    asked = _sizes(sizes)
    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise typer.BadParameter("its name must end in .svg or .png", param_hint="--plot")
    from litotes.evaluation.gradients import gradient_shares, markdown_shares
    from litotes.losses.cement import CementLoss

    name = model or ("scenes" if pairs is None else DEFAULT_MODEL)
    encoder = load_named(name, pretrained, adapter, device)
    vectors = _vectors(encoder, pairs, images, count, seed)
    temperature = temperature or _temperature(encoder)
    objectives = {
        "InfoNCE": CementLoss(m_min=0, m_max=0, temperature=temperature),
        "Cement": CementLoss(m_min=m_min, m_max=m_max, temperature=temperature),
    }
    shares = gradient_shares(vectors, objectives, asked, draws, seed)
    if left_out := [f"{size:,}" for size in asked if size > len(vectors)]:
        few = f"there are {len(vectors):,} pictures: no batches of {', '.join(left_out)}"
        typer.echo(few, err=True)
    if plot is not None:
        from litotes.evaluation.plots import plot_gradients

        plot_gradients(shares, plot)
    if into is not None:
        from litotes.evaluation.report import update_block

        update_block(into, f"gradients-{name}", markdown_shares(shares))
    settings = {"temperature": temperature, "m_min": m_min, "m_max": m_max, "draws": draws}
    if as_json:
        print_json(_document(encoder, vectors, settings, shares))
    else:
        _show(encoder, vectors, settings, shares)


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 2:
        raise typer.BadParameter("write whole numbers from 2, such as 64,256", param_hint="--sizes")
    return sizes


def _vectors(
    encoder: "DualEncoder", pairs: Path | None, images: Path | None, count: int, seed: int
) -> "PairVectors":
    if pairs is None:
        from litotes.scenes.gradients import scene_vectors

        return scene_vectors(encoder, count, seed)
    from litotes.data.concrete_pairs import read_concrete_pairs
    from litotes.evaluation.gradients import PairVectors

    folder = pairs.parent
    read = read_concrete_pairs(pairs)
    return PairVectors.of(encoder, read, images or folder / "images", folder, seed)


def _temperature(encoder: "DualEncoder") -> float:
    """What a model learned to divide cosines by."""
    scale: Any = getattr(encoder.model, "logit_scale", None)
    return TEMPERATURE if scale is None else float((-scale).exp())


def _document(
    encoder: "DualEncoder",
    vectors: "PairVectors",
    settings: dict[str, float],
    shares: "list[Share]",
) -> dict[str, Any]:
    return {
        "model": printable(encoder.label),
        "pictures": len(vectors),
        **settings,
        "shares": [
            {
                "objective": share.objective,
                "rows": share.rows,
                "batch_size": share.batch_size,
                "hard": share.hard.model_dump(),
                "easy": 1 - share.hard.value,
            }
            for share in shares
        ],
    }


def _show(
    encoder: "DualEncoder",
    vectors: "PairVectors",
    settings: dict[str, float],
    shares: "list[Share]",
) -> None:
    from rich.console import Console
    from rich.text import Text

    from litotes.evaluation.gradients import share_table

    told = ", ".join(f"{name} = {value:.3g}" for name, value in settings.items())
    title = f"{printable(encoder.label)}, {len(vectors):,} pictures, {told}"
    table = Table(box=None, header_style="bold")
    headings, *lines = share_table(shares)
    for heading in headings:
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(*line)
    console = Console()
    console.print(Text(title, "bold"), table, Text(NOTE, "dim"), sep="\n")
