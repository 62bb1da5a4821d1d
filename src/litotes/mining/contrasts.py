"""Contrasts: true and false statements on what photographs show and lack, in the same words.

What a photograph shows and lacks is found by :func:`litotes.mining.things.find_content`. Of a thing
A that it shows and a thing B that it lacks, A is affirmed and B denied; each time, the false
statement is the same with A and B exchanged, or with the denial of B left out. B is often one that
would be usual there. Things are taken as there and as lacking equally often, as far as can be, so
that little can be learned from the words alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from random import Random
from typing import NamedTuple

import numpy as np

from litotes.data.quadruplets import Contrast
from litotes.errors import DataError
from litotes.language.sentences import clean
from litotes.language.statements import (
    AFFIRMATIVE,
    CAPTIONED,
    HYBRID,
    NEGATIVE,
    Wording,
    say,
)
from litotes.mining.things import PERSON, Content, Thing, find_content

#: Things that a photograph lacks among which one is chosen, drawn by how usual they would be there.
CANDIDATES = 8
#: In so large a share; else among all that it lacks, which evens out more.
USUAL = 0.5
#: A thing is there at most so much more often than it is lacking.
MAX_EXCESS = 20
_PEOPLE = Wording("people", "people", plural=True)


class _Chosen(NamedTuple):
    """What a photograph shows (``a``) and lacks (``b``)."""

    a: int
    b: int


def statements(
    captions: Mapping[str, Sequence[str]], count: int, seed: int = 0, min_images: int = 5
) -> Iterator[Contrast]:
    """Contrasts of photographs, by turns, until there are so many.

    Each holds an affirmative, a negative and a hybrid statement, and a caption with a denial.

    Args:
        captions: of each photograph.
        count: how many contrasts at most; a photograph may have several.
        seed: the same one and the same captions make the same contrasts.
        min_images: photographs that must show a thing for it to be used.

    Raises:
        DataError: no thing is found that some photographs show and others lack.
    """
    content = find_content(list(captions.values()), min_images)
    usable = np.flatnonzero(content.shown.any(axis=1) & content.lacking.any(axis=1)).tolist()
    if not usable:
        raise DataError(
            "no photograph shows one thing and surely lacks another: more photographs are needed, "
            "or more captions of each"
        )
    images = list(captions)
    Random(seed).shuffle(usable)
    excess: Counter[int] = Counter()
    made = idle = 0
    for turn, place in enumerate(cycle(usable)):
        rng = Random(f"{seed} {turn}")
        chosen = _choose(content, place, excess, rng)
        idle = idle + 1 if chosen is None else 0
        if made == count or idle == len(usable):
            return
        if chosen is not None:
            made += 1
            text = rng.choice(captions[images[place]])
            yield _contrast(images[place], text, content, chosen, rng)


def _choose(content: Content, place: int, excess: Counter[int], rng: Random) -> _Chosen | None:
    """The pair that best evens out how often things were there, and how often lacking.

    None where the photograph shows only what was there too often already.
    """
    shown = np.flatnonzero(content.shown[place]).tolist()
    lacking = np.flatnonzero(content.lacking[place]).tolist()
    a = min(shown, key=lambda j: (excess[j], rng.random()))
    if excess[a] >= MAX_EXCESS:
        return None
    usual = rng.choices(lacking, content.company[place, lacking].tolist(), k=CANDIDATES)
    among = usual if rng.random() < USUAL else lacking
    b = max(among, key=lambda j: (excess[j], rng.random()))
    excess[a] += 1
    excess[b] -= 1
    return _Chosen(a, b)


def _contrast(image: str, caption: str, content: Content, chosen: _Chosen, rng: Random) -> Contrast:
    a, b = (content.things[j] for j in chosen)
    forms = [rng.choice(forms) for forms in (AFFIRMATIVE, NEGATIVE, HYBRID)]
    pairs = [*(_exchanged(form, a, b, rng) for form in forms), _captioned(caption, a, b, rng)]
    true, false = zip(*pairs, strict=True)
    return Contrast(image, true, false)


def _exchanged(form: str, a: Thing, b: Thing, rng: Random) -> tuple[str, str]:
    """A form that is true of ``a`` and ``b``, and the false one with the two exchanged."""
    sentence, people = rng.random() < 0.5, rng.random() < 0.5
    return (
        say(form, a.wording, _denied(b, people), sentence=sentence),
        say(form, b.wording, _denied(a, people), sentence=sentence),
    )


def _captioned(caption: str, a: Thing, b: Thing, rng: Random) -> tuple[str, str]:
    """A caption with what is lacking denied; and with it affirmed, or with ``a`` denied."""
    denies, affirms = rng.choice(CAPTIONED)
    lacking, there = b.wording, a.wording
    caption, sentence = clean(caption), rng.random() < 0.5
    # No sentence should contradict itself, so what the caption names is not denied.
    deny_shown = a.name != PERSON and a.name not in caption.lower() and rng.random() < 0.7
    form, thing = (denies, there) if deny_shown else (affirms, lacking)
    return (
        say(denies, there, lacking, sentence=sentence, caption=caption),
        say(form, there, thing, sentence=sentence, caption=caption),
    )


def _denied(thing: Thing, people: bool) -> Wording:
    """Where there is no person there are no people either."""
    return _PEOPLE if people and thing.name == PERSON else thing.wording
