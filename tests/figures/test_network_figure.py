"""The drawing of a network: places, roles, and that nothing lies on anything else."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from benchmark.figures.network import draw_network, place_layers
from benchmark.runs.manifest import DatasetDescription, LearnedNetwork
from tests.helpers.figure_checks import flaws, texts_of
from tests.helpers.made_up_runs import ADULT, COMPAS, DUTCH
from tests.helpers.marks import nightly_but


def with_network(names: tuple[str, ...], edges: tuple[tuple[str, str], ...]) -> DatasetDescription:
    network = LearnedNetwork(edges=edges, edited_edges=edges[:1])
    return replace(ADULT, columns=names, network=network, label=names[0], sensitive_feature=names[-1])


def random_network(n: int, density: float, seed: int) -> DatasetDescription:
    rng = np.random.default_rng(seed)
    names = tuple(f"column-{i}" + "-long" * int(rng.integers(0, 3)) for i in range(n))
    edges = tuple((names[i], names[j]) for i, j in combinations(range(n), 2) if rng.random() < density)
    return with_network(names, edges)


HUB = tuple(f"feature_{i}" for i in range(20))
NETWORKS = {
    "adult": ADULT,
    "no edge": with_network(HUB, ()),
    "dense 13": random_network(13, 0.4, 1),
    "compas": COMPAS,
    "dutch": DUTCH,
    "one node": with_network(("label",), ()),
    "one parent of 19": with_network(HUB, tuple((HUB[0], name) for name in HUB[1:])),
    "one child of 19": with_network(HUB, tuple((name, HUB[0]) for name in HUB[1:])),
    "chain": with_network(HUB, tuple(pairwise(HUB))),
    **{f"random {n}": random_network(n, 2.2 / n, n) for n in (11, 13, 16, 20)},
}
DAILY = [*NETWORKS][:3]
EACH = [*DAILY, *nightly_but("", [*NETWORKS][3:])]


@pytest.mark.parametrize("name", EACH)
def test_edges_lead_down_from_parent_to_child_and_nothing_lies_on_anything_else(name: str) -> None:
    dataset = NETWORKS[name]
    page = draw_network(dataset)
    assert flaws(page) == []
    axes = page.axes[0]
    patches = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    boxes = {text.get_text(): own.get_bbox() for text, own in zip(axes.texts, patches, strict=True)}
    assert [*boxes] == [*dataset.columns]
    assert not any(a.overlaps(b) for a, b in combinations(boxes.values(), 2))
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    for (parent, child), arrow in zip(dataset.network.edges, arrows, strict=True):
        path = arrow._path_original  # type: ignore[attr-defined]
        (x0, y0), *_, (x1, y1) = path.vertices
        assert boxes[parent].x0 < x0 < boxes[parent].x1
        assert boxes[child].x0 < x1 < boxes[child].x1
        assert (y0, y1) == pytest.approx((boxes[parent].y0, boxes[child].y1))
        assert y0 > y1
        points = np.concatenate(path.interpolated(1).to_polygons(closed_only=False))
        assert not [box for box in boxes.values() if box.padded(-0.01).count_contains(points)]


def test_roles_and_edited_edges_stand_out_and_titles_say_where_it_is_from() -> None:
    page = draw_network(ADULT)
    names = [text.get_text() for text in page.axes[0].texts]
    boxes = [patch for patch in page.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    looks = {name: to_hex(box.get_facecolor()) for name, box in zip(names, boxes, strict=True)}
    assert len({looks["income"], looks["sex"], looks["age"]}) == len({*looks.values()}) == 3
    kinds = [patch.get_gid() for patch in page.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    assert (kinds.count("edited edge"), kinds.count("edge")) == (1, len(ADULT.network.edges) - 1)
    for part in ("label (income)", "sensitive feature (sex)", "dependency that the bias acts on"):
        assert part in texts_of(page)
    real, embedded = (texts_of(draw_network(dataset)) for dataset in (COMPAS, DUTCH))
    assert "Learned from the real data" in real
    assert "Warning: the column event" in real
    assert "acts on" not in real.partition("dependency")[2], "no edge is edited"
    assert "Dutch (embedded): the learned network EMBEDDED NETWORK" in embedded


def test_a_planar_order_is_found() -> None:
    edges = [("a", "x"), ("b", "y"), ("c", "z"), ("x", "p"), ("y", "q"), ("z", "r")]
    layout = place_layers(edges, dict.fromkeys("bcazyxrqp", 0.5), 0.2)
    for layer in ("xyz", "pqr"):
        places = [layout.nodes[name][0] for name in layer]
        above = [layout.nodes[name][0] for name in "abc"]
        assert np.argsort(places).tolist() == np.argsort(above).tolist()
