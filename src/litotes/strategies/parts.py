"""The parts of negated queries, encoded: what they affirm, and each thing that they exclude."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.plain import Plain

ANYTHING = "a photo"
"""What stands for the affirmed part of a query that only excludes."""


@dataclass(frozen=True)
class Prompts:
    """What parts are put into: bare nouns are no captions, and an encoder trained on captions
    places a sentence about a thing better than its name (CLIP's own prompt).
    """

    affirmed: str = "a photo of {}"
    excluded: str = "a photo of {}"


def put(prompt: str, part: str) -> str:
    """A part in its prompt; of an empty one, :data:`ANYTHING`."""
    # Not str.format of the user's text: it may hold braces.
    return prompt.replace("{}", part) if part else ANYTHING


def encoded_parts(
    queries: Sequence[Query], encoder: DualEncoder, prompts: Prompts
) -> tuple[Tensor, Sequence[Tensor]]:
    """Unit vectors of what each query affirms ``(Q, d)``, and of what each excludes ``(n, d)``."""
    affirmed = [put(prompts.affirmed, query.affirmed) for query in queries]
    excluded = [put(prompts.excluded, text) for query in queries for text in query.negated]
    texts = list(dict.fromkeys([*affirmed, *excluded]))
    place = {text: i for i, text in enumerate(texts)}
    vectors = encoder.encode_texts(texts)
    parts = vectors[[place[text] for text in excluded]]
    counts = [len(query.negated) for query in queries]
    return vectors[[place[text] for text in affirmed]], parts.split(counts)


def answered(
    queries: Sequence[Query],
    encoder: DualEncoder,
    prompts: Prompts,
    combine: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """Query vectors ``(Q, d)``: those of `plain`, but where something is excluded.

    Args:
        queries: Q of them.
        encoder: encodes the parts.
        prompts: what they are put into.
        combine: makes a unit vector ``(d,)`` of that of the affirmed part ``(d,)`` and those of
            the excluded ones ``(n, d)``.
    """
    rows = [i for i, query in enumerate(queries) if query.is_negated]
    if not rows:
        return Plain().vectors(queries, encoder)
    wanted, unwanted = encoded_parts([queries[i] for i in rows], encoder, prompts)
    made = torch.stack([combine(*parts) for parts in zip(wanted, unwanted, strict=True)])
    if len(rows) == len(queries):
        return made
    # All at once: what is encoded together may change the last bit.
    vectors = Plain().vectors(queries, encoder)
    vectors[rows] = made
    return vectors
