"""Judges against a server that misbehaves, a killed run, sklearn, and scenes of known truth."""

import asyncio
import base64
import io
import json
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from tests.evaluation.misbehaving import COLOURS, serving
from tests.evaluation.tiny_qwen import save_tiny_qwen

from litotes.errors import DataError, ImageError, ModelError
from litotes.evaluation.judged import (
    JudgedTask,
    NCocoTask,
    SimpleNegTask,
    hit_share,
    judged_outcomes,
    verdicts,
)
from litotes.evaluation.judges import (
    ANSWERS,
    Agreement,
    CachedJudge,
    FunctionJudge,
    Judge,
    JudgedQuery,
    JudgeError,
    LocalJudge,
    Reply,
    agreement,
    flipped,
    questions_by_model,
    questions_by_rule,
)
from litotes.evaluation.judges.base import read_answer
from litotes.evaluation.judges.server import ServerJudge, data_url
from litotes.language.llm import OPENAI, ChatServer
from litotes.scenes import OracleJudge, sample
from litotes.strategies import Plain, Subtract

pytest.importorskip("openai")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("LITOTES_JUDGE_KEY", raising=False)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("litotes.language.llm._FIRST_WAIT", 0.01)
    with serving() as running:
        yield running


@pytest.fixture
def cards(tmp_path):
    """A red, a green and a blue picture."""
    return [card(tmp_path / f"{colour}.png", colour) for colour in COLOURS]


def card(path, colour, size=(120, 80)):
    Image.new("RGB", size, {"green": "lime"}.get(colour, colour)).save(path)
    return path


