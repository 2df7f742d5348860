"""The drawing of a network: places, roles, and that nothing lies on anything else."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from benchmark.figures.network import draw_network, place_layers
from benchmark.runs.manifest import DatasetDescription, LearnedNetwork
from tests.helpers.figure_checks import cut_off, overlapping, texts_of
from tests.helpers.made_up_runs import ADULT, COMPAS, DUTCH


def with_network(names: tuple[str, ...], edges: tuple[tuple[str, str], ...]) -> DatasetDescription:
    return replace(
        ADULT,
        columns=names,
        network=LearnedNetwork(edges=edges, edited_edges=edges[:1]),
        label=names[0],
        sensitive_feature=names[-1],
    )


def random_network(n: int, density: float, seed: int) -> DatasetDescription:
    rng = np.random.default_rng(seed)
    names = tuple(f"column-{i}" + "-long" * int(rng.integers(0, 3)) for i in range(n))
    edges = tuple((names[i], names[j]) for i, j in combinations(range(n), 2) if rng.random() < density)
    return with_network(names, edges)


HUB = tuple(f"feature_{i}" for i in range(20))
NETWORKS = {
    "adult": ADULT,
    "compas": COMPAS,
    "dutch": DUTCH,
    "one node": with_network(("label",), ()),
    "no edge": with_network(HUB, ()),
    "one parent of 19": with_network(HUB, tuple((HUB[0], name) for name in HUB[1:])),
    "one child of 19": with_network(HUB, tuple((name, HUB[0]) for name in HUB[1:])),
    "chain": with_network(HUB, tuple(pairwise(HUB))),
    **{f"random {n}": random_network(n, 2.2 / n, n) for n in (11, 13, 16, 20)},
    "dense 13": random_network(13, 0.4, 1),
}


def node_boxes(figure: Figure) -> list[FancyBboxPatch]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]


def edge_arrows(figure: Figure) -> list[FancyArrowPatch]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_lies_on_anything_else(name: str) -> None:
    figure = draw_network(NETWORKS[name])
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    boxes = [patch.get_bbox() for patch in node_boxes(figure)]
    assert len(boxes) == len(NETWORKS[name].columns)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    for arrow in edge_arrows(figure):
        points = arrow._path_original.interpolated(1).to_polygons(closed_only=False)  # type: ignore[attr-defined]
        touched = [box for box in boxes if (box.padded(-0.01).count_contains(np.concatenate(points)))]
        assert touched == []


@pytest.mark.parametrize("name", NETWORKS)
def test_edges_point_down_and_are_all_there(name: str) -> None:
    dataset = NETWORKS[name]
    figure = draw_network(dataset)
    arrows = edge_arrows(figure)
    assert len(arrows) == len(dataset.network.edges)
    for arrow in arrows:
        vertices = arrow._path_original.vertices  # type: ignore[attr-defined]
        assert vertices[0, 1] > vertices[-1, 1]


def test_arrows_join_parent_and_child() -> None:
    figure = draw_network(ADULT)
    axes = figure.axes[0]
    place = {text.get_text(): text.get_position() for text in axes.texts}
    box = {
        text.get_text(): patch.get_bbox() for text, patch in zip(axes.texts, node_boxes(figure), strict=True)
    }
    for (parent, child), arrow in zip(ADULT.network.edges, edge_arrows(figure), strict=True):
        (x0, y0), *_, (x1, y1) = arrow._path_original.vertices  # type: ignore[attr-defined]
        assert box[parent].x0 < x0 < box[parent].x1
        assert box[child].x0 < x1 < box[child].x1
        assert (y0, y1) == pytest.approx((box[parent].y0, box[child].y1))
        assert place[parent][1] > place[child][1]


def test_roles_and_edited_edges_stand_out() -> None:
    figure = draw_network(ADULT)
    names = [text.get_text() for text in figure.axes[0].texts]
    looks = {name: to_hex(box.get_facecolor()) for name, box in zip(names, node_boxes(figure), strict=True)}
    assert len({looks["income"], looks["sex"], looks["age"]}) == 3
    assert len(set(looks.values())) == 3
    edited = [arrow for arrow in edge_arrows(figure) if arrow.get_gid() == "edited edge"]
    plain = [arrow for arrow in edge_arrows(figure) if arrow.get_gid() == "edge"]
    assert (len(edited), len(plain)) == (1, len(ADULT.network.edges) - 1)
    assert edited[0].get_linewidth() > 2 * plain[0].get_linewidth()
    text = texts_of(figure)
    for part in ("label (income)", "sensitive feature (sex)", "dependency that the bias acts on"):
        assert part in text


def test_without_an_edited_edge_the_legend_does_not_speak_of_one() -> None:
    assert "acts on" not in [text.get_text() for text in draw_network(COMPAS).legends[0].get_texts()]


def test_titles_say_where_the_network_is_from() -> None:
    assert "EMBEDDED NETWORK" in texts_of(draw_network(DUTCH))
    assert "Dutch (embedded)" in texts_of(draw_network(DUTCH))
    real = texts_of(draw_network(COMPAS))
    assert "Learned from the real data" in real
    assert "Warning: the column event" in real
    assert "EMBEDDED" not in real


def test_neighbours_keep_their_distance() -> None:
    widths = {name: 0.5 + 0.1 * i for i, name in enumerate(HUB)}
    layout = place_layers(
        [(HUB[i], HUB[j]) for i, j in combinations(range(20), 2) if (i * j) % 7 == 1], widths, 0.2
    )
    for a, b in combinations(HUB, 2):
        (xa, layer_a), (xb, layer_b) = layout.nodes[a], layout.nodes[b]
        if layer_a == layer_b:
            assert abs(xa - xb) >= (widths[a] + widths[b]) / 2 + 0.2 - 1e-9


def test_a_planar_order_is_found() -> None:
    edges = [("a", "x"), ("b", "y"), ("c", "z"), ("x", "p"), ("y", "q"), ("z", "r")]
    layout = place_layers(edges, dict.fromkeys("bcazyxrqp", 0.5), 0.2)
    for layer in ("xyz", "pqr"):
        places = [layout.nodes[name][0] for name in layer]
        above = [layout.nodes[name][0] for name in "abc"]
        assert np.argsort(places).tolist() == np.argsort(above).tolist()
