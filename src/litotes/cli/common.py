"""What several commands share: options, and text that is safe to print."""

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.search import ModelSpec

DEFAULT_MODEL = "mini"

StrategyName = StrEnum("StrategyName", "plain steer subtract subspace deo calibrated default")
"""As :mod:`litotes.strategies` knows them, which is slow to load."""


def given_path(text: str | os.PathLike[str]) -> Path:
    """Parse a path. An empty one, as an unset variable leaves it, would be the current folder."""
    if not os.fspath(text):
        raise typer.BadParameter("the path is empty")
    return Path(text)


def given_folder(text: str | os.PathLike[str]) -> Path:
    """As :func:`given_path`, of a folder that is there."""
    path = given_path(text)
    if not path.is_dir():
        raise typer.BadParameter(f"there is no folder {printable_path(path)!r}")
    return path


def given_file(text: str | os.PathLike[str]) -> Path:
    """As :func:`given_path`, of a file that is there."""
    path = given_path(text)
    if not path.exists() or path.is_dir():
        raise typer.BadParameter(f"there is no file {printable_path(path)!r}")
    return path


def given_target(text: str | os.PathLike[str]) -> Path:
    """As :func:`given_path`, of a file to be written, so that no work is done for nothing."""
    path = given_path(text)
    if path.is_dir():
        raise typer.BadParameter(f"{printable_path(path)!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {printable_path(path.parent)!r}")
    return path


def write_named(place: str | os.PathLike[str], content: bytes | str) -> None:
    """Write the file that an option names; one that cannot be written is wrong usage."""
    from litotes.data.files import write_atomically

    try:
        write_atomically(place, content)
    except OSError as error:
        raise typer.BadParameter(f"{place}: cannot be written ({error.strerror})") from error


PhotoFolder = Annotated[
    Path, typer.Argument(parser=given_folder, metavar="DIR", help="A folder of photos.")
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model: mini, scenes, an open_clip architecture, a file, a folder or a name on the "
        "Hugging Face hub.  "
        f"[default: {DEFAULT_MODEL}, or the index's own]",
        show_default=False,
    ),
]
Pretrained = Annotated[
    str | None,
    typer.Option("--pretrained", metavar="TAG|FILE", help="Weights of an open_clip architecture."),
]
Adapter = Annotated[
    Path | None,
    typer.Option(
        "--adapter",
        parser=given_path,
        metavar="NAME|PATH[+…]",
        help="LoRA adapter: one that ships, or its folder; A+B adds two up.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option("--device", help="Where to compute, such as cpu or cuda.  [default: a GPU]"),
]
IndexPlace = Annotated[
    Path | None,
    typer.Option(
        "--index",
        parser=given_path,
        metavar="PATH",
        help="Where the index lies.  [default: DIR/.litotes]",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def printable(text: str) -> str:
    """Text without what could steer a terminal; such characters are shown as escapes."""
    return "".join(
        char
        if char.isprintable() or char == "\n" or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode()
        for char in text
    )


def printable_path(path: str | os.PathLike[str]) -> str:
    """A path on one line; see :func:`printable`."""
    return printable(os.fspath(path)).replace("\n", "\\n")


def print_json(document: Any) -> None:
    """One JSON document on stdout, in ASCII: file names need not be valid text."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


@contextmanager
def resumable() -> Iterator[None]:
    """Of work that is kept when it is stopped by Ctrl-C: says so."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped; what is done is kept, and the same command goes on there", err=True)
        raise


@contextmanager
def shown_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar at a terminal; gives what is to be told how many are done."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def choose_model(
    stored: "ModelSpec | None", name: str | None, pretrained: str | None, adapter: Path | None
) -> "ModelSpec":
    """The model that options ask for; what they leave open is as in the index, if there is one.

    Files and folders are named by their absolute path, as the choice is kept in the index.
    """
    from litotes.search import ModelSpec

    if name is not None or stored is None:
        spec = ModelSpec(_absolute(name or DEFAULT_MODEL))
    else:
        spec = stored
    if pretrained is not None:
        spec = replace(spec, pretrained=_absolute(pretrained))
    if adapter is not None:
        spec = replace(spec, adapter=_adapter(adapter))
    return spec


def load_named(
    name: str, pretrained: str | None, adapter: Path | None, device: str | None
) -> "DualEncoder":
    """The encoder that options ask for where there is no index, whose store is slow to load."""
    from litotes.backbones.registry import load

    return load(
        _absolute(name),
        None if pretrained is None else _absolute(pretrained),
        adapter=None if adapter is None else _adapter(adapter),
        device=device,
    )


def load_model(spec: "ModelSpec", device: str | None) -> "DualEncoder":
    """The encoder that a choice names."""
    from litotes.backbones.registry import load

    return load(spec.name, spec.pretrained, adapter=spec.adapter, device=device)


def _adapter(adapter: Path) -> str:
    from litotes.backbones.adapters import adapter_names, bundled_adapters

    shipped = bundled_adapters()
    return "+".join(name if name in shipped else _absolute(name) for name in adapter_names(adapter))


def _absolute(name: str) -> str:
    path = Path(name).expanduser()
    return str(path.absolute()) if path.exists() else name