def colour_questions(cards, count):
    """Pairs of a card and a question of its own, and the right answers."""
    pairs = [(cards[i % 3], f"Is it {COLOURS[i // 3 % 3]}? {i}") for i in range(count)]
    return pairs, ["yes" if i % 3 == i // 3 % 3 else "no" for i in range(count)]


def judge_at(server, **settings):
    return ServerJudge(ChatServer("m", server.url, **{"timeout": 10.0} | settings))


# What is an answer.


@pytest.mark.parametrize("text", ["yes", "Yes.", " YES\n", '"yes"', "**Yes**", "_yes_", "yes!"])
def test_one_word_is_an_answer(text):
    assert read_answer(text) == "yes"
    assert read_answer(text.lower().replace("yes", "no")) == "no"


@pytest.mark.parametrize(
    "text", ["", "...", "yes and no", "Yes, there is a dog.", "nope", "noyes", "maybe", "not", "да"]
)
def test_anything_else_is_unclear(text):
    assert read_answer(text) == "unclear"


# A server.


def test_all_questions_are_answered_by_a_server_that_misbehaves(server, cards):
    pairs, right = colour_questions(cards, 45)
    faults = (
        ["hang"], ["drip"], ["too_many_until"], ["broken", "busy"], ["cut"], ["cut_json"],
        ["wrong_json", "no_choice"], ["page"], ["drop", "broken", "cut"],
    )  # fmt: skip
    server.plan = {q: faults[i % len(faults)] for i, (_, q) in enumerate(pairs)}
    judge = judge_at(server, timeout=3.0, retries=30, at_once=24, prices=(2.0, 10.0))
    assert judge.ask_all(pairs) == right
    assert judge.failed == 0
    assert not judge.unclear
    planned = sum(map(len, server.plan.values()))
    # A slow machine may time out once more.
    assert judge.server.usage.retries >= planned
    used = judge.server.usage
    assert (used.prompt_tokens, used.completion_tokens) == (4500, 90)
    assert judge.server.cost == pytest.approx((4500 * 2 + 90 * 10) / 1e6)


def test_many_requests_at_once_but_no_more_than_allowed(server, cards):
    pairs, right = colour_questions(cards, 40)
    server.delay = 0.05
    assert judge_at(server, at_once=5).ask_all(pairs) == right
    assert 1 < server.most_at_once <= 5


def test_retry_after_is_honoured(server, cards):
    server.plan = {"Is it red?": ["too_many"]}
    assert judge_at(server).ask(cards[0], "Is it red?") == "yes"
    first, second = (when for when, _, _ in server.log)
    assert second - first >= 1.0


def test_who_asks_to_be_left_alone_for_a_day_is_not_asked_again(server, cards):
    server.plan = {"Is it red?": ["come_back_tomorrow"]}
    judge = judge_at(server)
    assert judge.ask(cards[0], "Is it red?") == "unclear"
    assert judge.failed == len(server.log) == 1


def test_a_refused_question_fails_once_and_the_others_go_on(server, cards):
    pairs, right = colour_questions(cards, 9)
    server.plan = {pairs[4][1]: ["refuse"]}
    judge = judge_at(server)
    assert judge.ask_all(pairs) == [*right[:4], "unclear", *right[5:]]
    assert judge.failed == 1
    assert set(server.asked.values()) == {1}


def test_a_wrong_key_is_an_error_at_once(server, cards):
    pairs, _ = colour_questions(cards, 40)
    server.plan = {question: ["who_are_you"] for _, question in pairs}
    with pytest.raises(JudgeError, match=r"127\.0\.0\.1.*'m'.*401.*wrong key"):
        judge_at(server, at_once=4).ask_all(pairs)
    assert len(server.log) <= 8


def test_a_dead_server_is_given_up(cards):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    judge = ServerJudge(ChatServer("m", f"http://127.0.0.1:{port}/v1", at_once=2))
    with pytest.raises(JudgeError, match=rf"no server answers at http://127.0.0.1:{port}/v1"):
        judge.ask_all(colour_questions(cards, 40)[0])
    assert judge.server.usage.retries == 0
    # One that answered before may come back.
    judge.server.usage.completions, judge.server.retries = 1, 0
    with pytest.raises(JudgeError, match=rf"{port}.*last 10 requests failed"):
        judge.ask_all(colour_questions(cards, 40)[0])


def test_nonsense_is_unclear_and_kept_word_for_word(server, cards):
    pairs, right = colour_questions(cards, 6)
    server.says = {pairs[1][1]: "I see a banana.", pairs[2][1]: "I see a banana."}
    judge = judge_at(server)
    assert judge.ask_all(pairs) == [right[0], "unclear", "unclear", *right[3:]]
    assert judge.unclear == Counter({"I see a banana.": 2})
    assert judge.failed == 0
    assert set(server.asked.values()) == {1}


def test_pictures_are_made_small_and_stay_as_they_are(server, tmp_path):
    picture = Image.new("RGB", (900, 300), "blue")
    judge = ServerJudge(ChatServer("m", server.url), longest_side=256)
    assert judge.ask(picture, "Is it blue?") == "yes"
    assert judge.ask(card(tmp_path / "small.png", "red", (20, 30)), "Is it red?") == "yes"
    assert [side for _, _, side in server.log] == [256, 30]
    assert picture.size == (900, 300)


def test_a_picture_that_cannot_be_read_is_named(server, tmp_path):
    with pytest.raises(ImageError, match="gone"):
        judge_at(server).ask(tmp_path / "gone.png", "Is it red?")


def test_the_key_for_openai_goes_to_no_other_server(server, cards, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    judge_at(server).ask(cards[0], "Is it red?")
    judge_at(server, api_key="theirs").ask(cards[0], "Is it red?")
    assert server.keys == {"Bearer none", "Bearer theirs"}
    assert ChatServer("m")._api_key == "secret"
    monkeypatch.setenv("LITOTES_JUDGE_KEY", "judge's")
    judge_at(server).ask(cards[0], "Is it red?")
    assert "Bearer judge's" in server.keys
    assert ChatServer("m").base_url == OPENAI


def test_a_judge_can_be_asked_in_a_notebook(server, cards):
    async def cell():
        return judge_at(server).ask(cards[0], "Is it red?")

    assert asyncio.run(cell()) == "yes"


def test_an_identity_is_of_all_that_answers_depend_on(server):
    chat = ChatServer("m", server.url)
    others = [
        ServerJudge(ChatServer("n", server.url)),
        ServerJudge(ChatServer("m", "http://else/v1")),
        ServerJudge(ChatServer("m", server.url, options={"seed": 1})),
        ServerJudge(chat, longest_side=64),
    ]
    assert len({ServerJudge(chat).identity, *(judge.identity for judge in others)}) == 5
    assert ServerJudge(chat).identity == judge_at(server, at_once=1).identity


# Answers on disk.

KILLED = """
import sys
from pathlib import Path
from litotes.evaluation.judges import CachedJudge, ChatServer, ServerJudge
url, file, count, *cards = sys.argv[1:]
judge = CachedJudge(ServerJudge(ChatServer("m", url, at_once=4)), Path(file))
pairs = [(cards[i % 3], f"Is it {('red', 'green', 'blue')[i // 3 % 3]}? {i}")
         for i in range(int(count))]
judge.ask_all(pairs)
"""


def test_a_killed_run_goes_on_and_asks_nothing_twice(server, cards, tmp_path):
    pairs, right = colour_questions(cards, 40)
    server.delay = 0.05
    file = tmp_path / "answers.sqlite"
    command = [sys.executable, "-c", KILLED, server.url, str(file), "40", *map(str, cards)]
    with subprocess.Popen(command) as process:
        while len(server.log) < 15:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert len(server.asked) < 40
    server.delay = 0.0
    inner = judge_at(server, at_once=4)
    assert CachedJudge(inner, file).ask_all(pairs) == right
    assert len(server.asked) == 40
    # At most those that were under way when it was killed.
    assert sum(times > 1 for times in server.asked.values()) <= 4
    before = len(server.log)
    assert CachedJudge(inner, file).ask_all(pairs) == right
    assert len(server.log) == before


def test_what_failed_is_not_kept_and_what_is_unclear_is(server, cards):
    server.plan = {"Is it red?": ["broken", "broken"]}
    server.says = {"Is it green?": "Who knows?"}
    pairs = [(cards[0], "Is it red?"), (cards[0], "Is it green?")]
    judge = CachedJudge(judge_at(server, retries=1))
    assert judge.ask_all(pairs) == ["unclear", "unclear"]
    assert judge.failed == 1
    again = CachedJudge(judge_at(server))
    assert again.ask_all(pairs) == ["yes", "unclear"]
    assert again.failed == 0
    assert again.unclear == Counter({"Who knows?": 1})
    assert server.asked == {"Is it red?": 3, "Is it green?": 1}


def test_the_same_picture_under_another_name_is_the_same_question(server, cards, tmp_path):
    copy = tmp_path / "copy.png"
    copy.write_bytes(cards[0].read_bytes())
    pairs = [(cards[0], "Is it red?"), (copy, "Is it red?"), (cards[1], "Is it red?")]
    assert CachedJudge(judge_at(server)).ask_all(pairs) == ["yes", "yes", "no"]
    assert len(server.log) == 2


def test_threads_and_judges_share_a_file(server, cards):
    pairs, right = colour_questions(cards, 30)
    judge = CachedJudge(judge_at(server))
    # Another judge, whose answers are its own.
    liar = CachedJudge(FunctionJudge(lambda image, question: "unclear", "liar"))
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(j.ask_all, pairs) for j in (judge, liar, judge, liar)]
        found = [answer.result() for answer in answers]
    assert found == [right, ["unclear"] * 30, right, ["unclear"] * 30]
    assert set(server.asked.values()) == {1}


def test_a_cache_that_is_none_is_named(tmp_path, cards):
    file = tmp_path / "answers.sqlite"
    file.write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(DataError, match=r"answers\.sqlite.*remove it"):
        CachedJudge(FunctionJudge(lambda image, question: "yes", "yes"), file).ask(cards[0], "q")


def test_a_damaged_cache_is_named_or_asked_anew(tmp_path, cards):
    """Never an answer that nobody gave, and never a failure without a name."""
    file = tmp_path / "answers.sqlite"
    pairs = [(card, f"q{i}") for card in cards for i in range(60)]

    def ask(answer="yes"):
        judge = FunctionJudge(lambda image, question: answer, "judge")
        return CachedJudge(judge, file).ask_all(pairs)

    assert ask() == ["yes"] * len(pairs)
    whole = file.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:4096] + bytes(len(whole) - 4096)):
        file.write_bytes(content)
        with pytest.raises(DataError, match=r"answers\.sqlite.*remove it"):
            ask()
    file.write_bytes(whole)
    with closing(sqlite3.connect(file)) as store, store:
        store.execute("update answers set answer = 'maybe' where question = 'q1'")
        store.execute("update answers set said = x'ff' where question = 'q2'")
    answers = dict(zip(pairs, ask("no"), strict=True))
    assert {q for (_, q), answer in answers.items() if answer == "no"} == {"q1", "q2"}
    assert ask("unclear") == list(answers.values())


