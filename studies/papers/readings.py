"""Readings of published numbers: as they are printed, and others that are declared beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, Field, ValidationError, model_validator

from benchmark.declarations import broken_rules, read_declaration
from benchmark.errors import ReportError
from benchmark.models import STRICT, Identifier

KEY = ("table", "dataset", "technique", "beta", "metric")
"""Columns that identify a number."""

Two = Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]


class Change(BaseModel):
    """Published numbers that a reading replaces by others."""

    model_config = STRICT

    tables: tuple[int, ...] = Field(min_length=1)
    datasets: tuple[str, ...] = ()  # all unless given
    techniques: tuple[str, ...] = ()  # all unless given
    # Two metrics or two techniques whose numbers change places.
    exchange: dict[Literal["metric", "technique"], Two] = {}
    reverse: bool = False  # whether signs are reversed
    reason: str = Field(min_length=1)

    @model_validator(mode="after")
    def _one_kind(self) -> Change:
        if len(self.exchange) + self.reverse != 1:
            raise ValueError("needs one of exchange.metric, exchange.technique and reverse = true")
        return self

    def apply(self, published: pd.DataFrame, values: pd.Series) -> pd.Series:
        """Return the values in this reading; a ReportError means that an exchanged number is missing."""
        affected = published["table"].isin(self.tables)
        for column, names in (("dataset", self.datasets), ("technique", self.techniques)):
            affected &= published[column].isin(names) | (not names)
        sources = published.loc[affected, list(KEY)]
        for column, (one, other) in self.exchange.items():
            sources = sources[sources[column].isin((one, other))]
            sources = sources.assign(**{column: sources[column].map({one: other, other: one})})
        by_key = pd.Series(values.to_numpy(), index=pd.MultiIndex.from_frame(published[list(KEY)]))
        taken = by_key.reindex(pd.MultiIndex.from_frame(sources))
        if taken.empty or taken.isna().any():
            absent = [str(key) for key in taken.index[taken.isna()]]
            raise ReportError(
                "A reading names numbers that were not published",
                expected="numbers in the file, for both sides of an exchange",
                got="; ".join(absent[:3]) or f"none in tables {', '.join(map(str, self.tables))}",
                remedy="correct tables, datasets, techniques or exchange of that change",
            )
        changed, numbers = values.copy(), taken.to_numpy()
        # 0 - x and not -x, because a zero would be written as -0.0.
        changed.loc[sources.index] = 0.0 - numbers if self.reverse else numbers
        return changed

    @property
    def sentence(self) -> str:
        """The change and its reason, for readers."""
        pairs = [f"{' and '.join(names)} exchanged" for names in self.exchange.values()]
        change = "signs reversed" if self.reverse else pairs[0]
        where = ", ".join((" and ".join(f"Table {n}" for n in self.tables), *self.datasets, *self.techniques))
        return f"{where}: {change}. {self.reason.strip()}"


class Reading(BaseModel):
    """A way to read published numbers."""

    model_config = STRICT

    name: Identifier  # part of columns' names
    title: str
    description: str
    changes: tuple[Change, ...] = Field(min_length=1)  # to the previous reading; the first, to the print

    @property
    def suffix(self) -> str:
        """The end of its columns' names."""
        return f"_{self.name}"


class _ReadingsFile(BaseModel):
    model_config = STRICT

    readings: tuple[Reading, ...] = Field(min_length=1)


def read_readings(path: Path) -> tuple[Reading, ...]:
    """Return the readings in the TOML file beside a CSV file of published numbers; without it, none.

    An ExperimentError means that it is not TOML, a ReportError that it breaks rules.
    """
    path = path.with_suffix(".toml")
    if not path.is_file():
        return ()
    content = read_declaration("experiments", path)
    try:
        return _ReadingsFile.model_validate(content).readings
    except ValidationError as error:
        rules = broken_rules(error, _ReadingsFile, content)
        raise ReportError(
            f"The readings in {path} break rules:\n  " + "\n  ".join(rules),
            remedy="correct these fields; experiments/published/README.md explains each",
        ) from None


def add_readings(published: pd.DataFrame, readings: Sequence[Reading]) -> pd.DataFrame:
    """Return published numbers with a column for each reading, such as ``value_as_read`` for ``as_read``."""
    values, columns = published["value"], {}
    for reading in readings:
        for change in reading.changes:
            values = change.apply(published, values)
        columns["value" + reading.suffix] = values
    return published.assign(**columns)
