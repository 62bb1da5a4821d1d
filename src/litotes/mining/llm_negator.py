"""Captions made false by a language model behind a server that speaks OpenAI's chat API.

What a model answers is checked; where it cannot be right it is asked again, and then given up.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING

from litotes.errors import LitotesError
from litotes.language.cues import has_negation
from litotes.language.negator import Negated
from litotes.language.sentences import clean

if TYPE_CHECKING:
    from spacy.tokens import Doc

OPENAI = "https://api.openai.com/v1"
#: How often a model is asked for a caption until its answer will do.
TRIES = 3
#: At most so many words more than the caption has, and so large a share of its own words kept.
MAX_ADDED_WORDS = 10
MIN_KEPT = 0.5

_PROMPT = """\
Rewrite the caption of a photograph so that it becomes false, by negating one thing, attribute, \
action or relation that it states. Use a word of negation, such as no, not, without, never or \
nobody; vary which. Keep the other words as they are, keep it grammatical, and write one sentence. \
Answer with the new caption and nothing else.

Caption: """
_WORD = re.compile(r"[\w'’-]+")
_MORE_SENTENCES = re.compile(r"[.!?]\s+\S|\n")


class LlmNegator:
    """Asks a model to make captions false.

    Args:
        model: as the server calls it.
        base_url: of the API, such as ``http://localhost:8000/v1``.
        at_once: requests under way at the same time.
        timeout: seconds for one request.
        retries: how often one request that failed is made again, each time after a longer wait.

    ``$LITOTES_LLM_KEY`` is sent as the key; ``$OPENAI_API_KEY`` to OpenAI's own server only.

    Raises:
        LitotesError: the package ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str,
        base_url: str = OPENAI,
        *,
        at_once: int = 16,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise LitotesError(
                "servers need the package openai: `pip install 'litotes[judge]'`"
            ) from error
        own = os.environ.get("OPENAI_API_KEY") if base_url.rstrip("/") == OPENAI else None
        # The client insists on a key, and local servers take any.
        key = os.environ.get("LITOTES_LLM_KEY") or own or "none"
        self._error = openai.OpenAIError
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key, timeout=timeout, max_retries=retries
        )
        self.model = model
        self.base_url = base_url
        self.at_once = at_once

    def __call__(self, docs: Sequence["Doc"], rngs: Sequence[Random]) -> list[Negated | None]:
        """Negate captions; None where no answer would do.

        Raises:
            LitotesError: the server refuses us, or does not answer.
        """
        with ThreadPoolExecutor(self.at_once) as threads:
            return list(threads.map(self._negate, [doc.text for doc in docs]))

    def _negate(self, caption: str) -> Negated | None:
        for attempt in range(TRIES):
            said = clean(self._ask(caption, attempt)).strip('"“”')
            if is_negation_of(said, caption):
                return Negated(said, "llm", "")
        return None

    def _ask(self, caption: str, attempt: int) -> str:
        try:
            answer = self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": _PROMPT + caption}],
                # The same question gets the same answer, unless that would not do.
                temperature=0.0 if attempt == 0 else 0.7,
                seed=attempt,
                max_tokens=200,
            )
        except self._error as error:
            raise LitotesError(f"{self.base_url}, model {self.model!r}: {error}") from error
        return (answer.choices[0].message.content or "") if answer.choices else ""


def is_negation_of(said: str, caption: str) -> bool:
    """Whether a text can be a caption with something negated.

    It holds a negation, is another and one sentence, not much longer, and keeps most of the words.
    """
    before, after = (_WORD.findall(text.lower()) for text in (caption, said))
    kept = len(set(before) & set(after)) >= MIN_KEPT * len(set(before))
    short = len(after) <= len(before) + MAX_ADDED_WORDS
    one = not _MORE_SENTENCES.search(said) or bool(_MORE_SENTENCES.search(caption))
    return has_negation(said) and after != before and short and one and kept
