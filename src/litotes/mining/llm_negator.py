"""Captions made false by a language model behind a server that speaks OpenAI's chat API.

What a model answers is checked; where it cannot be right it is asked again, and then given up.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from litotes.language.cues import has_negation
from litotes.language.llm import CaptionModel, message
from litotes.language.negator import Negated
from litotes.language.sentences import clean

if TYPE_CHECKING:
    from spacy.tokens import Doc

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


class LlmNegator(CaptionModel):
    """Asks a model to make captions false; arguments are those of :class:`CaptionModel`."""

    def __call__(self, docs: Sequence["Doc"], rngs: Sequence[Random]) -> list[Negated | None]:
        """Negate captions; None where no answer would do.

        Raises:
            LitotesError: the server refuses us, or does not answer.
        """
        captions = [doc.text for doc in docs]
        negated: list[Negated | None] = [None] * len(docs)

        def unfit(answers: Mapping[int, str]) -> Iterator[int]:
            for place, answer in answers.items():
                said = clean(answer).strip('"“”')
                if is_negation_of(said, captions[place]):
                    negated[place] = Negated(said, "llm", "")
                else:
                    yield place

        self.server.ask_all([[message(_PROMPT + caption)] for caption in captions], unfit)
        return negated


def is_negation_of(said: str, caption: str) -> bool:
    """Whether a text can be a caption with something negated.

    It holds a negation, is another and one sentence, not much longer, and keeps most of the words.
    """
    before, after = (_WORD.findall(text.lower()) for text in (caption, said))
    kept = len(set(before) & set(after)) >= MIN_KEPT * len(set(before))
    short = len(after) <= len(before) + MAX_ADDED_WORDS
    one = not _MORE_SENTENCES.search(said) or bool(_MORE_SENTENCES.search(caption))
    return has_negation(said) and after != before and short and one and kept
