"""The tables of an atlas, as a folder has them."""

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.atlas.features import FEATURE_COLUMNS, LEVEL
from benchmark.atlas.file import LITE, Atlas
from benchmark.atlas.means import MEAN_COLUMNS, REFIT
from benchmark.columns import BRITISH
from benchmark.errors import ReportError
from benchmark.experiment.entries import TechniqueEntry
from benchmark.text.writing import plain_or_packed

MEANS, FEATURES, MANIFEST = "means.csv", "features.csv", "atlas.json"
RECOMMENDERS, CLAIMS = "recommenders.csv", "claims.csv"
"""Files of an atlas."""

CLAIM_COLUMNS = ("version", "claim", "text", "fate", "evidence")
"""Columns of the table of claims."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of an atlas."""

    means: pd.DataFrame  # columns :data:`~benchmark.atlas.means.MEAN_COLUMNS`
    features: pd.DataFrame  # columns :data:`~benchmark.atlas.features.FEATURE_COLUMNS`
    manifest: Mapping[str, Any]

    @cached_property
    def atlas(self) -> Atlas:
        """The content of the atlas file, as the manifest holds it."""
        return Atlas.model_validate(dict(self.manifest["atlas"]), strict=False)

    @cached_property
    def dose_rows(self) -> pd.DataFrame:
        """The means that advice is fitted on: techniques with planted bias, at each dose that is reached."""
        rows = self._dose_means[self._dose_means["technique"] != REFIT]
        return rows[rows["level"] > 0]

    @cached_property
    def clean_rows(self) -> pd.DataFrame:
        """The means of the same parts and techniques without planted bias."""
        rows = self._dose_means[self._dose_means["technique"] != REFIT]
        return rows[rows["level"] == 0]

    @cached_property
    def refit_rows(self) -> pd.DataFrame:
        """The means of the refit at the same levels: how far the untreated learner is from itself."""
        return self._dose_means[(self._dose_means["technique"] == REFIT) & (self._dose_means["level"] > 0)]

    @property
    def advice_parts(self) -> list[str]:
        """The parts that advice is fitted on and that have rows."""
        present = set(self.means["part"])
        return [name for name in self.atlas.advice or tuple(self.atlas.parts) if name in present] or [LITE]

    @cached_property
    def entries(self) -> Mapping[str, TechniqueEntry]:
        """The entries of the parts' techniques, by their names."""
        parts = self.manifest["parts"].values()
        return {
            name: TechniqueEntry.model_validate(entry)
            for part in parts
            for name, entry in part["entries"].items()
        }

    @cached_property
    def _dose_means(self) -> pd.DataFrame:
        rows = self.means[self.means["part"].isin(self.advice_parts) & (self.means["pooled"] == 1)]
        return rows[rows["unit"] == "dose"]

    @cached_property
    def dose_features(self) -> pd.DataFrame:
        """The features of data with planted bias, in the first part of the file that has the level."""
        rows = self.features.drop_duplicates(list(LEVEL))
        return rows[rows["unit"] == "dose"]


def has_tables(folder: Path) -> bool:
    """Return whether a folder has the tables of an atlas."""
    return (folder / MANIFEST).is_file()


def read_tables(folder: Path) -> Tables:
    """Return the tables in a folder; a ReportError says that they are missing."""
    means, features = (
        read_table(folder / name, columns)
        for name, columns in ((MEANS, MEAN_COLUMNS), (FEATURES, FEATURE_COLUMNS))
    )
    with _present(folder / MANIFEST) as path:
        return Tables(means, features, json.loads(path.read_bytes()))


def read_table(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a table of an atlas, from its plain or packed file; a ReportError says that it is missing."""
    with _present(file) as path:
        return _read(plain_or_packed(path), columns)


@contextmanager
def _present(file: Path) -> Iterator[Path]:
    try:
        yield file
    except OSError as error:
        raise ReportError(
            f"{file.parent} has no tables of an atlas",
            expected=file.name,
            got=str(error),
            remedy="run the atlas into this folder: betabench run --experiment atlas --output FOLDER",
        ) from error


TEXTS = frozenset(
    {"version", "part", "dataset", "card", "cluster", "bias", "unit", "classifier", "technique", "knows"}
    | {"half", "reason_restore", "reason_equalize", "goal", "scenarios", "recommender", "against"}
    | {"chosen", "effect", "claim", "text", "fate", "evidence"}
)
"""Columns of texts."""


def _read(source: Path | io.StringIO, columns: tuple[str, ...]) -> pd.DataFrame:
    spelled = {text: name for name in columns for text in (name, name.replace(BRITISH[1], BRITISH[0]))}
    frame = pd.read_csv(
        source,
        dtype={text: str for text, name in spelled.items() if name in TEXTS},
        keep_default_na=False,
        na_values={text: [""] for text, name in spelled.items() if name not in TEXTS},
    ).rename(columns=spelled)
    if "goal" in frame:
        frame["goal"] = frame["goal"].replace(*BRITISH)
    return frame[list(columns)]
