"""Pages of panels, on which matplotlib's constrained layout finds room for labels, legends and colorbars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from benchmark.figures import EVERYTHING, Choice
from benchmark.figures.style import BETA_COLORS, GREY, LINE, SIZES, beta_ticks, styled, text_width, wrap

_EDGE = 0.1
_NAMES = 2.4  # width of names of rows
_BAR, _TALLEST_BAR = 0.12, 3.2
_HANDLE = 0.62  # from a legend's entry to the next, without words


class RowLabels:
    """Names of rows at the left of panels, wrapped to a width, or to less than half of a narrow page."""

    def __init__(self, names: Sequence[str], page: float | None = None, width: float = _NAMES) -> None:
        lines = [wrap(name, width if page is None else min(width, 0.36 * page)) for name in names]
        self.texts = ["\n".join(own) for own in lines]
        self.row = max(0.19, 0.05 + LINE * max(map(len, lines), default=1))  # height in inches

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def width(self) -> float:
        """Inches of the widest line."""
        return max((text_width(t, SIZES["tick"]) for text in self.texts for t in text.split("\n")), default=0)

    def write(self, axes: Axes, n_rows: int | None = None, *, named: bool = True) -> None:
        """Write the labels at a panel's rows, the first on top; ``n_rows`` may exceed the labels.

        Without ``named`` the rows have the same heights, but no labels.
        """
        axes.set_ylim(max(1, n_rows or len(self)) - 0.5, -0.5)
        axes.set_yticks(range(len(self)) if named else [], labels=self.texts if named else [])
        axes.tick_params(axis="y", length=0)


def columns_within(choice: Choice, columns: int, *, left: float = 0.5, least: float = 1.2) -> int:
    """Return how many of some columns of panels fit a page, each at least so wide, with room at the left."""
    if choice.width is None:
        return columns
    return max(1, min(columns, int((choice.width - left) / least)))


class Page(Figure):
    """A figure of panels under a header and above notes; sizes are in inches.

    :meth:`fit` comes last. It makes the page as large as its panels need, or panels as wide as a page of the
    chosen width allows.

    Parameters
    ----------
    n_panels, columns : int
        The number of panels, and of panels per row.
    panel : (float, float or sequence of float)
        Width and height of a panel; heights of each row of panels where they differ.
    title, subtitle : str
        The header.
    notes : sequence of str
        Small print below the panels.
    panel_titles : sequence of str, optional
        One title per panel; wrapped to the panel's width.
    choice : Choice, optional
        The page's width, and whether header and notes are drawn.
    left, least : float
        On a page of fixed width, room at the left of the panels, and their least width. Where they are
        narrower, rows have fewer panels.

    Attributes
    ----------
    panels : list of Axes
        The panels, row by row.
    caption : str
        Title, subtitle and notes, for a caption.
    """

    def __init__(
        self,
        n_panels: int,
        columns: int,
        *,
        panel: tuple[float, float | Sequence[float]],
        title: str,
        subtitle: str = "",
        notes: Sequence[str] = (),
        panel_titles: Sequence[str] = (),
        choice: Choice = EVERYTHING,
        left: float = 0.5,
        least: float = 1.2,
    ) -> None:
        self.columns = columns_within(choice, columns, left=left, least=least)
        n_rows = math.ceil(n_panels / self.columns)
        self._panel_width, height = panel
        self._heights = [height] * n_rows if isinstance(height, float | int) else list(height)
        super().__init__(layout="constrained")
        grid = self.add_gridspec(n_rows, self.columns, height_ratios=self._heights)
        self.panels = [self.add_subplot(grid[divmod(i, self.columns)]) for i in range(n_panels)]
        self._titles = dict(zip(self.panels, panel_titles, strict=False))
        self._header, self._notes, self._choice = (title, subtitle), list(filter(None, notes)), choice
        self._below: list[Any] = []
        self.caption = " ".join([f"{title}.", *filter(None, [subtitle, *notes])])

    def place(self, panel: Axes) -> tuple[int, int]:
        """Return a panel's row and column."""
        spec = panel.get_subplotspec()
        assert spec is not None
        return spec.rowspan.start, spec.colspan.start

    def drop(self, panel: Axes) -> None:
        """Take a panel off the page; its place stays empty."""
        self.panels.remove(panel)
        panel.remove()

    def first_in_row(self, panel: Axes) -> bool:
        """Whether a panel is the leftmost of its row."""
        return self.place(panel)[1] == 0

    def nothing_below(self, panel: Axes) -> bool:
        """Whether a panel is the lowest of its column."""
        row, column = self.place(panel)
        return not any(self.place(p)[1] == column and self.place(p)[0] > row for p in self.panels)

    def name_axes(self, x: str = "", y: str = "", *, x_alike: bool = True, y_alike: bool = True) -> None:
        """Name axes at the edge of the page; axes that are alike have their numbers there as well."""
        for panel in self.panels:
            lowest, first = self.nothing_below(panel), self.first_in_row(panel)
            panel.tick_params(labelbottom=lowest or not x_alike, labelleft=first or not y_alike)
            panel.set(xlabel=x if lowest else "", ylabel=y if first else "")

    def legend_beside(self, panel: Axes, handles: Sequence[Any], title: str = "") -> None:
        """Add a legend at the right of a panel's row; below all panels if the page's width is fixed."""
        if self._choice.width is not None:
            named = {handle.get_label() for handle in self._below}
            self.legend_below([Line2D([], [], ls="none", label=title)] * bool(title))
            self.legend_below([own for own in handles if title or own.get_label() not in named])
            return
        row = self.place(panel)[0]
        last = [own for own in self.panels if self.place(own)[0] == row][-1]
        last.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.03, 1.04),
            borderaxespad=0,
            borderpad=0,
            handlelength=3.2,
            labelspacing=0.35,
            title=title or None,
            title_fontproperties={"size": SIZES["tick"], "weight": "bold"},
            alignment="left",
        )

    def legend_below(self, handles: Sequence[Any]) -> None:
        """Add entries to a legend below all panels."""
        self._below += handles

    def list_below(self, entries: Sequence[str]) -> None:
        """Write lines in columns below all panels."""
        self.legend_below([Line2D([], [], ls="none", label=text) for text in entries])

    def add_colorbar(self, colors: ScalarMappable, **look: Any) -> Any:
        """Add and return a colorbar at the right of the panels, or below them on a narrow page."""
        across = self._choice.width is not None
        height = sum(self._heights) + 0.4 * (len(self._heights) - 1)
        length = min(height, _TALLEST_BAR)
        place: dict[str, Any] = {"location": "right", "anchor": (0.0, 1.0), "shrink": length / height}
        if across:
            place, length = {"location": "bottom"}, 0.8 * (self._choice.width or 0.0)
        bar = self.colorbar(
            colors, ax=self.panels, aspect=length / _BAR, fraction=0.1, pad=0.03, **place, **look
        )
        bar.outline.set_visible(False)
        bar.minorticks_off()
        return bar

    def add_beta_colorbar(
        self, betas: Sequence[float], *, limit: float = 1.0, label: str = "planted bias β"
    ) -> None:
        """Add the legend of the colors of levels of bias.

        ``limit`` is the level of the last color, ``label`` the name of levels.
        """
        bar = self.add_colorbar(ScalarMappable(Normalize(0, limit), BETA_COLORS))
        ticks = beta_ticks([beta for beta in betas if beta <= limit])  # some doses may be out of reach
        bar.set_ticks(ticks, labels=[f"{beta:g}" for beta in ticks])
        bar.minorticks_off()
        bar.set_label(label)

    @styled()
    def fit(self) -> Page:
        """Give the page its size and everything its place, and return the page."""
        layout = self.get_layout_engine()
        assert isinstance(layout, ConstrainedLayoutEngine)
        layout.set(w_pad=0.04, h_pad=0.04, wspace=0, hspace=0)
        n_rows = len(self._heights)
        # The room around panels, on a page that has enough.
        self.set_size_inches(self.columns * self._panel_width + 5, sum(self._heights) + n_rows + 3)
        layout.execute(self)
        box = self.panels[0].get_position()
        around = self.get_figwidth() * (1 - self.columns * box.width)
        share = self._heights[0] / sum(self._heights)
        between = self.get_figheight() * (1 - box.height / share)
        width = self._choice.width or max(self._panel_width * self.columns + around, 3.2)
        panel_width = (width - around) / self.columns
        texts = self._texts(width) if self._choice.caption else ([], [])
        above, below = (_EDGE + sum(height for *_, height in lines) for lines in texts)
        legend = self._write_legend(width)
        from_below = below + (0 if legend is None else legend.get_window_extent().height / self.dpi + 0.06)
        height = above + from_below + sum(self._heights) + between + self._wrap_labels(panel_width)
        self.set_size_inches(width, height)
        if legend is not None:
            legend.set_bbox_to_anchor((_EDGE / width, from_below / height), self.transFigure)
        for lines, top in zip(texts, (height - _EDGE, below - 0.04), strict=True):
            for text, look, line in lines:
                self.text(_EDGE / width, top / height, text, va="top", **look)
                top -= line
        layout.set(rect=(0, from_below / height, 1, 1 - (above + from_below) / height))
        layout.execute(self)
        self.set_layout_engine("none")
        return self

    def _texts(self, width: float) -> tuple[list[tuple[str, dict[str, Any], float]], ...]:
        """Return the lines of header and notes, each with its look and height."""
        looks = {
            "title": {"weight": "bold", "gid": "header"},
            "subtitle": {"gid": "header"},
            "note": {"color": GREY, "gid": "footer"},
        }

        def lines(size: str, text: str) -> Iterator[tuple[str, dict[str, Any], float]]:
            # Letters that are fitted to pixels can be some hundredths wider than designed.
            for line in wrap(text, 0.98 * (width - 2 * _EDGE), SIZES[size], bold=size == "title"):
                yield line, {"size": SIZES[size], **looks[size]}, 1.4 * SIZES[size] / 72

        title, subtitle = self._header
        footer = [line for note in self._notes for line in lines("note", note)]
        return [*lines("title", title), *lines("subtitle", subtitle)], footer

    def _write_legend(self, width: float) -> Any:
        """Write the legend below the panels in as many columns as have room, and return it."""
        if not self._below:
            return None
        plain = all(isinstance(own, Line2D) and _shows_nothing(own) for own in self._below)
        handle = 0.16 if plain else _HANDLE
        longest = max(text_width(str(own.get_label()), SIZES["tick"]) for own in self._below)
        for own in self._below:
            own.set_label("\n".join(wrap(str(own.get_label()), width - 2 * _EDGE - handle)))
        return self.legend(
            handles=self._below,
            loc="upper left",
            ncols=max(1, min(len(self._below), int((width - 2 * _EDGE) / (longest + handle)))),
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.2,
            labelspacing=0.3,
            **({"handlelength": 0, "handletextpad": 0} if plain else {"handlelength": 2.4}),
        )

    def _wrap_labels(self, width: float) -> float:
        """Wrap panels' titles and the names of their x axes; return the height that this adds."""
        added: dict[int, list[int]] = {}
        for panel in self.panels:
            title = wrap(self._titles.get(panel, ""), width, SIZES["panel"])
            name = wrap(panel.get_xlabel(), width, SIZES["label"])
            panel.set_title("\n".join(title), loc="left", pad=4)
            panel.set_xlabel("\n".join(name))
            of_row = added.setdefault(self.place(panel)[0], [0, 1])
            of_row[:] = max(of_row[0], len(title)), max(of_row[1], len(name))
        n_lines = sum(titles + names - 1 for titles, names in added.values())
        return n_lines * 1.3 * SIZES["panel"] / 72 + 0.06 * len(added)


def _shows_nothing(handle: Line2D) -> bool:
    return handle.get_linestyle() == "None" and handle.get_marker() in ("None", "")
