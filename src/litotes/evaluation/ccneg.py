"""CC-Neg (arXiv 2403.20312): a photograph, its caption, and that caption made false by negation.

Read from ``ccneg_preprocessed.pt``; see :mod:`litotes.data.ccneg`. As the authors do, the last
40,000 are evaluated, and commas are taken out of false captions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from litotes.backbones.encoder import DualEncoder
from litotes.data.ccneg import EVALUATED, read_ccneg
from litotes.evaluation.choice import Question, fingerprint, right_shares, runs
from litotes.evaluation.record import Record
from litotes.strategies import Strategy

CHANCE = 0.5


@dataclass(frozen=True)
class CcNegTask:
    """The evaluation split of CC-Neg.

    Attributes:
        file: ``ccneg_preprocessed.pt``.
        questions: the true caption at place 0, the negated one at place 1.
        images: folder of the pictures; see :func:`litotes.data.retrieval_files.reroot`.
    """

    file: Path
    questions: Sequence[Question]
    images: Path

    @classmethod
    def read(cls, file: Path, images: Path) -> "CcNegTask":
        """Read the published file; nothing that is in it is executed.

        Raises:
            DataError: missing, damaged, holding more than plain data, or of another layout; says
                which annotation, counted from 0.
        """
        examples = read_ccneg(file, slice(-EVALUATED, None))
        return cls(
            file,
            [Question(e.image, (e.caption, e.negated.replace(",", "")), right=0) for e in examples],
            images,
        )

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, and one of the blind baseline: how often the true caption wins.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        data = fingerprint(self.file)
        return [
            Record.make(
                encoder,
                task="cc-neg",
                split="test",
                data=data,
                outcomes={"accuracy": right_shares(encoder, run, self.questions).numpy()},
                strategy=run.name,
                settings=run.settings,
            )
            for run in runs(encoder, strategies, self.images, self.questions, CHANCE)
        ]
