"""Wording: articles, "-ing" forms, and captions that read well after words were taken out."""

import re

from litotes.language.lexicon import IRREGULAR_PLURALS, MASS_NOUNS

_CONSONANT_SOUND = re.compile(r"(?:uni|use|usu|one\b|once|eu|ew|u\b)", re.IGNORECASE)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_VOWEL_LETTER_NAME = re.compile(r"[AEFHILMNORSX](?:[A-Z]|\b)")
_DOUBLED_FINAL = re.compile(r"[^aeiou]*(?:qu)?[aeiou][bdglmnprt]")
_SINGULAR_S = ("ss", "us", "is", "as")


def indefinite_article(word: str) -> str:
    """The article "a" or "an", by the sound ``word`` begins with."""
    if word.isupper() and len(word) <= 4:
        return "an" if _VOWEL_LETTER_NAME.match(word) else "a"
    vowel = word[:1].lower() in "aeiou" and not _CONSONANT_SOUND.match(word)
    return "an" if vowel or _SILENT_H.match(word) else "a"


def with_article(text: str) -> str:
    """A text behind the article that suits it: "an old dog"."""
    return f"{indefinite_article(text)} {text}"


def is_countable_singular(noun: str, tag: str) -> bool:
    """Whether a bare head noun of this Penn tag wants an article."""
    word = noun.lower()
    if word in MASS_NOUNS or word in IRREGULAR_PLURALS or tag in ("NNS", "NNPS"):
        return False
    if word.endswith("s") and not word.endswith(_SINGULAR_S):
        return False
    return tag != "NNP" or not noun.istitle()


def gerund(lemma: str) -> str:
    """The "-ing" form: wear, wearing; ride, riding; sit, sitting; lie, lying."""
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return lemma[:-1] + "ing"
    if _DOUBLED_FINAL.fullmatch(lemma):
        return lemma + lemma[-1] + "ing"
    return lemma + "ing"


#: Marks, in a text given to :func:`caption`, where words were taken out.
CUT = "\0"

_CONNECTOR = (
    r"(?:and|but|yet|or|nor|with|though|although|while|whereas|because|where|being|having|plus|"
    r"(?:that|who|which)(?: is| are| has| have)?|there(?: is| are)?|even|also|just|only|it is)"
)
_LEADING = rf"(?:[\s,;:.!?–—-]|\b{_CONNECTOR}\b)*"
_TIDYINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (rf"{CUT}(?:\s*{CUT})*", CUT),
        (rf"\b(an?|the)\s*{CUT}\s*,\s*", rf"\1 {CUT}"),
        (rf",?\s*{CUT}\s*,\s*(?=\w+ing\b|with\b|in\b|on\b|at\b)", CUT),
        (rf"^\s*{CUT}{_LEADING}", ""),
        (rf"(?:[\s,;:–—-]|\b{_CONNECTOR})*\s*{CUT}[\s,;:.!?]*$", ""),
        (rf"(?:[\s,;:]|\b{_CONNECTOR})*\s*{CUT}\s*(?=[,.;:!?])", ""),
        (rf"{CUT}\s*(?:but|yet|and)\s+(?=\w+ing\b)", CUT),
        # Of "although there is a dog, there is no cat" the first clause stays, as a clause.
        (r"^\s*(?:(?:even )?(?:al)?though|while(?= there (?:is|are)\b))\s+", ""),
        (r"\s+", " "),
        (r"\s+(?=[,.;:!?])", ""),
        (r"[,;:.!?]+(?=[,;:.])|^[\s,;:.]+|[\s,;:.!?]+$", ""),
    )
)
_ARTICLE = re.compile(rf"\b(an?)\s*{CUT}\s*(?=([\w'’-]+))", re.IGNORECASE)
_EMPTY = re.compile(
    r"(?:(?:an?|the|this|that|these|any|all) )?"
    r"(?:image|picture|photo|photograph|anything|everything|something|one|it|scene|is|are)s?",
    re.IGNORECASE,
)


def caption(text: str) -> str:
    """Make a clean caption of a text out of which words were taken, each place marked :data:`CUT`.

    Dangling commas and connecting words go, and articles are made to agree again ("an unlit
    candle" cut to "a candle").
    """
    for pattern, replacement in _TIDYINGS:
        text = pattern.sub(replacement, text)
    text = _ARTICLE.sub(_agree, text)
    return " ".join(text.replace(CUT, " ").split())


def names_content(text: str) -> bool:
    """Whether a caption names anything a picture could show; "a picture" or "it" does not."""
    return bool(text) and not _EMPTY.fullmatch(text)


def _agree(match: re.Match[str]) -> str:
    article = indefinite_article(match.group(2))
    return (article.capitalize() if match.group(1)[0] == "A" else article) + " "
