"""Wordings of what a picture shows and lacks, affirmed, denied, or both.

``{a}`` is a thing with its article ("a dog", "water", "flowers"), ``{a_bare}`` stands behind "no",
``{a_is}`` and ``{a_isnt}`` agree with it; so for ``{b}``. Captions stand as ``{caption}`` after a
colon or comma, or as ``{Caption}`` at the start.
"""

import re
from typing import NamedTuple

AFFIRMATIVE = (
    "{a}",
    "a photo of {a}",
    "a picture with {a}",
    "an image that contains {a}",
    "{a} {a_is} here",
    "there {a_is} {a}",
    "there {a_is} {a} in the scene",
    "{a} can be made out",
    "one can see {a}",
    "you see {a} in this shot",
    "the picture includes {a}",
    "{a} {a_is} part of the scene",
    "{a} {a_is} visible",
    "this view has {a} in it",
    "a snapshot showing {a}",
    "{a} in the picture",
    "among other things, {a}",
    "it shows {a}",
)
NEGATIVE = (
    "no {b_bare}",
    "a photo with no {b_bare}",
    "a picture without {b}",
    "an image that contains no {b_bare}",
    "no {b_bare} {b_is} here",
    "there {b_isnt} {b}",
    "there {b_is} no {b_bare} in the scene",
    "{b} cannot be made out",
    "one sees no {b_bare}",
    "you don't see {b} in this shot",
    "the picture does not include {b}",
    "{b} {b_isnt} part of the scene",
    "{b} {b_is} nowhere to be seen",
    "this view has no {b_bare} in it",
    "a snapshot lacking {b}",
    "not {b}",
    "anything but {b}",
    "it doesn't show {b}",
    "never {b} in this picture",
    "{b} {b_is} absent",
    "the scene lacks {b}",
    "without any {b_bare}",
    "{b} {b_is} missing from the picture",
)
HYBRID = (
    "{a} but no {b_bare}",
    "{a}, without {b}",
    "{a} and no {b_bare}",
    "{a}, not {b}",
    "{a} with no {b_bare} around",
    "{a} instead of {b}",
    "no {b_bare}, but there {a_is} {a}",
    "not {b} but {a}",
    "{a} in a picture that lacks {b}",
    "there {a_is} {a}, yet there {b_isnt} {b}",
    "a photo of {a} without {b}",
    "a picture with {a} and without {b}",
    "an image that has {a} but lacks {b}",
    "one can see {a}, though not {b}",
    "you see {a} and don't see {b}",
    "{a} {a_is} visible, {b} {b_isnt}",
    "{a} in a place without any {b_bare}",
    "while there {b_is} no {b_bare}, there {a_is} {a}",
    "{b} {b_is} missing, but {a} {a_is} there",
    "it shows {a} rather than {b}",
)
#: A true caption and what is lacking, said to be lacking, and said to be there.
CAPTIONED = (
    ("{Caption}, without {b}", "{Caption}, with {b}"),
    ("{Caption}, but no {b_bare}", "{Caption}, and {b}"),
    ("{Caption}. There {b_is} no {b_bare}.", "{Caption}. There {b_is} {b}."),
    ("{Caption}. There {b_isnt} {b}.", "{Caption}. There {b_is} {b}, too."),
    ("No {b_bare}: {caption}", "{b}: {caption}"),
    ("No {b_bare} in sight, {caption}", "{b} in sight, {caption}"),
    ("Without {b}: {caption}", "With {b}: {caption}"),
    ("{Caption}, where {b} cannot be seen", "{Caption}, where {b} can be seen"),
    ("{Caption}, and no {b_bare} {b_is} near", "{Caption}, and {b} {b_is} near"),
    ("{Caption}; {b} {b_is} not in the picture", "{Caption}; {b} {b_is} in the picture"),
    ("{Caption}, with no {b_bare} around", "{Caption}, with {b} around"),
    ("{Caption}. {b} {b_is} absent.", "{Caption}. {b} {b_is} present."),
    ("{Caption}. It does not show {b}.", "{Caption}. It also shows {b}."),
    ("A scene that lacks {b}: {caption}", "A scene that has {b}: {caption}"),
    ("{Caption}, in the absence of {b}", "{Caption}, in the presence of {b}"),
    ("{Caption}, and not {b}", "{Caption}, and also {b}"),
    ("{Caption}, minus {b}", "{Caption}, plus {b}"),
)


#: With these a sentence starts that may go on behind a colon; other words may be names.
_STARTS = re.compile(
    r"(?:an?|the|one|two|three|four|five|six|several|some|many|people|children|men|women|boys|girls|"
    r"dogs|his|her|their|this|these|there|young|old|small|large|little)\b",
    re.IGNORECASE,
)


class Wording(NamedTuple):
    """A thing and how to say it: behind "no", with its article, and in which number."""

    bare: str
    phrase: str
    plural: bool


def say(form: str, a: Wording, b: Wording, *, sentence: bool, caption: str = "") -> str:
    """A form with its things and its caption.

    Args:
        form: one of the above.
        a: what is affirmed.
        b: what is denied.
        sentence: whether it gets a capital letter and a stop.
        caption: what it speaks of, if it does.
    """
    caption = caption.rstrip(" .!?,;:")
    text = form.format(
        **_fields("a", a),
        **_fields("b", b),
        Caption=caption,
        caption=caption[:1].lower() + caption[1:] if _STARTS.match(caption) else caption,
    ).removesuffix(".")
    # What follows a stop starts anew.
    parts = [part[:1].upper() + part[1:] for part in text.split(". ")]
    if not sentence and len(parts) == 1:
        return text
    return ". ".join(parts) + "."


def _fields(name: str, thing: Wording) -> dict[str, str]:
    is_ = "are" if thing.plural else "is"
    return {
        name: thing.phrase,
        f"{name}_bare": thing.bare,
        f"{name}_is": is_,
        f"{name}_isnt": f"{is_}n't",
    }
