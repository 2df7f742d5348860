"""A table for print: numbers with their marks, and the same as CSV, Markdown or LaTeX."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

from benchmark.text import markdown
from benchmark.text.words import number
from benchmark.text.writing import SIX_DIGITS, csv_text, write_atomically

_LONGEST_FLOAT = 42
"""Rows that fit one page of LaTeX; a longer table becomes one float for each block."""

_FLOAT = r"""\begin{table}[htbp]
\centering
\caption{%(caption)s}
\begin{adjustbox}{max width=\linewidth}
\begin{tabular}{%(alignment)s}
\toprule
%(rows)s
\bottomrule
\end{tabular}
\end{adjustbox}
\par\smallskip
\begin{minipage}{\linewidth}\footnotesize %(note)s\end{minipage}
\end{table}
"""


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a number, and half of its 95 % interval, each NaN where there is none."""

    mean: float = math.nan
    half_width: float = math.nan
    best: bool = False  # of its column in the block
    mark: str = ""  # signs beside the number, explained in the notes
    text: str | None = None  # stands in place of the number; empty where nothing belongs

    def shown(self, escape: Callable[[str], str], plain: str, bold: str, above: str) -> str:
        """Return the cell in a markup: how it escapes text, and writes numbers and what stands above them."""
        mark = above.format(escape(self.mark)) if self.mark else ""
        if self.text is not None or math.isnan(self.mean):
            return escape(number(self.mean) if self.text is None else self.text) + mark
        half_width = "" if math.isnan(self.half_width) else escape(f" ± {number(self.half_width)}")
        return (bold if self.best else plain).format(number(self.mean)) + half_width + mark


@dataclass(frozen=True)
class Row:
    """A row: its names, those of its block first, and its cells."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table. Each of its rows has a cell for each column."""

    name: str  # of its files
    caption: str
    block_names: tuple[str, ...]  # headings of the names of blocks
    row_names: tuple[str, ...]  # headings of the names of rows
    columns: tuple[tuple[str, str], ...]  # a group, and the heading within it
    blocks: Mapping[str, Sequence[Row]]  # by heading; it is empty if the table has no other block
    note: str  # one line below the table

    @property
    def titles(self) -> list[str]:
        """The columns with the names of their groups."""
        return [" ".join(filter(None, column)) for column in self.columns]

    def to_frame(self) -> pd.DataFrame:
        """Return numbers without their marks: a column for each, and one for its ± if there is any."""
        rows = [row for rows in self.blocks.values() for row in rows]
        frame = pd.DataFrame([row.names for row in rows], columns=[*self.block_names, *self.row_names])
        for i, title in enumerate(self.titles):
            cells = [row.cells[i] for row in rows]
            frame[title] = [cell.text or cell.mean for cell in cells]
            if any(math.isfinite(cell.half_width) for cell in cells):
                frame[f"{title} ±"] = [cell.half_width for cell in cells]
        return frame

    def to_csv(self) -> str:
        """Return the frame as CSV, with six digits."""
        return csv_text(self.to_frame(), SIX_DIGITS)

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavored Markdown."""
        rows: list[list[str]] = []
        for heading, of_block in self.blocks.items():
            if heading:
                blank = len(self.row_names) - 1 + len(self.columns)
                rows.append([f"**{markdown.plain(heading)}**", *[""] * blank])
            rows += self._entries(of_block, markdown.plain, "{}", "**{}**", "<sup>{}</sup>")
        head = list(map(markdown.plain, [*self.row_names, *self.titles]))
        table = markdown.table(head, rows, named=len(self.row_names))
        return f"**{markdown.plain(self.caption)}**\n\n{table}\n\n{markdown.plain(self.note)}\n"

    def to_latex(self) -> str:
        """Return the table as LaTeX floats for the packages booktabs and adjustbox."""
        parts = [self.blocks]
        if sum(map(len, self.blocks.values())) > _LONGEST_FLOAT:
            parts = [{heading: rows} for heading, rows in self.blocks.items()]
        return "% \\usepackage{booktabs,adjustbox}\n" + "\n".join(map(self._latex_float, parts))

    def _latex_float(self, blocks: Mapping[str, Sequence[Row]]) -> str:
        """Return a float with some blocks. The only block of several has its heading in the caption."""
        alone = len(blocks) < len(self.blocks)
        at = len(self.row_names)
        heads, rules = [""] * at, ""
        for group, columns in groupby(group for group, _ in self.columns):
            width = len(list(columns))
            heads.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}")
            rules += rf"\cmidrule(lr){{{at + 1}-{at + width}}}" if group else ""
            at += width
        rows = [_latex_row(heads), *filter(None, [rules])]
        rows.append(_latex_row(map(_latex, [*self.row_names, *(heading for _, heading in self.columns)])))
        for heading, of_block in blocks.items():
            rows.append(r"\midrule")
            if heading and not alone:
                rows.append(_latex_row([rf"\multicolumn{{{at}}}{{l}}{{\textit{{{_latex(heading)}}}}}"]))
            entries = self._entries(of_block, _latex, "${}$", r"$\mathbf{{{}}}$", r"\textsuperscript{{{}}}")
            rows += map(_latex_row, entries)
        return _FLOAT % {
            "caption": _latex(": ".join([self.caption, *blocks]) if alone else self.caption),
            "alignment": "l" * len(self.row_names) + "r" * len(self.columns),
            "rows": "\n".join(rows),
            "note": _latex(self.note),
        }

    def _entries(self, rows: Iterable[Row], escape: Callable[[str], str], *markup: str) -> list[list[str]]:
        names = slice(len(self.block_names), None)
        return [
            [*map(escape, row.names[names]), *(cell.shown(escape, *markup) for cell in row.cells)]
            for row in rows
        ]

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, float_format="{:.3f}".format, na_rep=""))


def write_tables(folder: Path, tables: Iterable[Table], notes: str) -> Iterator[Path]:
    """Write tables and the notes on all of them, and yield the files."""
    yield write_atomically(folder / "notes.txt", notes)
    for table in tables:
        yield write_atomically(folder / f"{table.name}.csv", table.to_csv())
        yield write_atomically(folder / f"{table.name}.tex", table.to_latex())


_MATHEMATICAL = {
    **{"↓": "downarrow", "β": "beta", "±": "pm", "×": "times", "≤": "leq"},
    **{"≥": "geq", "→": "to", "·": "cdot"},
}
_NAMED = {
    **{"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum", "…": "ldots"},
    **{"†": "dag", "‡": "ddag", "¶": "P"},
}
_LATEX = {
    **{character: f"\\{character}" for character in "{}$&#_%"},
    # At the start of a row, LaTeX would read a bracket or a star as an argument.
    **{character: f"{{{character}}}" for character in "[]*"},
    **{character: f"${character}$" for character in "<>|"},
    **{character: rf"$\{name}$" for character, name in _MATHEMATICAL.items()},
    **{character: rf"\{name}{{}}" for character, name in _NAMED.items()},
    **{'"': "''", "−": "$-$", "–": "--", "—": "---", "\u00a0": "~", "\u202f": r"\,"},
}


def _latex_row(entries: Iterable[str]) -> str:
    return " & ".join(entries) + r" \\"


def _latex(text: str) -> str:
    """Return a text on one line: line breaks would end a caption or a row."""
    # Beyond Latin Extended-A, pdfLaTeX stops at characters without a definition: name them instead.
    return "".join(
        _LATEX.get(character, character if ord(character) < 0x180 else f"[U+{ord(character):04X}]")
        for character in " ".join(text.splitlines())
    )
