"""Files of captions with a concrete word changed: JSON objects, one a line (arXiv 2604.13313)."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from litotes.data.json_lines import read_lines

KeywordKind: TypeAlias = Literal["object", "attribute", "action", "relation", "count"]
KEYWORD_KINDS: tuple[KeywordKind, ...] = get_args(KeywordKind)
Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class ConcretePair:
    """A photograph with its caption, and the caption with one keyword changed, so that it is false.

    Attributes:
        image: path, relative to the folder of the photographs.
        caption: true of the photograph.
        changed: false of it; the same but for the keyword.
        keyword: the words of the caption that were changed.
        replacement: what stands in their place.
        kind: what the keyword names.
        way: "replace", or "swap" where two parts of the caption changed places.
        score: how concrete the keyword is, 1 (abstract) to 5.
        source: where the score is from, such as "word", "phrase" or "lemma".
        picture: path of a picture of the changed caption, relative to the file, if there is one.
    """

    image: Text
    caption: Text
    changed: Text
    keyword: Text
    replacement: Text
    kind: KeywordKind
    way: Literal["replace", "swap"]
    score: Annotated[float, Field(ge=1, le=5)]
    source: Text
    picture: str = ""


def read_concrete_pairs(file: Path) -> list[ConcretePair]:
    """Pairs from a file.

    Raises:
        DataError: missing, empty or malformed; says the line, and the column or field.
    """
    return read_lines(file, TypeAdapter(ConcretePair))
