"""`PhotoIndex`: a folder of photos that can be searched in words."""

import math
import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, SupportsIndex, TypeVar

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import ArrayLike, NDArray

from litotes import strategies
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.registry import load
from litotes.errors import LitotesError, LitotesWarning, PhotoIndexError
from litotes.language import Query
from litotes.search.adopt import adopt
from litotes.search.asked import (
    Example,
    PathLike,
    count_examples,
    example_vectors,
    join,
    unit_vector,
)
from litotes.search.build import Builder, Folder, IndexReport, progress_bar
from litotes.search.judging import Explanation, Judge, find_matches
from litotes.search.sources import open_source
from litotes.search.store import (
    ELSEWHERE,
    FOLDER_NAME,
    IndexInfo,
    ModelSpec,
    Store,
    errors,
    locked,
    restore,
    to_numpy,
)
from litotes.strategies import ByVector, Calibrated, Images, Strategy
from litotes.strategies.calibrated import ByExample
from litotes.strategies.reference import filled_up

T = TypeVar("T")

#: Photos that a strategy's scores judge: so many at least, and so many for each that is asked for.
CANDIDATES = 100
CANDIDATES_A_RESULT = 5
#: Photos that tell how an index is made up; with so few or fewer, all of them.
SAMPLE = 1024
#: With fewer photos in an index, probabilities are said to say little.
FEW = 50


