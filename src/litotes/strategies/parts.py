"""The parts of negated queries, encoded: what they affirm, and each thing that they exclude."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import where_negated
from litotes.strategies.plain import Plain

ANYTHING = "a photo"
"""What stands for the affirmed part of a query that only excludes."""


def put(prompt: str, part: str) -> str:
    """A part in its prompt; of an empty one, :data:`ANYTHING`."""
    # Not str.format of the user's text: it may hold braces.
    return prompt.replace("{}", part) if part else ANYTHING


def encoded_parts(
    queries: Sequence[Query], encoder: DualEncoder, affirmed_prompt: str, excluded_prompt: str
) -> tuple[Tensor, Sequence[Tensor]]:
    """Unit vectors of what each query affirms ``(Q, d)``, and of what each excludes ``(n, d)``.

    Parts are put into prompts: bare nouns are no captions, and an encoder trained on captions
    places a sentence about a thing better than its name.
    """
    affirmed = [put(affirmed_prompt, query.affirmed) for query in queries]
    excluded = [put(excluded_prompt, text) for query in queries for text in query.negated]
    texts = list(dict.fromkeys([*affirmed, *excluded]))
    place = {text: i for i, text in enumerate(texts)}
    vectors = encoder.encode_texts(texts)
    parts = vectors[[place[text] for text in excluded]]
    counts = [len(query.negated) for query in queries]
    return vectors[[place[text] for text in affirmed]], parts.split(counts)


def answered(
    queries: Sequence[Query],
    encoder: DualEncoder,
    prompt: str,
    combine: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """Query vectors ``(Q, d)``: those of `plain`, but where something is excluded.

    Args:
        queries: Q of them.
        encoder: encodes the parts.
        prompt: what they are put into.
        combine: makes a unit vector ``(d,)`` of that of the affirmed part ``(d,)`` and those of
            the excluded ones ``(n, d)``.
    """

    def answer(negated: Sequence[Query]) -> Tensor:
        parts = zip(*encoded_parts(negated, encoder, prompt, prompt), strict=True)
        return torch.stack([combine(*of_query) for of_query in parts])

    return where_negated(queries, partial(Plain().vectors, encoder=encoder), answer)
