"""`PhotoIndex`: a folder of photos that can be searched in words."""

import math
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from litotes import strategies
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.registry import load
from litotes.errors import PhotoIndexError
from litotes.language import Query, parse
from litotes.search.build import Builder, Folder, IndexReport, progress_bar
from litotes.search.store import (
    FOLDER_NAME,
    IndexInfo,
    ModelSpec,
    Store,
    errors,
    locked,
    to_numpy,
)
from litotes.strategies import ByVector, Images, Strategy

PathLike = str | os.PathLike[str]

#: Photos that a strategy's scores judge: so many at least, and so many for each that is asked for.
CANDIDATES = 300
CANDIDATES_A_RESULT = 5
#: Photos that tell how an index is made up; with so few or fewer, all of them.
SAMPLE = 2048


@dataclass(frozen=True, slots=True)
class Result:
    """A photo that a search found.

    Attributes:
        rank: 1 is the best.
        path: of the file, below the folder as it was given.
        score: cosine similarity of photo and query, or by :class:`litotes.strategies.Calibrated`
            how probably the photo shows what is asked for and nothing that is excluded.
        width, height: pixels, of the picture held upright.
    """

    rank: int
    path: Path
    score: float
    width: int
    height: int


class PhotoIndex:
    """The vectors of a folder of photos, kept on disk in ``<folder>/.litotes``.

    Searches are exact: every vector is compared. The index is bound to the image side of the
    encoder that made it, and works with any text side: steered, or with a text adapter.

    Args:
        folder: the photos.
        store: the index's table.
        encoder: what reads queries; by default the model the index was made with, which is
            loaded at the first search in words.
    """

    def __init__(self, folder: Path, store: Store, encoder: DualEncoder | None = None) -> None:
        self.folder = folder
        self._store = store
        self._sampled: tuple[int, Images] | None = None
        if encoder is not None:
            self.encoder = encoder

    @classmethod
    def build(
        cls,
        folder: PathLike,
        encoder: DualEncoder,
        *,
        location: PathLike | None = None,
        model: ModelSpec | None = None,
        rebuild: bool = False,
        batch_size: int = 32,
        progress: bool | None = None,
    ) -> IndexReport:
        """Index a folder, or bring its index up to date.

        May be killed at any moment and run again: it goes on where it was.

        Args:
            folder: the photos, in it and in the folders below.
            encoder: the model.
            location: where the index lies; by default ``<folder>/.litotes``.
            model: how ``encoder`` is loaded again for searches; by default by its name
                and its adapter's.
            rebuild: start from an empty index. After a kill, go on without it.
            batch_size: pictures encoded at once.
            progress: show a progress bar; by default at a terminal.

        Raises:
            DataError: ``folder`` is not a folder that can be read.
            PhotoIndexError: there is no picture in it; the index was made by another image
                encoder, is being written by another process, or cannot be written.
        """
        root, place = Path(folder), _place(folder, location)
        with progress_bar(progress) as bar:
            looking = bar.add_task("Looking for pictures", total=None)
            photos = Folder(root)
            bar.remove_task(looking)
            with locked(place):
                store = None if rebuild else Store.open(place)
                if store is None:
                    spec = model or _spec_of(encoder)
                    store = Store.create(
                        place, IndexInfo(encoder.image_fingerprint, encoder.dim, spec)
                    )
                _check_encoder(store, encoder, root, location, model)
                if model is not None and model != store.info.model:
                    store.remember(model)
                return Builder(store, encoder, photos, batch_size, bar).run()

    @classmethod
    def open(
        cls,
        folder: PathLike,
        encoder: DualEncoder | None = None,
        *,
        location: PathLike | None = None,
        model: ModelSpec | None = None,
    ) -> Self:
        """The index of a folder, for searching.

        Args:
            folder: the photos.
            encoder: what reads queries; by default the model the index was made with.
            location: where the index lies; by default ``<folder>/.litotes``.
            model: how ``encoder`` was loaded, for the advice in an error.

        Raises:
            PhotoIndexError: there is none, or another image encoder made it.
        """
        root, place = Path(folder), _place(folder, location)
        store = Store.open(place)
        if store is None:
            raise PhotoIndexError(
                f"{root}: has no photo index at {place}; make one: "
                f"{_command(root, location, model)}"
            )
        if encoder is not None:
            _check_encoder(store, encoder, root, location, model)
        return cls(root, store, encoder)

    @property
    def model(self) -> ModelSpec:
        """The model the index was last made or updated with."""
        return self._store.info.model

    @property
    def dim(self) -> int:
        """Length of the vectors."""
        return self._store.info.dim

    @cached_property
    def encoder(self) -> DualEncoder:
        """What reads queries."""
        model = self.model
        encoder = load(model.name, model.pretrained, adapter=model.adapter)
        _check_encoder(self._store, encoder, self.folder, self._store.location, model)
        return encoder

    def __len__(self) -> int:
        """Photos in the index."""
        return int(self._fresh().table.count_rows())

    def vectors(self, batch_size: int = 4096) -> Iterator[tuple[list[Path], NDArray[np.float32]]]:
        """Paths and unit vectors ``(B, d)`` of all photos, a batch at a time, in no set order."""
        query = self._fresh().table.search().select(["path", "vector"])
        for batch in query.to_batches(batch_size):
            paths = [self._full(path) for path in batch["path"].to_pylist()]
            yield paths, to_numpy(batch["vector"])

    def search(
        self, query: str | Query, k: int = 10, strategy: str | Strategy = "default"
    ) -> list[Result]:
        """The photos nearest to what a sentence asks for.

        Args:
            query: a sentence, or one taken apart.
            k: how many.
            strategy: how "not" is answered: a name, or one made to measure; see
                :mod:`litotes.strategies`.

        Raises:
            LitotesError: there is no such strategy, or the index is empty.
            ValueError: ``k`` is below 1.
        """
        if isinstance(query, str):
            query = parse(query)
        if isinstance(strategy, str):
            strategy = strategies.get(strategy, self.encoder.name)
        if isinstance(strategy, ByVector) or not query.is_negated:
            return self.search_vector(strategy.vectors([query], self.encoder)[0], k)
        return self._judged(query, k, strategy)

    def search_vector(self, vector: ArrayLike, k: int = 10) -> list[Result]:
        """The photos of largest cosine similarity with a vector ``(d,)``; of equals, by path.

        Raises:
            PhotoIndexError: the index is empty.
            ValueError: ``k`` is below 1, or the vector has another length, is zero or not finite.
        """
        _check_count(k)
        direction = _unit(vector, self.dim)
        rows = self._nearest(direction, min(k, self._photos()))
        return self._results((row, 1.0 - row["_distance"]) for row in rows)

    def _judged(self, query: Query, k: int, strategy: Strategy) -> list[Result]:
        """The best of the candidates that a strategy's vector finds, by its scores."""
        _check_count(k)
        vector = strategy.vectors([query], self.encoder)[0].numpy()
        limit = min(max(CANDIDATES, CANDIDATES_A_RESULT * k), self._photos())
        rows = self._scan(vector, limit, "vector")
        candidates = Images(torch.from_numpy(to_numpy(rows["vector"]).copy()), self._sample())
        scores = strategy.scores([query], self.encoder, candidates)[0]
        records = rows.drop_columns(["vector"]).to_pylist()
        judged = sorted(
            zip(records, scores.tolist(), strict=True), key=lambda one: (-one[1], one[0]["path"])
        )
        return self._results((row, math.exp(score)) for row, score in judged[:k])

    def _sample(self) -> Images:
        """Photos drawn by lot, which tell how alike photos of this index are to a text."""
        store = self._fresh()
        version = store.table.version
        if self._sampled is None or self._sampled[0] != version:
            ids = store.read("_rowid")["_rowid"].to_numpy()
            if len(ids) > SAMPLE:
                ids = np.random.default_rng(0).choice(np.sort(ids), SAMPLE, replace=False)
            vectors = to_numpy(store.take(ids.tolist(), "vector")["vector"])
            self._sampled = version, Images(torch.from_numpy(vectors.copy()))
        return self._sampled[1]

    def _photos(self) -> int:
        photos = len(self)
        if not photos:
            raise PhotoIndexError(f"{self.folder}: the photo index is empty")
        return photos

    def _results(self, scored: Iterable[tuple[dict[str, Any], float]]) -> list[Result]:
        return [
            Result(rank, self._full(row["path"]), score, row["width"], row["height"])
            for rank, (row, score) in enumerate(scored, start=1)
        ]

    def _nearest(self, vector: NDArray[np.float32], k: int) -> list[dict[str, Any]]:
        """The ``k`` nearest rows. Ever more are asked for until none can tie with the last."""
        limit = k + 1
        while True:
            rows = self._scan(vector, limit)
            distances = rows["_distance"].to_numpy()
            if len(distances) < limit or distances[-1] > distances[k - 1]:
                order = rows.sort_by([("_distance", "ascending"), ("path", "ascending")])
                best: list[dict[str, Any]] = order.slice(0, k).to_pylist()
                return best
            limit *= 4

    def _scan(self, vector: NDArray[np.float32], limit: int, *more: str) -> Any:
        try:
            return self._fresh().nearest(vector, limit, *more)
        # An indexing run may just have tidied the files away that this search was reading.
        except (OSError, RuntimeError, ValueError):
            with errors(self._store.location, "read"):
                return self._fresh().nearest(vector, limit, *more)

    def _fresh(self) -> Store:
        """The table as it is now, which another process may have changed."""
        store = Store.open(self._store.location)
        if store is None or store.info.image_fingerprint != self._store.info.image_fingerprint:
            raise PhotoIndexError(
                f"{self._store.location}: the index was removed or made anew with another model "
                f"since it was opened; open it again"
            )
        return store

    def _full(self, path: bytes) -> Path:
        return self.folder / os.fsdecode(path)