MID_WRITE = """
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("pragma cache_size = 1")
rows = [("judge", os.urandom(32), "q", "no", "x" * 3000) for _ in range(200)]
store.execute("update answers set answer = 'no'")
store.executemany("insert into answers values (?, ?, ?, ?, ?)", rows)
os.kill(os.getpid(), 9)
"""


def test_a_cache_killed_amid_a_write_is_as_before_the_write(tmp_path, cards):
    file = tmp_path / "answers.sqlite"
    yes = FunctionJudge(lambda image, question: "yes", "judge")
    assert CachedJudge(yes, file).ask(cards[0], "q") == "yes"
    size = file.stat().st_size
    subprocess.run([sys.executable, "-c", MID_WRITE, str(file)], check=False)
    # What was not to stay had been written in part.
    assert file.stat().st_size > size
    assert Path(f"{file}-journal").stat().st_size > 0
    no = FunctionJudge(lambda image, question: "no", "judge")
    assert CachedJudge(no, file).ask_all([(cards[0], "q"), (cards[1], "q")]) == ["yes", "no"]
    assert file.stat().st_size == size


# Agreement and errors.


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from(ANSWERS)] * 2), min_size=1, max_size=40))
def test_kappa_and_table_are_those_of_sklearn(pairs):
    first, second = zip(*pairs, strict=True)
    found = Agreement.of(first, second)
    assert (found.table == confusion_matrix(first, second, labels=ANSWERS)).all()
    if len({*first, *second}) == 1:
        assert math.isnan(found.kappa)
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(first, second, labels=ANSWERS))


