"""Pages of panels, on which matplotlib's constrained layout finds room for labels, legends and colorbars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from benchmark.figures import EVERYTHING, Choice, style
from benchmark.figures.style import GREY, LINE, SIZES, Look, styled, text_width, wrap

_EDGE = 0.1
_NAMES = 2.4  # width of names of rows
_BAR, _TALLEST_BAR = 0.12, 3.2
_MOST_STEPS = 6  # between ticks
_HANDLE = 0.62  # from a legend's entry to the next, without words
_LOOKS: dict[str, Look] = {
    "title": {"weight": "bold", "gid": "header"},
    "subtitle": {"gid": "header"},
    "note": {"color": GREY, "gid": "footer"},
}


class RowLabels:
    """Names of rows at the left of panels, wrapped to a width, or to less than half of a narrow page.

    A row is at least ``least`` inches high. Lines part the rows ``parts`` from those above them.
    """

    def __init__(
        self,
        names: Sequence[str],
        page: float | None = None,
        width: float = _NAMES,
        least: float = 0.19,
        parts: Sequence[int] = (),
    ) -> None:
        self._parts = parts
        lines = [wrap(name, width if page is None else min(width, 0.36 * page)) for name in names]
        self.texts = ["\n".join(own) for own in lines]
        self.row = max(least, 0.05 + LINE * max(map(len, lines), default=1))  # height in inches

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def width(self) -> float:
        """Inches of the widest line."""
        return max((text_width(t, SIZES["tick"]) for text in self.texts for t in text.split("\n")), default=0)

    @property
    def height(self) -> float:
        """Inches of all rows."""
        return max(0.6, self.row * len(self))

    def write(self, axes: Axes, n_rows: int | None = None, *, named: bool = True) -> None:
        """Write the labels at a panel's rows, the first on top; ``n_rows`` may exceed the labels.

        Without ``named`` the rows have the same heights, but no labels.
        """
        axes.set_ylim(max(1, n_rows or len(self)) - 0.5, -0.5)
        axes.set_yticks(range(len(self)), labels=self.texts if named else [""] * len(self))
        axes.tick_params(axis="y", length=0)
        for row in self._parts:
            axes.axhline(row - 0.5, color="black", lw=0.8, zorder=3, gid="part")


class Page(Figure):
    """A figure of panels under a header and above notes; sizes are in inches.

    :meth:`fit` comes last. It makes the page as large as its panels need, or panels as wide as a page of the
    chosen width allows.

    ``columns`` are the most panels in a row; on a page of fixed width a row may have fewer. ``panel`` is the
    width and the height of each, or the heights of the rows of panels where these differ. ``rows`` names the
    rows of all panels. On a page of fixed width, ``left`` is the room at the left of the panels, and
    ``least`` their least width. After ``block`` panels the next one begins a row; by default none does.

    ``panels`` are the panels, row by row. ``caption`` has title, subtitle and notes as text.
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
        rows: RowLabels | None = None,
        left: float = 0.5,
        least: float = 1.2,
        block: int | None = None,
    ) -> None:
        if choice.width is not None:
            left = left if rows is None else rows.width
            columns = max(1, min(columns, int((choice.width - left) / least)))
        block = block or n_panels
        rows_of_block = math.ceil(block / columns)
        n_rows = rows_of_block * math.ceil(n_panels / block)
        self.columns, (self._panel_width, height) = columns, panel
        self._heights = [height] * n_rows if isinstance(height, float | int) else list(height)
        self._layout = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0, hspace=0)
        super().__init__(layout=self._layout)
        grid = self.add_gridspec(n_rows, columns, height_ratios=self._heights)
        self.panels: list[Axes] = []
        self.places: dict[Axes, tuple[int, int]] = {}  # row and column of each panel
        for i in range(n_panels):
            row, column = divmod(i % block, columns)
            row += i // block * rows_of_block
            own = self.add_subplot(grid[row, column])
            self.panels.append(own)
            self.places[own] = row, column
            if rows is not None:
                rows.write(own, named=column == 0)
        self._titles = dict(zip(self.panels, panel_titles, strict=False))
        self._header = [("title", title), ("subtitle", subtitle)]
        self._notes, self._choice = [("note", note) for note in notes], choice
        self._below: list[Any] = []
        self.caption = " ".join([f"{title}.", *filter(None, [subtitle, *notes])])

    def name_axes(self, x: str = "", y: str = "", *, x_alike: bool = True, y_alike: bool = True) -> None:
        """Name axes at the edge of the page; axes that are alike have their numbers there as well."""
        lowest = {column: panel for panel, (_, column) in self.places.items()}
        for panel, (_, column) in self.places.items():
            is_lowest, first = lowest[column] is panel, column == 0
            panel.tick_params(labelbottom=is_lowest or not x_alike, labelleft=first or not y_alike)
            panel.set(xlabel=x if is_lowest else "", ylabel=y if first else "")

    def legend_beside(self, panel: Axes, handles: Sequence[Any], title: str = "") -> None:
        """Add a legend at the right of a panel's row; below all panels if the page's width is fixed."""
        if self._choice.width is not None:
            named = {handle.get_label() for handle in self._below}
            self.list_below([title] * bool(title))
            self.legend_below([own for own in handles if title or own.get_label() not in named])
            return
        last = [own for own in self.panels if self.places[own][0] == self.places[panel][0]][-1]
        last.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.03, 1.04),
            borderaxespad=0,
            handlelength=3.2,
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
        height = sum(self._heights) + 0.4 * (len(self._heights) - 1)
        length = min(height, _TALLEST_BAR)
        place: dict[str, Any] = {"location": "right", "anchor": (0.0, 1.0), "shrink": length / height}
        if self._choice.width is not None:
            place, length = {"location": "bottom"}, 0.8 * self._choice.width
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
        bar = self.add_colorbar(ScalarMappable(Normalize(0, limit), style.BETA_COLORS), label=label)
        ticks = style.beta_ticks([beta for beta in betas if beta <= limit])
        bar.set_ticks(ticks, labels=[f"{beta:g}" for beta in ticks])

    @styled()
    def fit(self) -> Page:
        """Give the page its size and everything its place, and return the page."""
        # The room around panels, on a page that has enough.
        n_rows = len(self._heights)
        self.set_size_inches(self.columns * self._panel_width + 5, sum(self._heights) + n_rows + 3)
        around, _ = self._margins(self._panel_width)
        width = self._choice.width or max(self._panel_width * self.columns + around, 3.2)
        panel_width = (width - around) / self.columns
        for panel in self.panels:
            title, name = self._titles.get(panel, ""), panel.get_xlabel()
            panel.set_title("\n".join(wrap(title, panel_width, SIZES["panel"])), loc="left", pad=4)
            panel.set_xlabel("\n".join(wrap(name, panel_width, SIZES["label"])))
        _, between = self._margins(panel_width)
        header, notes = self._lines(self._header, width), self._lines(self._notes, width)
        above, below = (_EDGE + sum(1.4 * SIZES[size] / 72 for size, _ in own) for own in (header, notes))
        legend = self._write_legend(width)
        from_below = below + (0 if legend is None else legend.get_window_extent().height / self.dpi + 0.06)
        height = above + sum(self._heights) + between + from_below
        self.set_size_inches(width, height)
        if legend is not None:
            legend.set_bbox_to_anchor((_EDGE / width, from_below / height), self.transFigure)
        for lines, top in ((header, height - _EDGE), (notes, below - 0.04)):
            for size, line in lines:
                self.text(_EDGE / width, top / height, line, va="top", size=SIZES[size], **_LOOKS[size])
                top -= 1.4 * SIZES[size] / 72
        self._layout.set(rect=(0, from_below / height, 1, 1 - (above + from_below) / height))
        self._layout.execute(self)
        self.set_layout_engine("none")
        return self

    def _margins(self, panel_width: float) -> tuple[float, float]:
        """Return width and height of all that is around panels and between them, with ticks for a width."""
        for panel, (row, _) in self.places.items():
            _thin_ticks(panel.xaxis, int(panel_width / 0.4))
            _thin_ticks(panel.yaxis, int(self._heights[row] / 0.22))
        self._layout.execute(self)
        width, height = self.panels[0].get_position().size * self.get_size_inches()
        share = self._heights[0] / sum(self._heights)
        return self.get_figwidth() - self.columns * width, self.get_figheight() - height / share

    def _lines(self, texts: Sequence[tuple[str, str]], width: float) -> list[tuple[str, str]]:
        """Return the lines of texts, each with the key of its size."""
        # Letters that are fitted to pixels can be some hundredths wider than designed.
        inner, shown = 0.98 * (width - 2 * _EDGE), texts if self._choice.caption else ()
        return [(s, line) for s, text in shown for line in wrap(text, inner, SIZES[s], bold=s == "title")]

    def _write_legend(self, width: float) -> Any:
        """Write the legend below the panels in as many columns as have room, and return it."""
        if not self._below:
            return None
        plain = all(  # entries that are words alone
            isinstance(own, Line2D) and own.get_linestyle() == "None" and own.get_marker() in ("None", "")
            for own in self._below
        )
        handle = 0.16 if plain else _HANDLE
        longest = max(text_width(str(own.get_label()), SIZES["tick"]) for own in self._below)
        for own in self._below:
            own.set_label("\n".join(wrap(str(own.get_label()), width - 2 * _EDGE - handle)))
        return self.legend(
            handles=self._below,
            loc="upper left",
            ncols=max(1, min(len(self._below), int((width - 2 * _EDGE) / (longest + handle)))),
            borderaxespad=0,
            **({"handlelength": 0, "handletextpad": 0} if plain else {"handlelength": 2.4}),
        )


def _thin_ticks(axis: Axis, room: int) -> None:
    """Let an axis have ticks at round numbers, or at the levels of bias, as far as there is room."""
    locator = axis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(nbins=max(1, min(_MOST_STEPS, room)))
    elif isinstance(locator, FixedLocator) and locator.nbins:  # names of rows have no such limit
        locator.set_params(nbins=max(1, room))
