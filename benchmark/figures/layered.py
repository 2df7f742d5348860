"""Places for the nodes of a directed acyclic graph in layers, every edge pointing down.

The classic four steps (Sugiyama, Tagawa & Toda 1981): layers, waypoints where an edge passes a layer, an
order within each layer with few crossings, and positions that keep the order and the room between nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

from benchmark.errors import ReportError

_MOST_PER_LAYER = 6
_SWEEPS = 12
_WAYPOINT_WIDTH = 0.16

Edge = tuple[str, str]
_Node = str | tuple[Edge, int]  # a name, or the waypoint of an edge in a layer


@dataclass(frozen=True)
class Layout:
    """Where everything goes: the center of each node and its layer, counted from the top.

    ``waypoints`` say where an edge crosses the layers between its ends, from the top.
    """

    nodes: dict[str, tuple[float, int]]
    waypoints: dict[Edge, list[tuple[float, int]]]
    n_layers: int


def place_layers(edges: Sequence[Edge], widths: Mapping[str, float], gap: float) -> Layout:
    """Lay a graph out in layers; a cycle is a ReportError.

    ``edges`` have the parent first; ``widths`` are those of every node, and their order decides ties.
    Neighbors' centers are at least half of both widths and ``gap`` apart.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(widths)
    graph.add_edges_from(edges)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [parent for parent, _ in nx.find_cycle(graph)]
        raise ReportError(
            "The network has a cycle",
            expected="a directed acyclic graph",
            got=" -> ".join(cycle),
            remedy="remove one of these edges from the network's file",
        )
    layer_of = _assign_layers(graph)
    layers, segments = _insert_waypoints(graph, layer_of)
    layers = _reduce_crossings(layers, segments)
    x = _place(layers, segments, widths, gap)
    return Layout(
        nodes={node: (x[node], layer_of[node]) for node in widths},
        waypoints={
            (a, b): [(x[(a, b), layer], layer) for layer in range(layer_of[a] + 1, layer_of[b])]
            for a, b in edges
        },
        n_layers=len(layers),
    )


def _assign_layers(graph: nx.DiGraph) -> dict[str, int]:
    """Put each node below its parents, as high as there is room."""
    layer_of: dict[str, int] = {}
    count: dict[int, int] = {}
    position = {node: i for i, node in enumerate(graph)}
    # Nodes without edges fit anywhere: they come last and fill the gaps.
    order = sorted(
        nx.lexicographical_topological_sort(graph, key=position.get), key=lambda n: graph.degree(n) == 0
    )
    for node in order:
        layer = max((layer_of[parent] + 1 for parent in graph.predecessors(node)), default=0)
        while count.get(layer, 0) >= _MOST_PER_LAYER:
            layer += 1
        layer_of[node] = layer
        count[layer] = count.get(layer, 0) + 1
    # A node that only sends edges down belongs just above the highest of its children.
    for node in reversed(order):
        children = [layer_of[child] for child in graph.successors(node)]
        lower = min(children, default=0) - 1
        if graph.in_degree(node) == 0 and lower > layer_of[node] and count.get(lower, 0) < _MOST_PER_LAYER:
            count[layer_of[node]] -= 1
            count[lower] = count.get(lower, 0) + 1
            layer_of[node] = lower
    used = sorted(layer for layer, n in count.items() if n)
    return {node: used.index(layer) for node, layer in layer_of.items()}


def _insert_waypoints(
    graph: nx.DiGraph, layer_of: Mapping[str, int]
) -> tuple[list[list[_Node]], list[list[tuple[_Node, _Node]]]]:
    """Return the layers with waypoints, and the pieces of edges between each layer and the next."""
    n_layers = max(layer_of.values(), default=0) + 1
    layers: list[list[_Node]] = [
        [node for node in graph if layer_of[node] == layer] for layer in range(n_layers)
    ]
    segments: list[list[tuple[_Node, _Node]]] = [[] for _ in range(n_layers - 1)]
    for parent, child in graph.edges:
        above: _Node = parent
        for layer in range(layer_of[parent] + 1, layer_of[child] + 1):
            below: _Node = child if layer == layer_of[child] else ((parent, child), layer)
            if below != child:
                layers[layer].append(below)
            segments[layer - 1].append((above, below))
            above = below
    return layers, segments


