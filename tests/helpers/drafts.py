"""Drafts of made-up files, each with the dataset of its card."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.draft import Draft, draft
from benchmark.data.draft_text import card_text
from benchmark.data.load import Dataset, load_dataset
from benchmark.data.reading import DoubtError
from benchmark.file_options import FileOptions

Content = pd.DataFrame | str | bytes | Path


def file_of(content: Content, folder: Path, **written: object) -> Path:
    """Return the file that has some content; ``written`` are options of :meth:`pandas.DataFrame.to_csv`."""
    if isinstance(content, Path):
        return content
    path = folder / "people.csv"
    if isinstance(content, pd.DataFrame):
        content.to_csv(path, index=False, **written)  # type: ignore[call-overload]
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def drafted(content: Content, wish: FileOptions, folder: Path, **written: object) -> tuple[Draft, Dataset]:
    """Return a draft and the dataset of its card: columns and codes are the same, and no state is rare."""
    path, card = file_of(content, folder, **written), folder / "card.toml"
    made = draft(path, wish, folder)
    card.write_text(card_text(made, path, wish.min_count), encoding="utf-8")
    dataset = load_dataset(card)
    assert list(dataset.card.columns) == list(made.columns)
    assert not dataset.unused
    for i, column in enumerate(made.columns.values()):
        assert np.array_equal(dataset.table.codes[:, i], column.codes)
        if column.read_as not in ("label", "group"):
            assert np.bincount(column.codes, minlength=len(column.states)).min() >= wish.min_count
    return made, dataset


def doubt(content: Content, wish: FileOptions, folder: Path, **written: object) -> DoubtError:
    """Return the error that asks what the file leaves open."""
    with pytest.raises(DoubtError) as raised:
        draft(file_of(content, folder, **written), wish, folder)
    return raised.value


def sizes(made: Draft) -> dict[str, int]:
    """Return the number of rows on each side."""
    return {part.role: part.rows for part in made.reading.parts}


def spread(i: int) -> int:
    """Return a number below 997 for a row, in no order."""
    return i * 7919 % 997


def drawn(values: Sequence[object]) -> Callable[[int], object]:
    """Return a function that draws one of some values for each row."""
    return lambda i: random.Random(i).choice(values)


def table(n: int = 600, **more: Callable[[int], object]) -> pd.DataFrame:
    """Return made-up people; ``more`` makes the value of a row of a further column, or of another one."""
    lots = random.Random(3)
    sex = [lots.choice("FM") for _ in range(n)]
    hired = ["yes" if lots.random() < (0.35 if one == "F" else 0.55) else "no" for one in sex]
    frame = pd.DataFrame({"sex": sex, "hired": hired, "job": [lots.choice("abc") for _ in range(n)]})
    return frame.assign(**{name: [make(i) for i in range(n)] for name, make in more.items()})
