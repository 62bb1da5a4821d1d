"""Train the `scenes` model: a stream of drawn scenes and true, affirmative captions."""

import json
import re
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor

from litotes.backbones.scenes import WEIGHTS, SceneTokenizer, empty_scenes, encoder_of, vocabulary
from litotes.data.files import write_atomically
from litotes.losses.words import WordPrediction, inverse_document_frequency
from litotes.scenes.captions import caption, description
from litotes.scenes.drawing import draw
from litotes.scenes.kinds import COLOURS, KINDS
from litotes.scenes.world import scene_graph
from litotes.training.contrastive import Batch, train_contrastive
from litotes.training.recipe import ScenesRecipe
from litotes.training.run import bind_run

_SAMPLE = 4000
# Words of negation and of questions, so that later training finds them whole.
_MORE_WORDS = """
    no not without but nor neither none nobody nothing never isn aren doesn don t s lacks lacking
    missing absent free minus except excluding instead rather than devoid away nowhere any anything
    anyone anywhere does do contain contains include includes including depict depicts show shown
    shows image picture photo scene drawing visible seen present appear appears here there is are
    was it its this that these those which who what where only just also too both either every all
    some other another something else false true fact doubt wrong right untrue impossible possible
    deny denies denied evident certain contradict contradiction contradicts question say says said
    can cannot could be been has have had with of in on at to by for from as and or if then so
    exactly one two three four five many few more less people animals vehicles plants tools food
    person animal vehicle plant tool object objects thing things furniture fruit colour color
"""


def words() -> list[str]:
    """The words of the world's language, sorted: those of a sample of captions, and more."""
    texts = [_MORE_WORDS, *KINDS, *(kind.plural for kind in KINDS.values()), *COLOURS]
    for number in range(_SAMPLE):
        graph, rng = scene_graph("train", 0, number), Random(number)
        texts += [caption(graph, rng).text, description(graph, rng).text]
    return sorted({word for text in texts for word in re.findall(r"[a-z]+", text.lower())})


def train_scenes(
    recipe: ScenesRecipe, run: Path, *, progress: bool | None = None
) -> dict[str, Tensor]:
    """Train, and write ``scenes.safetensors`` into the folder ``run``.

    Stopped and started again, it goes on after the last checkpoint.

    Returns:
        The weights by name, float16.

    Raises:
        DataError: the run is of another recipe, or damaged.
    """
    tokenizer = SceneTokenizer(vocabulary(words()))
    bind_run(run, {"recipe": recipe.model_dump(), "vocabulary": tokenizer.vocabulary})
    torch.manual_seed(recipe.seed)
    encoder = encoder_of(empty_scenes(tokenizer.vocab_size), tokenizer)
    predicted = WordPrediction(_idf(tokenizer), encoder.dim)

    def batch(step: int) -> Batch:
        return _batch(recipe, step)

    train_contrastive(encoder, recipe, predicted, batch, run, progress=progress)
    weights = {
        name: tensor.half() if tensor.is_floating_point() else tensor
        for name, tensor in encoder.model.state_dict().items()
    }
    header = {"vocabulary": json.dumps(tokenizer.vocabulary)}
    write_atomically(run / WEIGHTS, save(weights, header))
    return weights


def _idf(tokenizer: SceneTokenizer) -> Tensor:
    """Weights of the vocabulary's words, from a sample of captions."""
    said = [caption(scene_graph("train", 0, n), Random(n)).text for n in range(_SAMPLE)]
    special = {0, 1, 2, tokenizer.vocab_size - 1}
    return inverse_document_frequency(list(tokenizer(said)), tokenizer.vocab_size, special)


def _batch(recipe: ScenesRecipe, step: int) -> Batch:
    """The scenes of a step: never the same twice."""
    is_long = step % recipe.long_every == recipe.long_every - 1
    size = recipe.long_batch_size if is_long else recipe.batch_size
    pictures, captions = [], []
    for number in range(step * recipe.batch_size, step * recipe.batch_size + size):
        graph = scene_graph("train", recipe.seed, number)
        say = description if is_long else caption
        captions.append(say(graph, Random(f"{recipe.seed} {number}")).text)
        pictures.append(draw(graph))
    return pixels_of(np.stack(pictures)), captions


def pixels_of(pictures: NDArray[np.uint8]) -> Tensor:
    """Pictures ``(B, 96, 96, 3)`` as the model reads them, ``(B, 3, 96, 96)``."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 127.5 - 1
