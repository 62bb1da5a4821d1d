"""What a judge is: someone who answers yes/no questions about pictures."""

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PIL import Image

from litotes.data.images import open_file, open_image
from litotes.language.llm import ServerError

Answer: TypeAlias = Literal["yes", "no", "unclear"]
Picture: TypeAlias = str | os.PathLike[str] | Image.Image
JudgeError: TypeAlias = ServerError
"""A judge that cannot be asked at all: only those behind servers can be such."""

ANSWERS: tuple[Answer, ...] = ("yes", "no", "unclear")
PROMPT = "{question}\nAnswer with one word: yes or no."
"""What a model is told."""

# Around the word, only marks such as a full stop, quotes or Markdown's asterisks.
_ONE_WORD = re.compile(r"[\W_]*(yes|no)[\W_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one question.

    Attributes:
        answer: "unclear" is neither yes nor no: it is counted, never guessed.
        text: what the judge said, word for word; or why it said nothing.
        failed: it said nothing, so that asking again may help. The answer is then "unclear".
    """

    answer: Answer
    text: str
    failed: bool = False


Keep: TypeAlias = Callable[[int, Reply], None]
"""Takes the place of a question and its reply."""


class Judge(ABC):
    """Answers yes/no questions about pictures, one or many at once.

    Attributes:
        name: for tables.
        identity: names all that answers depend on; judges of one identity answer alike.
        unclear: what was said where the answer was neither yes nor no, and how often.
        failed: how many questions got no answer at all; :meth:`ask_all` calls them "unclear".
    """

    def __init__(self, name: str, identity: str) -> None:
        self.name = name
        self.identity = identity
        self.unclear: Counter[str] = Counter()
        self.failed = 0

    @abstractmethod
    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        """Ask about each picture its question, and give each reply to ``keep`` when it arrives.

        Args:
            pairs: pictures and questions.
            keep: called once for each pair with its place in ``pairs``, in any order, perhaps in
                another thread, but never twice at the same time.

        Raises:
            JudgeError: the judge cannot be asked.
            ImageError: a picture cannot be read.
        """

    def ask(self, image: Picture, question: str) -> Answer:
        """The answer to one question; raises as :meth:`replies` does."""
        return self.ask_all([(image, question)])[0]

    def ask_all(self, pairs: Sequence[tuple[Picture, str]]) -> list[Answer]:
        """The answers to many questions, in their order; raises as :meth:`replies` does."""
        replies: dict[int, Reply] = {}
        self.replies(pairs, replies.__setitem__)
        ordered = [replies[place] for place in range(len(pairs))]
        self.unclear.update(r.text for r in ordered if r.answer == "unclear" and not r.failed)
        self.failed += sum(r.failed for r in ordered)
        return [reply.answer for reply in ordered]


class FunctionJudge(Judge):
    """A judge made of a function, such as ``ask`` of the scenes' oracle.

    Args:
        function: from a picture and a question to the answer.
        name: for tables.
        identity: as :class:`Judge` has it; by default the name.
    """

    def __init__(
        self, function: Callable[[Picture, str], Answer], name: str, identity: str | None = None
    ) -> None:
        super().__init__(name, identity or name)
        self._function = function

    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        """Ask one by one; see :meth:`Judge.replies`."""
        for place, (image, question) in enumerate(pairs):
            answer = self._function(image, question)
            keep(place, Reply(answer, answer))


def read_answer(text: str) -> Answer:
    """The answer in what a model said: one word, yes or no, and nothing else."""
    word = _ONE_WORD.fullmatch(text)
    if word is None:
        return "unclear"
    return "yes" if word[1].lower() == "yes" else "no"


def identify(name: str, *parts: object) -> str:
    """An identity: the name, and a digest of all else that answers depend on."""
    digest = hashlib.sha256(repr((name, *parts)).encode(errors="surrogatepass")).hexdigest()
    return f"{name}:{digest[:12]}"


def image_key(image: Picture) -> bytes:
    """Hash of a picture's content: of its file's bytes, or of its pixels if it is open.

    Raises:
        ImageError: the file cannot be read.
    """
    if isinstance(image, Image.Image):
        head = f"{image.mode} {image.size}".encode()
        return hashlib.sha256(head + image.tobytes()).digest()
    with open_file(image) as file:
        return hashlib.file_digest(file, "sha256").digest()


def limited(image: Picture, longest_side: int) -> Image.Image:
    """A picture as RGB, made smaller if its longest side has more pixels than that.

    Raises:
        ImageError: the file cannot be read as a picture.
    """
    # `convert` always copies, so the caller's picture keeps its size.
    picture = image.convert("RGB") if isinstance(image, Image.Image) else open_image(image)
    picture.thumbnail((longest_side, longest_side))
    return picture