def test_agreement_asks_both_the_same(cards):
    yes = FunctionJudge(lambda image, question: "yes", "yes")
    if_red = FunctionJudge(lambda image, _: "yes" if image == cards[0] else "no", "red")
    found = agreement(yes, if_red, [(image, "Is it red?") for image in cards])
    assert found.markdown().splitlines()[2] == "| yes | 1 | 2 | 0 |"
    with pytest.raises(ValueError, match="same questions"):
        Agreement.of(["yes"], [])


def test_flipping_errs_at_its_rates_and_always_alike(cards):
    truth = FunctionJudge(lambda _, question: ANSWERS[int(question) % 3], "truth")
    pairs = [(cards[i % 2], str(i)) for i in range(6000)]
    right = truth.ask_all(pairs)
    wrong = flipped(truth, 0.3, 0.05, seed=1).ask_all(pairs)
    counts = Counter(zip(right, wrong, strict=True))
    assert counts["yes", "no"] / 2000 == pytest.approx(0.3, abs=0.04)
    assert counts["no", "yes"] / 2000 == pytest.approx(0.05, abs=0.02)
    assert counts["unclear", "unclear"] == 2000
    assert flipped(truth, 0.3, 0.05, seed=1).ask_all(pairs[::-1]) == wrong[::-1]
    assert flipped(truth, 0.3, 0.05, seed=2).ask_all(pairs) != wrong
    assert flipped(truth, 0.0, 0.0).ask_all(pairs) == right


# Questions.


@pytest.mark.parametrize(
    ("query", "shown", "excluded"),
    [
        ("a dog but no cat", "a dog", ["a cat"]),
        ("beach without people", "a beach", ["people"]),
        ("umbrella, no rain", "an umbrella", ["rain"]),
        ("Dogs but no cats", "dogs", ["cats"]),
        ("man riding a bike but not wearing a helmet", "a man riding a bike",
         ["a man wearing a helmet"]),
        ("a dog is running, no ball", "that a dog is running", ["a ball"]),
        ("a photo of a dog without a collar", "a dog", ["a collar"]),
        ("street with neither cars nor buses", "a street", ["cars", "buses"]),
        ("someone riding a horse", "someone riding a horse", []),
        ("New York at night without cars", "New York at night", ["cars"]),
        ("hourglass", "an hourglass", []),
    ],
)  # fmt: skip
def test_questions_by_rule(query, shown, excluded):
    (made,) = questions_by_rule([query])
    assert made.shown == f"Does this picture show {shown}?"
    assert made.excluded == tuple(f"Does this picture show {thing}?" for thing in excluded)


