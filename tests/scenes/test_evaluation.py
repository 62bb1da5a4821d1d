"""Measures on scenes, against slow and plain counting."""

from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression

from litotes.evaluation.classification import CS
from litotes.scenes import evaluation
from litotes.scenes.captions import caption
from litotes.scenes.drawing import draw
from litotes.scenes.evaluation import MEASURES, ScenesTask, _World, truth_table
from litotes.scenes.graph import truth
from litotes.scenes.negation import negated_caption
from litotes.scenes.pairs import PAIR_KINDS, hard_negative, question
from litotes.scenes.reading import read
from litotes.scenes.sampling import sample
from litotes.scenes.world import single_scene
from litotes.strategies import Plain, Subtract

# The tiny encoder reads 77 tokens, and long descriptions have more.
pytestmark = pytest.mark.filterwarnings("ignore:.* were cut")


@pytest.fixture(scope="module")
def few():
    """Fewer scenes than a measurement needs to be exact, for speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "EXCLUSION_SCENES", 3000)
        patch.setattr(evaluation, "EXCLUSION_QUERIES", 12)
        yield


@pytest.fixture(scope="module")
def world(few, tiny_encoder):
    return _World(ScenesTask("dev", 40), tiny_encoder)


@pytest.fixture(scope="module")
def records(few, tiny_encoder):
    return ScenesTask("dev", 40).run(tiny_encoder, [Plain(), Subtract()])


def cosine(encoder, texts, graphs_or_scenes):
    images = encoder.encode_images([Image.fromarray(s.image) for s in graphs_or_scenes])
    return encoder.encode_texts(texts) @ images.T


def test_truth_of_all_statements_about_all_scenes(world):
    said = [negated_caption(graph, world.rng("x", n)) for n, graph in enumerate(world.graphs)]
    said += [caption(graph, world.rng("x", n)) for n, graph in enumerate(world.graphs)]
    table = truth_table([c.statement for c in said], world.graphs)
    codes = {True: 1, False: 0, None: -1}
    for (i, c), (j, graph) in product(enumerate(said), enumerate(world.graphs)):
        assert table[i, j] == codes[truth(read(c.text), graph)]


def test_plain_figures_by_plain_counting(world, records, tiny_encoder):
    metrics = records[0].metrics
    scenes = sample(40, 0, "dev")
    assert [s.graph for s in scenes] == world.graphs
    for kind in ("positive", "negative", "hybrid"):
        hits = 0.0
        for n, scene in enumerate(scenes):
            asked = question(scene.graph, kind, world.rng(f"question {kind}", n))
            scores = cosine(tiny_encoder, [o.text for o in asked.options], [scene])[:, 0]
            hits += bool(scores[0] > scores[1:].max())
        assert metrics[f"mcq {kind}"].value == pytest.approx(hits / 40)
    for kind in PAIR_KINDS:
        hits = []
        for n, scene in enumerate(scenes):
            made = hard_negative(scene.graph, kind, world.rng(kind, n))
            if made:
                texts = [made.caption.text, made.negative.text]
                right, wrong = cosine(tiny_encoder, texts, [scene])[:, 0]
                hits.append(float(right > wrong))
        assert metrics[kind].value == pytest.approx(np.mean(hits))
    texts = [caption(s.graph, world.rng("caption", n)).text for n, s in enumerate(scenes)]
    scores = cosine(tiny_encoder, texts, scenes)
    own = scores.diag()
    assert metrics["t→i R@1"].value == pytest.approx(
        float(((scores >= own[:, None]).sum(1) == 1).float().mean())
    )


def test_exclusions_by_plain_counting(world, records, tiny_encoder):
    for name in ("object", "attribute", "relation"):
        asked = world.exclusions(name)
        assert asked
        bad, good = [], []
        for exclusion in asked:
            scores = tiny_encoder.encode_texts([exclusion.query.text]) @ world.many_seen.vectors.T
            shown, excluded = (
                [truth([claim], graph) for graph in world.many]
                for claim in (
                    read(exclusion.query.text)[0],
                    read(exclusion.query.text)[1].claim,
                )
            )
            assert sum(e is True for e in excluded) >= 5
            # Scenes about which it cannot be said are left out.
            known = [i for i in range(len(shown)) if None not in (shown[i], excluded[i])]
            order = sorted(known, key=lambda i: -scores[0, i])[:10]
            bad.append(np.mean([excluded[i] is True for i in order]))
            good.append(np.mean([shown[i] is True and excluded[i] is False for i in order]))
        assert records[0].metrics[f"exclude {name}: violating@10"].value == pytest.approx(
            np.mean(bad), abs=1e-6
        )
        assert records[0].metrics[f"exclude {name}: right@10"].value == pytest.approx(
            np.mean(good), abs=1e-6
        )


def test_strategies_change_what_is_negated_only(records):
    plain, subtract = (record.metrics for record in records)
    assert plain["mcq negative"] != subtract["mcq negative"]
    for name in (*PAIR_KINDS, "rSum", "long rSum", "classification", "presence AUROC"):
        assert plain[name] == subtract[name], name


def test_records_say_what_they_are_of_and_come_again(records, few, tiny_encoder):
    again = ScenesTask("dev", 40, measures=("multiple choice",)).run(tiny_encoder, [Plain()])[0]
    assert again.data_fingerprint == records[0].data_fingerprint
    for name, metric in again.metrics.items():
        assert records[0].metrics[name] == metric
    other = ScenesTask("dev", 40, seed=1, measures=("multiple choice",))
    assert other.run(tiny_encoder, [Plain()])[0].data_fingerprint != again.data_fingerprint
    uncommon = ScenesTask("dev", 40, uncommon=True, measures=("multiple choice",))
    assert uncommon.run(tiny_encoder, [Plain()])[0].task == "scenes-uncommon"


def test_a_score_that_is_no_number_is_an_error(few, tiny_encoder):
    class Broken(Subtract):
        def vectors(self, queries, encoder):
            vectors = super().vectors(queries, encoder)
            vectors[3] = torch.nan
            return vectors

    task = ScenesTask("dev", 20, measures=("multiple choice",))
    with pytest.raises(Exception, match="not finite"):
        task.run(tiny_encoder, [Broken()])


def test_a_linear_probe_by_scikit_learn(monkeypatch, tiny_encoder):
    monkeypatch.setattr(evaluation, "PROBE_SCENES", 200)
    task = ScenesTask("dev", 30, measures=("linear probe",))
    found = task.run(tiny_encoder, [Plain()])[0].metrics["linear probe"].value
    images, kinds = [], []
    for split, count in (("train", 200), ("dev", 30)):
        for n in range(count):
            graph = single_scene(split, 0, n)
            images.append(tiny_encoder.encode_images([Image.fromarray(draw(graph))])[0].numpy())
            kinds.append(graph.things[0].kind)
    accuracies = {
        LogisticRegression(C=c, max_iter=1000)
        .fit(images[:200], kinds[:200])
        .score(images[200:], kinds[200:])
        for c in CS
    }
    assert any(found == pytest.approx(accuracy) for accuracy in accuracies)


def test_every_measure_has_metrics(records):
    assert len(records[0].metrics) >= 30
    assert len(MEASURES) == 10
