"""Models behind a server that speaks OpenAI's chat API: vLLM, llama.cpp, Ollama, hosted ones.

Many requests are under way at once. What can pass (time-outs, 429, 5xx, bodies cut short) is tried
again, each time after a longer wait; what cannot (other 4xx) is not.
"""

import asyncio
import math
import os
import random
import re
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError, field_validator

from litotes.errors import LitotesError

if TYPE_CHECKING:
    import openai

OPENAI = "https://api.openai.com/v1"
#: How often a model is asked the same until its answer will do.
TRIES = 3

Messages: TypeAlias = list[dict[str, Any]]
"""Of a chat, as OpenAI's API has them."""

# Seconds: before the first retry, and the longest wait of our own; doubled in between.
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
# A server that asks to be left alone for longer is taken at its word: the question fails.
_LONGEST_RETRY_AFTER = 120.0
# So many failures without a success between them, each after all retries: nobody is there.
_GIVE_UP_AFTER = 10
# The server took exception to this one request; another may do.
_REFUSED = frozenset({400, 413, 415, 422})
# What models that think write first.
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)


class ServerError(LitotesError):
    """A server that cannot be asked at all: a wrong address, key or model, or a dead one."""


@dataclass
class Usage:
    """What a server was used for.

    Attributes:
        completions: requests that were answered.
        retries: requests that had to be made again.
        prompt_tokens, completion_tokens: as the server counted them.
        uncounted: answers for which it gave no count.
    """

    completions: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said; if the request failed, why.

    Attributes:
        refused: it failed as the server took exception to it, so that asking again is no use.
    """

    text: str
    failed: bool = False
    refused: bool = False


class ChatServer:
    """A model behind an OpenAI-compatible server.

    Args:
        model: as the server calls it.
        base_url: of the API, such as ``http://localhost:8000/v1``.
        api_key: the server's; by default that of ``key_variable``. ``$OPENAI_API_KEY`` is used with
            OpenAI's own server only, so that it is never sent to another one unasked.
        key_variable: name of the environment variable that holds the key.
        at_once: requests under way at the same time.
        timeout: seconds for one request, from sending to the last byte.
        retries: how often one request is made again.
        options: further fields of each request; one that is None is left out, even where it has a
            default: ``{"max_tokens": None, "max_completion_tokens": 2000}`` for models that think.
        prices: per million tokens sent and received, in any currency.

    Attributes:
        usage: what was used so far.

    Raises:
        LitotesError: the package ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str,
        base_url: str = OPENAI,
        *,
        api_key: str | None = None,
        key_variable: str = "LITOTES_JUDGE_KEY",
        at_once: int = 16,
        timeout: float = 60.0,
        retries: int = 6,
        options: Mapping[str, Any] | None = None,
        prices: tuple[float, float] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise LitotesError(
                "servers need the package openai: `pip install 'litotes[judge]'`"
            ) from error
        _check_url(base_url)
        self._openai = openai
        self.model = model
        self.base_url = base_url.rstrip("/")
        names = (key_variable, *(["OPENAI_API_KEY"] if self.base_url == OPENAI else []))
        found = (os.environ.get(name) for name in names)
        # The client insists on a key, and local servers take any.
        self._api_key = (api_key or next(filter(None, found), "none")).strip()
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            # Not shown: it is a secret.
            raise ServerError("the server's key holds characters that no key can have")
        self.at_once = at_once
        self.timeout = timeout
        self.retries = retries
        self.options = dict(options or {})
        self.prices = prices
        self.usage = Usage()

    @property
    def cost(self) -> float | None:
        """What the tokens so far cost; None if no prices were given."""
        if self.prices is None:
            return None
        sent, received = self.prices
        used = self.usage
        return (used.prompt_tokens * sent + used.completion_tokens * received) / 1e6

    def chat_all(
        self,
        requests: Sequence[Callable[[], Messages]],
        keep: Callable[[int, Completion], None],
        **defaults: Any,
    ) -> None:
        """Make many requests, and give each completion to ``keep`` when it arrives.

        Args:
            requests: functions that make the messages; each is called when its turn comes, so
                that never more than a few pictures are held.
            keep: called with the place of each request, one call at a time.
            defaults: fields of each request, where :attr:`options` says nothing else.

        Raises:
            ServerError: the server refuses us (address, key, model), or no longer answers.
        """
        fields = {"temperature": 0, **defaults, **self.options}
        sent = {name: value for name, value in fields.items() if value is not None}
        _run(self._chat_all(requests, keep, sent))

    def ask_all(
        self,
        chats: Sequence[Messages],
        unfit: Callable[[Mapping[int, str]], Iterable[int]],
    ) -> None:
        """Ask for answers to many chats, and up to :data:`TRIES` times where one will not do.

        Args:
            chats: those that the server refuses to answer are passed over.
            unfit: called after each round with the answers by the place of their chats, and gives
                the places of those that will not do.

        Raises:
            ServerError: as :meth:`chat_all` does, or a request fails in spite of all retries.
        """
        places: Sequence[int] = range(len(chats))
        for attempt in range(TRIES):
            places = list(unfit(self._round(chats, places, attempt)))
            if not places:
                return

    def _round(
        self, chats: Sequence[Messages], places: Sequence[int], attempt: int
    ) -> dict[int, str]:
        said = dict[int, str]()

        def request(place: int) -> Callable[[], Messages]:
            return lambda: chats[place]

        def take(number: int, completion: Completion) -> None:
            if not completion.failed:
                said[places[number]] = _THOUGHT.sub("", completion.text)
            elif not completion.refused:
                raise ServerError(f"{self.base_url}, model {self.model!r}: {completion.text}")

        # The same question gets the same answer, unless that would not do.
        temperature = 0.0 if attempt == 0 else 0.7
        requests = [request(place) for place in places]
        self.chat_all(requests, take, temperature=temperature, seed=attempt, max_tokens=200)
        return said

    async def _chat_all(
        self,
        requests: Sequence[Callable[[], Messages]],
        keep: Callable[[int, Completion], None],
        fields: Mapping[str, Any],
    ) -> None:
        waiting = iter(enumerate(requests))
        failed_in_a_row = 0

        async def work(client: "openai.AsyncOpenAI") -> None:
            nonlocal failed_in_a_row
            for place, request in waiting:
                messages = await asyncio.to_thread(request)
                completion = await self._complete(client, messages, fields)
                failed_in_a_row = failed_in_a_row + 1 if completion.failed else 0
                keep(place, completion)
                if failed_in_a_row >= _GIVE_UP_AFTER:
                    raise ServerError(
                        f"{self.base_url}: the last {failed_in_a_row} requests failed, "
                        f"this one with {completion.text}"
                    )

        # A client belongs to the event loop that it is used in, so each run has its own.
        async with self._openai.AsyncOpenAI(
            base_url=self.base_url, api_key=self._api_key, timeout=self.timeout, max_retries=0
        ) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.at_once, len(requests))):
                        group.create_task(work(client))
            except ExceptionGroup as several:
                raise several.exceptions[0] from None

    async def _complete(
        self, client: "openai.AsyncOpenAI", messages: Messages, fields: Mapping[str, Any]
    ) -> Completion:
        for attempt in range(self.retries + 1):
            try:
                return await self._once(client, messages, fields)
            except _TryAgainError as error:
                problem, retry_after = str(error), error.retry_after
            if attempt == self.retries or retry_after > _LONGEST_RETRY_AFTER:
                break
            self.usage.retries += 1
            # Waits differ, so that requests which failed together do not come back together.
            own = min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1.0)
            await asyncio.sleep(retry_after + own)
        return Completion(f"{problem} (asked {attempt + 1} times)", failed=True)

    async def _once(
        self, client: "openai.AsyncOpenAI", messages: Messages, fields: Mapping[str, Any]
    ) -> Completion:
        chat: Any = client.chat.completions.with_raw_response
        try:
            # The client's own time-out is for each read, and a server may drip.
            async with asyncio.timeout(self.timeout):
                raw = await chat.create(
                    model=self.model, messages=messages, extra_body=dict(fields)
                )
            return self._read(raw.http_response.text)
        except self._openai.APIStatusError as error:
            return self._refusal(error)
        except (TimeoutError, self._openai.APITimeoutError):
            raise _TryAgainError(f"no answer within {self.timeout:g} seconds") from None
        except self._openai.APIConnectionError as error:
            # By name: it is httpx's or httpx2's, as the client's version has it.
            unmet = type(error.__cause__).__name__ == "ConnectError"
            if unmet and not self.usage.completions:
                raise ServerError(f"no server answers at {self.base_url}") from error
            raise _TryAgainError(f"no whole answer: {error.__cause__ or error}") from error
        except ValidationError as error:
            raise _TryAgainError("an answer that is no chat completion") from error

    def _read(self, body: str) -> Completion:
        content = _Body.model_validate_json(body)
        self.usage.completions += 1
        if content.usage is None:
            self.usage.uncounted += 1
        else:
            self.usage.prompt_tokens += content.usage.prompt_tokens
            self.usage.completion_tokens += content.usage.completion_tokens
        return Completion(content.choices[0].message.text)

    def _refusal(self, error: "openai.APIStatusError") -> Completion:
        status = error.status_code
        said = f"status {status}: {error.message}"
        if status in (408, 429) or status >= 500:
            raise _TryAgainError(said, _retry_after(error.response.headers.get("retry-after")))
        if status in _REFUSED:
            return Completion(said, failed=True, refused=True)
        raise ServerError(f"{self.base_url} does not serve {self.model!r} to us: {said}") from error


