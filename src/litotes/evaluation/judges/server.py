"""Judges behind a server that speaks OpenAI's chat API; see :mod:`litotes.language.llm`."""

from collections.abc import Callable, Sequence

from litotes.data.html import jpeg_data
from litotes.evaluation.judges.base import (
    PROMPT,
    Judge,
    Keep,
    Picture,
    Reply,
    identify,
    limited,
    read_answer,
)
from litotes.language.llm import ChatServer, Completion, Messages

_JPEG_QUALITY = 90
_MAX_TOKENS = 16


class ServerJudge(Judge):
    """A vision-language model behind a :class:`ChatServer`.

    Args:
        server: where it is.
        longest_side: pictures are sent as JPEG with at most that many pixels a side.

    Attributes:
        server: with its usage and cost.
    """

    def __init__(self, server: ChatServer, *, longest_side: int = 1024) -> None:
        options = sorted(server.options.items())
        parts = (server.base_url, PROMPT, _MAX_TOKENS, options, longest_side, _JPEG_QUALITY)
        super().__init__(server.model, identify(server.model, *parts))
        self.server = server
        self.longest_side = longest_side

    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        """Ask many at once; see :meth:`Judge.replies`.

        A question that fails in spite of all retries gets a failed reply.
        """

        def message(image: Picture, question: str) -> Callable[[], Messages]:
            return lambda: _question(data_url(image, self.longest_side), question)

        def take(place: int, completion: Completion) -> None:
            answer = "unclear" if completion.failed else read_answer(completion.text)
            keep(place, Reply(answer, completion.text, completion.failed))

        self.server.chat_all([message(*pair) for pair in pairs], take, max_tokens=_MAX_TOKENS)


def data_url(image: Picture, longest_side: int) -> str:
    """A picture as a JPEG in a ``data:`` URL.

    Raises:
        ImageError: the file cannot be read as a picture.
    """
    return jpeg_data(limited(image, longest_side), _JPEG_QUALITY)


def _question(url: str, question: str) -> Messages:
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": PROMPT.format(question=question)},
    ]
    return [{"role": "user", "content": content}]
