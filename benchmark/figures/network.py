"""The learned network as a drawing in layers, as in the paper's Figure 2, with every edge pointing down.

The layout has four steps (Sugiyama, Tagawa & Toda 1981): layers, waypoints where an edge passes a layer, an
order within each layer with few crossings, and positions. networkx's ``multipartite_layout`` has no order and
no waypoints: 14 to 22 pairs of edges cross on Adult, COMPAS and Dutch instead of 4 or 5, and 3 to 5 edges run
through boxes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path
from scipy.optimize import isotonic_regression

from benchmark.figures import EVERYTHING, Choice, marks
from benchmark.figures.page import Page
from benchmark.figures.style import GREY, SIZES, Look, styled, text_width
from benchmark.runs.manifest import DatasetDescription
from benchmark.text.words import NOT_LEARNED

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


_HEIGHT = 0.3  # of a box; all sizes in inches
_LAYER = 0.86
_GAP = 0.22
_LEAST_WIDTH = 5.6

# Fill, line width and dashes differ together, so that the roles show in gray as well.
_LABEL_BOX: Look = {"facecolor": "#F5C796", "edgecolor": "black", "linewidth": 2.0}
_SENSITIVE_BOX: Look = {
    "facecolor": "#BFE0F5",
    "edgecolor": "black",
    "linewidth": 1.6,
    "linestyle": (0, (3, 1.5)),
}
_OTHER_BOX: Look = {"facecolor": "white", "edgecolor": GREY, "linewidth": 0.9}
_BOX: Look = {"boxstyle": "round,pad=0,rounding_size=0.07", "zorder": 3, "gid": "node"}
_NAME: Look = {"ha": "center", "va": "center_baseline", "size": SIZES["label"], "zorder": 4, "gid": "node"}
_ARROW: Look = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "fill": True}
_PLAIN_EDGE: Look = {"color": GREY, "linewidth": 0.9}
_EDITED_EDGE: Look = {"color": "#D55E00", "linewidth": 2.6}


@styled()
def draw_network(dataset: DatasetDescription, choice: Choice = EVERYTHING) -> Page:
    """Draw a dataset's learned network, parents above their children.

    The label, the sensitive feature, and the edges that the planted bias acts on are marked. On a narrow page
    a layer has fewer boxes.
    """
    choice.of_metrics(), choice.of_techniques()
    widths = {name: max(0.5, text_width(name, SIZES["label"]) + 0.22) for name in dataset.columns}
    for most_per_layer in range(6, 0, -1):
        layout = place_layers(dataset.network.edges, widths, _GAP, most_per_layer)
        reach = [(x - widths[name] / 2, x + widths[name] / 2) for name, (x, _) in layout.nodes.items()]
        reach += [(x, x) for points in layout.waypoints.values() for x, _ in points]
        left, right = min(low for low, _ in reach) - 0.05, max(high for _, high in reach) + 0.05
        if choice.width is None or right - left + 0.1 <= choice.width:
            break
    # A narrow network needs room for its legend and title.
    spare = max(0.0, (choice.width or _LEAST_WIDTH) - 0.1 - (right - left)) / 2
    left, right = left - spare, right + spare
    height = (layout.n_layers - 1) * _LAYER + _HEIGHT + 0.16
    origin = NOT_LEARNED if dataset.embedded else "Learned from the real data"
    edges = f"{len(dataset.network.edges)} edge{'' if len(dataset.network.edges) == 1 else 's'}"
    page = Page(
        1,
        1,
        panel=(right - left, height),
        title=f"{dataset.heading}: the learned network",
        subtitle=f"{origin}: {len(dataset.columns)} columns, {edges}.",
        notes=marks.notes(dataset),
        choice=choice,
    )
    axes = page.panels[0]
    axes.set_axis_off()
    axes.set_xlim(left, right)
    axes.set_ylim(_y(0) - height + _HEIGHT / 2 + 0.08, _y(0) + _HEIGHT / 2 + 0.08)
    for edge, path in _edge_paths(dataset.network.edges, layout, widths).items():
        edited = edge in dataset.network.edited_edges
        kind, look = ("edited edge", _EDITED_EDGE) if edited else ("edge", _PLAIN_EDGE)
        arrow = FancyArrowPatch(path=path, **_ARROW, gid=kind, **look)
        arrow.set(mutation_scale=13 if edited else 9, zorder=2 if edited else 1)
        axes.add_patch(arrow)
    boxes = {dataset.sensitive_feature: _SENSITIVE_BOX, dataset.label: _LABEL_BOX}
    for name, (x, layer) in layout.nodes.items():
        corner = (x - widths[name] / 2, _y(layer) - _HEIGHT / 2)
        box = boxes.get(name, _OTHER_BOX)
        axes.add_patch(FancyBboxPatch(corner, widths[name], _HEIGHT, **_BOX, **box))
        axes.text(x, _y(layer), name, **_NAME)
    edited_line = Line2D([], [], **_EDITED_EDGE, label="dependency that the bias acts on")
    page.legend_below(
        [
            Patch(**_LABEL_BOX, label=f"label ({dataset.label})"),
            Patch(**_SENSITIVE_BOX, label=f"sensitive feature ({dataset.sensitive_feature})"),
            Line2D([], [], **_PLAIN_EDGE, label="dependency"),
            *[edited_line] * bool(dataset.network.edited_edges),
        ]
    )
    return page.fit()


def _y(layer: int) -> float:
    return -layer * _LAYER


def _edge_paths(edges: tuple[Edge, ...], layout: Layout, widths: dict[str, float]) -> dict[Edge, Path]:
    """Return each edge's curve, from the parent's lower side to the child's upper side."""
    # Edges leave and arrive side by side, in the order of their other ends.
    starts = _ports(edges, layout, widths, at_parent=True)
    ends = _ports(edges, layout, widths, at_parent=False)
    paths = {}
    for edge in edges:
        top, bottom = layout.nodes[edge[0]][1], layout.nodes[edge[1]][1]
        stops = [(starts[edge], top), *layout.waypoints[edge], (ends[edge], bottom)]
        vertices: list[tuple[float, float]] = [(starts[edge], _y(top) - _HEIGHT / 2)]
        codes = [Path.MOVETO]
        for (x0, layer0), (x1, layer1) in pairwise(stops):
            y0, y1 = _y(layer0) - _HEIGHT / 2, _y(layer1) + _HEIGHT / 2
            middle = (y0 + y1) / 2
            vertices += [(x0, middle), (x1, middle), (x1, y1)]
            codes += [Path.CURVE4] * 3
            if layer1 != bottom:  # straight past the boxes of the layer
                vertices.append((x1, y1 - _HEIGHT))
                codes.append(Path.LINETO)
        paths[edge] = Path(vertices, codes)
    return paths


def _ports(
    edges: tuple[Edge, ...], layout: Layout, widths: dict[str, float], *, at_parent: bool
) -> dict[Edge, float]:
    """Return where edges leave their parent, or arrive at their child, across."""
    ports: dict[Edge, float] = {}
    for name, (x, _) in layout.nodes.items():
        node_edges = [edge for edge in edges if edge[0 if at_parent else 1] == name]
        node_edges.sort(key=lambda edge: _next_stop(edge, layout, at_parent))
        middle = (len(node_edges) - 1) / 2
        step = min(0.16, (widths[name] - 0.2) / max(1, len(node_edges) - 1))
        ports |= {edge: x + (i - middle) * step for i, edge in enumerate(node_edges)}
    return ports


def _next_stop(edge: Edge, layout: Layout, at_parent: bool) -> float:
    stops = [layout.nodes[edge[0]], *layout.waypoints[edge], layout.nodes[edge[1]]]
    return stops[1 if at_parent else -2][0]
