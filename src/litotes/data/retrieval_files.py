"""Captioned pictures from the files that people publish, all in one form.

==============  ===================================================================================
``negbench``    NegBench's retrieval CSV, plain or negated: ``filepath``, and ``captions`` as a
                Python list (arXiv 2501.09425)
``karpathy``    ``dataset_coco.json`` and ``dataset_flickr30k.json`` with Karpathy's splits;
                ``restval`` is part of ``train``
``coco``        COCO's own captions, such as ``captions_val2017.json``; or the folder that holds
                ``annotations/captions_*.json``, each of which is a split, such as ``val2017``
``urban1k``     a folder with ``image/`` and ``caption/``, files of the same stem
``sharegpt4v``  ShareGPT4V's JSON list; its first 1,000 are the test set by convention
``flickr``      ``Flickr8k.token.txt``, ``results_20130124.token``, Kaggle's ``captions.txt`` and
                ``results.csv``
``folder``      a ``.txt`` file for each picture, one caption a line
==============  ===================================================================================

A picture's path in a file is looked for below a folder of pictures: as it stands, else its longest
tail that is there, so that paths of another machine and other layouts are found.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from litotes.data.csv_files import read_rows
from litotes.data.images import find_images
from litotes.data.json_files import (
    place_of,
    read_first_items,
    read_json,
    read_json_and_text,
    read_text,
)
from litotes.errors import DataError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

SHAREGPT4V_TEST = 1000
VIDEO_SUFFIXES = frozenset({".mp4", ".avi", ".mov", ".mkv", ".webm", ".mpg", ".mpeg", ".m4v"})


class CaptionedPicture(NamedTuple):
    """A picture and what people said of it.

    Attributes:
        path: of the picture, which need not be there.
        captions: one or more, none empty, without white space at their ends.
        split: the part of its file that it is in; empty where a file has no parts.
    """

    path: Path
    captions: tuple[str, ...]
    split: str


class _Entry(NamedTuple):
    """A picture as a file speaks of it."""

    name: str
    captions: Sequence[str]
    split: str = ""


def read_pictures(kind: str, source: Path, images: Path | None = None) -> list[CaptionedPicture]:
    """Captioned pictures of a published file, in its order.

    A picture that stands in a file more than once has all its captions.

    Args:
        kind: one of :data:`KINDS`.
        source: the file, or the folder.
        images: folder of the pictures; by default :func:`image_folder`.

    Raises:
        DataError: missing or malformed (with line and column), of videos or X-rays, or two
            pictures of it would be one file below ``images``.
    """
    if kind not in KINDS:
        raise DataError(f"{kind!r} is no kind of file: it must be one of {', '.join(KINDS)}")
    images = images or image_folder(kind, source)
    pictures = _found(source, images, KINDS[kind](source, images))
    if not pictures:
        raise DataError(f"{source} holds no picture")
    return pictures


def pictures_of_split(
    source: Path, pictures: Sequence[CaptionedPicture], split: str
) -> list[CaptionedPicture]:
    """The pictures of a part of a file; of a file without parts all, which go by this name.

    Raises:
        DataError: the file has parts, but none of this name.
    """
    splits = sorted({picture.split for picture in pictures})
    if splits == [""]:
        return [picture._replace(split=split) for picture in pictures]
    if split not in splits:
        raise DataError(f"{source} has no split {split!r}: it has {', '.join(splits)}")
    return [picture for picture in pictures if picture.split == split]


def image_folder(kind: str, source: Path) -> Path:
    """Where the pictures are looked for if nothing is said: beside the file, or in the folder."""
    if kind == "coco" and source.is_dir():
        return source / "images" if (source / "images").is_dir() else source
    return {"urban1k": source / "image", "folder": source}.get(kind, source.parent)


def reroot(images: Path, name: str) -> Path:
    r"""A picture's place below a folder, by its path in a file of perhaps another machine.

    Args:
        images: the folder.
        name: relative or absolute path, with ``/`` or ``\`` between its parts.

    Returns:
        The longest tail of ``name`` that is a file below ``images``, or else where one should be.
    """
    pure = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = [part for part in pure.parts if part not in (pure.anchor, "..")]
    for start in range(len(parts)):
        path = images.joinpath(*parts[start:])
        if path.is_file():
            return path
    return images.joinpath(*(parts[-1:] if pure.anchor else parts))


def _found(source: Path, images: Path, entries: Iterable[_Entry]) -> list[CaptionedPicture]:
    names: dict[Path, str] = {}
    captions: dict[tuple[Path, str], list[str]] = {}
    for entry in entries:
        path = reroot(images, entry.name)
        # A folder without the parts of the path that tell two pictures apart would mix them up.
        if names.setdefault(path, entry.name) != entry.name:
            raise DataError(
                f"{source}: {names[path]!r} and {entry.name!r} would both be {path}: "
                f"give the folder of pictures that these paths start from"
            )
        captions.setdefault((path, entry.split), []).extend(entry.captions)
    return [CaptionedPicture(path, tuple(c), split) for (path, split), c in captions.items()]


def _negbench(source: Path, images: Path) -> Iterator[_Entry]:
    name = source.name.lower()
    if "chexpert" in name:
        raise DataError(f"{source} is of chest X-rays (CheXpert): only photographs are measured")
    if re.search("msr.?vtt", name):
        raise DataError(f"{source} is of videos (MSR-VTT): only photographs are measured")
    for line, row in read_rows(source, ("filepath", "captions"), partial(_refuse_choice, source)):
        path = row["filepath"].strip()
        if PurePosixPath(path).suffix.lower() in VIDEO_SUFFIXES:
            raise DataError(
                f"{source}, line {line}, column 'filepath': {path!r} is a video: "
                f"only photographs are measured"
            )
        yield _Entry(path, _caption_list(f"{source}, line {line}, column 'captions'", row))


def _refuse_choice(source: Path, names: Sequence[str]) -> None:
    if "correct_answer" in names:
        raise DataError(
            f"{source} is of multiple choice: measure it by `litotes eval negbench-mcq={source}`"
        )


def _caption_list(place: str, row: Mapping[str, str]) -> list[str]:
    """The captions of a NegBench row.

    Their own program runs the list as Python; here nothing but a literal is taken.
    """
    wanted = "a Python list of captions, such as ['a dog', 'a brown dog']"
    try:
        captions = ast.literal_eval(row["captions"].strip())
    except SyntaxError as error:
        raise DataError(
            f"{place}: must be {wanted}: {error.msg} at its character {error.offset}"
        ) from error
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise DataError(f"{place}: must be {wanted}") from error
    texts = captions if isinstance(captions, list | tuple) else ()
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise DataError(f"{place}: must be {wanted}, at least one and none of them empty")
    return [text.strip() for text in texts]


class _Sentence(BaseModel):
    raw: Text


class _KarpathyImage(BaseModel):
    filename: Text
    filepath: str = ""
    split: Text
    sentences: list[_Sentence] = Field(min_length=1)


class _Karpathy(BaseModel):
    images: list[_KarpathyImage]


def _karpathy(source: Path, images: Path) -> Iterator[_Entry]:
    for image in read_json(source, TypeAdapter(_Karpathy)).images:
        split = "train" if image.split == "restval" else image.split
        path = str(PurePosixPath(image.filepath, image.filename))
        yield _Entry(path, [sentence.raw for sentence in image.sentences], split)


class _CocoImage(BaseModel):
    id: int
    file_name: Text


class _CocoAnnotation(BaseModel):
    image_id: int
    caption: Text


class _Coco(BaseModel):
    images: list[_CocoImage]
    annotations: list[_CocoAnnotation]


def _coco(source: Path, images: Path) -> Iterator[_Entry]:
    if not source.is_dir():
        yield from _coco_file(source)
        return
    files = sorted((source / "annotations").glob("captions_*.json"))
    if not files:
        raise DataError(f"{source} has no annotations/captions_*.json, such as COCO's are")
    for file in files:
        split = file.stem.removeprefix("captions_")
        for entry in _coco_file(file):
            # Its pictures lie in a folder of that name.
            yield entry._replace(name=f"{split}/{entry.name}", split=split)


def _coco_file(source: Path) -> Iterator[_Entry]:
    data, text = read_json_and_text(source, TypeAdapter(_Coco))
    captions: dict[int, list[str]] = {image.id: [] for image in data.images}
    if len(captions) < len(data.images):
        ids = [image.id for image in data.images]
        second = next(i for i, one in enumerate(ids) if one in ids[:i])
        place = place_of(text, ("images", second))
        raise DataError(f"{source}, {place}: the image {ids[second]} stands there twice")
    for i, annotation in enumerate(data.annotations):
        if annotation.image_id not in captions:
            place = place_of(text, ("annotations", i, "image_id"))
            raise DataError(f"{source}, {place}: there is no image {annotation.image_id}")
        captions[annotation.image_id].append(annotation.caption)
    for i, image in enumerate(data.images):
        if not captions[image.id]:
            place = place_of(text, ("images", i))
            raise DataError(f"{source}, {place}: the image {image.id} has no caption")
        yield _Entry(image.file_name, captions[image.id])


class _Turn(BaseModel):
    speaker: str = Field(alias="from")
    value: str


class _Conversation(BaseModel):
    image: Text
    conversations: list[_Turn]


def _sharegpt4v(source: Path, images: Path) -> Iterator[_Entry]:
    # As Long-CLIP's evaluation reads it (arXiv 2403.15378): line breaks are spaces.
    items, text = read_first_items(source, SHAREGPT4V_TEST, TypeAdapter(list[_Conversation]))
    for i, item in enumerate(items):
        said = next((turn.value for turn in item.conversations if turn.speaker == "gpt"), "")
        caption = said.replace("\n", " ").strip()
        if not caption:
            place = place_of(text, (i, "conversations"))
            raise DataError(f"{source}, {place}: needs a turn from 'gpt', which is the caption")
        yield _Entry(item.image, [caption], "test")


def _urban1k(source: Path, images: Path) -> Iterator[_Entry]:
    # As Long-CLIP's evaluation reads it (arXiv 2403.15378): the first line of each file.
    texts = source / "caption"
    entries = [entry._replace(captions=entry.captions[:1]) for entry in _folder(texts, images)]
    stems = {PurePosixPath(entry.name).stem for entry in entries}
    if alone := sorted(file.name for file in texts.glob("[!.]*.txt") if file.stem not in stems):
        raise DataError(f"{texts / alone[0]} has no picture in {images} ({len(alone)} have none)")
    return iter(entries)


def _folder(source: Path, images: Path) -> Iterator[_Entry]:
    names = [path.relative_to(images) for path in find_images(images)]
    files = {name: source / name.with_suffix(".txt") for name in names}
    if missing := [name for name, file in files.items() if not file.is_file()]:
        raise DataError(
            f"{len(missing)} of {len(names)} pictures have no caption; the first is "
            f"{images / missing[0]}, which needs {files[missing[0]]}"
        )
    for name, file in files.items():
        captions = [line.strip() for line in read_text(file).split("\n") if line.strip()]
        if not captions:
            raise DataError(f"{file}, line 1, column 1: is empty; it must hold a caption a line")
        yield _Entry(name.as_posix(), captions)


def _flickr(source: Path, images: Path) -> Iterator[_Entry]:
    splits = _flickr8k_splits(source.parent)
    lines = read_text(source).split("\n")
    head = "".join(lines[0].split())
    if head == "image,caption":
        found = _kaggle(source)
    elif head == "image_name|comment_number|comment":
        found = _kaggle_30k(source, lines)
    else:
        found = _tokens(source, lines)
    for name, caption in found:
        # Of Flickr8k's 8,091 pictures, 91 are in no split.
        yield _Entry(name, [caption], splits.get(name, "unlisted") if splits else "")


def _flickr8k_splits(folder: Path) -> dict[str, str]:
    """Of each picture its split, if the lists of Flickr8k lie there."""
    files = {part: folder / f"Flickr_8k.{part}Images.txt" for part in ("train", "dev", "test")}
    return {
        name.strip(): part
        for part, file in files.items()
        if file.is_file()
        for name in read_text(file).split("\n")
        if name.strip()
    }


def _kaggle(source: Path) -> Iterator[tuple[str, str]]:
    for _, row in read_rows(source, ("image", "caption")):
        yield row["image"].strip(), row["caption"].strip()


def _kaggle_30k(source: Path, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        # In one line of the published file there is no bar behind the number.
        found = re.fullmatch(r"([^|]*\S)\s*\|\s*\d+(?:\s*\||\s)\s*(.*\S)\s*", line)
        if found is None:
            raise DataError(
                f"{source}, line {number}: must be the picture's name, a number and the caption, "
                f"with | between them"
            )
        yield found[1].strip(), found[2]


def _tokens(source: Path, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        key, _, caption = line.partition("\t")
        name, _, rank = key.rpartition("#")
        if not name or not rank.strip().isdecimal() or not caption.strip():
            column = len(key) + 1 if name and rank.strip().isdecimal() else 1
            raise DataError(
                f"{source}, line {number}, column {column}: a line must be the picture's name, "
                f"'#', a number, a tab, and the caption"
            )
        yield name, caption.strip()


KINDS: Mapping[str, Callable[[Path, Path], Iterator[_Entry]]] = {
    "negbench": _negbench,
    "karpathy": _karpathy,
    "coco": _coco,
    "urban1k": _urban1k,
    "sharegpt4v": _sharegpt4v,
    "flickr": _flickr,
    "folder": _folder,
}
"""What reads each kind of file."""