def test_a_query_that_only_excludes_asks_for_nothing():
    assert questions_by_rule(["no people"])[0].shown == ""


@settings(max_examples=40)
@given(st.text(max_size=60))
def test_any_text_can_be_asked_about(text):
    (made,) = questions_by_rule([text])
    assert made.query == text
    assert all(question.endswith("?") for question in made.excluded)


GOOD = {"shown": "Is there a dog?", "excluded": ["Is there a cat?"]}


@pytest.mark.parametrize(
    ("said", "maker"),
    [
        (json.dumps(GOOD), "model"),
        (f"```json\n{json.dumps(GOOD, indent=1)}\n```", "model"),
        (json.dumps(GOOD)[:-2], "rule"),
        (json.dumps(GOOD | {"more": 1}), "rule"),
        (json.dumps(GOOD | {"shown": ""}), "rule"),
        (json.dumps(GOOD | {"shown": "Is there no dog?"}), "rule"),
        (json.dumps(GOOD | {"excluded": []}), "rule"),
        (json.dumps(GOOD | {"excluded": ["Is there a dog?"]}), "rule"),
        (json.dumps(GOOD | {"excluded": ["a cat"]}), "rule"),
        (json.dumps(GOOD | {"excluded": ["What is there?"]}), "rule"),
        ("Sorry, I cannot help with that.", "rule"),
    ],
)
def test_questions_of_a_model_are_checked(server, said, maker):
    query = "a dog but no cat"
    server.says = {f"Query: {query}": said}
    (made,) = questions_by_model([query], ChatServer("m", server.url))
    assert made.made_by == maker
    assert made.query == query
    if maker == "model":
        assert (made.shown, made.excluded) == (GOOD["shown"], ("Is there a cat?",))
    else:
        assert made == questions_by_rule([query])[0]


# The protocol.

QUERY = JudgedQuery("a dog, no cat, no ball", "dog?", ("cat?", "ball?"))


class Listed(Judge):
    """Answers from a table of what is wrong with which picture, and notes what it is asked."""

    def __init__(self, answers):
        super().__init__("listed", "listed")
        self.answers, self.asked = answers, []

    def replies(self, pairs, keep):
        for place in reversed(range(len(pairs))):
            image, question = pairs[place]
            self.asked.append((image.name, question))
            keep(place, Reply(self.answers[image.name][question], ""))


def listed(**said):
    """Of each picture the answers to the three questions, "n" for never asked."""
    words = {"y": "yes", "n": "no", "u": "unclear"}
    questions = (QUERY.shown, *QUERY.excluded)
    return Listed(
        {
            name: {q: words[a] for q, a in zip(questions, answers, strict=True) if a != "-"}
            for name, answers in said.items()
        }
    )


def test_verdicts_and_which_questions_are_asked():
    judge = listed(a="ynn", b="yy-", c="n--", d="u--", e="yu-", f="yny")
    found = verdicts(judge, [(QUERY, Path(name)) for name in "abcdefa"])
    assert {path.name: tuple(v) for (_, path), v in found.items()} == {
        "a": ("right", "right"),
        "b": ("right", "wrong"),
        "c": ("wrong", "wrong"),
        "d": ("unclear", "unclear"),
        "e": ("right", "unclear"),
        "f": ("right", "wrong"),
    }
    # What must not be asked is not in the table; nothing is asked twice.
    assert len(judge.asked) == len(set(judge.asked)) == 6 + 4 + 2