@dataclass(frozen=True, slots=True)
class Result:
    """A photo that a search found.

    Attributes:
        rank: 1 is the best.
        path: of the file, below the folder as it was given.
        score: cosine similarity of photo and query, or by :class:`litotes.strategies.Calibrated`
            how probably the photo shows what is asked for and nothing that is excluded.
        width, height: pixels, of the picture held upright; 0 where that is not known.
        id: the path below the folder, with ``/`` between its parts; or what stands instead for
            a vector that was made elsewhere.
        is_photo: whether it was a file in the folder when it was indexed; ``path`` is else its
            id, which may not be a path at all.
        explanation: what the score is made of, where it was asked for.
    """

    rank: int
    path: Path
    score: float
    width: int
    height: int
    id: str
    is_photo: bool = True
    explanation: Explanation | None = None

    @property
    def label(self) -> str:
        """Names it to a user: its path, or its id as it came."""
        return str(self.path) if self.is_photo else self.id


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
        batch_size: int | None = None,
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
            batch_size: pictures encoded at once; by default as many as suit the encoder's device.
            progress: show a progress bar; by default at a terminal.

        Raises:
            DataError: ``folder`` is not a folder that can be read.
            PhotoIndexError: there is no picture in it; the index was made by another image
                encoder, holds vectors of what is not in the folder, is being written by another
                process, or cannot be written.
        """
        _check_loaded(encoder)
        root, place = Path(folder), _place(folder, location)
        if not rebuild:
            _check_own(root, place, location)
        with progress_bar(progress) as bar:
            looking = bar.add_task("Looking for pictures", total=None)
            photos = Folder(root)
            bar.remove_task(looking)
            with locked(place):
                restore(place)
                store = None if rebuild else Store.open(place)
                if store is None:
                    spec = model or _spec_of(encoder)
                    store = Store.create(
                        place, IndexInfo(encoder.image_fingerprint, encoder.dim, spec)
                    )
                _check_encoder(store, encoder, root, location, model)
                if model is not None and model != store.info.model:
                    store.remember(model)
                return Builder(
                    store, encoder, photos, batch_size or encoder.images_at_once, bar
                ).run()

    @classmethod
    def adopt(
        cls,
        folder: PathLike,
        encoder: DualEncoder,
        vectors: PathLike,
        *,
        paths: PathLike | None = None,
        column: str | None = None,
        id_column: str | None = None,
        location: PathLike | None = None,
        model: ModelSpec | None = None,
        rebuild: bool = False,
        progress: bool | None = None,
    ) -> IndexReport:
        """Make an index of vectors that were made elsewhere; nothing is encoded.

        A path of a photo in the folder is taken as that photo's, which must be as it was when its
        vector was made; any other is kept as an id. A kill leaves an index that was there.

        Args:
            folder: the photos, if there are any.
            encoder: the model that made the vectors.
            vectors: a ``.npy`` file ``(N, d)``, a Parquet file, or the folder of a LanceDB table.
            paths: of a ``.npy`` file: a text file of N paths or ids, one a line, or each ended
                by a zero byte.
            column: of a table: the column of vectors.
            id_column: its column of paths or ids; by default path, or id.
            location: where the index lies; by default ``<folder>/.litotes``.
            model: how ``encoder`` is loaded again for searches.
            rebuild: replace an index that is there.
            progress: show a progress bar; by default at a terminal.

        Raises:
            DataError: the file cannot be read, or a path or vector in it cannot be used; says
                which row.
            PhotoIndexError: there is an index, and ``rebuild`` was not said; it is being
                written by another process, or cannot be written.
        """
        _check_loaded(encoder)
        root, place = Path(folder), _place(folder, location)
        source = open_source(
            Path(vectors), encoder.dim, None if paths is None else Path(paths), column, id_column
        )
        info = IndexInfo(encoder.image_fingerprint, encoder.dim, model or _spec_of(encoder))
        with progress_bar(progress) as bar, locked(place):
            if not rebuild and Store.open(place) is not None:
                raise PhotoIndexError(
                    f"{place}: there is an index already; say --rebuild to put the vectors of "
                    f"{vectors} in its place"
                )
            store = Store.begin(place, info)
            report = adopt(store, root, source, bar)
            store.publish()
            return report

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
        _check_loaded(encoder)
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
        return self._fresh().count()

    def vectors(self, batch_size: int = 4096) -> Iterator[tuple[list[Path], NDArray[np.float32]]]:
        """Paths and unit vectors ``(B, d)`` of all photos, a batch at a time, in no set order."""
        query = self._fresh().table.search().select(["path", "size", "vector"])
        for batch in query.to_batches(batch_size):
            names = zip(batch["path"].to_pylist(), batch["size"].to_pylist(), strict=True)
            yield [self._full(path, size) for path, size in names], to_numpy(batch["vector"])

    def search(
        self,
        query: str | Query | None = None,
        k: int = 10,
        strategy: str | Strategy = "default",
        *,
        exclude: Sequence[str] = (),
        like: Sequence[Example] = (),
        unlike: Sequence[Example] = (),
    ) -> list[Result]:
        """The photos nearest to what is asked for.

        Args:
            query: a sentence, or one taken apart; may be left out if there is something else.
            k: how many.
            strategy: how "not" is answered: a name, or one made to measure; see
                :mod:`litotes.strategies`. With examples it is `calibrated`, as no other can
                weigh them.
            exclude: things that are to be absent, beside those of the query.
            like: pictures that a photo is to be like, each of them: files, or vectors ``(d,)``.
            unlike: pictures that it is not to be like.

        Raises:
            ImageError: an example is no readable picture.
            LitotesError: there is no such strategy, or it cannot weigh examples; nothing is asked
                for; the index is empty.
            TypeError: what is given is of another kind, such as one example and no list.
            ValueError: ``k`` is below 1; an example's vector has no direction.
        """
        examples = count_examples(like, unlike)
        asked = join(query, exclude, examples)
        if examples:
            _check_weighs(strategy)
            weigher = self._weigher(self._fresh(), strategy, like, unlike)
            return self._judged(asked, k, weigher)
        if isinstance(strategy, str):
            strategy = strategies.get(strategy, self.encoder.name)
        if isinstance(strategy, ByVector) or not asked.is_negated:
            return self.search_vector(strategy.vectors([asked], self.encoder)[0], k)
        return self._judged(asked, k, strategy)

    def explain(
        self,
        results: Sequence[Result],
        query: str | Query | None = None,
        strategy: str | Strategy = "default",
        *,
        exclude: Sequence[str] = (),
        like: Sequence[Example] = (),
        unlike: Sequence[Example] = (),
    ) -> list[Explanation]:
        """How probably each photo found shows what is asked for, and nothing that is excluded.

        The probabilities are those of :class:`litotes.strategies.Calibrated`, whatever found the
        photos; where it did, their product is the score.

        Args:
            results: of a search.
            query: what was searched for; this and all that follows as for :meth:`search`.
            strategy: whose probabilities, if it is one of `calibrated`.
            exclude: things that are to be absent.
            like: pictures that a photo is to be like.
            unlike: pictures that it is not to be like.

        Raises:
            LitotesError: as :meth:`search`; a photo is no longer in the index.
        """
        judge = self._judge(query, strategy, exclude, like, unlike)
        rows = self._steadily(lambda store: self._candidates(store, judge.vector, len(results)))
        rows = rows.select(["path", "vector"])
        missing = {os.fsencode(r.id) for r in results}.difference(rows["path"].to_pylist())
        if missing:
            rows = pa.concat_tables([rows, self._fresh().of_paths(missing, "path", "vector")])
        explained = dict(
            zip(rows["path"].to_pylist(), judge.explain(to_numpy(rows["vector"])), strict=True)
        )
        gone = [result.label for result in results if os.fsencode(result.id) not in explained]
        if gone:
            raise PhotoIndexError(f"{gone[0]}: is not in the photo index any more; search again")
        return [explained[os.fsencode(result.id)] for result in results]

    def filter(
        self,
        query: str | Query | None = None,
        min_probability: float = 0.5,
        *,
        exclude: Sequence[str] = (),
        like: Sequence[Example] = (),
        unlike: Sequence[Example] = (),
        progress: bool | None = None,
    ) -> list[Result]:
        """Every photo that shows what is asked for, and nothing that is excluded.

        Photos are judged in the order of their cosine with the query's vector, ever more of them
        until the last fifth of those judged holds no match, or all are judged.

        Args:
            query: a sentence; this, ``exclude`` and the examples as for :meth:`search`.
            min_probability: of both, by :class:`litotes.strategies.Calibrated`.
            exclude: things that are to be absent.
            like: pictures that a photo is to be like.
            unlike: pictures that it is not to be like.
            progress: show a progress bar; by default at a terminal.

        Returns:
            Best first, each with its explanation; of equals, by path.

        Raises:
            LitotesError: as :meth:`search`.
            ValueError: ``min_probability`` is not between 0 and 1.
        """
        if not 0 <= min_probability <= 1:
            raise ValueError(f"min_probability is {min_probability}; it must be between 0 and 1")
        judge = self._judge(query, "default", exclude, like, unlike)
        with progress_bar(progress) as bar:
            task = bar.add_task("Judging", total=None)

            def matches(store: Store) -> list[tuple[dict[str, Any], Explanation]]:
                return find_matches(
                    store,
                    judge,
                    min_probability,
                    lambda done, total: bar.update(task, completed=done, total=total),
                )

            found = self._steadily(matches)
        found.sort(key=lambda one: (-one[1].probability, one[0]["path"]))
        ranked = self._results((row, one.probability) for row, one in found)
        return [
            replace(result, explanation=one) for result, (_, one) in zip(ranked, found, strict=True)
        ]

    def search_vector(self, vector: ArrayLike, k: int = 10) -> list[Result]:
        """The photos of largest cosine similarity with a vector ``(d,)``; of equals, by path.

        Raises:
            PhotoIndexError: the index is empty.
            ValueError: ``k`` is below 1, or the vector has another length, is zero or not finite.
        """
        _check_count(k)
        direction = unit_vector(vector, self.dim)
        rows = self._steadily(lambda store: self._nearest(store, direction, k))
        return self._results((row, 1.0 - row["_distance"]) for row in rows)

    def _judged(self, query: Query, k: int, strategy: Strategy | ByExample) -> list[Result]:
        """The best of the candidates that a strategy's vector finds, by its scores."""
        _check_count(k)
        vector = strategy.vectors([query], self.encoder)[0].numpy()
        # One table for both: to open it takes some milliseconds.
        rows, sample = self._steadily(
            lambda store: (self._candidates(store, vector, k), self._sample(store))
        )
        candidates = Images(torch.from_numpy(to_numpy(rows["vector"]).copy()), sample)
        scores = strategy.scores([query], self.encoder, candidates)[0]
        records = rows.drop_columns(["vector"]).to_pylist()
        judged = sorted(
            zip(records, scores.tolist(), strict=True), key=lambda one: (-one[1], one[0]["path"])
        )
        return self._results((row, math.exp(score)) for row, score in judged[:k])

    def _candidates(self, store: Store, vector: NDArray[np.float32], k: int) -> Any:
        """Rows among which the best ``k`` are looked for, with their vectors."""
        limit = min(max(CANDIDATES, CANDIDATES_A_RESULT * k), self._photos(store))
        return store.nearest(vector, limit, "vector")

    def _judge(
        self,
        query: str | Query | None,
        strategy: str | Strategy,
        exclude: Sequence[str],
        like: Sequence[Example],
        unlike: Sequence[Example],
    ) -> Judge:
        asked = join(query, exclude, count_examples(like, unlike))
        store = self._fresh()
        photos, sample = self._photos(store), self._sample(store)
        if photos < FEW and len(sample.vectors) < FEW:
            warnings.warn(
                f"with {photos} photos probabilities say little: a photo is judged beside the "
                f"others of its index",
                LitotesWarning,
                stacklevel=3,
            )
        weigher = self._weigher(store, strategy, like, unlike)
        return Judge(asked, weigher, self.encoder, sample)

    def _weigher(
        self,
        store: Store,
        strategy: str | Strategy,
        like: Sequence[Example],
        unlike: Sequence[Example],
    ) -> Calibrated | ByExample:
        """`calibrated`, as it was given or as it suits the encoder, with the examples."""
        found = strategy
        if not isinstance(found, Calibrated):
            found = strategies.get("calibrated", self.encoder.name)
        assert isinstance(found, Calibrated)
        if not count_examples(like, unlike):
            return found
        wanted, unwanted = (example_vectors(given, self.encoder) for given in (like, unlike))
        self._photos(store)
        return ByExample(found, wanted, unwanted, self._sample(store))

    def _sample(self, store: Store) -> Images:
        """Photos drawn by lot, which tell how alike photos of this index are to a text; of a small
        index all, and reference pictures beside them.
        """
        version = store.table.version
        if self._sampled is None or self._sampled[0] != version:
            ids = store.read("_rowid")["_rowid"].to_numpy()
            if len(ids) > SAMPLE:
                ids = np.random.default_rng(0).choice(np.sort(ids), SAMPLE, replace=False)
            vectors = to_numpy(store.take(ids.tolist(), "vector")["vector"])
            known = filled_up(torch.from_numpy(vectors.copy()), self.encoder)
            self._sampled = version, Images(known)
        return self._sampled[1]

    def _photos(self, store: Store) -> int:
        photos = store.count()
        if not photos:
            raise PhotoIndexError(f"{self.folder}: the photo index is empty")
        return photos

    def _results(self, scored: Iterable[tuple[dict[str, Any], float]]) -> list[Result]:
        return [
            Result(
                rank,
                self._full(row["path"], row["size"]),
                score,
                row["width"],
                row["height"],
                os.fsdecode(row["path"]),
                row["size"] != ELSEWHERE,
            )
            for rank, (row, score) in enumerate(scored, start=1)
        ]

    def _nearest(self, store: Store, vector: NDArray[np.float32], k: int) -> list[dict[str, Any]]:
        """The ``k`` nearest rows. Ever more are asked for until none can tie with the last."""
        k = min(k, self._photos(store))
        limit = k + 1
        while True:
            rows = store.nearest(vector, limit)
            distances = rows["_distance"].to_numpy()
            if len(distances) < limit or distances[-1] > distances[k - 1]:
                order = rows.sort_by([("_distance", "ascending"), ("path", "ascending")])
                best: list[dict[str, Any]] = order.slice(0, k).to_pylist()
                return best
            limit *= 4

    def _steadily(self, work: Callable[[Store], T]) -> T:
        """What is read from the table as it is now, or a moment later."""
        try:
            return work(self._fresh())
        # An indexing run may just have tidied the files away that this search was reading.
        except (OSError, RuntimeError, ValueError, PhotoIndexError):
            with errors(self._store.location, "read"):
                return work(self._fresh())

    def _fresh(self) -> Store:
        """The table as it is now, which another process may have changed."""
        store = Store.open(self._store.location)
        if store is None or store.info.image_fingerprint != self._store.info.image_fingerprint:
            raise PhotoIndexError(
                f"{self._store.location}: the index was removed or made anew with another model "
                f"since it was opened; open it again"
            )
        return store

    def _full(self, path: bytes, size: int) -> Path:
        name = os.fsdecode(path)
        return Path(name) if size == ELSEWHERE else self.folder / name


