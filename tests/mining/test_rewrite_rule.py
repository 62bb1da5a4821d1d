"""Captions changed by rule: false, grammatical, and the same but for the keyword."""

import os
import pickle
import subprocess
import sys
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litotes.data.captions import read_captions
from litotes.data.concrete_pairs import KeywordKind
from litotes.language.sentences import read
from litotes.mining.exclusive import ACTIONS, ADJECTIVES, COUNTS, DEEDS, NOUNS
from litotes.mining.keywords import lemma_of
from litotes.mining.planting import Dropped, Keyword, Rewrite, Rewritten, Seed
from litotes.mining.rewrite_rule import RuleRewriter
from litotes.mining.swaps import swap

_THINGS = {
    "a dog": ("runs through the grass", "sits on a bench", "jumps into the water", "is sleeping"),
    "an elephant": ("walks through the water", "sleeps on the grass", "stands in the snow"),
    "a cat": ("sits on a chair", "sleeps on a sofa", "runs through the snow"),
    "two horses": ("run through the snow", "stand on the grass", "walk on the sand"),
    "two cows": ("stand on the grass", "walk on the snow"),
    "a man": ("holds an umbrella", "holds a guitar", "rides a bicycle", "rides a horse"),
    "a woman": ("holds a guitar", "rides a motorcycle", "wears a red hat", "wears a blue coat"),
    "a girl": ("wears a white dress", "wears a black hat", "throws a red ball", "reads a book"),
}
#: Every sentence four times: what is said once or twice may be misread.
CAPTIONS = {
    f"{number}{who}{does}.jpg": [f"{who} {does} .".capitalize()] * 2
    for who, all_done in _THINGS.items()
    for does in all_done
    for number in range(2)
}


@cache
def rewriter() -> RuleRewriter:
    return RuleRewriter.from_captions(CAPTIONS)


def seed(text: str, words: str, kind: KeywordKind = "object", said: str = "") -> Seed:
    """A caption whose keywords are some of its words."""
    doc = read([text])[0]
    starts = [t.i for t in doc if doc[t.i : t.i + len(words.split())].text == words]
    keywords = [Keyword(i, i + len(words.split()), kind, 5.0, "word") for i in starts]
    own = {form for token in doc for form in (token.lower_, lemma_of(token))}
    return Seed(doc, keywords, frozenset(own | set(said.split())), Random(0))


def changes(text: str, words: str, kind: KeywordKind = "object", said: str = "") -> dict[str, str]:
    """What a keyword is replaced by over many draws, and the changed captions."""
    one = seed(text, words, kind, said)
    results = rewriter()([one._replace(rng=Random(number)) for number in range(40)])
    replaced = [r for r in results if isinstance(r, Rewrite) and r.way == "replace"]
    return {result.replacement: result.text for result in replaced}


def test_only_the_keyword_changes() -> None:
    found = changes("A dog runs through the grass .", "grass")
    assert "water" in found
    for word, text in found.items():
        assert text == f"A dog runs through the {word}."


def test_articles_agree_and_capitals_stay() -> None:
    assert changes("A dog sleeps .", "dog")["elephant"] == "An elephant sleeps."
    assert changes("An umbrella .", "umbrella").get("guitar", "A guitar.") == "A guitar."
    assert changes("Two horses run .", "horses")["cows"] == "Two cows run."
    assert changes("Dog runs .", "Dog")["cat"] == "Cat runs."


def test_number_is_kept() -> None:
    assert set(changes("Two horses walk on the sand .", "horses")) == {"cows"}
    assert "cows" not in changes("A horse walks on the sand .", "horse")


@pytest.mark.parametrize("said", ["snow", "snowy", "ice"])
def test_what_is_said_of_the_picture_is_no_replacement(said: str) -> None:
    assert "snow" not in changes("A dog runs through the grass .", "grass", said=said)


def test_wider_and_like_words_are_no_replacements() -> None:
    found = set(changes("A dog runs through the grass .", "dog"))
    assert found
    assert not found & {"animal", "puppy", "dog", "people"}
    assert not changes("A person runs through the grass .", "person")


def test_pronouns_still_agree() -> None:
    assert changes("A man rides a horse .", "man")
    assert not changes("A man rides his horse .", "man")


def test_another_of_the_crowd_is_not_meant() -> None:
    assert not changes("A man rides a horse .", "man", said="crowd")


def test_verbs_keep_their_form_and_what_they_take() -> None:
    found = changes("A dog sits on the grass .", "sits", "action")
    assert {"stands", "sleeps"} & set(found)
    assert all(word.endswith("s") for word in found)
    assert "holds" not in found


def test_looks_counts_and_relations_change() -> None:
    looks = changes("A girl wears a black hat .", "black", "attribute")
    assert looks == {"red": "A girl wears a red hat."}
    assert not changes("A girl wears a black hat .", "black", "attribute", said="colorful")
    assert not changes("Two horses run .", "Two", "count", said="several")


def test_a_keyword_without_replacement_gives_way_to_the_next() -> None:
    first, second = (seed("A person runs through the grass .", w) for w in ("person", "grass"))
    both = first._replace(keywords=[*first.keywords, *second.keywords])
    [result] = rewriter()([both])
    assert isinstance(result, Rewrite)
    assert result.keyword == second.keywords[0]
    assert rewriter()([first, first._replace(keywords=[])]) == [
        Dropped("no replacement"),
        Dropped("no keyword"),
    ]