def test_measures_by_hand():
    judge = listed(a="ynn", b="yy-", c="n--", d="u--", e="yu-", f="yny")
    first, second = [Path(n) for n in "bacde"], [Path(n) for n in "fbcda"]
    found = judged_outcomes(judge, [QUERY, QUERY], [[first, second], [second, second]])
    assert {name: values.tolist() for name, values in found[0].items()} == {
        "retrieval Top-1": [1, 1],
        "retrieval Avg.5": [0.6, 0.6],
        "retrieval Top-5": [1, 1],
        "ret.+neg. Top-1": [0, 0],
        "ret.+neg. Avg.5": [0.2, 0.2],
        "ret.+neg. Top-5": [1, 1],
        "unclear": [0.4, 0.2],
    }
    assert found[1]["unclear"].tolist() == [0.2, 0.2]
    assert len(judge.asked) == 12


def test_two_queries_with_one_question_ask_it_once():
    other = JudgedQuery("dogs", QUERY.shown, ())
    judge = listed(a="ynn")
    found = verdicts(judge, [(QUERY, Path("a")), (other, Path("a"))])
    assert found[other, Path("a")] == ("right", "right")
    assert len(judge.asked) == 3


# Scenes, of which the truth is known.

PAIRS = [("dog", "cat"), ("car", "tree"), ("tree", "house"), ("cat", "dog"), ("bird", "car"),
         ("house", "ball"), ("man", "dog"), ("girl", "boy")]  # fmt: skip


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    drawn = list(sample(100, seed=3, split="test"))
    for number, scene in enumerate(drawn):
        Image.fromarray(scene.image).save(folder / f"{number:03}.png")
    return folder, OracleJudge(scene.graph for scene in drawn)


def test_scenes_are_judged_as_they_are(scenes, tiny_encoder):
    folder, oracle = scenes
    queries = [f"a {a} but no {b}" for a, b in PAIRS]
    task = JudgedTask(questions_by_rule(queries), folder)
    judge = FunctionJudge(oracle.ask, "oracle")
    plain, subtract = task.run(tiny_encoder, [Plain(), Subtract()], CachedJudge(judge))
    paths = sorted(folder.iterdir())
    scores = tiny_encoder.encode_texts(queries) @ tiny_encoder.encode_images(paths).T
    best = scores.argsort(dim=1, descending=True)[:, :5].tolist()
    # By another way through the oracle: the whole caption at once.
    ranked = zip(queries, best, strict=True)
    right = np.array([[oracle.holds(paths[i], q) is True for i in row] for q, row in ranked])
    assert plain.outcomes["ret.+neg. Top-1"] == right[:, 0].astype(float).tolist()
    assert plain.outcomes["ret.+neg. Avg.5"] == pytest.approx(right.mean(1))
    assert plain.outcomes["ret.+neg. Top-5"] == right.any(1).astype(float).tolist()
    assert plain.settings == {"judge": "oracle"}
    assert subtract.data_fingerprint == plain.data_fingerprint
    unmoved = task.run(tiny_encoder, [Plain()], flipped(judge, 0.0, 0.0))[0]
    assert unmoved.outcomes == plain.outcomes
    assert unmoved.settings != plain.settings


def test_errors_of_a_judge_move_the_score_as_expected(scenes):
    """Of pictures that are all right, a share of (1 − yes→no)(1 − no→yes) still counts."""
    folder, _ = scenes
    right = FunctionJudge(lambda _, question: "yes" if "dog" in question else "no", "right")
    paths = sorted(folder.iterdir())
    queries = [JudgedQuery(str(i), f"dog? {i}", (f"cat? {i}",)) for i in range(200)]
    tops = [[[paths[(i + j) % 100] for j in range(5)] for i in range(200)]]
    judge = flipped(right, 0.2, 0.1)
    found = judged_outcomes(judge, queries, tops)[0]
    assert found["retrieval Avg.5"].mean() == pytest.approx(0.8, abs=0.06)
    assert found["ret.+neg. Avg.5"].mean() == pytest.approx(0.72, abs=0.06)


def test_simpleneg_over_scenes(scenes, tiny_encoder, tmp_path):
    folder, _ = scenes
    file = tmp_path / "simpleneg.json"
    file.write_text(json.dumps([["a dog with no cat", "is there a cat?", "is there a dog?"]]))
    only_dogs = FunctionJudge(lambda _, question: "yes" if "dog" in question else "no", "dogs")
    record = SimpleNegTask.read(file, folder).run(tiny_encoder, [Plain()], only_dogs)[0]
    assert (record.task, record.split) == ("simpleneg", "test")
    assert record.metrics["ret.+neg. Avg.5"].value == 1


