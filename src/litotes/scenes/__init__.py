"""A drawn world whose truth is known exactly: what is there, which colour, where, how many.

.. code-block:: python

    from litotes import scenes

    for scene in scenes.sample(1000, seed=0, split="test"):
        scene.graph, scene.image, scene.captions
"""

from litotes.scenes.drawing import draw
from litotes.scenes.graph import SceneGraph, truth
from litotes.scenes.oracle import OracleJudge
from litotes.scenes.pairs import hard_negative, question
from litotes.scenes.reading import read, read_question
from litotes.scenes.sampling import Scene, Scenes, sample, write_scenes

__all__ = [
    "OracleJudge",
    "Scene",
    "SceneGraph",
    "Scenes",
    "draw",
    "hard_negative",
    "question",
    "read",
    "read_question",
    "sample",
    "truth",
    "write_scenes",
]
