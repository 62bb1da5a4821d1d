"""Photo search that understands "not", and vision-language models that do.

The public names::

    import litotes

    encoder = litotes.load("mini")
    litotes.PhotoIndex.build("photos", encoder)
    index = litotes.PhotoIndex.open("photos", encoder)
    index.search("a dog running, no ball")
"""

from importlib import import_module
from typing import TYPE_CHECKING

from litotes.errors import LitotesError, LitotesWarning

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.backbones.registry import load
    from litotes.language import Query, parse
    from litotes.search import PhotoIndex, rerank
    from litotes.steering import NegationDirection

__all__ = [
    "DualEncoder",
    "LitotesError",
    "LitotesWarning",
    "NegationDirection",
    "PhotoIndex",
    "Query",
    "load",
    "parse",
    "rerank",
]
__version__ = "0.1.0"

_HOMES = {
    "DualEncoder": "litotes.backbones.encoder",
    "NegationDirection": "litotes.steering",
    "PhotoIndex": "litotes.search",
    "Query": "litotes.language",
    "load": "litotes.backbones.registry",
    "parse": "litotes.language",
    "rerank": "litotes.search",
}


def __getattr__(name: str) -> object:
    # `import litotes` stays quick: torch is imported when what needs it is first asked for.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
