"""Reports: what stands in them, that they need nothing else, and the papers' figures."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from litotes.cli.report import report as command
from litotes.errors import DataError
from litotes.evaluation.html import html_report
from litotes.evaluation.plots import FEW_ROWS, MOST_ROWS, looks, plot_section
from litotes.evaluation.printed import printed_figures, read_printed
from litotes.evaluation.record import Record, write_records
from litotes.evaluation.report import markdown_report, sections

VOID = {"meta", "img", "source", "br"}
HOSTILE = '<img src=http://x onerror="alert(1)">|&\n\''


def record(outcomes, model="tiny", strategy="plain", text="t", **changes):
    facts = {"task": "exclusion", "split": "dev", "data": "0" * 16, **changes}
    encoder = SimpleNamespace(label=model, image_fingerprint="i", text_fingerprint=text)
    values = {name: np.array(units, dtype=float) for name, units in outcomes.items()}
    return Record.make(encoder, outcomes=values, strategy=strategy, **facts)


def exclusion(violating, right, **changes):
    rng = np.random.default_rng(0)
    return record(
        {"violating@10": rng.random(40) < violating, "right@10": rng.random(40) < right}, **changes
    )


class Page(HTMLParser):
    """Every tag that is opened is closed, in order; tables as lists of rows of cells' texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.tables = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data + " "


def test_a_page_needs_nothing_else_and_cannot_be_taken_over():
    plain = exclusion(0.6, 0.3, model=HOSTILE, split=HOSTILE)
    other = exclusion(
        0.1, 0.8, model=HOSTILE, split=HOSTILE, strategy=HOSTILE, settings={"x": HOSTILE}
    )
    text = html_report(sections([plain, other]), title=HOSTILE)
    page = Page(text)
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in text
    loaded = [v for _, name, v in page.attributes if name in ("src", "srcset", "href")]
    assert loaded
    assert all(value.startswith(("data:", "#")) for value in loaded)
    assert not re.search(r"url\(|@import|<script|<link", text)
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    assert HOSTILE.split("|")[0] not in text


def test_methods_stand_beside_their_base():
    report = sections([exclusion(0.9, 0.1), exclusion(0.1, 0.1, strategy="subtract")])
    text = html_report(report)
    header, base, method = Page(text).tables[0]
    shown = [" ".join(cell.split()) for cell in header[1:]]
    assert shown == ["violating@10 n = 40", "right@10 n = 40"]
    assert "▲" not in "".join(base)
    assert "▼" not in "".join(base)
    assert "▼" in method[1]
    assert "= 0.0" in method[2]
    assert 'class="change better" title="95 %' in text
    assert report[0].rows[1].base is report[0].rows[0].record


def test_a_strategy_has_one_colour_on_all_of_the_page():
    steered = {"strategy": "steer", "settings": {"direction": "0123456789abcdef"}}
    first = [exclusion(0.9, 0.1), exclusion(0.8, 0.1, **steered)]
    second = [
        exclusion(0.7, 0.1, model=model, split="test", **more)
        for more in (steered, {})
        for model in ("other", "tiny")
    ]
    report = sections([*first, *second])
    found = looks(report)
    assert list(found) == [
        *("tiny, plain", "tiny, steer (direction=012345)"),
        *("other, steer (direction=012345)", "other, plain"),
    ]
    colours = [colour for colour, _ in found.values()]
    assert colours[0] == colours[3] != colours[1] == colours[2]
    assert len(set(found.values())) == 4
    text = html_report(report)
    assert text.count('class="legend"') == 1
    assert 'title="steer (direction=0123456789abcdef)"' in text
    assert text.count("0123456789abcdef") == 2 * 3
    assert "0123456789abcdef" in markdown_report(report)


def test_a_change_too_small_to_show_has_no_arrow():
    before = np.zeros(40)
    report = sections([record({"m": before}), record({"m": before + 0.0004}, strategy="steer")])
    for text in (html_report(report), markdown_report(report)):
        assert "= 0.0" in text
        assert "▲ 0.0" not in text


def test_markdown_says_what_is_better_and_of_how_many_units():
    report = sections([exclusion(0.9, 0.9), exclusion(0.1, 0.1, strategy="subtract")])
    heading, _, _, row = markdown_report(report).splitlines()[2:6]
    assert heading == "| model | strategy | violating@10, n = 40 | right@10, n = 40 |"
    assert re.findall(r"\*\*(▼) [0-9.]+ (.)\*\*", row) == [("▼", "✓"), ("▼", "✗")]


def test_the_base_is_of_the_same_model_or_the_one_asked_for():
    records = [
        exclusion(0.9, 0.1),
        exclusion(0.8, 0.1, model="other"),
        exclusion(0.7, 0.1, model="other", text="adapted"),
    ]
    assert [row.base for row in sections(records)[0].rows] == [None, None, records[1]]
    asked = sections(records, "tiny")[0].rows
    assert [row.base for row in asked] == [None, records[0], records[0]]
    assert [row.model for row in asked] == ["tiny", "other (i, t)", "other (i, adapte)"]
    with pytest.raises(DataError, match=r"'absent': there are tiny, other"):
        sections(records, "absent")


def test_other_data_is_another_section():
    report = sections([exclusion(0.9, 0.1), exclusion(0.9, 0.1, data="1" * 16)])
    assert len(report) == 2
    assert all(row.base is None for section in report for row in section.rows)


def test_what_cannot_be_compared_says_why():
    short = record({"violating@10": [0, 1], "right@10": [0, 1]}, strategy="steer")
    report = sections([exclusion(0.9, 0.1), short])
    for text in (html_report(report), markdown_report(report)):
        assert "tiny, steer is not compared: " in text
        assert "violating@10 has 40 units and 2" in text


