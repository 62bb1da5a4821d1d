"""Answers kept on disk, so that no judge is asked the same question twice."""

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from PIL import Image

from litotes.backbones.vectors import cache_folder
from litotes.errors import DataError
from litotes.evaluation.judges.base import ANSWERS, Judge, Keep, Picture, Reply, image_key

_TABLE = """
create table if not exists answers (
    judge text, image blob, question text, answer text, said text,
    primary key (judge, image, question)
) without rowid
"""


class CachedJudge(Judge):
    """A judge whose answers are kept by its identity, the picture's content and the question.

    Each answer is written when it arrives: a run that is killed loses those under way, and no
    others. Several processes may use one file. What failed is not kept; what is unclear is.

    Args:
        judge: who is asked what is not known yet.
        file: where answers are kept; by default in :func:`~litotes.backbones.vectors.
            cache_folder`.
    """

    def __init__(self, judge: Judge, file: Path | None = None) -> None:
        super().__init__(judge.name, judge.identity)
        self.judge = judge
        self.file = file or cache_folder() / "judges" / "answers.sqlite"
        # Of two threads with the same question, the second is to find the first one's answer.
        self._one_at_a_time = threading.Lock()

    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        """Look up what is known, ask the rest; see :meth:`Judge.replies`.

        Raises:
            DataError: the file cannot be used.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        places: dict[tuple[bytes, str], list[int]] = {}
        for place, key in enumerate(_keys(pairs)):
            places.setdefault(key, []).append(place)
        try:
            # The judge may reply in another thread, while this one waits.
            with (
                self._one_at_a_time,
                closing(sqlite3.connect(self.file, timeout=60, check_same_thread=False)) as store,
            ):
                store.execute(_TABLE)
                self._answer(store, pairs, places, keep)
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.file}: cannot be used ({error}): remove it") from error

    def _answer(
        self,
        store: sqlite3.Connection,
        pairs: Sequence[tuple[Picture, str]],
        places: dict[tuple[bytes, str], list[int]],
        keep: Keep,
    ) -> None:
        new = []
        for key, wanted in places.items():
            known = _find(store, self.identity, key)
            if known is None:
                new.append(key)
            else:
                _keep_all(keep, wanted, known)

        def take(number: int, reply: Reply) -> None:
            key = new[number]
            if not reply.failed:
                with store:
                    store.execute(
                        "insert or replace into answers values (?, ?, ?, ?, ?)",
                        (self.identity, *key, reply.answer, reply.text),
                    )
            _keep_all(keep, places[key], reply)

        if new:
            self.judge.replies([pairs[places[key][0]] for key in new], take)


def _keep_all(keep: Keep, places: Sequence[int], reply: Reply) -> None:
    for place in places:
        keep(place, reply)


def _find(store: sqlite3.Connection, judge: str, key: tuple[bytes, str]) -> Reply | None:
    row = store.execute(
        "select answer, said from answers where judge = ? and image = ? and question = ?",
        (judge, *key),
    ).fetchone()
    # What was damaged is asked again.
    if row is None or row[0] not in ANSWERS or not isinstance(row[1], str):
        return None
    return Reply(*row)


def _keys(pairs: Sequence[tuple[Picture, str]]) -> list[tuple[bytes, str]]:
    """Of each pair the picture's hash and the question; each file is read once."""
    hashes: dict[str, bytes] = {}

    def key(image: Picture) -> bytes:
        if isinstance(image, Image.Image):
            return image_key(image)
        path = os.fspath(image)
        if path not in hashes:
            hashes[path] = image_key(image)
        return hashes[path]

    return [(key(image), question) for image, question in pairs]
