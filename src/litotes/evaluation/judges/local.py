"""Vision-language models of ``transformers``, run here."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from litotes.errors import ModelError
from litotes.evaluation.judges.base import (
    PROMPT,
    Judge,
    Keep,
    Picture,
    Reply,
    identify,
    limited,
    read_answer,
)


class LocalJudge(Judge):
    """An image-text-to-text model (Qwen3-VL, LLaVA, SmolVLM, …), asked greedily in batches.

    Obtained from :meth:`load`.

    Args:
        model: made by ``AutoModelForImageTextToText``, where it is to compute.
        processor: its own, with a chat template.
        name: for tables.
        identity: names the weights.
        batch_size: questions answered at once.
        max_new_tokens: of an answer; more than one word is unclear anyway.
        longest_side: pictures are first made that small, before the processor's own limits.

    Raises:
        ModelError: the processor has no chat template.
    """

    def __init__(
        self,
        model: Any,
        processor: Any,
        *,
        name: str,
        identity: str,
        batch_size: int = 8,
        max_new_tokens: int = 8,
        longest_side: int = 1024,
    ) -> None:
        if not getattr(processor, "chat_template", None):
            raise ModelError(
                f"{name} cannot be a judge: its processor has no chat template, so it is not known "
                f"how to ask it; an instruction-tuned model has one"
            )
        super().__init__(
            name, identify(name, identity, str(model.dtype), PROMPT, max_new_tokens, longest_side)
        )
        self.model = model.eval()
        self.processor = processor
        self.batch_size = batch_size
        self.max_new_tokens = max_new_tokens
        self.longest_side = longest_side
        # Each answer starts where its row ends, so the padding has to be before the question.
        processor.tokenizer.padding_side = "left"

    @classmethod
    def load(
        cls,
        name: str,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | str = "auto",
        **settings: Any,
    ) -> "LocalJudge":
        """Load a model.

        Args:
            name: a folder, or an id of the Hugging Face hub.
            device: where to compute; by default a GPU if there is one.
            dtype: of the weights; by default as they are stored.
            settings: as the class has them.

        Raises:
            ModelError: it cannot be loaded, or is no image-text-to-text model.
        """
        from transformers import AutoModelForImageTextToText, AutoProcessor

        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            processor = AutoProcessor.from_pretrained(name)
            model = AutoModelForImageTextToText.from_pretrained(name, dtype=dtype).to(place)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ModelError(f"{name} cannot be loaded as a judge: {error}") from error
        return cls(model, processor, name=name, identity=_version(name, model), **settings)

    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        """Ask batch by batch; see :meth:`Judge.replies`."""
        places = range(len(pairs))
        for start in places[:: self.batch_size]:
            part = places[start : start + self.batch_size]
            for place, text in zip(part, self._say([pairs[i] for i in part]), strict=True):
                keep(place, Reply(read_answer(text), text))

    def _say(self, pairs: Sequence[tuple[Picture, str]]) -> list[str]:
        """What the model says to each question."""
        chats = [
            [{"role": "user", "content": [
                {"type": "image", "image": limited(image, self.longest_side)},
                {"type": "text", "text": PROMPT.format(question=question)},
            ]}]
            for image, question in pairs
        ]  # fmt: skip
        inputs = self.processor.apply_chat_template(
            chats,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(self.model.device, self.model.dtype)
        with torch.inference_mode():
            # Published settings are for sampling, and would be warned of.
            said = self.model.generate(
                **inputs,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                max_new_tokens=self.max_new_tokens,
            )
        new = said[:, inputs["input_ids"].shape[1] :]
        texts: list[str] = self.processor.batch_decode(new, skip_special_tokens=True)
        return texts


def _version(name: str, model: Any) -> str:
    """Names a model's weights: the hub's commit, or a folder's files with sizes and times."""
    if not Path(name).is_dir():
        return str(getattr(model.config, "_commit_hash", None))
    with os.scandir(name) as entries:
        files = sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in entries)
    return f"{Path(name).resolve()} {files}"