class _TryAgainError(Exception):
    """A request that failed, and may succeed if made again after so many seconds."""

    def __init__(self, problem: str, retry_after: float = 0.0) -> None:
        super().__init__(problem)
        self.retry_after = retry_after


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None

    @property
    def text(self) -> str:
        """What was said, in one piece or several."""
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class _Choice(BaseModel):
    message: _Message


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Body(BaseModel):
    """What is needed of a chat completion."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None

    @field_validator("usage", mode="wrap")
    @classmethod
    def _counted(cls, value: Any, read: Callable[[Any], _Tokens | None]) -> _Tokens | None:
        """A count that cannot be read takes nothing from the answer."""
        try:
            return read(value)
        except ValidationError:
            return None


class CaptionModel:
    """What rewrites captions by a model behind a server.

    Args:
        model: as the server calls it.
        base_url: of the API, such as ``http://localhost:8000/v1``.
        at_once: requests under way at the same time.
        timeout: seconds for one request.
        retries: how often one request that failed is made again, each time after a longer wait.
        options: further fields of each request, as of :class:`ChatServer`; models that think need
            more ``max_tokens`` than the 200 of the default.

    ``$LITOTES_LLM_KEY`` is sent as the key; ``$OPENAI_API_KEY`` to OpenAI's own server only.

    Raises:
        LitotesError: the package ``openai`` is not installed, or the address is none.
    """

    prompt_version = 1
    """Changes whenever the prompt does."""

    def __init__(
        self,
        model: str,
        base_url: str = OPENAI,
        *,
        at_once: int = 16,
        timeout: float = 60.0,
        retries: int = 5,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.server = ChatServer(
            model,
            base_url,
            key_variable="LITOTES_LLM_KEY",
            at_once=at_once,
            timeout=timeout,
            retries=retries,
            options=options,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What answers depend on, for logs."""
        server = self.server
        return {"model": server.model, "options": server.options, "prompt": self.prompt_version}


def message(content: str, role: str = "user") -> dict[str, Any]:
    """One message of a chat."""
    return {"role": role, "content": content}


def _check_url(url: str) -> None:
    """Raise `ServerError` for what cannot be a server's address."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
        # Out of range it raises; and so does what is no number.
        _ = parts.port
    except ValueError:
        known = False
    if not known or not (url.isascii() and url.isprintable()) or " " in url:
        raise ServerError(
            f"{url!r} is no address of a server: write it as http://localhost:8000/v1"
        )


def _retry_after(header: str | None) -> float:
    """Seconds to wait by a ``Retry-After`` header: a number, or a date; 0 if it says nothing."""
    if header is None:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return 0.0 if math.isnan(seconds) else max(seconds, 0.0)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also where an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