def test_a_folder_with_too_few_pictures_says_so(cards, tiny_encoder):
    task = JudgedTask(questions_by_rule(["a dog"]), cards[0].parent)
    with pytest.raises(DataError, match="3 pictures"):
        task.run(tiny_encoder, [Plain()], listed())


@pytest.mark.shared
def test_simpleneg_as_published(shared_data):
    queries = SimpleNegTask.read(shared_data / "simpleneg" / "simpleneg.json", Path()).queries
    assert len(queries) == 900
    assert queries[0].query == "a playground without swings"
    assert queries[0].shown == "is this a playground?"
    assert queries[0].excluded == ("are there swings in the playground?",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[", "line 1, column 3: is no JSON"),
        ("[]", "holds no query"),
        ('[["a", "b"]]', "line 1, column 2: 0.2"),
        ('[["a", "b", " "]]', "0.2"),
        ('{"a": 1}', "list"),
    ],
)
def test_a_malformed_simpleneg_says_where(tmp_path, content, problem):
    file = tmp_path / "simpleneg.json"
    file.write_text(content)
    with pytest.raises(DataError, match=rf"simpleneg\.json.*{problem}"):
        SimpleNegTask.read(file, tmp_path)


def test_own_queries_are_read_line_by_line(tmp_path):
    file = tmp_path / "queries.txt"
    file.write_text("# mine\na dog but no cat\n\n  beach without people \n  # or both\n")
    read = JudgedTask.read(file, tmp_path).queries
    assert [query.query for query in read] == ["a dog but no cat", "beach without people"]
    file.write_text("\n")
    with pytest.raises(DataError, match="no query"):
        JudgedTask.read(file, tmp_path)
    with pytest.raises(DataError, match=r"gone\.txt"):
        JudgedTask.read(tmp_path / "gone.txt", tmp_path)


# N-COCO.


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=5, max_size=5),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_hits_are_those_of_all_orders_of_equal_scores(scores, positives, k):
    orders = list(permutations(range(len(scores))))
    hits = [min(sorted(order, key=lambda i: -scores[i])[:k]) < positives for order in orders]
    assert hit_share(torch.tensor(scores), positives, k) == pytest.approx(np.mean(hits))


def ncoco(tmp_path, **changes):
    names = [f"{i:03}.png" for i in range(20)]
    entry = {
        "query": "a dog with no cat",
        "question_negated": "is there a cat?",
        "question_positive": "is there a dog?",
        # As another machine had them.
        "positives": [f"/data/coco/val2017/{name}" for name in names[:10]],
        "distractors": names[10:],
    }
    file = tmp_path / "ncoco.json"
    file.write_text(json.dumps([entry | changes]))
    return file


def test_ncoco_with_and_without_a_judge(tmp_path, scenes, tiny_encoder):
    folder, _ = scenes
    task = NCocoTask.read(ncoco(tmp_path), folder)
    bare = task.run(tiny_encoder, [Plain()])[0]
    assert set(bare.metrics) == {f"{c}R@{k}" for k in (1, 3, 5) for c in ("", "chance ")}
    assert bare.metrics["chance R@1"].value == 0.5
    assert bare.metrics["chance R@3"].value == pytest.approx(1 - 120 / 1140)
    paths = sorted(folder.iterdir())[:20]
    scores = (
        tiny_encoder.encode_images(paths) @ tiny_encoder.encode_texts([task.queries[0].query])[0]
    )
    order = scores.argsort(descending=True).tolist()
    assert bare.metrics["R@1"].value == float(order[0] < 10)
    assert bare.metrics["R@3"].value == float(min(order[:3]) < 10)
    top = {paths[i] for i in order[:5]}
    seen = []
    spy = FunctionJudge(lambda image, _: seen.append(image) or "no", "spy")
    judged = task.run(tiny_encoder, [Plain()], spy)[0]
    assert set(seen) == top
    assert judged.metrics["retrieval Top-5"].value == 0
    assert judged.metrics["R@1"] == bare.metrics["R@1"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"query": ""}, "0.query"),
        ({"positives": []}, "0.positives"),
        ({"distractors": ["1.png", "1.png"]}, "query 1 .*different"),
        ({"positives": ["1.png"], "distractors": []}, "query 1 .*5 or more"),
    ],
)
def test_a_malformed_ncoco_says_where(tmp_path, changes, problem):
    with pytest.raises(DataError, match=rf"ncoco\.json.*{problem}"):
        NCocoTask.read(ncoco(tmp_path, **changes), tmp_path)


