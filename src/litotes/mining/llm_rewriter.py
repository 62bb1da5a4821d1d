"""Captions with one keyword changed by a language model behind a server (arXiv 2604.13313).

What the model answers is checked, as a caption that is changed elsewhere too, reads badly or is
still true would teach the wrong thing; it is asked again, and then the caption is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from litotes.data.concrete_pairs import KeywordKind
from litotes.language.cues import has_negation
from litotes.language.llm import CaptionModel, Messages, message
from litotes.language.phrasing import indefinite_article, is_countable_singular
from litotes.language.sentences import is_plural, read
from litotes.mining.exclusive import TABLES
from litotes.mining.planting import Dropped, Rewrite, Rewritten, Seed

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_RULES = """\
Captions of photographs are to become false by a change of one word or phrase. What takes its \
place must be something that could be seen in such a photograph, and must rule out what was there: \
no synonym, no more general word, no negation. All other words stay as they are, and the caption \
stays grammatical. Answer with the new caption and nothing else.

"""
_PROMPT = 'Replace "{keyword}" in this caption with another {kind}: {caption}'
_KINDS: Mapping[KeywordKind, str] = {
    "object": "object or living being",
    "attribute": "colour, size, material or other attribute",
    "action": "action in the same verb form",
    "relation": "relation in space",
    "count": "number",
}
#: A caption, its keyword, and what takes its place.
_EXAMPLES: Mapping[KeywordKind, tuple[str, str, str]] = {
    "object": ("A horse stands on the grass.", "horse", "cow"),
    "attribute": ("A man in a red hat sits down.", "red", "green"),
    "action": ("Two girls are running on a road.", "running", "sitting"),
    "relation": ("A ball lies on a wooden table.", "on", "under"),
    "count": ("Two women walk along a beach.", "Two", "Four"),
}
#: At most so many words more than the keyword has.
_MAX_ADDED_WORDS = 2
_WORD = re.compile(r"[^\W_]+")
_QUOTES = ' \n"“”*`'
_REPLACEMENT = re.compile(r"[A-Za-z]+(?:[ '’-][A-Za-z]+)*")
#: These are true of what many other words name.
_GENERAL = frozenset(
    {"adult", "animal", "being", "creature", "human", "individual", "item", "object", "people"}
    | {"person", "someone", "something", "thing"}
)
_LAST_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_NOUNS = frozenset({"NOUN", "PROPN"})
_DETERMINERS = frozenset({"DT", "PRP", "PRP$", "WDT", "PDT"})
_FIXED = frozenset({"det", "poss", "nummod"})
_DESCRIBING = frozenset({"amod", "compound", "nmod"})
#: In "a man running" the parser takes now the one for the root and now the other.
_LEADING = frozenset({"ROOT", "nsubj", "acl"})


class LlmRewriter(CaptionModel):
    """Asks a model to change captions at their first keyword; a :class:`~.planting.Rewriter`.

    Args:
        model: as the server calls it.
        base_url: of the API.
        options: the further ones of :class:`~litotes.language.llm.CaptionModel`, which also says
            what is raised.
    """

    def __call__(self, seeds: Sequence[Seed]) -> list[Rewritten]:
        """Change each caption at its first keyword, or say what was wrong with the last answer.

        Raises:
            LitotesError: the server refuses us, or does not answer.
        """
        found: list[Rewritten] = [Dropped("refused by the server")] * len(seeds)

        def unfit(answers: Mapping[int, str]) -> Iterator[int]:
            asked = [seeds[place] for place in answers]
            checked = check(asked, list(answers.values()))
            for place, rewritten in zip(answers, checked, strict=True):
                found[place] = rewritten
                if isinstance(rewritten, Dropped):
                    yield place

        self.server.ask_all([_chat(seed) for seed in seeds], unfit)
        return found


def check(seeds: Sequence[Seed], answers: Sequence[str]) -> list[Rewritten]:
    """What answers make of captions; those that will not do are dropped.

    An answer will do if it is the caption with its first keyword replaced (and "a" or "an", and
    the forms of words that a count asks for, as they must be then), reads as the caption does, and
    its replacement is said nowhere of the picture, no synonym and no more general word.
    """
    changes = [_change(seed, answer) for seed, answer in zip(seeds, answers, strict=True)]
    docs = iter(read([change.text for change in changes if isinstance(change, _Change)]))
    return [
        change if isinstance(change, Dropped) else _checked(seed, change, next(docs))
        for seed, change in zip(seeds, changes, strict=True)
    ]


def _chat(seed: Seed) -> Messages:
    """Ask for a change, behind an example of what it should be like."""
    keyword = seed.keywords[0]
    kind = _KINDS[keyword.kind]
    example, old, new = _EXAMPLES[keyword.kind]
    words = seed.doc[keyword.start : keyword.end].text
    return [
        message(_RULES + _PROMPT.format(keyword=old, kind=kind, caption=example)),
        message(example.replace(old, new), "assistant"),
        message(_PROMPT.format(keyword=words, kind=kind, caption=seed.doc.text)),
    ]


class _Change(NamedTuple):
    """A caption with a keyword changed: characters ``start`` up to ``end`` are new."""

    text: str
    start: int
    end: int


def _change(seed: Seed, answer: str) -> _Change | Dropped:
    """Find the keyword's replacement in an answer that keeps all other words.

    The change is made in the caption itself, so that its stops and capitals stay.
    """
    said = answer.strip(_QUOTES)
    if not said:
        return Dropped("answer is empty")
    if "\n" in said:
        return Dropped("answer is more than one line")
    keyword = seed.keywords[0]
    span = seed.doc[keyword.start : keyword.end]
    words = list(_WORD.finditer(said))
    before = list(_WORD.finditer(seed.doc.text, 0, span.start_char))
    after = list(_WORD.finditer(seed.doc.text, span.end_char))
    behind = len(words) - len(after)
    new = words[len(before) : behind] if behind > 0 else []
    if not new:
        return Dropped("answer changes other words")
    kept = zip((*before, *after), (*words[: len(before)], *words[behind:]), strict=True)
    others = [(old, form[0]) for old, form in kept if _plain(old[0]) != _plain(form[0])]
    if others and keyword.kind != "count":
        return Dropped("answer changes other words")
    replacement = said[new[0].start() : new[-1].end()]
    if replacement.lower() == span.text.lower():
        return Dropped("answer is the caption")
    return _put(seed.doc.text, span, replacement, others)


def _plain(word: str) -> str:
    word = word.lower()
    return "a" if word == "an" else word


def _put(
    caption: str, span: Span, replacement: str, others: Sequence[tuple[re.Match[str], str]]
) -> _Change:
    """Put a replacement, and other forms of other words, in the caption; "a" or "an" follows."""
    head, tail = caption[: span.start_char], caption[span.end_char :]
    for old, form in reversed(others):
        if old.start() < span.start_char:
            head = head[: old.start()] + form + head[old.end() :]
        else:
            at = old.start() - span.end_char
            tail = tail[:at] + form + tail[at + len(old[0]) :]
    article = _LAST_ARTICLE.search(head)
    if article:
        fitting = indefinite_article(replacement)
        fitting = fitting.capitalize() if article[1].istitle() else fitting
        head = head[: article.start()] + fitting + article[2]
    elif not head:
        first = replacement[0]
        replacement = (first.upper() if caption[0].isupper() else first.lower()) + replacement[1:]
    return _Change(head + replacement + tail, len(head), len(head) + len(replacement))


def _checked(seed: Seed, change: _Change, doc: Doc) -> Rewritten:
    """A changed caption, if it reads as the caption does and is false where that is true."""
    keyword = seed.keywords[0]
    old, new = seed.doc[keyword.start : keyword.end], doc.char_span(change.start, change.end)
    if has_negation(doc.text):
        return Dropped("answer holds a negation")
    if new is None or not (_REPLACEMENT.fullmatch(new.text) or old.text.isdigit()):
        return Dropped("answer is ungrammatical")
    if len(new.text.split()) > len(old.text.split()) + _MAX_ADDED_WORDS:
        return Dropped("answer is too long")
    if not _reads_alike(old, new, keyword.kind):
        return Dropped("answer is ungrammatical")
    if _may_mean_the_same(old.root, new.root) or _forms(new.root) & _GENERAL:
        return Dropped("answer is a synonym")
    if _may_be_said(new, keyword.kind, seed.said):
        return Dropped("answer is said of the picture")
    return Rewrite(doc.text, keyword, new.text)


def _may_mean_the_same(old: Token, new: Token) -> bool:
    """Whether one may be said of what the other is said of, as far as is known."""
    olds, news = _forms(old), _forms(new)
    alike = (table.alike.get(form, frozenset()) for table in TABLES for form in olds)
    return bool(olds & news) or any(news & words for words in alike)


def _reads_alike(old: Span, new: Span, kind: KeywordKind) -> bool:
    """Whether a replacement has role, part of speech, number and tense of the keyword."""
    was, now = old.root, new.root
    if new[0].tag_ in _DETERMINERS and old[0].tag_ not in _DETERMINERS:
        return False  # "a the dog"
    if kind == "relation":
        return now.dep_ in ("prep", "advmod") and new[-1].tag_ in ("IN", "TO")
    if not _same_role(old, new):
        return False
    if kind == "attribute" and was.dep_ in _DESCRIBING:
        return now.pos_ in ("ADJ", "NOUN", "PROPN", "VERB")
    if kind == "object":
        same_number = now.pos_ in _NOUNS and is_plural(was) == is_plural(now)
        return same_number and _same_articles(was, now)
    if kind == "count":
        return was.tag_ == now.tag_ and _agrees(now.head, new) and _same_lemmas(old, new)
    return bool(was.tag_ == now.tag_)


def _same_role(old: Span, new: Span) -> bool:
    """Whether keyword and replacement are the same to the same word."""
    was, now = old.root, new.root
    if {was.dep_, now.dep_} <= _LEADING:
        return True
    head = was.head.i if was.head.i < old.start else was.head.i + len(new) - len(old)
    same = was.dep_ == now.dep_ or {was.dep_, now.dep_} <= _DESCRIBING
    return same and now.head.i == head


def _same_articles(was: Token, now: Token) -> bool:
    """Whether a noun may have no article, or "a", where the other one has it."""
    fixed = any(t.dep_ in _FIXED and t.lower_ not in ("a", "an") for t in was.lefts)
    counted, counts = (is_countable_singular(noun.text, noun.tag_) for noun in (was, now))
    return fixed or counted == counts


def _agrees(noun: Token, count: Span) -> bool:
    """Whether noun and verb have the number that a count asks for."""
    one = count.text.lower() in ("one", "1")
    if is_plural(noun) == one:
        return False
    if noun.dep_ not in ("nsubj", "nsubjpass", "attr") or list(noun.conjuncts):
        return True
    verb = next((t for t in noun.head.lefts if t.dep_ in ("aux", "auxpass")), noun.head)
    wrong = ("VBP", "were") if one else ("VBZ", "was")
    return verb.tag_ not in wrong and verb.lower_ not in wrong


def _same_lemmas(old: Span, new: Span) -> bool:
    """Whether all words but the replacement are the same, or forms of the same words."""
    before = [*old.doc[: old.start], *old.doc[old.end :]]
    after = [*new.doc[: new.start], *new.doc[new.end :]]
    return len(before) == len(after) and all(
        _forms(one) & _forms(other) for one, other in zip(before, after, strict=True)
    )


def _may_be_said(new: Span, kind: KeywordKind, said: frozenset[str]) -> bool:
    if kind == "relation":
        return all(token.lower_ in said for token in new)
    return not said.isdisjoint(_forms(new.root))


def _forms(token: Token) -> set[str]:
    return {token.lower_, token.lemma_.lower()}
