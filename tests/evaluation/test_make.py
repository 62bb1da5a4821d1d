"""Benchmarks from captions: on a small world whose photographs are known."""

import ast
import csv
import json
import os
import re
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from litotes.cli import app
from litotes.data.captions import read_captions
from litotes.errors import DataError
from litotes.evaluation import make
from litotes.evaluation.make import KINDS, check_images, make_benchmark, write_benchmark
from litotes.mining import things

# Things of a row stand together, two a photograph; things of two rows never meet.
ROWS = (
    ("a brown dog", "a red ball", "a wooden bench"),
    ("white snow", "yellow flowers", "an orange umbrella"),
)
NAMES = ("ball", "bench", "dog", "flowers", "snow", "umbrella")
REPEATS = 8


def head(phrase: str) -> str:
    return phrase.split()[-1]


def plain(phrase: str) -> str:
    """The phrase without its colour: "an orange umbrella" gives "an umbrella"."""
    first, *rest = phrase.split()
    if first not in ("a", "an"):
        return rest[-1]
    return f"{'an' if rest[-1][0] in 'aeiou' else 'a'} {rest[-1]}"


def world() -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Captions and true contents of 48 photographs."""
    captions, truth = {}, {}
    for row in ROWS:
        for a, b in combinations(row, 2):
            for i in range(REPEATS):
                name = f"{head(a)}-{head(b)}-{i}.jpg"
                truth[name] = {head(a), head(b)}
                captions[name] = [
                    f"There was {a} next to {b} .",
                    f"We saw {plain(a)} and {plain(b)} .",
                    f"{b.capitalize()} stood beside {plain(a)} .",
                ]
    return captions, truth


CAPTIONS, TRUTH = world()


@pytest.fixture(scope="module")
def content():
    return things.find_content(list(CAPTIONS.values()), 5)


@pytest.fixture(scope="module")
def benchmark():
    return make_benchmark(CAPTIONS)


def find(more: dict[str, list[str]]):
    """What is found of the world and of some more photographs, as names: shown and lacking."""
    captions = CAPTIONS | more
    found = things.find_content(list(captions.values()), 5)
    names = [thing.bare for thing in found.things]

    def named(table):
        return {
            image: {name for name, there in zip(names, row, strict=True) if there}
            for image, row in zip(captions, table, strict=True)
        }

    return named(found.shown), named(found.lacking)


def claims(option: str) -> dict[str, bool]:
    """What an option says of each thing; each clause speaks of one."""
    said = {}
    for clause in re.split(r",? (?:but|and) ", option):
        (name,) = [name for name in NAMES if re.search(rf"\b{name}\b", clause.lower())]
        said[name] = re.search(r"\b(no|not|cannot|without)\b", clause.lower()) is None
    return said


def true_of(option: str, image: str) -> bool:
    return all((name in TRUTH[image]) == there for name, there in claims(option).items())


def check_questions(questions) -> None:
    for question in questions:
        assert len(set(question.options)) == 4
        right = [i for i, option in enumerate(question.options) if true_of(option, question.image)]
        assert right == [question.correct]
        said = sorted(claims(question.options[question.correct]).values())
        assert (
            said
            == {"positive": [True], "negative": [False], "hybrid": [False, True]}[question.kind]
        )


# --- what photographs show and lack -----------------------------------------------------------


def test_contents_of_the_known_world_are_found(content):
    assert [thing.bare for thing in content.things] == list(NAMES)
    for image, shown, lacking in zip(TRUTH, content.shown, content.lacking, strict=True):
        there = {name for name, is_shown in zip(NAMES, shown, strict=True) if is_shown}
        assert there == TRUTH[image]
        assert not (shown & lacking).any()
        # The third of its row is what would be expected.
        (third,) = {*map(head, next(r for r in ROWS if there < {*map(head, r)}))} - there
        assert lacking[NAMES.index(third)]


def test_things_are_worded_as_people_say_them(content):
    assert [thing.phrase for thing in content.things] == [
        *("a ball", "a bench", "a dog", "flowers", "snow", "an umbrella")
    ]
    assert [thing.name for thing in content.things if thing.plural] == ["flower"]


def test_the_usual_companion_ranks_above_strangers(content):
    image = list(TRUTH).index("dog-ball-0.jpg")
    company = dict(zip(NAMES, content.company[image], strict=True))
    assert company["bench"] > 1 > max(company[name] for name in ("snow", "flowers", "umbrella"))


@pytest.mark.parametrize(
    ("captions", "name"),
    [
        (["A dog .", "A dog with a ball .", "A dog ."], "ball"),  # named once
        (["A dog .", "A dog with a snowball .", "A dog ."], "ball"),
        (["A dog on a snowy day .", "A dog .", "A dog ."], "snow"),
        (["A dog without a ball .", "A dog with no ball .", "A dog ."], "ball"),
        (["The dog snows .", "Some snow and snow .", "It snows on snow ."], "snow"),  # a verb
    ],
)
def test_what_is_hinted_at_is_neither_shown_nor_lacking(captions, name):
    shown, lacking = find({"more.jpg": captions})
    assert name not in shown["more.jpg"] | lacking["more.jpg"]
    assert "umbrella" in lacking["more.jpg"]


def test_a_substitute_hints_at_the_thing():
    # Others say "puppy" of the same photographs, but never in one caption with "dog".
    mixed = {
        f"mixed-{i}.jpg": ["A dog ran .", "A brown dog ran .", "A puppy ran .", "A puppy ran ."]
        for i in range(8)
    }
    alone = {f"puppy-{i}.jpg": ["A puppy ran .", "The puppy sat ."] for i in range(12)}
    shown, lacking = find(mixed | alone)
    assert "dog" in shown["mixed-0.jpg"]
    assert "dog" not in shown["puppy-0.jpg"] | lacking["puppy-0.jpg"]
    assert "bench" in lacking["puppy-0.jpg"]


def test_a_word_in_whose_company_the_thing_goes_unsaid_hints_at_it():
    # Of the photographs of a rink most have snow, but only one caption of each says so.
    rinks = {f"rink-{i}.jpg": ["A rink with snow .", "A rink .", "A rink ."] for i in range(2)}
    silent = {f"silent-{i}.jpg": ["A rink .", "The rink .", "A rink ."] for i in range(6)}
    _, lacking = find(rinks | silent)
    assert "snow" not in lacking["silent-0.jpg"]
    assert "snow" in lacking["dog-ball-0.jpg"]


def test_all_words_for_people_are_one_thing():
    words = ("man", "woman", "boy", "girl", "child", "lady")
    people = {
        f"{word}-{i}.jpg": [f"A {word} sat .", "A person sat .", f"The {word} ."]
        for word in words
        for i in range(2)
    }
    biker = {"biker.jpg": ["A biker .", "A bike .", "A bike ."]}
    shown, lacking = find(people | biker | {"his.jpg": ["His dog .", "A dog .", "A dog ."]})
    assert all("person" in shown[image] for image in people)
    assert not any(word in names for names in shown.values() for word in words)
    assert "person" in lacking["dog-ball-0.jpg"]
    assert "person" not in lacking["biker.jpg"] | lacking["his.jpg"]


def test_things_that_people_seldom_agree_on_are_left_out():
    # One caption of three names the tree, but for a few photographs.
    trees = {f"tree-{i}.jpg": ["A green tree .", "A tree .", "Grey ."] for i in range(6)}
    lone = {f"lone-{i}.jpg": ["A green tree .", "Grey .", "Grey ."] for i in range(9)}
    found = things.find_content(list((CAPTIONS | trees | lone).values()), 5)
    assert "tree" in found.dropped["seldom agreed on"]
    assert "tree" not in [thing.name for thing in found.things]


def test_one_caption_shows_things_but_proves_no_absence():
    shown, lacking = find({"one.jpg": ["A dog ."]})
    assert shown["one.jpg"] == {"dog"}
    assert not lacking["one.jpg"]


# --- the files --------------------------------------------------------------------------------


def test_every_right_option_is_true_and_every_wrong_one_false(benchmark):
    kinds = [question.kind for question in benchmark.questions]
    photographs = kinds.count("positive")
    # A photograph is left out where its things were asked about as there too often by then.
    assert photographs > 0.9 * len(TRUTH)
    assert [kinds.count(kind) for kind in KINDS] == [photographs] * len(KINDS)
    check_questions(benchmark.questions)
    assert {question.correct for question in benchmark.questions} == {0, 1, 2, 3}


@settings(max_examples=25)
@given(seed=st.integers())
def test_any_seed_gives_true_answers_and_the_same_ones_again(content, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make, "find_content", lambda captions, min_images: content)
        first, again = (make_benchmark(CAPTIONS, seed=seed) for _ in range(2))
    assert first == again
    check_questions(first.questions)
    for thing in first.log["things"]:
        # Equally often as far as can be: nothing is guessed from a thing's name.
        assert abs(thing["asked as there"] - thing["asked as lacking"]) <= 2 * make.MAX_EXCESS


def test_negated_captions_keep_the_caption_and_deny_what_is_usual_and_lacking(benchmark):
    assert [image for image, _ in benchmark.retrieval] == list(TRUTH)
    frames = set()
    for image, texts in benchmark.retrieval:
        row = next(r for r in ROWS if TRUTH[image] < {*map(head, r)})
        (third,) = {*map(head, row)} - TRUTH[image]
        for text, caption in zip(texts, CAPTIONS[image], strict=True):
            bare = caption.removesuffix(" .")
            assert bare in text
            clause = text.replace(bare, "…")
            assert third in clause
            assert re.search(r"\b(no|without|nowhere)\b", clause.lower())
            assert not re.search(r"\b(no|without) (an? )?\1|\ba [aeiou]| \.|\.\.", clause.lower())
            frames.add(clause.replace(third, "X"))
    assert any(frame.startswith("…") for frame in frames)
    assert any(frame.endswith("….") for frame in frames)


def test_articles_and_verbs_agree(benchmark):
    texts = [option for question in benchmark.questions for option in question.options]
    texts += [text for _, captions in benchmark.retrieval for text in captions]
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert not re.search(r"\ba snow|\ba flowers|\ba umbrella|flowers is|is no flowers", text)
        assert not re.search(r"snow are|\b(?:a|an|no) (?:a|an)\b", text)


def test_files_are_read_by_csv_and_literal_eval(benchmark, tmp_path):
    files = write_benchmark(benchmark, tmp_path / "new", "dev")
    assert [file.name for file in files] == [
        *("negated_retrieval_dev.csv", "mcq_dev.csv", "make_benchmark_dev.json")
    ]
    with files[0].open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["filepath", "captions"]
    read = [(row["filepath"], ast.literal_eval(row["captions"])) for row in rows]
    assert read == list(benchmark.retrieval)
    with files[1].open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = ["image_path", "correct_answer", "caption_0", "caption_1", "caption_2", "caption_3"]
    assert list(rows[0]) == [*columns, "correct_answer_template"]
    for row, question in zip(rows, benchmark.questions, strict=True):
        assert tuple(row.values()) == (
            *(question.image, str(question.correct)),
            *(*question.options, question.kind),
        )


def test_the_log_adds_up(benchmark, tmp_path):
    log = json.loads(write_benchmark(benchmark, tmp_path, "dev")[2].read_text())
    assert log["split"] == "dev"
    assert log["photographs"] == len(CAPTIONS)
    pairs = log["left_out"]["photograph–thing pairs"]
    assert pairs.pop("all") == sum(pairs.values()) == len(CAPTIONS) * len(NAMES)
    assert pairs["shown"] == sum(map(len, TRUTH.values()))
    there = sum(thing["asked as there"] for thing in log["things"])
    assert there == sum(thing["asked as lacking"] for thing in log["things"])
    assert there == log["mcq"]["questions"] == 3 * log["mcq"]["each kind"]


_RUN = """
import sys, typer
from litotes.cli.make_benchmark import make_benchmark
app = typer.Typer()
app.command()(make_benchmark)
app(sys.argv[1:])
"""


def test_the_command_writes_the_same_whatever_the_hash_seed(benchmark, tmp_path):
    (tmp_path / "images").mkdir()
    with (tmp_path / "captions.csv").open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow(["image", "split", "caption"])
        for image, texts in CAPTIONS.items():
            (tmp_path / "images" / image).touch()
            writer.writerows([image, "mine", text] for text in texts)
    arguments = [str(tmp_path / "captions.csv"), str(tmp_path / "images"), "--split", "mine"]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments, "--out", str(tmp_path / "out")],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(benchmark.questions)} questions of 48 photographs" in done.stdout
    for file in write_benchmark(benchmark, tmp_path / "here", "mine"):
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes()


def test_a_benchmark_is_not_lost_to_another(benchmark, tmp_path):
    files = write_benchmark(benchmark, tmp_path, "mine")
    before = [file.read_bytes() for file in files]
    write_benchmark(benchmark, tmp_path, "mine")
    with pytest.raises(DataError, match=r"negated_retrieval_mine\.csv is of other captions"):
        write_benchmark(make_benchmark(CAPTIONS, seed=1), tmp_path, "mine")
    assert [file.read_bytes() for file in files] == before


def test_a_little_benchmark_says_what_would_help(tmp_path):
    lines = [f"{image},dev,{text}" for image, texts in CAPTIONS.items() for text in texts]
    (tmp_path / "captions.csv").write_text("\n".join(["image,split,caption", *lines]))
    for image in CAPTIONS:
        (tmp_path / image).touch()
    arguments = ["make-benchmark", str(tmp_path / "captions.csv"), str(tmp_path), "--out"]
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert f"is in {tmp_path / 'out' / 'make_benchmark_dev.json'}" in result.stdout
    assert "captions name 6 things often enough; --min-images below 5" in result.stderr


def test_a_few_bare_uses_make_no_mass():
    """Being in suit and tie is no sign that suit is like water, of which a list says so."""
    extra = {
        f"suit-{i}.jpg": ["We saw black suit and tie .", "Man in suit beside white milk ."]
        for i in range(8)
    }
    found = things.find_content(list((CAPTIONS | extra).values()), 5)
    phrases = {thing.name: thing.phrase for thing in found.things}
    assert phrases["suit"] == "a suit"
    assert phrases["snow"] == "snow"


# --- errors -----------------------------------------------------------------------------------


def test_no_captions_is_an_error(tmp_path):
    (tmp_path / "captions.csv").write_text("image,split,caption\n")
    with pytest.raises(DataError, match="no rows at all"):
        read_captions(tmp_path, "dev")


@pytest.mark.parametrize("captions", [{}, {"a.jpg": ["A brown dog ."], "b.jpg": ["A cat ."]}])
def test_one_caption_a_photograph_is_an_error(captions):
    with pytest.raises(DataError, match="at least two a photograph"):
        make_benchmark(captions)


def test_no_things_is_an_error():
    with pytest.raises(DataError, match="at least 1000 photographs"):
        make_benchmark(CAPTIONS, min_images=1000)
    with pytest.raises(DataError, match="no thing is named"):
        make_benchmark({f"{i}.jpg": ["Running .", "It runs ."] for i in range(9)})


def test_nothing_lacking_is_an_error():
    same = {f"{i}.jpg": ["A brown dog .", "A dog ."] for i in range(9)}
    with pytest.raises(DataError, match="no thing is surely lacking"):
        make_benchmark(same)


def test_missing_photographs_are_counted_and_the_first_is_named(tmp_path):
    (tmp_path / "dog-ball-0.jpg").touch()
    with pytest.raises(DataError, match=r"^47 of 48 pictures are missing.*dog-ball-1\.jpg$"):
        check_images(CAPTIONS, tmp_path)
