"""NegCLIP's hard negatives."""

from random import Random

from litotes.language.sentences import read
from litotes.mining.negclip import WordSwapper
from litotes.mining.planting import Dropped, Keyword, Rewrite, Seed


def swapped(text: str, seed: int = 0) -> Rewrite | Dropped:
    """A caption of which every word may be changed."""
    (doc,) = read([text])
    keywords = [Keyword(t.i, t.i + 1, "object", 4.0, "word") for t in doc if t.is_alpha]
    (made,) = WordSwapper()([Seed(doc, keywords, frozenset(), Random(seed))])
    return made


def test_two_words_of_a_kind_change_places_and_articles_agree() -> None:
    assert swapped("A dog eats an apple.").text == "An apple eats a dog."
    made = {swapped("a black dog and a white cat on grass", n).text for n in range(60)}
    assert "a white dog and a black cat on grass" in made
    assert "a black cat and a white dog on grass" in made
    words = sorted(["a", "black", "dog", "and", "a", "white", "cat", "on", "grass"])
    assert all(sorted(text.split()) == words for text in made)


def test_a_caption_without_two_such_words_is_dropped() -> None:
    assert isinstance(swapped("a dog running"), Dropped)