def _place(folder: PathLike, location: PathLike | None) -> Path:
    # Absolute, so that a later change of the working directory does not move it.
    return Path(folder, FOLDER_NAME).absolute() if location is None else Path(location).absolute()


def _check_loaded(encoder: DualEncoder | None) -> None:
    if isinstance(encoder, str):
        raise TypeError(f"encoder is the name {encoder!r}; load it: litotes.load({encoder!r})")


def _check_own(folder: Path, place: Path, location: PathLike | None) -> None:
    """Refuse to update an index that would lose what is not in the folder."""
    store = Store.open(place)
    elsewhere = 0 if store is None else store.elsewhere()
    if elsewhere:
        raise PhotoIndexError(
            f"{place}: holds {elsewhere} vectors of what is no photo in {folder}, which would be "
            f"lost: bring the vectors in anew, with --vectors and --rebuild, or index the folder "
            f"alone: {_command(folder, location, None)} --rebuild"
        )


def _check_weighs(strategy: str | Strategy) -> None:
    name = strategy if isinstance(strategy, str) else strategy.name
    if name not in ("default", "calibrated"):
        raise LitotesError(
            f"the strategy {name} cannot weigh pictures given as examples, only calibrated can: "
            f"leave the strategy out"
        )


def _check_count(k: int) -> None:
    if not isinstance(k, SupportsIndex):
        raise TypeError(f"k is {k!r}; it must be a whole number")
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")


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
