"""A contact sheet: what a search found, as one HTML file that needs no other."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PIL import Image

from litotes.data.html import escaped, jpeg_data
from litotes.data.images import open_image
from litotes.errors import ImageError
from litotes.language import Query

if TYPE_CHECKING:
    from litotes.search.index import PhotoIndex, Result

_THUMBNAIL = 480

Answers = Mapping[str, Sequence["Result"]]
"""Results by the name of the strategy that gave them."""
Judge = Callable[[Query, "Result"], bool | None]
"""Whether a result is right; None where that cannot be said."""

_STYLE = """
:root { color-scheme: light dark; --back: #fafafa; --card: #fff; --text: #1c1c1e; --dim: #6b6b70;
  --line: #e3e3e6; --yes: #e2f2e6; --yes-text: #155c2b; --no: #fbe6e4; --no-text: #8c1d12; }
@media (prefers-color-scheme: dark) { :root { --back: #151517; --card: #1f1f22; --text: #eeeef0;
  --dim: #9a9aa1; --line: #323236; --yes: #173a22; --yes-text: #a8e3b9; --no: #46201c;
  --no-text: #f6b8b1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1600px; padding: 28px clamp(14px, 3vw, 40px) 40px;
  background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0 0 10px; font-size: 26px; font-weight: 650; letter-spacing: -0.01em;
  overflow-wrap: anywhere; }
h2 { margin: 30px 0 12px; padding-top: 16px; border-top: 1px solid var(--line);
  font-size: 15px; font-weight: 600; }
.parsed { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 22px; }
.parsed span { padding: 3px 11px; border-radius: 99px; font-size: 14px; overflow-wrap: anywhere; }
.yes { background: var(--yes); color: var(--yes-text); }
.no { background: var(--no); color: var(--no-text); }
.no b { font-weight: 600; }
.photos { display: flex; flex-wrap: wrap; gap: 12px; margin: 0; padding: 0; list-style: none; }
/* Rows of one height, whatever the photos' shapes; the last row is not stretched. */
.photos li { flex: var(--ratio) 1 calc(var(--ratio) * 190px); min-width: 110px;
  max-width: calc(var(--ratio) * 300px); }
.photos::after { content: ""; flex: 1000 1 0; }
section + h1 { margin-top: 52px; }
figure { display: flex; flex-direction: column; height: 100%; margin: 0; overflow: hidden;
  border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
img, .missing { display: block; width: 100%; aspect-ratio: var(--ratio); object-fit: cover; }
.right figure { border: 4px solid #2a9d4a; }
.wrong figure { border: 4px solid #d33a2c; }
.missing { display: grid; place-content: center; padding: 12px; color: var(--dim);
  font-size: 13px; text-align: center; overflow-wrap: anywhere; }
figcaption { display: flex; gap: 8px; align-items: baseline; margin-top: auto; padding: 7px 10px;
  font-size: 13px; }
.rank { font-weight: 650; }
.name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.score { color: var(--dim); font-variant-numeric: tabular-nums; }
footer { margin-top: 34px; color: var(--dim); font-size: 13px; }
"""


def contact_sheet(
    index: "PhotoIndex",
    asked: Sequence[tuple[Query, Answers]],
    *,
    title: str | None = None,
    judge: Judge | None = None,
) -> str:
    """An HTML page of small pictures: for each query, one row of them for each strategy.

    Args:
        index: where the photos were found.
        asked: what was asked for, and what was found.
        title: of the page; by default the first query.
        judge: frames what is right in green, and what is wrong in red.
    """
    parts = "".join(_answered(query, answers, index, judge) for query, answers in asked)
    count = len(index)
    names = dict.fromkeys(name for _, answers in asked for name in answers)
    strategies = escaped(", ".join(names))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{escaped(title or asked[0][0].raw)}</title>
<style>{_STYLE}</style>
</head>
<body>
{parts}
<footer>{count:,} photos · model {escaped(index.encoder.label)} · {strategies}</footer>
</body>
</html>
"""


def _answered(query: Query, answers: Answers, index: "PhotoIndex", judge: Judge | None) -> str:
    sections = "".join(
        _section(
            name if len(answers) > 1 else "",
            [_item(r, index, judge(query, r) if judge else None) for r in results],
        )
        for name, results in answers.items()
    )
    return f"""<h1>{escaped(query.raw)}</h1>
<p class="parsed">{_parsed(query)}</p>
{sections}"""


def _parsed(query: Query) -> str:
    wanted = f'<span class="yes">{escaped(query.affirmed)}</span>' if query.affirmed else ""
    excluded = (f'<span class="no"><b>not</b> {escaped(item)}</span>' for item in query.negated)
    return wanted + "".join(excluded) if query.negated else ""


def _section(title: str, items: Sequence[str]) -> str:
    heading = f"<h2>{escaped(title)}</h2>" if title else ""
    photos = "\n".join(items)
    return f'<section>{heading}<ol class="photos">\n{photos}\n</ol></section>\n'


def _item(result: "Result", index: "PhotoIndex", verdict: bool | None) -> str:
    mark = {True: ' class="right"', False: ' class="wrong"', None: ""}[verdict]
    whole = str(result.path.relative_to(index.folder)) if result.is_photo else result.label
    name = escaped(result.path.name)
    # A panorama is cut at the sides, and a tall picture at its ends. Of what was indexed by its
    # vector alone the measures may not be known.
    ratio = min(max(result.width / result.height, 0.5), 3) if result.height else 1.5
    return (
        f'<li{mark} style="--ratio: {ratio:.3f}"><figure>{_picture(result, name)}'
        f'<figcaption><span class="rank">{result.rank}</span>'
        f'<span class="name" title="{escaped(whole)}">{name}'
        f'</span><span class="score">{result.score:.3f}</span></figcaption></figure></li>'
    )


def _picture(result: "Result", name: str) -> str:
    try:
        image = open_image(result.path)
    except ImageError as error:
        reason = str(error).removeprefix(f"{result.path}: ")
        return f'<div class="missing">{escaped(reason)}</div>'
    image.thumbnail((_THUMBNAIL, _THUMBNAIL), Image.Resampling.LANCZOS)
    return f'<img src="{jpeg_data(image, quality=85)}" alt="{name}" loading="lazy">'