def test_replacements_are_drawn_as_often_as_captions_use_them() -> None:
    """So that no word tells by itself that a caption was changed."""
    one = seed("A dog sleeps .", "dog")
    results = rewriter()([one._replace(rng=Random(number)) for number in range(400)])
    drawn = [result.replacement for result in results if isinstance(result, Rewrite)]
    uses = rewriter().vocabulary.uses["NN"]
    total = sum(uses[word] for word in set(drawn))
    assert len(set(drawn)) > 2
    assert all(abs(drawn.count(w) / len(drawn) - uses[w] / total) < 0.1 for w in set(drawn))


@pytest.mark.parametrize(
    ("text", "words", "kind", "changed"),
    [
        ("A man rides a horse .", "man", "object", "A horse rides a man."),
        ("An old dog on a sofa .", "sofa", "object", "A sofa on an old dog."),
        (
            "A full cup and an empty bowl .",
            "empty",
            "attribute",
            "An empty cup and a full bowl.",
        ),
    ],
)
def test_swaps(text: str, words: str, kind: KeywordKind, changed: str) -> None:
    one = seed(text, words, kind)
    keywords = [
        Keyword(chunk.root.i, chunk.root.i + 1, "object", 5.0, "word")
        for chunk in one.doc.noun_chunks
    ]
    result = swap(one._replace(keywords=keywords), one.keywords[0])
    assert result is not None
    assert (result.text, result.way) == (changed, "swap")
    assert one.doc[result.keyword.start : result.keyword.end].text in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A dog and a cat .", "dog"),
        ("A dog sits beside a cat .", "dog"),
        ("A woman hugs a man .", "man"),
        ("A man wears a hat .", "man"),
        ("A man in a jacket .", "man"),
        ("Two men ride a horse .", "horse"),
    ],
)
def test_nothing_is_swapped_that_may_still_be_true_or_ungrammatical(text: str, words: str) -> None:
    one = seed(text, words)
    keywords = [
        Keyword(chunk.root.i, chunk.root.i + 1, "object", 5.0, "word")
        for chunk in one.doc.noun_chunks
    ]
    assert swap(one._replace(keywords=keywords), one.keywords[0]) is None


@given(st.sampled_from(sorted(CAPTIONS.values())), st.integers(0, 10**6), st.data())
def test_a_change_is_by_its_own_random_numbers_and_leaves_the_rest(
    captions: list[str], number: int, data: st.DataObject
) -> None:
    doc = read(captions[:1])[0]
    at = data.draw(st.sampled_from([t.i for t in doc if t.pos_ in ("NOUN", "VERB", "ADJ")]))
    kind: KeywordKind = {"NOUN": "object", "VERB": "action"}.get(doc[at].pos_, "attribute")  # type: ignore[assignment]
    said = frozenset(form for t in doc for form in (t.lower_, lemma_of(t)))
    keyword = Keyword(at, at + 1, kind, 5.0, "word")

    def change(rewriter: RuleRewriter) -> Rewritten:
        return rewriter([Seed(doc, [keyword], said, Random(number))])[0]

    result = change(rewriter())
    assert change(pickle.loads(pickle.dumps(rewriter()))) == result  # noqa: S301
    if isinstance(result, Rewrite) and result.way == "replace":
        assert result.replacement not in said
        words, changed = doc.text.split(), result.text.split()
        assert len(words) == len(changed)
        differ = {
            i for i, pair in enumerate(zip(words, changed, strict=True)) if len(set(pair)) > 1
        }
        articles = {i for i in differ if words[i].lower() in ("a", "an")}
        assert len(differ - articles) == 1


def test_the_same_in_every_process() -> None:
    """Python draws a new order of sets in each process."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_rewrite_rule import changes\n"
        "print(changes('A dog runs through the grass .', 'dog'))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == str(changes("A dog runs through the grass .", "dog"))


@pytest.mark.parametrize("table", [NOUNS, ADJECTIVES, ACTIONS, DEEDS, COUNTS])
def test_no_word_of_a_table_excludes_one_like_it(table: object) -> None:
    for word, others in table.others.items():  # type: ignore[attr-defined]
        assert word not in others
        assert not others & table.alike[word]  # type: ignore[attr-defined]


@pytest.mark.shared
def test_photograph_captions(shared_data) -> None:  # type: ignore[no-untyped-def]
    captions = dict(islice(read_captions(shared_data / "flickr8k", "dev").items(), 300))
    learned = RuleRewriter.from_captions(captions)
    seeds = []
    for number, texts in enumerate(list(captions.values())[:100]):
        docs = read(texts)
        said = frozenset(f for doc in docs for t in doc for f in (t.lower_, lemma_of(t)))
        for doc in docs:
            heads = [c.root.i for c in doc.noun_chunks if c.root.tag_ in ("NN", "NNS")]
            keywords = [Keyword(i, i + 1, "object", 4.0, "word") for i in heads]
            seeds.append(Seed(doc, keywords, said, Random(number)))
    results = learned(seeds)
    made = [(s, r) for s, r in zip(seeds, results, strict=True) if isinstance(r, Rewrite)]
    assert len(made) > 0.7 * len(seeds)
    for one, result in made:
        if result.way == "replace":
            assert result.replacement not in one.said
