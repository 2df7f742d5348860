"""A layout of a directed acyclic graph in layers, with every edge pointing down.

It has four steps (Sugiyama, Tagawa & Toda 1981): layers, waypoints where an edge passes a layer, an order
within each layer with few crossings, and positions. networkx's ``multipartite_layout`` has no order and no
waypoints: 14 to 22 pairs of edges cross on Adult, COMPAS and Dutch instead of 4 or 5, and 3 to 5 edges run
through boxes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

_SWEEPS = 24
_WAYPOINT_WIDTH = 0.16

Edge = tuple[str, str]
_Node = str | tuple[Edge, int]  # a name, or an edge's waypoint in a layer


@dataclass(frozen=True)
class Layout:
    """Positions of nodes and edges; layers are counted from the top."""

    nodes: dict[str, tuple[float, int]]  # center and layer
    waypoints: dict[Edge, list[tuple[float, int]]]  # of an edge in the layers between its ends
    n_layers: int


def place_layers(edges: Sequence[Edge], widths: Mapping[str, float], gap: float, most: int = 6) -> Layout:
    """Return an acyclic graph's layout in layers.

    ``edges`` have the parent first. ``widths`` has every node; its order decides ties. ``gap`` is the least
    room between neighbors, ``most`` the most nodes of a layer, waypoints aside.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(widths)
    graph.add_edges_from(edges)
    layer_of = _assign_layers(graph, most)
    layers, pieces = _insert_waypoints(graph, layer_of)
    layers = _reduce_crossings(layers, pieces)
    x = _place(layers, pieces, widths, gap)
    return Layout(
        nodes={node: (x[node], layer_of[node]) for node in widths},
        waypoints={
            (a, b): [(x[(a, b), layer], layer) for layer in range(layer_of[a] + 1, layer_of[b])]
            for a, b in edges
        },
        n_layers=len(layers),
    )


def _assign_layers(graph: nx.DiGraph, most: int) -> dict[str, int]:
    """Return the layer of each node: below its parents, as high as there is room."""
    layer_of: dict[str, int] = {}
    count = Counter[int]()
    position = {node: i for i, node in enumerate(graph)}
    # Nodes without edges come last and fill the gaps.
    order = sorted(
        nx.lexicographical_topological_sort(graph, key=position.get), key=lambda n: graph.degree(n) == 0
    )
    for node in order:
        layer = max((layer_of[parent] + 1 for parent in graph.predecessors(node)), default=0)
        while count[layer] >= most:
            layer += 1
        layer_of[node] = layer
        count[layer] += 1
    # A node without parents belongs just above the highest of its children.
    for node in reversed(order):
        lower = min((layer_of[child] for child in graph.successors(node)), default=0) - 1
        if graph.in_degree(node) == 0 and lower > layer_of[node] and count[lower] < most:
            count.subtract([layer_of[node]])
            count[lower] += 1
            layer_of[node] = lower
    used = sorted(+count)
    return {node: used.index(layer) for node, layer in layer_of.items()}


def _insert_waypoints(graph: nx.DiGraph, layer_of: Mapping[str, int]) -> tuple[list[list[_Node]], nx.DiGraph]:
    """Return the layers with waypoints, and the graph of the pieces of edges from each layer to the next."""
    n_layers = max(layer_of.values(), default=0) + 1
    layers: list[list[_Node]] = [
        [node for node in graph if layer_of[node] == layer] for layer in range(n_layers)
    ]
    pieces = nx.DiGraph()
    pieces.add_nodes_from(graph)
    for edge in graph.edges:
        between = range(layer_of[edge[0]] + 1, layer_of[edge[1]])
        for layer in between:
            layers[layer].append((edge, layer))
        nx.add_path(pieces, [edge[0], *((edge, layer) for layer in between), edge[1]])
    return layers, pieces


def _reduce_crossings(layers: list[list[_Node]], pieces: nx.DiGraph) -> list[list[_Node]]:
    """Return the best order from sweeps down and up that sort each layer by its neighbors' mean position."""
    best, fewest = layers, _crossings(layers, pieces)
    current = list(layers)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbors = pieces.predecessors if down else pieces.successors
        for i in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            rank = {node: j for j, node in enumerate(current[i - 1 if down else i + 1])}
            # Ties keep their order in two sweeps, then reverse it: some crossings need both ends moved.
            layer = current[i] if sweep % 4 < 2 else current[i][::-1]
            wanted = {n: np.mean([rank[m] for m in neighbors(n)] or [j]) for j, n in enumerate(layer)}
            current[i] = sorted(layer, key=wanted.__getitem__)
        if (crossings := _crossings(current, pieces)) < fewest:
            best, fewest = list(current), crossings
    return best


def _crossings(layers: list[list[_Node]], pieces: nx.DiGraph) -> int:
    rank = {node: i for layer in layers for i, node in enumerate(layer)}
    crossings = 0
    for layer in layers[:-1]:
        ends = np.array([(rank[a], rank[b]) for a in layer for b in pieces.successors(a)]).reshape(-1, 2)
        differences = ends[:, None, :] - ends[None, :, :]
        # Two pieces cross if their upper ends and their lower ends stand in opposite order.
        crossings += int((differences[..., 0] * differences[..., 1] < 0).sum()) // 2
    return crossings


def _place(
    layers: list[list[_Node]], pieces: nx.DiGraph, widths: Mapping[str, float], gap: float
) -> dict[_Node, float]:
    """Return positions near the middle of each node's neighbors, as far as order and room allow."""
    offsets = [_offsets(layer, widths, gap) for layer in layers]
    x = {
        node: float(start - offset[-1] / 2)
        for layer, offset in zip(layers, offsets, strict=True)
        for node, start in zip(layer, offset, strict=True)
    }
    neighbors = {node: [*nx.all_neighbors(pieces, node)] or [node] for node in x}
    for sweep in range(2 * _SWEEPS):
        # At first everything is pulled to the middle, or parts without a common edge would drift apart.
        pull = 0.8 if sweep < _SWEEPS else 1.0
        numbered = list(zip(layers, offsets, strict=True))
        for layer, offset in numbered if sweep % 2 == 0 else reversed(numbered):
            wanted = [pull * float(np.mean([x[n] for n in neighbors[node]])) for node in layer]
            # Waypoints pull harder than nodes, so that long edges are straight.
            weights = np.array([4.0 if isinstance(node, tuple) else 1.0 for node in layer])
            # Isotonic regression gives the nearest positions that keep order and room.
            fitted = isotonic_regression(np.array(wanted) - offset, weights=weights).x + offset
            x.update(zip(layer, map(float, fitted), strict=True))
    return x


def _offsets(layer: list[_Node], widths: Mapping[str, float], gap: float) -> np.ndarray:
    """Return the closest positions of a layer's nodes, from 0 on."""
    room = np.array([widths[node] if isinstance(node, str) else _WAYPOINT_WIDTH for node in layer])
    steps = (room[1:] + room[:-1]) / 2 + gap
    return np.concatenate([[0.0], np.cumsum(steps)])
