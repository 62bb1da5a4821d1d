"""Keywords of captions: their kinds, what is passed over, and their order."""

from random import Random

import pytest

from litotes.data.concrete_pairs import KEYWORD_KINDS
from litotes.language.concreteness import load_ratings
from litotes.language.sentences import read
from litotes.mining.keywords import candidates, lemma_of, order

# Each with all its keywords, by kind.
CAPTIONS = {
    "A dog is chasing a tennis ball on the grass .": "object: dog, tennis ball, grass; "
    "action: chasing; relation: on",
    "Two women walking down a dirt road .": "count: Two; object: women, dirt road; action: walking",
    "A man in a blue shirt rides a horse .": "object: man, shirt, horse; attribute: blue; "
    "action: rides",
    "The boy is standing in front of a brick building next to a tree .": "object: boy, building, "
    "tree; attribute: brick; action: standing; relation: in front of, next to",
    "A group of people sit on top of a hill .": "object: people, hill; action: sit; "
    "relation: on top of",
    "A boy wearing a T-shirt eats a hot dog .": "object: boy, T-shirt, hot dog; "
    "action: wearing, eats",
    "A wet dog is jumping into the pool in the morning .": "object: dog, pool; attribute: wet; "
    "action: jumping; relation: into",
    "A smiling girl holds a bottle of water .": "object: girl, water; attribute: smiling; "
    "action: holds",
    "A man tries to catch a ball .": "object: man, ball; action: catch",
    "Several people look at another person .": "object: people, person",
    "The ball is red .": "object: ball; attribute: red",
    "A light blue car is parked between three trucks .": "object: car, trucks; "
    "attribute: light blue; action: parked; relation: between; count: three",
    "A man in black is running along a street .": "object: man, street; action: running; "
    "relation: along",
    "A picture of a cat on the left side .": "object: cat",
    "A woman picks up a baby .": "object: woman, baby; action: picks up",
    "A dog has a stick in its mouth .": "object: dog, stick, mouth; relation: in",
    "The golden retriever is covered in mud .": "object: golden retriever, mud",
    "A little girl is drinking orange juice from a plastic cup .": "object: girl, orange juice, "
    "cup; attribute: little, plastic; action: drinking",
    "Children wearing swimsuits run along the beach .": "object: Children, swimsuits, beach; "
    "action: wearing, run; relation: along",
    "A skateboarder is in midair above a ramp .": "object: skateboarder, ramp; relation: above",
    "A black man sits under a tree .": "object: man, tree; action: sits; relation: under",
    "Three men are sitting at a wooden table .": "count: Three; object: men, table; "
    "attribute: wooden; action: sitting; relation: at",
    "A dog without a collar .": "",
    "Nobody sits on the bench .": "",
    "A shirtless boy swims in a lake .": "",
    "He is there .": "",
    "": "",
}


def keywords_of(text, ratings, kinds=KEYWORD_KINDS):
    doc = read([text])[0]
    return doc, candidates(doc, ratings, kinds)


@pytest.fixture(scope="module")
def ratings():
    return load_ratings()


@pytest.mark.parametrize("text", CAPTIONS)
def test_keywords_by_kind(ratings, text):
    doc, found = keywords_of(text, ratings)
    named = {(word.kind, doc[word.start : word.end].text) for word in found}
    parts = filter(None, CAPTIONS[text].split("; "))
    assert named == {
        (kind, word)
        for part in parts
        for kind, _, words in [part.partition(": ")]
        for word in words.split(", ")
    }
    assert found == sorted(found)
    assert all(1 <= word.score <= 5 and word.source for word in found)


def test_only_the_kinds_that_are_asked_for(ratings):
    text = "Two wet dogs run on green grass ."
    _, every = keywords_of(text, ratings)
    assert {word.kind for word in every} == set(KEYWORD_KINDS)
    for kind in KEYWORD_KINDS:
        assert keywords_of(text, ratings, [kind])[1] == [w for w in every if w.kind == kind]


def test_scores_are_those_of_the_measure(ratings):
    doc, found = keywords_of("A dog chases a red ball .", ratings)
    _, seen = keywords_of("A dog chases a red ball .", load_ratings("visual"))
    assert [word[:3] for word in seen] == [word[:3] for word in found]
    scores = {
        doc[w.start].text: (w.score, w.source, v.score) for w, v in zip(found, seen, strict=True)
    }
    assert scores["dog"][:2] == (4.85, "word")
    assert scores["chases"][1] == "lemma"
    assert scores["red"][2] > scores["red"][0]


def test_order(ratings):
    _, found = keywords_of("Two wet dogs and two cats run on green grass by two trees .", ratings)
    scores = [word.score for word in found]
    assert len(set(scores)) < len(scores)
    drawn = {
        choice: [order(found, choice, Random(i)) for i in range(20)] for choice in ("hc", "lc")
    }
    for several in drawn.values():
        assert all(sorted(words) == found for words in several)
        assert len(set(map(tuple, several))) > 1  # equal scores are drawn
    assert all([w.score for w in words] == sorted(scores)[::-1] for words in drawn["hc"])
    assert all([w.score for w in words] == sorted(scores) for words in drawn["lc"])
    firsts = {order(found, "random", Random(i))[0] for i in range(200)}
    assert firsts == set(found)
    assert order(found, "random", Random(1)) == order(found, "random", Random(1))
    assert order([], "hc", Random(0)) == []


@pytest.mark.parametrize(
    ("text", "lemma"),
    [
        ("A man rides a horse.", "ride"),
        ("A man is riding a horse.", "ride"),
        ("A man is sliding down a hill.", "slide"),
        ("A man is sitting on a bench.", "sit"),
        ("A man watches a game.", "watch"),
        ("A man is running.", "run"),
        ("A man is swimming.", "swim"),
        ("A man is playing.", "play"),
    ],
)
def test_lemmas_of_verbs(text, lemma):
    assert lemma in {lemma_of(token) for token in read([text])[0]}
