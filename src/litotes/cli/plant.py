"""`litotes plant`: captions with a concrete word changed, from captioned photographs."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litotes.cli.common import given_target, printable_path, resumable, shown_progress

if TYPE_CHECKING:
    from litotes.data.resumable import Made
    from litotes.mining.plant import Planted
    from litotes.mining.planting import Rewriter

# As litotes.mining knows them, which is slow to load.
Choice = StrEnum("Choice", "hc lc random")
Score = StrEnum("Score", "concreteness visual")
Kind = StrEnum("Kind", "object attribute action relation count")


_LEFT_OUT = ("image", "caption", "reason")


class Way(StrEnum):
    """How captions are changed."""

    RULE = "rule"
    LLM = "llm"


def plant(
    captions: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTIONS.csv",
            exists=True,
            help="Columns image, split and caption, or a folder that holds captions.csv.",
        ),
    ],
    out: Annotated[
        Path, typer.Argument(parser=given_target, metavar="OUT.jsonl", help="Where to write.")
    ],
    split: Annotated[str, typer.Option(help="Which part of the captions.")] = "train",
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many at most.")] = 20_000,
    choice: Annotated[
        Choice,
        typer.Option(help="Words that are changed: the most concrete, the least, or any."),
    ] = Choice.hc,
    score: Annotated[
        Score, typer.Option(help="Ratings: concreteness, or how well it is seen.")
    ] = Score.concreteness,
    kinds: Annotated[
        list[Kind] | None,
        typer.Option("--kind", help="What may be changed; may be given again.  [default: all]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed, other captions and words.")] = 0,
    way: Annotated[Way, typer.Option("--rewriter", help="What changes captions.")] = Way.RULE,
    llm: Annotated[
        str | None, typer.Option(metavar="MODEL", help="With --rewriter llm: the model.")
    ] = None,
    llm_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Its server's API.  [default: OpenAI's]"),
    ] = None,
    wordnet: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="WordNet's files, such as /usr/share/wordnet: by rule, words of its kin, too.",
        ),
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, help="By rule: to spread the work over; changes nothing else.")
    ] = 1,
) -> None:
    """Change a word of captions of photographs, so that they are false: Slipform's training data.

    Each line of the file is a caption, the changed one, and what was changed; OUT.log.json counts
    them, and lists the captions that could not be changed, and why. A run that was stopped goes on
    where it was when it is started again.
    """
    from litotes.data.captions import read_captions
    from litotes.data.files import write_atomically
    from litotes.data.resumable import write_resumably
    from litotes.mining import plant as planting

    if (way is Way.LLM) != (llm is not None):
        raise typer.BadParameter("--rewriter llm and --llm MODEL go together")
    if llm is None and llm_url is not None:
        raise typer.BadParameter("--llm-url is for --rewriter llm")
    if llm is not None and (wordnet is not None or processes > 1):
        raise typer.BadParameter("--wordnet and --processes are for --rewriter rule")
    read = read_captions(captions, split)
    options: dict[str, Any] = {
        "choice": choice.value,
        "measure": score.value,
        "kinds": [kind.value for kind in Kind if not kinds or kind in kinds],
        "seed": seed,
    }
    rewriter, how = _by_llm(llm, llm_url) if llm else _by_rule(read, wordnet, seed)
    digest = hashlib.sha256(json.dumps(read).encode()).hexdigest()
    settings = {"captions": digest, "split": split, "count": count, **options, "rewriter": how}
    with resumable(), shown_progress("made", count) as show:
        written = write_resumably(
            out,
            settings,
            lambda start: map(
                _made, planting.plant(read, rewriter, start=start, processes=processes, **options)
            ),
            count,
            show,
            lambda made: write_atomically(_log_of(out), _log(settings, read, made)),
        )
    typer.echo(
        f"wrote {written.lines:,} changed captions to {printable_path(out)}; "
        f"{written.left_out:,} captions were left out: "
        f"{printable_path(_log_of(out))} says which, and why"
    )


def _log_of(out: Path) -> Path:
    return out.with_suffix(".log.json")


def _by_rule(
    captions: Mapping[str, Sequence[str]], wordnet: Path | None, seed: int
) -> "tuple[Rewriter, dict[str, Any]]":
    from litotes.mining.rewrite_rule import RuleRewriter

    how = {"way": "rule", "wordnet": None if wordnet is None else str(wordnet)}
    return RuleRewriter.from_captions(captions, wordnet, seed), how


def _by_llm(model: str, url: str | None) -> "tuple[Rewriter, dict[str, Any]]":
    from litotes.language.llm import OPENAI
    from litotes.mining.llm_rewriter import LlmRewriter

    rewriter = LlmRewriter(model, url or OPENAI)
    return rewriter, {"way": "llm", "url": url or OPENAI, **rewriter.settings}


def _made(planted: "Planted") -> "Made":
    from litotes.data.json_lines import as_line
    from litotes.data.resumable import Made
    from litotes.mining.planting import Dropped

    number, made = planted
    if isinstance(made, Dropped):
        return Made(number, "", made.reason)
    return Made(number, as_line(made))


def _log(
    settings: Mapping[str, Any], captions: Mapping[str, Sequence[str]], made: "Sequence[Made]"
) -> str:
    from litotes.mining.quadruplets import drawn_order

    pairs = [json.loads(one.line) for one in made if one.line]
    order = drawn_order(captions, settings["seed"])
    left_out = [(*order[one.number], one.reason) for one in made if not one.line]
    reasons = Counter(reason for *_, reason in left_out)
    counts = {
        "captions": len(made),
        "made": len(pairs),
        "kinds": Counter(pair["kind"] for pair in pairs),
        "ways": Counter(pair["way"] for pair in pairs),
        "dropped": dict(reasons.most_common()),
        "left_out": [dict(zip(_LEFT_OUT, one, strict=True)) for one in left_out],
    }
    return json.dumps({"settings": settings, **counts}, indent=2) + "\n"
