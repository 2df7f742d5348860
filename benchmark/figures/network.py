"""The learned network as a drawing in layers, as in the paper's Figure 2."""

from itertools import pairwise

from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from benchmark.figures import EVERYTHING, Choice, marks
from benchmark.figures.layered import Edge, Layout, place_layers
from benchmark.figures.page import Page
from benchmark.figures.style import GREY, SIZES, Look, styled, text_width
from benchmark.runs.descriptions import DatasetDescription
from benchmark.text.words import NOT_LEARNED

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
