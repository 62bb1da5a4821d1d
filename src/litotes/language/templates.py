"""Sentences that affirm a caption with the help of a negation: "There is no doubt that …".

Each is true of a picture wherever the caption is, whatever the caption says; so none claims that
the picture shows nothing else. The families are those of HANCLIP's negated positives (arXiv
2606.23843); the wordings are our own. The words "not", "no" and their like stand in all of them,
but deny nothing of the picture.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from litotes.language.sentences import clause, lower_first

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Template(NamedTuple):
    """One wording.

    Attributes:
        family: what makes it an affirmation.
        text: holds ``{clause}``, which follows "that"; or ``{caption}``, which follows a colon and
            need not be a sentence, or ``{Caption}``, which starts one.
    """

    family: str
    text: str


def _family(name: str, *texts: str) -> tuple[Template, ...]:
    return tuple(Template(name, text) for text in texts)


TEMPLATES: tuple[Template, ...] = (
    *_family(
        "double negation",
        "It is not untrue that {clause}.",
        "It would not be wrong to say that {clause}.",
        "It isn't false to claim that {clause}.",
        "Not inaccurate: {caption}.",
    ),
    *_family(
        "implied affirmation",
        "No one could deny that {clause}.",
        "It cannot be denied that {clause}.",
        "There's no mistaking it: {caption}.",
        "Without question, {clause}.",
        "{Caption}, no doubt about it.",
    ),
    *_family(
        "alternatives",
        "Not some other scene, but this one: {caption}.",
        "It is no different picture: {caption}.",
        "This is none other than the following: {caption}.",
        "Don't expect another view; what you see is this: {caption}.",
    ),
    *_family(
        "evidence",
        "Nothing in the picture speaks against the claim that {clause}.",
        "No detail refutes that {clause}.",
        "There is not a bit of evidence against this: {caption}.",
        "{Caption}, and nothing here suggests that this is wrong.",
    ),
    *_family(
        "uncertainty",
        "One cannot rule out that {clause}.",
        "It does not seem wrong that {clause}.",
        "It is not implausible that {clause}.",
        "Not unlikely: {caption}.",
    ),
    *_family(
        "contradiction-free",
        "With no contradiction at all, {clause}.",
        "It can be said without contradicting the picture that {clause}.",
        "{Caption}, which contradicts nothing in the image.",
        "Not in conflict with what is shown: {caption}.",
    ),
    *_family(
        "rhetorical",
        "Isn't it so that {clause}?",
        "Can't you see that {clause}?",
        "Who would not agree that {clause}?",
        "Why should nobody say that {clause}?",
        "{Caption}, isn't that so?",
    ),
    *_family(
        "other",
        "Do not overlook that {clause}.",
        "Not to be missed: {caption}.",
        "I am not mistaken in stating that {clause}.",
        "Never forget what the picture shows: {caption}.",
    ),
)
FAMILIES = tuple(dict.fromkeys(template.family for template in TEMPLATES))


def negated_positive(caption: Doc, rng: Random) -> str:
    """A caption in one of the templates: a family is drawn first, then one of its wordings.

    Args:
        caption: parsed, as :func:`litotes.language.sentences.read` gives it.
        rng: draws the template; the same state draws the same.
    """
    family = rng.choice(FAMILIES)
    said = clause(caption)
    usable = [
        template.text
        for template in TEMPLATES
        if template.family == family and (said is not None or "{clause}" not in template.text)
    ]
    end = len(caption.text.rstrip(" .!?,;:"))
    text = caption.text[:end]
    return rng.choice(usable).format(
        clause=said, caption=lower_first(caption)[:end], Caption=text[:1].upper() + text[1:]
    )
