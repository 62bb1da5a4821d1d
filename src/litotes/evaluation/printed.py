"""The papers' own figures, kept as data with their source: ``printed.toml``."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from litotes.data.problems import problems
from litotes.errors import DataError
from litotes.evaluation.record import Record

FILE = Path(__file__).with_name("printed.toml")

Named = Annotated[str, Field(min_length=1)]


class Source(BaseModel):
    """A paper.

    Attributes:
        arxiv: its number.
        title: as far as we know it.
        authors: the first one and the year.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{5}$")]
    title: Named
    authors: Named


@dataclass(frozen=True)
class Printed:
    """A figure as a paper prints it.

    Attributes:
        source: the paper.
        place: where in it, as far as we know.
        setting: what it was measured on, where that may differ from ours.
        task: as a record names it.
        splits: of the records' splits, shell patterns in lower case.
        metric: as a record names it.
        model: the paper's name of the model.
        method: what was done to the model, or its own name where nothing was.
        value: in per cent; of an rSum, the sum.
        patterns: record names of the model, as shell patterns in lower case.
    """

    source: Source
    place: str
    setting: str
    task: str
    splits: tuple[str, ...]
    metric: str
    model: str
    method: str
    value: float
    patterns: tuple[str, ...]

    @property
    def text(self) -> str:
        """The value with the two decimals that some papers give, or with one."""
        return f"{self.value:.2f}".removesuffix("0")

    @property
    def origin(self) -> str:
        """The paper, the place in it, and what was measured."""
        paper = f"arXiv {self.source.arxiv}, {self.source.authors}: {self.place}"
        return f"{paper} ({self.setting})" if self.setting else paper

    def is_of_task(self, record: Record) -> bool:
        """Whether a record is of this task, on data that the figure is of."""
        return self.task == record.task and _fits(record.split, self.splits)

    def is_of_model(self, record: Record) -> bool:
        """Whether a record is of this model; of a path, the last part is looked at."""
        return _fits(record.model.rsplit("/", 1)[-1], self.patterns)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: Named
    method: Named
    values: list[float]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: Named
    place: str = ""
    setting: str = ""
    task: Named
    splits: Annotated[list[Named], Field(min_length=1)] = ["*"]
    metrics: Annotated[list[Named], Field(min_length=1)]
    shares: bool = False
    rows: Annotated[list[_Row], Field(min_length=1)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sources: dict[str, Source]
    models: dict[str, list[Named]]
    tables: list[_Table]


def read_printed(file: Path) -> tuple[Printed, ...]:
    """Read tables of printed figures.

    Raises:
        DataError: missing or malformed; says where.
    """
    try:
        content = _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{file} is no TOML: {error}") from error
    except ValidationError as error:
        raise DataError(f"{file} holds no printed figures: {problems(error)}") from error
    return tuple(
        printed
        for number, table in enumerate(content.tables, 1)
        for printed in _figures(table, content, f"{file}, table {number}")
    )


@cache
def printed_figures() -> tuple[Printed, ...]:
    """All figures of ``printed.toml``."""
    return read_printed(FILE)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name.casefold(), pattern) for pattern in patterns)


def _figures(table: _Table, content: _File, place: str) -> list[Printed]:
    if table.source not in content.sources:
        raise DataError(f"{place}: there is no source {table.source!r} among [sources]")
    figures = []
    for row in table.rows:
        if row.model not in content.models:
            raise DataError(f"{place}: there is no model {row.model!r} among [models]")
        if len(row.values) != len(table.metrics):
            raise DataError(
                f"{place}, {row.method}: has {len(row.values)} values for "
                f"{len(table.metrics)} metrics"
            )
        figures += [
            Printed(
                source=content.sources[table.source],
                place=table.place,
                setting=table.setting,
                task=table.task,
                splits=tuple(p.casefold() for p in table.splits),
                metric=metric,
                model=row.model,
                method=row.method,
                value=100 * value if table.shares else value,
                patterns=tuple(p.casefold() for p in content.models[row.model]),
            )
            for metric, value in zip(table.metrics, row.values, strict=True)
        ]
    return figures
