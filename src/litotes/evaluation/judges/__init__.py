"""Judges: who answers yes/no questions about pictures, and what they are asked."""

from litotes.evaluation.judges.agreement import Agreement, agreement, flipped
from litotes.evaluation.judges.base import (
    ANSWERS,
    Answer,
    FunctionJudge,
    Judge,
    JudgeError,
    Picture,
    Reply,
)
from litotes.evaluation.judges.cache import CachedJudge
from litotes.evaluation.judges.local import LocalJudge
from litotes.evaluation.judges.questions import (
    JudgedQuery,
    questions_by_model,
    questions_by_rule,
)
from litotes.evaluation.judges.server import ServerJudge
from litotes.language.llm import ChatServer, Usage

__all__ = [
    "ANSWERS",
    "Agreement",
    "Answer",
    "CachedJudge",
    "ChatServer",
    "FunctionJudge",
    "Judge",
    "JudgeError",
    "JudgedQuery",
    "LocalJudge",
    "Picture",
    "Reply",
    "ServerJudge",
    "Usage",
    "agreement",
    "flipped",
    "questions_by_model",
    "questions_by_rule",
]