def test_missing_pictures_are_counted(tmp_path, tiny_encoder):
    with pytest.raises(DataError, match="20 of 20 pictures are missing"):
        NCocoTask.read(ncoco(tmp_path), tmp_path).run(tiny_encoder, [Plain()])


# A model of our own.


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen")
    save_tiny_qwen(folder)
    return folder


def local_questions():
    """Pictures and questions of unlike sizes, so that rows of a batch are padded."""
    questions = ("Is it red?", "Does this picture show two men riding bicycles?", "A dog?")
    colours = ((255, 0, 0), (0, 255, 0), (9, 200, 130), (70, 70, 70))
    sizes = ((64, 48), (32, 32), (100, 50), (40, 70))
    return [
        (Image.new("RGB", size, colour), question)
        for size, colour in zip(sizes, colours, strict=True)
        for question in questions
    ]


def test_a_local_model_answers_in_batches_as_it_does_alone(qwen):
    judge = LocalJudge.load(str(qwen), device="cpu", max_new_tokens=1, batch_size=5)
    pairs = local_questions()
    answers = judge.ask_all(pairs)
    assert set(answers) == {"yes", "no"}
    assert answers == [judge.ask(*pair) for pair in pairs]
    # Plain text, in the model's own words, with one forward pass.
    image, question = pairs[4]
    prompt = (
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>"
        f"{question}\nAnswer with one word: yes or no.<|im_end|>\n<|im_start|>assistant\n"
    )
    inputs = judge.processor(text=[prompt], images=[image], return_tensors="pt")
    with torch.no_grad():
        best = judge.model(**inputs).logits[0, -1].argmax()
    assert judge.processor.decode(best) == answers[4]


def test_more_than_one_word_is_unclear(qwen):
    judge = LocalJudge.load(str(qwen), device="cpu", max_new_tokens=3)
    assert judge.ask(*local_questions()[0]) == "unclear"
    assert all(set(text.replace("yes", "").replace("no", "")) == set() for text in judge.unclear)


def test_what_cannot_be_a_judge_is_named(qwen, tmp_path):
    with pytest.raises(ModelError, match="nowhere"):
        LocalJudge.load(str(tmp_path / "nowhere"))
    judge = LocalJudge.load(str(qwen), device="cpu")
    judge.processor.chat_template = None
    with pytest.raises(ModelError, match="chat template"):
        LocalJudge(judge.model, judge.processor, name="base", identity="")


def test_a_server_of_the_ecosystem_answers_as_the_model_does_here(qwen):
    """`transformers serve`, a process of its own."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("transformers"), "serve", str(qwen),
               "--port", str(port), "--host", "127.0.0.1", "--device", "cpu"]  # fmt: skip
    server = ChatServer(str(qwen), f"http://127.0.0.1:{port}/v1", options={"max_tokens": 1})
    judge = ServerJudge(server)
    pairs = local_questions()
    with subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "1"}) as process:
        try:
            while not listens(port):
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
            answers = judge.ask_all(pairs)
        finally:
            process.kill()
    assert judge.failed == 0
    here = LocalJudge.load(str(qwen), device="cpu", max_new_tokens=1)
    assert answers == here.ask_all([(as_sent(image), question) for image, question in pairs])
    assert server.usage.completion_tokens == server.usage.completions == len(pairs)
    assert server.usage.prompt_tokens > 0


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def as_sent(image):
    """The picture as the server sees it, after JPEG."""
    return Image.open(io.BytesIO(base64.b64decode(data_url(image, 1024).split(",")[1])))
