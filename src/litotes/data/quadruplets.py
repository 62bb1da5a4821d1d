"""Files of quadruplets, and of contrasts: JSON objects, one a line.

A quadruplet (arXiv 2606.23843) is a photograph with its caption, the same said with a negation, and
a negated caption that is false. A contrast is a photograph with statements that are true of it and
false ones in the same words.
"""

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from litotes.data.json_lines import read_lines

_Text = Annotated[str, Field(min_length=1)]
_FORM = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_FORM)
class Quadruplet:
    """A photograph and three captions of it.

    Attributes:
        image: path, relative to the folder of the photographs.
        positive: a true caption.
        negated_positive: the same, said with the help of a negation; as true.
        negative: false, as it denies something that is there.
        kind: what was denied: object, attribute, action or relation; or where it is from.
    """

    image: _Text
    positive: _Text
    negated_positive: _Text
    negative: _Text
    kind: str = ""


@dataclass(frozen=True, config=_FORM)
class Contrast:
    """A photograph, statements that are true of it, and as many false ones.

    Statements at the same place differ in what they affirm or deny, and in nothing else.

    Attributes:
        image: path, relative to the folder of the photographs.
        true: statements.
        false: statements.
    """

    image: _Text
    true: Annotated[tuple[_Text, ...], Field(min_length=1)]
    false: Annotated[tuple[_Text, ...], Field(min_length=1)]


def read_quadruplets(file: Path) -> list[Quadruplet]:
    """Quadruplets from a file.

    Raises:
        DataError: missing, empty or malformed; says the line, and the column or field.
    """
    return read_lines(file, TypeAdapter(Quadruplet))


def read_contrasts(file: Path) -> list[Contrast]:
    """Contrasts from a file; raises as :func:`read_quadruplets`."""
    return read_lines(file, TypeAdapter(Contrast))
