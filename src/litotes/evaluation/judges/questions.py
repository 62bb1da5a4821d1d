"""The two questions of a query: is what it asks for there, and is what it excludes there?

Made by rule from the query as `parse` takes it apart, or by a language model, whose questions are
checked and replaced by the rule's where they cannot be right.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from litotes.language import Query, has_negation, parse_all
from litotes.language.frames import strip_frames
from litotes.language.llm import ChatServer, Completion, Messages
from litotes.language.parse import PIPELINE_LOCK, pipeline
from litotes.language.phrasing import is_countable_singular, with_article
from litotes.language.reading import Reading, Span
from litotes.language.wording import thing_text

if TYPE_CHECKING:
    from spacy.tokens import Doc


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query and what a judge is asked about the pictures that are found for it.

    Attributes:
        query: as it is searched for.
        shown: q_r, about what the query asks for: the right answer is yes. Empty where a query
            only excludes; any picture then shows what it asks for.
        excluded: q_n, one for each thing the query excludes: the right answers are no.
        made_by: where the questions are from.
    """

    query: str
    shown: str
    excluded: tuple[str, ...]
    made_by: Literal["file", "rule", "model"] = "file"


def questions_by_rule(queries: Sequence[str]) -> list[JudgedQuery]:
    """Questions of queries, by rule.

    "a dog but no cat" asks "Does this picture show a dog?", "Does this picture show a cat?".
    """
    parsed = parse_all(queries)
    phrases = list(dict.fromkeys(p for q in parsed for p in (q.affirmed, *q.negated) if p))
    asked = dict(zip(phrases, _ask_for(phrases), strict=True))
    return [_judged(query, asked) for query in parsed]


def questions_by_model(queries: Sequence[str], server: ChatServer) -> list[JudgedQuery]:
    """Questions of queries, by a language model; those that cannot be right are made by rule.

    A model's questions are taken if there is one yes/no question about what is asked for (unless
    the query only excludes), at least one about what is excluded if the query holds a negation,
    and no negation in any of them.

    Raises:
        JudgeError: the server cannot be asked.
    """
    made = questions_by_rule(queries)

    def request(query: str) -> Callable[[], Messages]:
        return lambda: [{"role": "user", "content": _INSTRUCTION + query}]

    def take(place: int, completion: Completion) -> None:
        by_model = None if completion.failed else _validated(made[place], completion.text)
        made[place] = by_model or made[place]

    server.chat_all([request(query) for query in queries], take, max_tokens=400)
    return made


_INSTRUCTION = """\
A search query for photographs may say what a photograph should show, and what it should not show.
Write yes/no questions about one photograph, to check whether it fits the query:
"shown": one question about all that the query asks for; yes is the right answer. "" if the query
only excludes.
"excluded": for each thing or action that the query excludes, one question whether it is there; no
is the right answer. [] if the query excludes nothing.
No question may hold a negation. Answer with a JSON object and nothing else.
Query: a man riding a bike but not wearing a helmet
{"shown": "Is there a man riding a bike?", "excluded": ["Is the man wearing a helmet?"]}
Query: """

_YES_NO_QUESTION = re.compile(
    r"(?:is|are|was|were|does|do|did|can|could|has|have)\b[^?\n]{3,300}\?", re.IGNORECASE
)
_FINITE = frozenset({"VBZ", "VBP", "MD"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
_WITHOUT_ARTICLE = re.compile(r"(?:some|any|every|no)(?:one|thing|body)\b", re.IGNORECASE)


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")

    shown: str
    excluded: list[str]


def _validated(by_rule: JudgedQuery, text: str) -> JudgedQuery | None:
    """The questions in what a model said, if they can be right."""
    # Many models put marks around JSON.
    start, end = text.find("{"), text.rfind("}")
    try:
        said = _Said.model_validate_json(text[start : end + 1])
    except ValidationError:
        return None
    shown = said.shown.strip()
    excluded = tuple(dict.fromkeys(question.strip() for question in said.excluded))
    asked = (shown, *excluded) if shown or by_rule.shown else excluded
    if not all(_YES_NO_QUESTION.fullmatch(q) and not has_negation(q) for q in asked):
        return None
    if shown in excluded or (has_negation(by_rule.query) and not excluded):
        return None
    return JudgedQuery(by_rule.query, shown, excluded, made_by="model")


def _judged(query: Query, asked: dict[str, str]) -> JudgedQuery:
    shown = asked[query.affirmed] if query.affirmed else ""
    return JudgedQuery(query.raw, shown, tuple(asked[p] for p in query.negated), made_by="rule")


def _ask_for(phrases: Sequence[str]) -> list[str]:
    """The question whether a picture shows what a phrase says."""
    with PIPELINE_LOCK:
        docs = list(pipeline().pipe(strip_frames(phrase).strip() or phrase for phrase in phrases))
    return [f"Does this picture show {_object(doc)}?" for doc in docs]


def _object(doc: "Doc") -> str:
    """A phrase worded to follow "show": "ball" gives "a ball", "the sky is blue" "that …"."""
    reading = Reading(doc)
    first = doc[0]
    if len(doc) == 1 and reading.letter(0) in "vap":
        # The tagger takes some lone nouns for verbs ("hourglass").
        text = first.text
        return with_article(text) if is_countable_singular(text, "NN") else text
    text = thing_text(reading, Span(0, len(doc)))
    if not text or _WITHOUT_ARTICLE.match(first.text):
        text = doc.text
    if _is_name(doc):
        text = text.replace(first.lower_, first.text, 1)
    return f"that {text}" if _is_sentence(doc) else text


def _is_name(doc: "Doc") -> bool:
    """Whether it begins with a name of two words, such as "New York"."""
    return len(doc) > 1 and all(t.tag_ == "NNP" and t.text.istitle() for t in doc[:2])


def _is_sentence(doc: "Doc") -> bool:
    """Whether it is a sentence with a verb ("a dog is running"), and no noun phrase."""
    root = next(token for token in doc if token.head.i == token.i)
    children = list(root.children)
    helped = any(child.dep_ in ("aux", "auxpass") for child in children)
    has_subject = any(child.dep_ in _SUBJECTS and child.i < root.i for child in children)
    return has_subject and (helped or root.tag_ in _FINITE)
