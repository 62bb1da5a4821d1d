"""What is excluded apart, and examples: how they join a query, and what they find."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from litotes.errors import ImageError, LitotesError, LitotesWarning, PhotoIndexError
from litotes.language import Query, parse
from litotes.search import PhotoIndex
from litotes.search.asked import join

COLORS = ("red", "green", "blue", "white", "black")


@pytest.fixture
def index(photos: Path, encoder: Any) -> PhotoIndex:
    PhotoIndex.build(photos, encoder, progress=False)
    return PhotoIndex.open(photos, encoder)


# ---- joining


@given(st.sampled_from(["a street", "a dog, no ball", "a photo of a beach", "", "no people"]))
def test_alone_a_query_stays_as_it_is(text: str) -> None:
    query = parse(text)
    if text:
        assert join(query) is query
        assert join(text) == query
    else:
        with pytest.raises(LitotesError, match="nothing is asked for"):
            join(query)


@given(st.lists(st.sampled_from(["people", " cars ", "a dog", "snow"]), min_size=1, max_size=4))
def test_exclusions_come_after_those_of_the_query(parts: list[str]) -> None:
    named = list(dict.fromkeys(part.strip() for part in parts))
    assert join("a street", parts).negated == tuple(named)
    assert join(None, parts).affirmed == ""
    joined = join("a photo of a street without snow", parts)
    assert joined.affirmed == "a street"
    assert joined.negated == tuple(dict.fromkeys(["snow", *named]))
    assert all(f"without {part}" in joined.raw for part in named)


def test_frames_are_taken_off_beside_exclusions() -> None:
    assert join("a photo of a street.", ["people"]) == Query(
        "a street", ("people",), "a photo of a street., without people"
    )


@pytest.mark.parametrize("part", ["no people", "people without hats", "nobody", "not a dog"])
def test_what_excludes_itself_is_refused(part: str) -> None:
    with pytest.raises(LitotesError, match="itself says not"):
        join("a street", [part])


def test_a_query_too_long_to_be_read_says_so() -> None:
    with pytest.warns(LitotesWarning, match=r"2,016 characters.*nothing that it denies"):
        assert not join("a dog without a ball " * 96).is_negated


def test_blank_and_mistyped_exclusions_are_refused() -> None:
    with pytest.raises(LitotesError, match="is blank"):
        join("a street", ["  "])
    with pytest.raises(TypeError, match=r"pass \[text\]"):
        join("a street", "people")
    with pytest.raises(LitotesError, match="nothing is asked for"):
        join("  ")


def test_other_types_are_refused(index: PhotoIndex, photos: Path) -> None:
    wrong: Any
    for wrong in (7, b"a street", ["a street"]):
        with pytest.raises(TypeError, match="the query is"):
            index.search(wrong)
    for wrong in (None, 7, photos):
        with pytest.raises(TypeError, match="must be a string"):
            index.search("a street", exclude=[wrong])
    for wrong in (2.5, "10", None):
        with pytest.raises(TypeError, match="a whole number"):
            index.search("a street", wrong)
    assert len(index.search("a street", np.int64(3))) == 3
    wrong = "mini"
    with pytest.raises(TypeError, match=r"litotes\.load\('mini'\)"):
        PhotoIndex.open(photos, wrong)


# ---- searching


@pytest.mark.parametrize("strategy", ["plain", "subtract", "calibrated"])
def test_exclusions_apart_search_as_in_the_sentence(index: PhotoIndex, strategy: str) -> None:
    apart = index.search("a green picture", 40, strategy, exclude=["red things"])
    asked = Query("a green picture", ("red things",), "a green picture, without red things")
    assert apart == index.search(asked, 40, strategy)
    assert index.search(exclude=["red things"], k=3, strategy=strategy)


def test_calibrated_without_anything_excluded_is_plain(index: PhotoIndex) -> None:
    assert index.search("a red picture", 40, "calibrated") == index.search(
        "a red picture", 40, "plain"
    )


def test_examples_find_their_like(index: PhotoIndex, photos: Path) -> None:
    example = photos / "album1" / "04.png"
    found = index.search(like=[example], k=40)
    # A photo's copies count as its like, and there are none of this one.
    assert found[0].path == example
    vector = next(
        vector
        for paths, vectors in index.vectors()
        for path, vector in zip(paths, vectors, strict=True)
        if path == example
    )
    by_vector = index.search(like=[7 * vector], k=40)
    assert [r.path for r in by_vector] == [r.path for r in found]
    np.testing.assert_allclose([r.score for r in by_vector], [r.score for r in found], rtol=1e-3)
    unlike = index.search(unlike=[example], k=40)
    assert unlike[-1].path == example
    both = index.search("a red picture", like=[photos / "album0" / "03.png"], unlike=[example])
    assert example not in [r.path for r in both]


def test_examples_that_cannot_be_used(index: PhotoIndex, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("no picture")
    with pytest.raises(ImageError, match=r"text\.jpg"):
        index.search(like=[tmp_path / "text.jpg"])
    with pytest.raises(ImageError, match="does not exist"):
        index.search("red", unlike=[tmp_path / "none.jpg"])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        index.search(like=[np.ones(3)])
    with pytest.raises(ValueError, match="finite and not zero"):
        index.search(like=[np.zeros(index.dim)])
    with pytest.raises(TypeError, match=r"pass \[picture\]"):
        index.search(like=photos / "album1" / "04.png")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"pass \[picture\]"):
        index.search(unlike=np.ones(index.dim))
    with pytest.raises(LitotesError, match="subtract cannot weigh"):
        index.search(like=[photos / "album1" / "04.png"], strategy="subtract")


# ---- explaining


@pytest.mark.filterwarnings("ignore::litotes.LitotesWarning")
def test_explanations_are_what_the_score_is_made_of(index: PhotoIndex, photos: Path) -> None:
    example = photos / "album1" / "04.png"
    beside: dict[str, Any] = {"exclude": ["blue", "white"], "unlike": [example]}
    results = index.search("a red picture", 12, "calibrated", **beside)
    for result, why in zip(results, index.explain(results, "a red picture", **beside), strict=True):
        assert len(why.each) == 3
        assert why.absent == pytest.approx(np.prod(why.each))
        assert why.probability == pytest.approx(result.score, rel=1e-4)


@pytest.mark.filterwarnings("ignore::litotes.LitotesWarning")
def test_explanations_of_one_side_alone(index: PhotoIndex) -> None:
    results = index.search("a red picture", 5)
    for why in index.explain(results, "a red picture"):
        assert why.absent is None
        assert why.shows == pytest.approx(why.probability)
    for why in index.explain(results, exclude=["blue"]):
        assert why.shows is None
        assert why.absent == why.each[0] == why.probability


@pytest.mark.filterwarnings("ignore::litotes.LitotesWarning")
def test_a_photo_no_longer_indexed_is_named(index: PhotoIndex, photos: Path, encoder: Any) -> None:
    results = index.search("a red picture", 40)
    (photos / "album1" / "04.png").unlink()
    PhotoIndex.build(photos, encoder, progress=False)
    with pytest.raises(PhotoIndexError, match=r"04\.png: is not in the photo index any more"):
        index.explain(results, "a red picture")


# ---- few photos


@pytest.mark.parametrize("count", [1, 2, 5])
def test_small_libraries(tmp_path: Path, encoder: Any, count: int) -> None:
    for color in COLORS[:count]:
        Image.new("RGB", (30, 20), color).save(tmp_path / f"{color}.png")
    PhotoIndex.build(tmp_path, encoder, progress=False)
    index = PhotoIndex.open(tmp_path, encoder)
    red = tmp_path / "red.png"
    for query, beside in (
        ("a red picture", {}),
        ("a red picture", {"exclude": ["blue"]}),
        (None, {"exclude": ["blue"]}),
        (None, {"like": [red]}),
        ("green", {"like": [red], "unlike": [red]}),
    ):
        results = index.search(query, 7, "calibrated", **beside)  # type: ignore[arg-type]
        assert len(results) == count
        assert all(np.isfinite(result.score) for result in results)
        with pytest.warns(LitotesWarning, match=f"with {count} photos"):
            reasons = index.explain(results, query, **beside)  # type: ignore[arg-type]
        assert all(0 <= why.probability <= 1 for why in reasons)
        with pytest.warns(LitotesWarning, match="say little"):
            found = index.filter(query, 0, **beside)  # type: ignore[arg-type]
        assert len(found) == count
