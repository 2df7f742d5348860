"""What a section of a report is made of: plain text, before any markup."""

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
    """A part of a section: its parts are shown in the order of the fields, as far as there are any.

    Neighbours with the same ``fold`` are folded together, under that heading. Where a section begins with
    them, they stand open.
    """

    heading: str = ""
    notes: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    network: DatasetDescription | None = None  # of which the learned network is drawn
    table: TextTable | None = None
    remarks: Sequence[str] = ()
    code: str = ""
    fold: str = ""


@dataclass(frozen=True)
class Section:
    """The answer to one question about a finished run."""

    key: str  # one word, for links and tabs
    title: str  # heading; empty where the headings of the blocks say enough
    # What is said first. Those that begin with ``Warning`` or ``Note`` are brought out.
    notes: Sequence[str] = ()
    blocks: Sequence[Block] = ()  # what follows
    # Names of the frames of its numbers, which are CSV files, and what each holds.
    files: Mapping[str, str] = field(default_factory=dict)
    # What the names of its figures begin with, and what they show.
    figures: Mapping[str, str] = field(default_factory=dict)

    @property
    def folded(self) -> list[tuple[str, list[Block]]]:
        """The blocks, neighbours of one fold together, each with the heading of its fold."""
        found: list[tuple[str, list[Block]]] = []
        for block in self.blocks:
            if block.fold and found and found[-1][0] == block.fold:
                found[-1][1].append(block)
            else:
                found.append((block.fold, [block]))
        return found

    @property
    def open_blocks(self) -> list[Block]:
        """The blocks that are not folded, and those of a fold that the section begins with."""
        return [
            block for i, (fold, blocks) in enumerate(self.folded) for block in blocks if not fold or i == 0
        ]
