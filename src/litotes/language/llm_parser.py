"""Queries taken apart by a language model behind a server that speaks OpenAI's chat API.

What the model answers is checked; where it cannot be right it is asked again, and then the rules
of :func:`~litotes.language.parse.parse` take the query apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from litotes.language.cues import Kind, canonical, find_cues, has_negation, plain
from litotes.language.frames import strip_frames
from litotes.language.lexicon import LESS_WORDS, UN_WORDS
from litotes.language.llm import OPENAI, CaptionModel, Messages, message
from litotes.language.parse import needs_grammar, parse_all
from litotes.language.query import Query
from litotes.language.sentences import read

if TYPE_CHECKING:
    from spacy.tokens import Doc

_RULES = """\
Take search queries for photographs apart. "affirmed" is what a photograph should show, "" if the \
query only excludes; leave out what is excluded, and words about photographs or searching. \
"negated" lists each thing, attribute, action or relation that is excluded, as a caption of a \
photograph that does show it; where the query denies something of a person or thing, name that \
person or thing along. Neither holds a negation, and both use the words of the query. A double \
negation affirms. Answer with the JSON object and nothing else.

"""
_PROMPT = "Query: "
_EXAMPLES = (
    (
        "a man riding a bike but not wearing a helmet",
        '{"affirmed": "a man riding a bike", "negated": ["a man wearing a helmet"]}',
    ),
    ("a photo without cats or dogs", '{"affirmed": "", "negated": ["cats", "dogs"]}'),
    (
        "a car that is not red on a street free of traffic",
        '{"affirmed": "a car on a street", "negated": ["a red car", "traffic"]}',
    ),
    (
        "a shirtless boy on a beach, nobody is swimming",
        '{"affirmed": "a boy on a beach", "negated": ["a shirt", "a person swimming"]}',
    ),
)
#: Words of these kinds must be those of the query.
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM"})
#: At least so large a share of the query's own must be in the answer.
MIN_KEPT = 0.5
#: What "nobody" and "nothing" are put as.
_SOMEBODY = frozenset({"person", "people", "somebody", "someone", "something", "other"})


class LlmParser(CaptionModel):
    """Asks a model to take queries apart.

    Args:
        model: as the server calls it.
        base_url: of the API.
        options: the further ones of :class:`~litotes.language.llm.CaptionModel`, which also says
            what is raised.

    Attributes:
        fallbacks: how many queries so far were left to the rules.
    """

    def __init__(self, model: str, base_url: str = OPENAI, **options: Any) -> None:
        super().__init__(model, base_url, **options)
        self.fallbacks = 0

    def __call__(self, queries: Sequence[str]) -> list[Query]:
        """Take queries apart; the model is asked only about those that hold a negation cue.

        Raises:
            LitotesError: the server refuses us, or does not answer.
        """
        parsed = parse_all(queries)
        asked = [place for place, query in enumerate(queries) if needs_grammar(query)]
        left = set(asked)

        def unfit(answers: Mapping[int, str]) -> Iterator[int]:
            for number, answer in answers.items():
                place = asked[number]
                query = check(queries[place], answer)
                if query is None:
                    yield number
                else:
                    parsed[place] = query
                    left.discard(place)

        self.server.ask_all([_chat(queries[place]) for place in asked], unfit)
        self.fallbacks += len(left)
        return parsed


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    affirmed: str
    negated: list[str]


def check(query: str, answer: str) -> Query | None:
    """What an answer makes of a query; None if it cannot be right.

    It can be if it excludes something, holds no negation, excludes nothing it affirms, every
    content word is one of the query's, in whatever form, and most of the query's are kept.
    """
    # Many models put marks around JSON.
    start, end = answer.find("{"), answer.rfind("}")
    try:
        said = _Said.model_validate_json(answer[start : end + 1])
    except ValidationError:
        return None
    parts = [said.affirmed, *said.negated]
    if not said.negated or not all(said.negated) or any(map(has_negation, parts)):
        return None
    if said.affirmed in said.negated:
        return None
    asked, content, *docs = read([query, strip_frames(canonical(query)), *parts])
    known = _words(asked) | _implied(query)
    said_words = set[str]().union(*map(_words, docs))
    if not all(_share_in(known, doc) == 1 for doc in docs):
        return None
    if _share_in(said_words, content) < MIN_KEPT:
        return None
    return Query(said.affirmed, tuple(dict.fromkeys(said.negated)), query)


def _share_in(words: set[str], doc: Doc) -> float:
    """The share of a text's content words that are among these; 1 where it has none."""
    content = [token for token in doc if token.pos_ in _CONTENT]
    found = sum(not words.isdisjoint((t.lower_, t.lemma_.lower())) for t in content)
    return found / len(content) if content else 1.0


def _words(doc: Doc) -> set[str]:
    return {form for token in doc for form in (token.lower_, token.lemma_.lower())}


def _implied(query: str) -> set[str]:
    """Words that cues stand for: "shirtless" for a shirt, "nobody" for a person."""
    text = plain(query)
    words = set[str]()
    for cue in find_cues(text):
        word = text[cue.start : cue.end].lower()
        words.update(LESS_WORDS.get(word, "").split(), UN_WORDS.get(word, "").split())
        if cue.kind in (Kind.NOBODY, Kind.NOTHING, Kind.NONE):
            words |= _SOMEBODY
    return words


def _chat(query: str) -> Messages:
    """The query behind examples, so that the model sees the form of an answer."""
    chat = list[dict[str, Any]]()
    for asked, answer in _EXAMPLES:
        chat += [message(_PROMPT + asked), message(answer, "assistant")]
    chat.append(message(_PROMPT + " ".join(query.split())))
    chat[0]["content"] = _RULES + chat[0]["content"]
    return chat
