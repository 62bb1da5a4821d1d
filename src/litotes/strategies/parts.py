"""The parts of negated queries, encoded: what they affirm, and each thing that they exclude."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import where_negated
from litotes.strategies.plain import Plain

ANYTHING = "a photo"
"""What stands for the affirmed part of a query that only excludes."""
KEPT = 1024
"""So many vectors of parts are kept, those that were asked for last."""

_RECENT: OrderedDict[tuple[str, str], Tensor] = OrderedDict()
_LOCK = Lock()


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
    vectors = dict(zip(texts, _encoded(texts, encoder), strict=True))
    none = torch.empty(0, encoder.dim)
    parts = torch.stack([vectors[text] for text in excluded]) if excluded else none
    counts = [len(query.negated) for query in queries]
    return torch.stack([vectors[text] for text in affirmed]), parts.split(counts)


def _encoded(texts: Sequence[str], encoder: DualEncoder) -> list[Tensor]:
    """Unit vectors, each ``(d,)``: the parts of a query are asked for more than once."""
    keys = [(encoder.text_fingerprint, text) for text in texts]
    with _LOCK:
        found = {key: _RECENT[key] for key in keys if key in _RECENT}
    new = [key for key in keys if key not in found]
    if new:
        found |= zip(new, encoder.encode_texts([text for _, text in new]), strict=True)
    with _LOCK:
        _RECENT.update(found)
        for key in keys:
            _RECENT.move_to_end(key)
        while len(_RECENT) > KEPT:
            _RECENT.popitem(last=False)
    return [found[key] for key in keys]


def forget_parts() -> None:
    """Forget the vectors of parts that were asked for."""
    with _LOCK:
        _RECENT.clear()


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
