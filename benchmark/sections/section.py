"""The parts of a section of a report: plain text, before any markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmark.runs.descriptions import DatasetDescription


@dataclass(frozen=True)
class TextTable:
    """A table of texts; the first cell of a row names it."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Block:
    """A part of a section. Its parts are shown in the order of the fields.

    Neighbors with the same ``fold`` are folded together, under this heading. They stand open at the beginning
    of a section.
    """

    heading: str = ""
    notes: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    network: DatasetDescription | None = None  # its learned network is drawn
    table: TextTable | None = None
    remarks: Sequence[str] = ()
    code: str = ""
    fold: str = ""


@dataclass(frozen=True)
class Section:
    """The answer to one question about a finished run."""

    key: str  # one word, for links and tabs
    title: str  # heading; empty if the headings of the blocks suffice
    notes: Sequence[str] = ()  # come first; ``Warning`` and ``Note`` at the start are highlighted
    blocks: Sequence[Block] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # names of frames, or CSV files; contents
    # Beginnings of the names of its figures, and their titles.
    figures: Mapping[str, str] = field(default_factory=dict)

    @property
    def folded(self) -> list[tuple[str, list[Block]]]:
        """The blocks by fold, each fold with its heading; an unfolded block stands alone."""
        folds: list[tuple[str, list[Block]]] = []
        for block in self.blocks:
            if block.fold and folds and folds[-1][0] == block.fold:
                folds[-1][1].append(block)
            else:
                folds.append((block.fold, [block]))
        return folds

    @property
    def open_blocks(self) -> list[Block]:
        """The unfolded blocks, and the blocks of a fold at the beginning of the section."""
        return [
            block for i, (fold, blocks) in enumerate(self.folded) for block in blocks if not fold or i == 0
        ]
