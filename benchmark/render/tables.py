"""Tables as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmark.sections.report_table import Cell, ReportTable, RowGroup
from benchmark.text import markdown
from benchmark.text.spreadsheet import as_cell
from benchmark.text.words import number
from benchmark.text.writing import write_atomically

_LONGEST_FLOAT = 42
"""Rows that fit one page of LaTeX; a longer table becomes one float for each block."""


def to_csv(table: ReportTable) -> str:
    """Return the means as CSV: full precision, one heading line, empty for a missing value."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(as_cell, _headings(table)))
    for block in table.blocks:
        names = [block.heading] if len(table.row_headings) > 1 else []
        for row in block.rows:
            entries = [cell.text or ("" if math.isnan(cell.mean) else repr(cell.mean)) for cell in row.cells]
            writer.writerow(map(as_cell, [*names, row.heading, *entries]))
    return buffer.getvalue()


def to_markdown(table: ReportTable) -> str:
    """Return the table as GitHub-flavored Markdown, its caption above and its notes below."""
    footnotes = _Footnotes(table.blocks)
    lines = [
        f"**{markdown.plain(table.caption)}**",
        "",
        markdown.table(
            list(map(markdown.plain, _headings(table))),
            (
                [*map(markdown.plain, names), *(_markdown_cell(cell, footnotes) for cell in cells)]
                for block in table.blocks
                for names, cells in _rows(table, block)
            ),
            named=len(table.row_headings),
        ),
        "",
    ]
    lines += [f"- {markdown.plain(note)}" for note in table.notes]
    lines += [f"- <sup>{mark}</sup> {markdown.plain(remark)}" for remark, mark in footnotes.marks.items()]
    return "\n".join(lines) + "\n"


def to_latex(table: ReportTable) -> str:
    """Return the table as LaTeX floats for the packages booktabs and adjustbox, notes below each."""
    n_rows = sum(len(block.rows) for block in table.blocks)
    parts = [(block,) for block in table.blocks] if n_rows > _LONGEST_FLOAT else [table.blocks]
    floats = [_latex_float(table, part, len(parts) > 1) for part in parts]
    return "% \\usepackage{booktabs,adjustbox}\n" + "\n".join(floats)


MARKUPS: dict[str, Callable[[ReportTable], str]] = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}
"""Writers of a table, by the ending of its file."""


def write_tables(folder: Path, tables: Iterable[ReportTable]) -> list[Path]:
    """Write tables in every form, and return the files."""
    return [
        write_atomically(folder / (table.name + ending), markup(table))
        for table in tables
        for ending, markup in MARKUPS.items()
    ]


class _Footnotes:
    """Marks of remarks in order of appearance; equal remarks share a mark."""

    def __init__(self, blocks: Sequence[RowGroup]) -> None:
        remarks = (cell.remark for block in blocks for row in block.rows for cell in row.cells)
        distinct = dict.fromkeys(remark for remark in remarks if remark is not None)
        self.marks = {remark: _letters(i) for i, remark in enumerate(distinct)}

    def of(self, cell: Cell) -> str:
        return self.marks.get(cell.remark or "", "")


def _letters(index: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    prefix = _letters(index // 26 - 1) if index >= 26 else ""
    return prefix + chr(ord("a") + index % 26)


def _headings(table: ReportTable) -> list[str]:
    return [*table.row_headings, *(f"{group} {column}" for group in table.groups for column in table.columns)]


def _rows(table: ReportTable, block: RowGroup) -> Iterator[tuple[list[str], tuple[Cell, ...]]]:
    """Yield names and cells of each row; only a block's first row has its heading, as in the paper."""
    for i, row in enumerate(block.rows):
        names = [block.heading if i == 0 else ""] if len(table.row_headings) > 1 else []
        yield [*names, row.heading], row.cells


def _markdown_cell(cell: Cell, footnotes: _Footnotes) -> str:
    marks = ",".join(filter(None, [cell.mark, footnotes.of(cell)]))
    above = f"<sup>{marks}</sup>" if marks else ""
    if cell.text:
        return markdown.plain(cell.text) + above
    if math.isnan(cell.mean):
        return "–" + above
    mean = f"**{number(cell.mean)}**" if cell.best else number(cell.mean)
    return mean + ("" if math.isnan(cell.half_width) else f" ± {number(cell.half_width)}") + above


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


def _latex_float(table: ReportTable, blocks: Sequence[RowGroup], name_block: bool) -> str:
    footnotes = _Footnotes(blocks)
    caption = f"{table.caption}: {blocks[0].heading}" if name_block else table.caption
    named, width = len(table.row_headings), len(table.columns)
    spans = [(named + 1 + i * width, named + (i + 1) * width) for i in range(len(table.groups))]
    heads = [rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}" for group in table.groups]
    notes = [_latex(note) for note in table.notes]
    notes += [rf"\textsuperscript{{{mark}}}~{_latex(remark)}" for remark, mark in footnotes.marks.items()]
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{_latex(caption)}}}",
        r"\begin{adjustbox}{max width=\linewidth}",
        rf"\begin{{tabular}}{{{'l' * named}{'r' * (width * len(table.groups))}}}",
        r"\toprule",
        " & ".join([""] * named + heads) + r" \\",
        "".join(rf"\cmidrule(lr){{{first}-{last}}}" for first, last in spans),
        " & ".join(map(_latex, [*table.row_headings, *(table.columns * len(table.groups))])) + r" \\",
    ]
    for block in blocks:
        lines.append(r"\midrule")
        for names, cells in _rows(table, block):
            entries = [*map(_latex, names), *(_latex_cell(cell, footnotes) for cell in cells)]
            lines.append(" & ".join(entries) + r" \\")
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        "\\par\n".join(notes),
        r"\end{minipage}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell, footnotes: _Footnotes) -> str:
    marks = ",".join(filter(None, [_latex(cell.mark), footnotes.of(cell)]))
    above = rf"\textsuperscript{{{marks}}}" if marks else ""
    if cell.text:
        return _latex(cell.text) + above
    if math.isnan(cell.mean):
        return "--" + above
    mean = rf"\mathbf{{{number(cell.mean)}}}" if cell.best else number(cell.mean)
    half_width = "" if math.isnan(cell.half_width) else rf" \pm {number(cell.half_width)}"
    return f"${mean}{half_width}${above}"
