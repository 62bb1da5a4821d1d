"""Quadruplets and contrasts out of captions: by rule, from CC-Neg, and by a language model."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from random import Random

import pytest
import torch

from litotes.data.quadruplets import read_contrasts, read_quadruplets
from litotes.errors import DataError, LitotesError
from litotes.language import has_negation
from litotes.language.sentences import read
from litotes.mining import quadruplets as mining
from litotes.mining.contrasts import statements
from litotes.mining.llm_negator import LlmNegator, is_negation_of
from litotes.mining.quadruplets import ccneg_quadruplets, drawn_order, quadruplets, rule_negator

CAPTIONS = {
    "1.jpg": [
        "A dog runs on green grass.",
        "A brown dog chases a ball.",
        "A dog runs on green grass.",
    ],
    "2.jpg": ["Two men sit on a wooden bench.", "No children here."],
    "3.jpg": ["A woman in a red dress is walking along a beach ."],
}


def made(seed=0, start=0):
    pairs = drawn_order(CAPTIONS, seed)
    return list(quadruplets(pairs, rule_negator(pairs), seed=seed, start=start))


def test_every_caption_gives_one_quadruplet_at_most():
    found = made()
    assert [n for n, _ in found] == sorted({n for n, _ in found})
    kept = Counter((q.image, q.positive) for _, q in found)
    assert set(kept.values()) == {1}
    assert ("3.jpg", "A woman in a red dress is walking along a beach.") in kept
    assert ("2.jpg", "No children here.") not in kept
    assert len(kept) == 4
    assert all(has_negation(q.negative) and q.kind for _, q in found)
    assert all(q.positive.rstrip(".")[1:] in q.negated_positive for _, q in found)


def test_quadruplets_depend_on_seed_and_place_alone(monkeypatch):
    whole = made()
    assert made() == whole
    assert any(made(seed) != whole for seed in range(1, 4))
    for start in range(5):
        assert made(start=start) == [q for q in whole if q.number >= start]
    monkeypatch.setattr(mining, "BATCH", 2)
    assert made() == whole


# --- CC-Neg -----------------------------------------------------------------------------------


def write_ccneg(file, count):
    annotations = [
        {"json": {"caption": f"a dog , number {i}"}, "sop_data": {"negative-prompt": f"no dog {i}"}}
        for i in range(count)
    ]
    content = {"image_paths": [f"cc3m/{i}.png" for i in range(count)], "annotations": annotations}
    torch.save(content, file)
    return file


def test_ccneg_gives_its_training_part_with_its_own_negations(tmp_path, monkeypatch):
    monkeypatch.setattr(mining, "EVALUATED", 10)
    file = write_ccneg(tmp_path / "ccneg_preprocessed.pt", 30)
    found = [q for _, q in ccneg_quadruplets(file)]
    assert {q.image for q in found} == {f"cc3m/{i}.png" for i in range(20)}
    assert all(re.search(r"\d+", q.negative)[0] == q.image[5:-4] for q in found)
    assert all(q.positive == f"a dog, number {q.image[5:-4]}" for q in found)
    assert [n for n, _ in ccneg_quadruplets(file, start=7)] == list(range(7, 20))
    assert [q for _, q in ccneg_quadruplets(file, start=7)] == found[7:]
    assert [q for _, q in ccneg_quadruplets(file, seed=1)] != found
    monkeypatch.setattr(mining, "EVALUATED", 30)
    with pytest.raises(DataError, match="for evaluation"):
        next(ccneg_quadruplets(file))


# --- contrasts --------------------------------------------------------------------------------

# Things of a row stand together, two a photograph; things of two rows never meet.
ROWS = (
    ("a brown dog", "a red ball", "a wooden bench"),
    ("white snow", "yellow flowers", "an orange umbrella"),
)


def world():
    """Captions and true contents of 48 photographs."""
    captions, truth = {}, {}
    for row in ROWS:
        for a, b in combinations(row, 2):
            for i in range(8):
                name = f"{a.split()[-1]}-{b.split()[-1]}-{i}.jpg"
                truth[name] = {a.split()[-1], b.split()[-1]}
                captions[name] = [
                    f"There was {a} next to {b} .",
                    f"We saw {a} and {b} .",
                    f"{b.capitalize()} stood beside {a} .",
                ]
    return captions, truth


NAMES = re.compile("ball|bench|dog|flowers|snow|umbrella")


def names(text):
    return set(NAMES.findall(text.lower()))


def test_contrasts_are_true_and_false():
    captions, truth = world()
    found = list(statements(captions, 300, seed=1))
    assert len(found) == 300
    for contrast in found:
        there = truth[contrast.image]
        shows, lacks, both, captioned = contrast.true
        no_shows, no_lacks, no_both, _ = contrast.false
        assert names(shows) <= there
        assert not names(lacks) & there
        assert len(names(both) & there) == 1
        assert names(captioned) > there
        # The same words, with the things exchanged.
        assert names(no_shows) == names(lacks)
        assert names(no_lacks) == names(shows)
        assert names(no_both) == names(both)
        assert no_both != both


def test_things_are_there_and_lacking_equally_often():
    there, lacking = Counter(), Counter()
    for contrast in statements(world()[0], 400):
        there.update(NAMES.findall(contrast.true[0].lower()))
        lacking.update(NAMES.findall(contrast.true[1].lower()))
    assert all(abs(there[name] - lacking[name]) <= 25 for name in there | lacking), (there, lacking)


def test_contrasts_are_the_same_for_a_seed_and_varied():
    captions, _ = world()
    found = list(statements(captions, 200))
    assert list(statements(captions, 100)) == found[:100]
    assert list(statements(captions, 100, seed=1)) != found[:100]
    for place in range(4):
        shapes = {NAMES.sub("x", contrast.true[place].lower().rstrip(".")) for contrast in found}
        assert len(shapes) >= 15, shapes


# --- a language model -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ("A dog does not run on grass.", True),
        ("No dog runs on grass.", True),
        ("A dog runs on grass.", False),
        ("A cat runs on grass.", False),
        ("", False),
        ("Sure! A dog does not run on grass.", False),
        ("A dog does not run on grass.\nIs that fine?", False),
        ("There is nothing to be seen.", False),
        (
            "A dog does not run on grass because it would rather be at home with all of its toys",
            False,
        ),
    ],
)
def test_answers_that_cannot_be_right_are_known(said, fits):
    assert is_negation_of(said, "A dog runs on grass.") is fits


@pytest.fixture
def server():
    """A chat server: no answer for cats, a right one for men at the second try."""
    asked = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            caption = body["messages"][0]["content"].rpartition("Caption: ")[2]
            asked[caption] += 1
            wrong = "cat" in caption or ("man" in caption and asked[caption] == 1)
            said = caption if wrong else f'"{caption.replace("A ", "No ", 1)}"'
            status = 401 if "bird" in caption else 500 if asked[caption] == 1 else 200
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}/v1", asked
    httpd.shutdown()


def test_a_model_is_asked_again_and_then_given_up(server):
    url, asked = server
    negator = LlmNegator("any", url)
    docs = read(["A dog runs.", "A cat runs.", "A man runs."])
    dog, cat, man = negator(docs, [Random(0)] * 3)
    assert (dog.text, dog.kind) == ("No dog runs.", "llm")
    assert man.text == "No man runs."
    assert cat is None
    assert asked == {"A dog runs.": 2, "A cat runs.": 4, "A man runs.": 2}
    with pytest.raises(LitotesError, match="any"):
        negator(read(["A bird sings."]), [Random(0)])


# --- the command ------------------------------------------------------------------------------


def command(*arguments, **options):
    code = "from litotes.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "quadruplets", *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def said_by(*arguments):
    process = command(*arguments)
    text = process.communicate()[0]
    return process.returncode, text


@pytest.fixture(scope="module")
def captions_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("captions") / "captions.csv"
    who, does = ("dog", "cat", "man", "girl", "horse"), ("runs", "sits", "sleeps", "jumps")
    where = ("grass", "a bench", "the snow", "a red car", "sand", "a hill")
    rows = [f"A {a} {b} on {c}." for a in who for b in does for c in where]
    lines = [f"{i // 2}.jpg,train,{text}" for i, text in enumerate(rows)]
    file.write_text("\n".join(["image,split,caption", *lines]) + "\n")
    return file


def test_the_command_writes_what_can_be_read(captions_file, tmp_path):
    code, text = said_by(captions_file, tmp_path / "q.jsonl", "-n", 100)
    assert code == 0, text
    found = read_quadruplets(tmp_path / "q.jsonl")
    assert len(found) == 100
    assert "wrote 100 quadruplets" in text
    assert len({q.kind for q in found}) == 4
    code, text = said_by(captions_file, tmp_path / "q.jsonl", "-n", 100)
    assert code == 1
    assert "exists" in text


def test_a_killed_command_goes_on_to_the_same_file(captions_file, tmp_path, server):
    url, _ = server
    model = ("--negator", "llm", "--llm", "any", "--llm-url", url, "-n", 60)
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    code, text = said_by(captions_file, whole, *model)
    assert code == 0, text
    process = command(captions_file, out, *model)
    part = tmp_path / "out.jsonl.part"
    deadline = time.monotonic() + 120
    while not part.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    code, text = said_by(captions_file, out, *model)
    assert code == 0, text
    assert out.read_bytes() == whole.read_bytes()
    assert "cat" not in out.read_text()
    assert re.search(r"wrote 60 quadruplets .* \d+ captions were left out", text)


def test_the_command_makes_contrasts(tmp_path):
    rows = [f"{i},train,{text}" for i, texts in world()[0].items() for text in texts]
    file = tmp_path / "captions.csv"
    file.write_text("\n".join(["image,split,caption", *rows]))
    code, text = said_by(tmp_path, tmp_path / "c.jsonl", "-n", 50, "--contrasts")
    assert code == 0, text
    assert len(read_contrasts(tmp_path / "c.jsonl")) == 50


@pytest.mark.parametrize(
    "options",
    [("--negator", "llm"), ("--llm", "x"), ("--contrasts", "--negator", "llm", "--llm", "x")],
)
def test_options_that_do_not_go_together_are_refused(captions_file, tmp_path, options):
    code, text = said_by(captions_file, tmp_path / "q.jsonl", *options)
    assert code == 2, text
    assert not (tmp_path / "q.jsonl").exists()