def _place(folder: PathLike, location: PathLike | None) -> Path:
    # Absolute, so that a later change of the working directory does not move it.
    return Path(folder, FOLDER_NAME).absolute() if location is None else Path(location).absolute()


def _check_count(k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")


def _unit(vector: ArrayLike, dim: int) -> NDArray[np.float32]:
    values = np.asarray(vector, dtype=np.float64)
    if values.shape != (dim,):
        raise ValueError(f"the vector has shape {values.shape}; the index needs ({dim},)")
    norm = np.linalg.norm(values)
    if not np.isfinite(norm) or norm == 0:
        raise ValueError("the vector must be finite and not zero: it has no direction")
    return (values / norm).astype(np.float32)


def _spec_of(encoder: DualEncoder) -> ModelSpec:
    """The best guess at how an encoder was loaded."""
    if encoder.name.startswith(("hf-hub:", "local-dir:")):
        return ModelSpec(encoder.name, adapter=encoder.adapter)
    name, _, pretrained = encoder.name.partition(":")
    return ModelSpec(name, pretrained or None, encoder.adapter)


def _check_encoder(
    store: Store,
    encoder: DualEncoder,
    folder: Path,
    location: PathLike | None,
    model: ModelSpec | None,
) -> None:
    info = store.info
    if info.image_fingerprint != encoder.image_fingerprint:
        spec = model or _spec_of(encoder)
        raise PhotoIndexError(
            f"{store.location}: the index was made by another image encoder "
            f"({info.model.name}, {info.image_fingerprint}) than this one "
            f"({encoder.name}, {encoder.image_fingerprint}). To make it anew with this one: "
            f"{_command(folder, location, spec)} --rebuild"
        )


def _command(folder: Path, location: PathLike | None, model: ModelSpec | None) -> str:
    parts = ["litotes", "index", shlex.quote(str(folder))]
    if model is not None:
        parts.append(str(model))
    if location is not None:
        parts += ["--index", shlex.quote(os.fspath(location))]
    return " ".join(parts)