def test_printed_figures_stand_beside_the_models_they_are_of():
    def sugarcrepe(model, strategy="plain"):
        return record(
            {"macro": [1, 0, 1]}, model, strategy, task="sugarcrepe", settings={"chance": 0.5}
        )

    report = sections([sugarcrepe("ViT-B-32:openai"), sugarcrepe("mini")])
    header, known, unknown, chance = Page(html_report(report)).tables[0]
    assert header[2].split() == ["printed", "macro"]
    assert known[2].split() == ["75.38", "CLIP", "83.0", "Slipform"]
    assert unknown[2].strip() == ""
    assert chance[1].strip() == "50.0"
    table = markdown_report(report)
    assert "CLIP 75.38, Slipform 83.0" in table
    assert "arXiv 2604.13313" in table


def test_a_table_of_many_metrics_is_turned_and_stays_whole():
    names = [f"metric {i}" for i in range(12)]
    records = [record({n: [0, 1] for n in names}, strategy=s) for s in ("plain", "steer")]
    records.append(record({"only here": [1, 1]}, strategy="subtract"))
    tables = Page(html_report(sections(records))).tables
    assert all(len({len(row) for row in table}) == 1 for table in tables)
    heads = [row[0].split(" n = 2")[0] for row in tables[0][1:]]
    assert heads == [*names, "only here"]


def test_the_same_records_give_the_same_page():
    few = [exclusion(0.5, 0.5), exclusion(0.4, 0.5, strategy="subtract")]
    assert html_report(sections(few)) == html_report(sections(few))


def swept(count):
    plain = exclusion(0.5, 0.5)
    return [plain, *(exclusion(0.4, 0.5, settings={"alpha": i}) for i in range(1, count))]


def test_of_many_records_each_has_a_line_of_the_plot():
    (section,) = sections(swept(FEW_ROWS + 1))
    svg = plot_section(section, {})
    assert all(f"tiny, plain (alpha={i})" in svg for i in range(1, FEW_ROWS + 1))
    sizes = [float(re.search(rf'{side}="([0-9.]+)pt"', svg)[1]) for side in ("width", "height")]
    assert max(sizes) < 800
    assert "<img" in html_report([section])


def test_a_plot_that_could_not_be_read_is_not_drawn_and_the_page_says_so():
    page = html_report(sections(swept(MOST_ROWS + 1)))
    assert "<img" not in page
    assert f"Not drawn: a plot of {MOST_ROWS + 1} records" in page


def test_markdown_rows_have_as_many_cells_whatever_the_names():
    text = markdown_report(sections([exclusion(0.5, 0.5, model=HOSTILE)]))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
    assert "<img" not in text


def test_the_command_writes_both(tmp_path):
    app = typer.Typer()
    app.command()(command)
    write_records(tmp_path / "a.jsonl", [exclusion(0.9, 0.1)])
    write_records(tmp_path / "b.jsonl", [exclusion(0.1, 0.9, strategy="subtract")])
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    html, md = tmp_path / "r.html", tmp_path / "r.md"
    result = CliRunner().invoke(
        app, [*files, "--html", str(html), "--md", str(md)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "▼" in html.read_text()
    printed = CliRunner().invoke(app, files, catch_exceptions=False).stdout
    assert printed.rstrip() == md.read_text().rstrip()


def test_every_printed_figure_has_its_source():
    figures = printed_figures()
    assert len({(f.source.arxiv, f.task, f.metric, f.model, f.method) for f in figures}) == len(
        figures
    )
    assert {f.source.arxiv for f in figures} == {"2603.20554", "2604.13313", "2606.23843"}
    assert all(f.source.title and f.place and f.patterns for f in figures)
    assert all(0 <= f.value <= (600 if f.metric.endswith("rSum") else 100) for f in figures)


def test_printed_figures_are_found_under_the_names_that_models_have():
    def models(name):
        plain = record({"m": [1]}, name)
        return {f.model for f in printed_figures() if f.is_of_model(plain)}

    assert models("ViT-B-32:openai") == models("openai/clip-vit-base-patch32") == {"CLIP B/32"}
    assert models("ViT-B-32:laion2b_s34b_b79k") == set()
    assert models("weights/longclip-L.pt") == {"LongCLIP-L"}
    assert models("ViT-B-32:weights/negclip.pth") == {"NegCLIP B/32"}


SOURCE = '[sources.p]\narxiv = "2603.20554"\ntitle = "T"\nauthors = "A"\n[models]\nM = ["m"]\n'
TABLE = '[[tables]]\nsource = "p"\ntask = "t"\nmetrics = ["m"]\n'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("= 1", "is no TOML"),
        (SOURCE.replace("2603.20554", "unknown") + "tables = []", "arxiv"),
        (SOURCE + TABLE, "rows"),
        (
            SOURCE + TABLE.replace('"p"', '"q"') + 'rows = [{model="M", method="x", values=[1]}]',
            "table 1: there is no source 'q'",
        ),
        (
            SOURCE + TABLE + 'rows = [{model="N", method="x", values=[1]}]',
            "table 1: there is no model 'N'",
        ),
        (
            SOURCE + TABLE + 'rows = [{model="M", method="x", values=[1, 2]}]',
            "table 1, x: has 2 values for 1 metrics",
        ),
    ],
)
def test_a_malformed_file_of_figures_says_where(tmp_path, content, problem):
    file = tmp_path / "printed.toml"
    file.write_text(content)
    with pytest.raises(DataError, match=problem):
        read_printed(file)
