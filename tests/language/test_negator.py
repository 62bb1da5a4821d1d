"""Captions made false by a negation, and sentences that affirm them with one."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litotes.language import has_negation, parse, parse_all
from litotes.language.negator import KINDS, find_alternatives, negate
from litotes.language.sentences import clause, read
from litotes.language.templates import FAMILIES, TEMPLATES, negated_positive

CAPTIONS = (
    "A dog runs on grass.",
    "A dog running on grass.",
    "Two children are playing with a red ball .",
    "An old man wearing a blue hat sits on a bench in a park.",
    "There is a cat sleeping under a table.",
    "a woman in a red dress is holding an umbrella",
    "The black cat is sitting on the car.",
    "People walk along a street with tall buildings.",
    "A girl and a boy stand near a white horse.",
    "A surfer rides a big wave.",
    "Snow covers the rocks.",
    "An orange boat on the water.",
)
DOCS = read(CAPTIONS)
ALTERNATIVES = find_alternatives(DOCS * 2)
NEGATION_WORD = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|without|cannot|forget)\b|n't\b", re.IGNORECASE
)
drawn = st.integers(0, 2**32).map(Random)
docs = st.sampled_from(DOCS)


@given(docs, drawn)
def test_what_is_denied_is_read_back(doc, rng):
    negated = negate(doc, rng, ALTERNATIVES)
    assert negated is not None
    assert negated.kind in KINDS
    assert has_negation(negated.text)
    assert negated.text != doc.text
    query = parse(negated.text)
    said = " ".join(query.negated).lower()
    # "A red one" need not say what it is of.
    head = negated.what.lower().split()[0 if negated.kind == "attribute" else -1]
    people = negated.text.lower().startswith(("nobody", "no one"))
    assert head in said or people, (negated, query)


@given(docs, drawn)
def test_the_rest_of_the_caption_is_kept(doc, rng):
    negated = negate(doc, rng)
    lemmas = {token.lemma_.lower() for token in read([negated.text])[0]}
    own = [t.lemma_.lower() for t in doc if t.pos_ in ("NOUN", "VERB") and t.lemma_ != "be"]
    gone = [lemma for lemma in own if lemma not in lemmas]
    # "Nobody" for "a man" and "without" for "wearing" are what may go.
    assert len(gone) <= 1, negated
    assert negated.text.endswith(".") == doc.text.endswith(".")
    assert negated.text[0].isupper() == doc.text[0].isupper()


@given(docs, st.integers(0, 2**32))
@settings(max_examples=30)
def test_the_same_draw_makes_the_same(doc, seed):
    made = [
        (negate(doc, Random(seed), ALTERNATIVES), negated_positive(doc, Random(seed)))
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_every_kind_is_denied_in_many_ways():
    texts = {k: set() for k in KINDS}
    doc = DOCS[3]
    for seed in range(400):
        negated = negate(doc, Random(seed), ALTERNATIVES)
        texts[negated.kind].add(negated.text)
    assert all(len(made) >= 4 for made in texts.values()), texts


@pytest.mark.parametrize(
    ("caption", "kind", "said"),
    [
        ("A dog runs on grass.", "action", "A dog doesn't run on grass."),
        ("A dog runs on grass.", "action", "A dog is not running on grass."),
        ("A dog runs on grass.", "object", "No dog runs on grass."),
        ("A dog runs on grass.", "relation", "A dog runs, but not on grass."),
        ("A dog running on grass.", "object", "There is no dog running on grass."),
        ("A dog running on grass.", "action", "A dog not running on grass."),
        ("A boy plays with a red ball.", "object", "A boy plays without a red ball."),
        ("A boy plays with a red ball.", "attribute", "A boy plays with a ball that is not red."),
        ("A man rides an orange bike.", "attribute", "A man rides a bike, but not an orange one."),
        ("A man rides a bike.", "action", "A man isn't riding a bike."),
        ("A man is walking.", "object", "Nobody is walking."),
        ("Two cats sit on a sofa.", "relation", "Two cats sit under and not on a sofa."),
        ("A man on a bike near a tree", "object", "A man on a bike, but no tree"),
        ("There is a cat under a table.", "object", "There is no cat under a table."),
    ],
)
def test_wordings(caption, kind, said):
    doc = read([caption])[0]
    made = {(n.kind, n.text) for n in (negate(doc, Random(seed)) for seed in range(500)) if n}
    assert (kind, said) in made


def test_alternatives_come_from_the_corpus_and_are_not_in_the_caption():
    doc = DOCS[0]
    made = {negate(doc, Random(seed), ALTERNATIVES).text for seed in range(500)}
    exchanged = [text for text in made if ", not" in text or "instead of" in text]
    assert exchanged
    phrases = {phrase for said in ALTERNATIVES.values() for phrase in said}
    assert "a dog" in phrases
    assert any(re.search(r"^(?!A dog)\w+ \w+(?:,| but) not a dog", text) for text in made)


@pytest.mark.parametrize("caption", ["", "   ", "...", "A dog without a ball.", "Wow", "no dogs"])
def test_what_cannot_be_negated_is_left(caption):
    assert negate(caption, Random(0)) is None


@given(st.text(max_size=80), drawn)
@settings(max_examples=150)
def test_no_text_is_too_odd(text, rng):
    negated = negate(text, rng)
    assert negated is None or has_negation(negated.text)


@given(docs, drawn)
def test_negated_positives_keep_every_word(doc, rng):
    said = negated_positive(doc, rng)
    assert NEGATION_WORD.search(said), said
    text = doc.text.rstrip(" .")
    assert text[1:] in said
    assert said[0].isupper() or said[0] == doc.text[0]
    assert said[-1] in ".?"


def test_templates_are_many_and_of_all_families():
    assert len(TEMPLATES) >= 20
    assert len(FAMILIES) == 8
    assert len({template.text for template in TEMPLATES}) == len(TEMPLATES)
    # What is neither sentence nor noun phrase needs one too.
    free = {t.family for t in TEMPLATES if "{clause}" not in t.text}
    assert free == set(FAMILIES)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A dog runs on grass.", "a dog runs on grass"),
        ("A dog runs.", None),  # which is read as a noun
        ("Asian people walk.", "Asian people walk"),
        ("A dog running on grass.", "the picture shows a dog running on grass"),
        ("Two dogs in the snow", "the picture shows two dogs in the snow"),
        ("Dog on grass.", None),
        ("Running on grass.", None),
        ("A dog runs. It is brown.", None),
    ],
)
def test_clauses(text, said):
    assert clause(read([text])[0]) == said


@pytest.mark.shared
def test_negated_captions_of_people_are_read_back(shared_data):
    from litotes.data.captions import read_captions

    captions = read_captions(shared_data / "flickr8k", "dev")
    read_docs = read([texts[0] for texts in captions.values()])
    alternatives = find_alternatives(read_docs)
    made = [negate(doc, Random(i), alternatives) for i, doc in enumerate(read_docs)]
    done = [negated for negated in made if negated]
    assert len(done) > 0.95 * len(made)
    queries = parse_all([negated.text for negated in done])
    assert sum(query.is_negated for query in queries) > 0.99 * len(done)
