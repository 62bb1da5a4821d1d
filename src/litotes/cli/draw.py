"""`litotes draw`: pictures of changed captions, by a text-to-image model."""

from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import Device, given_path, printable_path, resumable, shown_progress

NO_CHECKER = "none"


def draw(
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS.jsonl", parser=given_path, help="Captions with a word changed."
        ),
    ],
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="OUTDIR", parser=given_path, help="Where to write; made if it is not there."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Model: a name on the Hugging Face hub, or a folder, of a text-to-image pipeline "
            "of diffusers. The other defaults are SDXL-Turbo's.",
        ),
    ] = "stabilityai/sdxl-turbo",
    steps: Annotated[int, typer.Option(min=1, help="Steps of denoising.")] = 1,
    guidance: Annotated[
        float, typer.Option(min=0, help="Scale of classifier-free guidance; 0 for none.")
    ] = 0.0,
    size: Annotated[
        int, typer.Option(min=8, help="Side of the pictures in pixels, a multiple of 8.")
    ] = 512,
    batch_size: Annotated[int, typer.Option(min=1, help="Pictures drawn at once.")] = 8,
    seed: Annotated[int, typer.Option(help="Another seed, other pictures.")] = 0,
    safety_checker: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where the pipeline has no safety checker of its own, the one that judges its "
            f"pictures; '{NO_CHECKER}' for no judgement.",
        ),
    ] = "CompVis/stable-diffusion-safety-checker",
    device: Device = None,
) -> None:
    """Draw changed captions: pictures/, draw.log.json and pairs.jsonl, which names each picture.

    Captions with unsafe words and pictures that a safety checker flags are left out, and counted
    in the log. A run that was stopped goes on where it was when it is started again.
    """
    from litotes.data.concrete_pairs import read_concrete_pairs
    from litotes.mining.drawing import draw_pairs
    from litotes.mining.renderer import DiffusersRenderer

    # Before a model is fetched.
    count = len(read_concrete_pairs(pairs))
    renderer = DiffusersRenderer(
        model,
        device=device,
        steps=steps,
        guidance=guidance,
        size=size,
        safety_checker=None if safety_checker == NO_CHECKER else safety_checker,
    )
    with resumable(), shown_progress("drawn", count) as show:
        drawn = draw_pairs(
            pairs,
            folder,
            renderer,
            seed=seed,
            batch_size=batch_size,
            on_drawn=show,
        )
    typer.echo(f"drew {drawn.pictures:,} pictures in {printable_path(folder)}")
    for why, numbers in drawn.left_out.items():
        typer.echo(f"left out {len(numbers):,}: {why}")
