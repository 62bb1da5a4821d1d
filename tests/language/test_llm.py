"""The client of chat servers: addresses, keys, and answers that will not do."""

import math
from collections import Counter

import pytest

from litotes.language.llm import TRIES, ChatServer, ServerError, _retry_after, message
from litotes.mining.llm_negator import LlmNegator
from litotes.mining.llm_rewriter import LlmRewriter

pytest.importorskip("openai")


def ask(server, said, right, **settings):
    """Ask the questions that the server has something to say to, until it is right."""
    server.says = said
    kept = {}

    def unfit(answers):
        kept.update(answers)
        return [place for place, answer in answers.items() if answer != right]

    chat = ChatServer("m", server.url, **{"timeout": 10.0} | settings)
    chat.ask_all([[message(question)] for question in said], unfit)
    return [kept.get(place) for place in range(len(said))]


def test_a_model_is_asked_until_its_answer_will_do(server):
    said = {"at once": "4", "later": ["5", "3", "4"], "too late": ["1", "2", "3", "4"]}
    assert ask(server, said, "4") == ["4", "4", "3"]
    assert server.asked == Counter({"at once": 1, "later": 3, "too late": TRIES})


def test_what_a_model_thinks_first_is_no_answer(server):
    said = {"2 + 2?": "<think>\nIs it 5?\n</think>\n\n4"}
    assert ask(server, said, "\n\n4") == ["\n\n4"]


def test_what_the_server_refuses_is_passed_over_and_failures_end_the_run(server):
    server.plan = {"2 + 2?": ["refuse"]}
    assert ask(server, {"2 + 2?": "4", "1 + 3?": "4"}, "4") == [None, "4"]
    assert set(server.asked.values()) == {1}
    server.plan = {"1 + 1?": ["broken", "cut", "busy"]}
    assert ask(server, {"1 + 1?": "2"}, "2", retries=3) == ["2"]
    server.plan = {"1 + 2?": ["broken"] * 4}
    with pytest.raises(ServerError, match=r"127\.0\.0\.1.*'m'.*500.*asked 4 times"):
        ask(server, {"1 + 2?": "3"}, "3", retries=3)


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        (None, 0, 0), ("3", 3, 3), ("0.5", 0.5, 0.5), ("-4", 0, 0), ("nan", 0, 0), ("soon", 0, 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("Sun, 06 Nov 2094 08:49:37 GMT", 1e6, 1e10),
        ("inf", math.inf, math.inf),
    ],
)  # fmt: skip
def test_retry_after_in_all_its_forms(header, low, high):
    assert low <= _retry_after(header) <= high


@pytest.mark.parametrize(
    "url", ["", "foo", "ftp://x/v1", "http://", "http://x:99999/v1", "http://[::1", "http://x\n"]
)
def test_what_is_no_address_of_a_server_is_refused_at_once(url):
    with pytest.raises(ServerError, match="is no address of a server"):
        ChatServer("model", url)


def test_a_key_that_cannot_be_one_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv("LITOTES_JUDGE_KEY", "ключ")
    with pytest.raises(ServerError, match="the server's key") as error:
        ChatServer("model", "http://localhost:8000/v1")
    assert "ключ" not in str(error.value)
    monkeypatch.setenv("LITOTES_JUDGE_KEY", "key\n")
    assert ChatServer("model", "http://localhost:8000/v1")._api_key == "key"


@pytest.mark.parametrize("user", [LlmNegator, LlmRewriter])
def test_keys_of_judges_and_of_openai_go_to_no_other_server(monkeypatch, user):
    monkeypatch.setenv("LITOTES_JUDGE_KEY", "judge's")
    monkeypatch.setenv("OPENAI_API_KEY", "openai's")
    monkeypatch.delenv("LITOTES_LLM_KEY", raising=False)
    assert user("m", "http://localhost:8000/v1").server._api_key == "none"
    assert user("m").server._api_key == "openai's"
    monkeypatch.setenv("LITOTES_LLM_KEY", "own")
    assert user("m").server._api_key == "own"
