"""Sentence frames: the words around the content of a query, which say nothing of the picture.

"This image shows a dog", "there is a dog in this picture" and "a photo of a dog" are all "a dog".
The tables hold patterns for the start and the end of a sentence; :func:`strip_frames` takes them
off as long as any fits.
"""

import re

_PICTURE = r"(?:images?|pictures?|photos?|photographs?|pics?|shots?|snapshots?|scenes?)"
_SOME_PICTURE = rf"(?:(?:this|the|that|an?|any|some|all|these|those|one|every) )?{_PICTURE}"
_SHOWS = (
    r"(?:(?:that|which) )?(?:shows?|showing|depicts?|depicting|contains?|containing|includes?|"
    r"including|features?|featuring|displays?|displaying|captures?|capturing|has|have|having)"
)

#: Taken off where a sentence begins.
OPENERS = (
    r"(?:(?:can|could) you )?(?:please )?(?:show|find|give|get|search|look)(?: me| us)?"
    r"(?: for)?(?= )",
    r"(?:do you have|(?:is|are) there)(?: any)?(?= )",
    r"i(?: am|'m)? (?:want|need|would like|looking for|searching for)(?: to see| to find)?",
    r"looking for",
    rf"{_SOME_PICTURE} (?:is |are )?(?:of|with)\b",
    rf"{_SOME_PICTURE} {_SHOWS}\b",
    rf"{_SOME_PICTURE} (?:where|in which|that)\b(?= (?:there|no|nobody|it|you|we)\b)",
    rf"{_SOME_PICTURE},?(?= (?:without|no|not|nobody|nothing|missing)\b)",
    rf"{_SOME_PICTURE} (?:is|are|does|do)(?= (?:not|without)\b)",
    rf"in {_SOME_PICTURE},?",
    r"(?:here|there)(?: is| are|'s| was| were)\b",
    r"there(?= (?:can|could) )",
    r"(?:this|that|it|these|those)(?: is| are|'s| shows?)\b",
    r"(?:it|this|that)(?= (?:without|absent)\b)",
    r"(?:here,? )?(?:we|you|one)(?: can)? see\b",
)

#: Taken off where a sentence, or its part before a comma or a cue, ends.
CLOSERS = (
    rf"(?:in|within|from|anywhere in) (?:this|the) {_PICTURE}",
    r"(?:can|could) be (?:seen|found|spotted)(?: here| there)?",
    r"(?:is|are|was|were) (?:visible|present|shown|depicted|pictured|seen|included)(?: here)?",
    r"(?:is|are) (?:there|here)",
    r"here|please",
)

_OPENER = re.compile(rf"\s*(?:{'|'.join(OPENERS)})\s*", re.IGNORECASE)
_CLOSER = re.compile(
    rf",? ?\b(?:{'|'.join(CLOSERS)})"
    r"(?=\s*(?:[.,;:!?]|$|(?:but|and|yet|though|although|without)\b))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")


def strip_frames(text: str) -> str:
    """Take the frames off every sentence of a text."""
    return " ".join(_strip_sentence(sentence) for sentence in _SENTENCE_END.split(text))


def _strip_sentence(sentence: str) -> str:
    while (match := _OPENER.match(sentence)) and match.end() < len(sentence):
        sentence = sentence[match.end() :]
    return _CLOSER.sub(_close, sentence)


def _close(match: re.Match[str]) -> str:
    """Keep a predicate that is not the sentence's own: "…, while the hills are visible"."""
    predicate = _PREDICATE.match(match.group())
    return match.group() if predicate and _CLAUSE.search(match.string, 0, match.start()) else ""


_PREDICATE = re.compile(r",? ?(?:is|are|was|were|can|could)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:while|as|where|when|who|which|that|is|are|was|were)\b", re.IGNORECASE)
