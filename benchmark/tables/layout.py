"""A table for print: numbers with their marks, and the same as CSV, Markdown or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

from benchmark.text import markdown
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text
from benchmark.text.words import number
from benchmark.text.writing import write_atomically

_LONGEST_FLOAT = 42
"""Rows that fit one page of LaTeX; a longer table becomes one float for each block."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a number, and half of its 95 % interval, each NaN where there is none."""

    mean: float = math.nan
    half_width: float = math.nan
    best: bool = False  # of its column in the block
    mark: str = ""  # signs beside the number, explained in the notes
    text: str | None = None  # stands in place of the number; empty where nothing belongs


@dataclass(frozen=True)
class Row:
    """A row: its names and its cells."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Block:
    """Rows under a heading."""

    heading: str  # empty if the table has no other block
    names: tuple[str, ...]  # what the heading says, for columns of the CSV file
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table. Each of its rows has a cell for each column."""

    name: str  # of its files
    caption: str
    block_names: tuple[str, ...]  # headings of the names of blocks
    row_names: tuple[str, ...]  # headings of the names of rows
    columns: tuple[tuple[str, str], ...]  # a group, and the heading within it
    blocks: tuple[Block, ...]
    note: str  # one line below the table

    @property
    def titles(self) -> list[str]:
        """The columns with the names of their groups."""
        return [" ".join(filter(None, column)) for column in self.columns]

    def to_frame(self) -> pd.DataFrame:
        """Return numbers without their marks: a column for each, and one for its ± if there is any."""
        rows = [(block, row) for block in self.blocks for row in block.rows]
        names = [(*block.names, *row.names) for block, row in rows]
        frame = pd.DataFrame(names, columns=[*self.block_names, *self.row_names])
        for i, title in enumerate(self.titles):
            cells = [row.cells[i] for _, row in rows]
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
        for block in self.blocks:
            if block.heading:
                heading = f"**{markdown.plain(block.heading)}**"
                rows.append([heading, *[""] * (len(self.row_names) - 1 + len(self.columns))])
            rows += ([*map(markdown.plain, r.names), *map(_markdown_cell, r.cells)] for r in block.rows)
        head = list(map(markdown.plain, [*self.row_names, *self.titles]))
        table = markdown.table(head, rows, named=len(self.row_names))
        return f"**{markdown.plain(self.caption)}**\n\n{table}\n\n{markdown.plain(self.note)}\n"

    def to_latex(self) -> str:
        """Return the table as LaTeX floats for the packages booktabs and adjustbox."""
        n_rows = sum(len(block.rows) for block in self.blocks)
        parts = [(block,) for block in self.blocks] if n_rows > _LONGEST_FLOAT else [self.blocks]
        return "% \\usepackage{booktabs,adjustbox}\n" + "\n".join(map(self._latex_float, parts))

    def _latex_float(self, blocks: Sequence[Block]) -> str:
        """Return a float with some blocks. The only block of several has its heading in the caption."""
        alone = len(blocks) < len(self.blocks)
        caption = f"{self.caption}: {blocks[0].heading}" if alone else self.caption
        named = len(self.row_names)
        heads, rules, at = [""] * named, [], named
        for group, columns in groupby(group for group, _ in self.columns):
            width = len(list(columns))
            heads.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}")
            rules += [rf"\cmidrule(lr){{{at + 1}-{at + width}}}"] if group else []
            at += width
        lines = [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{_latex(caption)}}}",
            r"\begin{adjustbox}{max width=\linewidth}",
            rf"\begin{{tabular}}{{{'l' * named}{'r' * len(self.columns)}}}",
            r"\toprule",
            _latex_row(heads),
            "".join(rules),
            _latex_row(map(_latex, [*self.row_names, *(heading for _, heading in self.columns)])),
        ]
        for block in blocks:
            lines.append(r"\midrule")
            if block.heading and not alone:
                lines.append(
                    _latex_row([rf"\multicolumn{{{at}}}{{l}}{{\textit{{{_latex(block.heading)}}}}}"])
                )
            lines += (
                _latex_row([*map(_latex, row.names), *map(_latex_cell, row.cells)]) for row in block.rows
            )
        lines += [
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            r"\par\smallskip",
            rf"\begin{{minipage}}{{\linewidth}}\footnotesize {_latex(self.note)}\end{{minipage}}",
            r"\end{table}",
        ]
        return "\n".join(filter(None, lines)) + "\n"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return str(frame.to_html(index=False, float_format="{:.3f}".format, na_rep=""))


def write_tables(folder: Path, tables: Iterable[Table], notes: str) -> Iterator[Path]:
    """Write tables and the notes on all of them, and yield the files."""
    yield write_atomically(folder / "notes.txt", notes)
    for table in tables:
        yield write_atomically(folder / f"{table.name}.csv", table.to_csv())
        yield write_atomically(folder / f"{table.name}.tex", table.to_latex())


def _markdown_cell(cell: Cell) -> str:
    above = f"<sup>{markdown.plain(cell.mark)}</sup>" if cell.mark else ""
    if cell.text is not None:
        return markdown.plain(cell.text) + above
    mean = f"**{number(cell.mean)}**" if cell.best else number(cell.mean)
    return mean + ("" if math.isnan(cell.half_width) else f" ± {number(cell.half_width)}") + above


def _latex_row(entries: Iterable[str]) -> str:
    return " & ".join(entries) + r" \\"


def _latex_cell(cell: Cell) -> str:
    above = rf"\textsuperscript{{{_latex(cell.mark)}}}" if cell.mark else ""
    if cell.text is not None:
        return _latex(cell.text) + above
    if math.isnan(cell.mean):
        return "--" + above
    mean = rf"\mathbf{{{number(cell.mean)}}}" if cell.best else number(cell.mean)
    half_width = "" if math.isnan(cell.half_width) else rf" \pm {number(cell.half_width)}"
    return f"${mean}{half_width}${above}"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # at the start of a row, LaTeX would read a bracket or a star as an argument
    "]": "{]}",
    "*": "{*}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "¶": r"\P{}",
    "↓": r"$\downarrow$",
    "β": r"$\beta$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "\u00a0": "~",
    "\u202f": r"\,",
}


def _latex(text: str) -> str:
    """Return a text on one line: line breaks would end a caption or a row."""
    return "".join(map(_latex_character, " ".join(text.splitlines())))


def _latex_character(character: str) -> str:
    if character in _LATEX or ord(character) < 0x180:
        return _LATEX.get(character, character)
    # Beyond Latin Extended-A, pdfLaTeX stops at characters without a definition: name them instead.
    return f"[U+{ord(character):04X}]"