def _reduce_crossings(
    layers: list[list[_Node]], segments: list[list[tuple[_Node, _Node]]]
) -> list[list[_Node]]:
    """Order each layer by its neighbours' mean position, down and up in turn; keep the best order met."""
    best, fewest = layers, _crossings(layers, segments)
    current = layers
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        current = [list(layer) for layer in current]
        for i in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            fixed, pieces = (i - 1, segments[i - 1]) if down else (i + 1, segments[i])
            # Ties are kept in two sweeps, then turned round in two: some crossings need both ends moved.
            layer = current[i] if sweep % 4 < 2 else current[i][::-1]
            current[i] = _by_barycentre(layer, current[fixed], pieces, down)
        _swap_neighbours(current, segments)
        crossings = _crossings(current, segments)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _by_barycentre(
    layer: list[_Node], fixed: list[_Node], pieces: list[tuple[_Node, _Node]], down: bool
) -> list[_Node]:
    place = {node: i for i, node in enumerate(fixed)}
    own_place = {node: i for i, node in enumerate(layer)}
    neighbours: dict[_Node, list[int]] = {}
    for above, below in pieces:
        node, other = (below, above) if down else (above, below)
        neighbours.setdefault(node, []).append(place[other])
    return sorted(layer, key=lambda n: float(np.mean(neighbours.get(n, [own_place[n]]))))


def _swap_neighbours(layers: list[list[_Node]], segments: list[list[tuple[_Node, _Node]]]) -> None:
    """Swap neighbours within layers as long as that removes crossings."""
    improved = True
    while improved:
        improved = False
        for i, layer in enumerate(layers):
            for j in range(len(layer) - 1):
                before = _crossings_around(layers, segments, i)
                layer[j], layer[j + 1] = layer[j + 1], layer[j]
                if _crossings_around(layers, segments, i) < before:
                    improved = True
                else:
                    layer[j], layer[j + 1] = layer[j + 1], layer[j]


def _crossings(layers: list[list[_Node]], segments: list[list[tuple[_Node, _Node]]]) -> int:
    return sum(_crossings_between(layers[i], layers[i + 1], pieces) for i, pieces in enumerate(segments))


def _crossings_around(layers: list[list[_Node]], segments: list[list[tuple[_Node, _Node]]], i: int) -> int:
    gaps = [gap for gap in (i - 1, i) if 0 <= gap < len(segments)]
    return sum(_crossings_between(layers[gap], layers[gap + 1], segments[gap]) for gap in gaps)


def _crossings_between(upper: list[_Node], lower: list[_Node], pieces: list[tuple[_Node, _Node]]) -> int:
    above = {node: i for i, node in enumerate(upper)}
    below = {node: i for i, node in enumerate(lower)}
    ends = np.array([(above[a], below[b]) for a, b in pieces], dtype=np.int64).reshape(-1, 2)
    differences = ends[:, None, :] - ends[None, :, :]
    # Two pieces cross if their upper ends and their lower ends stand in opposite order.
    return int((differences[..., 0] * differences[..., 1] < 0).sum()) // 2


def _place(
    layers: list[list[_Node]],
    segments: list[list[tuple[_Node, _Node]]],
    widths: Mapping[str, float],
    gap: float,
) -> dict[_Node, float]:
    """Move every node to the middle of its neighbours, as far as order and room allow."""
    neighbours: dict[_Node, list[_Node]] = {node: [] for layer in layers for node in layer}
    for pieces in segments:
        for above, below in pieces:
            neighbours[above].append(below)
            neighbours[below].append(above)
    offsets = [_offsets(layer, widths, gap) for layer in layers]
    x = {
        node: float(place - offset[-1] / 2)
        for layer, offset in zip(layers, offsets, strict=True)
        for node, place in zip(layer, offset, strict=True)
    }
    for sweep in range(4 * _SWEEPS):
        # At first all is drawn to the middle, or parts without a common edge would drift apart.
        pull = 0.8 if sweep < 2 * _SWEEPS else 1.0
        numbered = list(zip(layers, offsets, strict=True))
        for layer, offset in numbered if sweep % 2 == 0 else reversed(numbered):
            wanted = [pull * float(np.mean([x[n] for n in neighbours[node] or [node]])) for node in layer]
            # Long edges should be straight, so waypoints pull harder than nodes.
            weights = np.array([4.0 if isinstance(node, tuple) else 1.0 for node in layer])
            # The nearest positions in order and with room are an isotonic regression after the offsets.
            fitted = isotonic_regression(np.array(wanted) - offset, weights=weights).x + offset
            x.update(zip(layer, map(float, fitted), strict=True))
    return x


def _offsets(layer: list[_Node], widths: Mapping[str, float], gap: float) -> np.ndarray:
    """Return the positions of the layer's nodes when packed as closely as allowed."""
    own = np.array([widths[node] if isinstance(node, str) else _WAYPOINT_WIDTH for node in layer])
    steps = (own[1:] + own[:-1]) / 2 + gap
    return np.concatenate([[0.0], np.cumsum(steps)])
