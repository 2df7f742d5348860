"""Alternation tests declared in a file: the dataset, the model and the attributes."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, StrictInt, model_validator

from benchmark.audit.alternation.exchange import (
    VARIANTS,
    Encoding,
    Variant,
    alternation_test,
    polynomial_regression,
    summarise_alternation,
)
from benchmark.data.card import load_card
from benchmark.data.raw import read_files
from benchmark.data.source import ANYWHERE, DataNotFoundError, Sources, read_sources
from benchmark.declarations import load_experiment_file
from benchmark.errors import DataError, UnknownNameError
from benchmark.models import STRICT, Identifier
from benchmark.techniques._checks import one_thread

Names = Annotated[tuple[str, ...], Field(min_length=1)]

KIND = "alternation"
"""Value of ``kind`` in a file of this kind."""

DECIMALS = 6
"""Decimals of all results: further digits are rounding errors of the fit, which differ between machines."""


class AlternationCase(BaseModel):
    """One model: a polynomial regression on some features, trained on some rows."""

    model_config = STRICT

    name: Identifier
    title: str
    positive_target: bool = True  # whether only rows with a positive target count
    features: Names
    degree: StrictInt = Field(default=2, ge=1)
    encoding: Encoding = "one_hot"
    variants: tuple[Variant, ...] = Field(default=VARIANTS, min_length=1)


class AlternationExperiment(BaseModel):
    """The content of an experiment file of kind "alternation"."""

    model_config = STRICT

    kind: Literal["alternation"]
    name: Identifier  # name of the folder of results
    title: str  # a line for headings
    description: str = ""
    card: str  # a shipped card's name, or a path relative to the file
    target: str  # column of numbers that is predicted
    unit: str = ""  # unit of the target
    numeric: tuple[str, ...] = ()  # features that are numbers; all others are categories
    attributes: Names  # features whose values are exchanged
    keep: dict[str, Names] = {}  # raw values of the rows to use, by column of the card
    folds: StrictInt = Field(default=10, ge=2)
    seed: StrictInt = Field(ge=0)  # decides which row is in which fold
    penalty: float = Field(default=1.0, gt=0, allow_inf_nan=False)  # of squared coefficients
    cases: tuple[AlternationCase, ...] = Field(min_length=1)  # figures show the first variant of the first

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [case.name for case in self.cases]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"cases: the name {repeated[0]!r} is used twice; give each its own name")
        if numbers := sorted({*self.attributes} & {*self.numeric}):
            raise ValueError(f"attributes: {numbers[0]!r} is numeric, and only categories can be exchanged")
        for case in self.cases:
            if missing := [name for name in self.attributes if name not in case.features]:
                raise ValueError(f"cases: {case.name!r} lacks the attribute {missing[0]!r} in its features")
            if self.target in case.features:
                raise ValueError(f"cases: {case.name!r} has the target {self.target!r} among its features")
        return self


@dataclass(frozen=True)
class AlternationOutcome:
    """Results of an alternation experiment."""

    # ``case``, then the columns of :func:`~benchmark.audit.alternation.alternation_test`
    results: pd.DataFrame
    summary: pd.DataFrame  # of :func:`~benchmark.audit.alternation.summarise_alternation`
    rows: dict[str, int]  # number of rows by case
    digest: str  # SHA-256 of the used rows and columns, equal for equal data


def load_alternation(name_or_path: str | Path) -> AlternationExperiment:
    """Return the content of an experiment file of kind "alternation", by a shipped name or a path.

    An UnknownNameError means that there is no such file; an ExperimentError that it has another kind, or
    breaks a rule.
    """
    return load_experiment_file(AlternationExperiment, name_or_path, KIND)


def run_alternation(experiment: AlternationExperiment, sources: Sources = ANYWHERE) -> AlternationOutcome:
    """Return the results of an alternation experiment on the raw values of its dataset's files.

    A DataNotFoundError means that the files are missing and cannot be fetched: a learned network cannot stand
    in for them. An UnknownNameError means that the card lacks a column, a DataError that no row is left or
    that values are not numbers.
    """
    frame = _rows(experiment, sources)
    results, rows = [], {}
    with one_thread():
        for case in experiment.cases:
            used = frame[frame[experiment.target] > 0] if case.positive_target else frame
            features = used[list(case.features)].reset_index(drop=True)
            model = polynomial_regression(
                [name for name in case.features if name in experiment.numeric],
                [name for name in case.features if name not in experiment.numeric],
                degree=case.degree,
                penalty=experiment.penalty,
                encoding=case.encoding,
            )
            tested = alternation_test(
                features,
                used[experiment.target].to_numpy(),
                model,
                experiment.attributes,
                variants=case.variants,
                n_folds=experiment.folds,
                seed=experiment.seed,
            )
            tested.insert(0, "case", case.name)
            results.append(tested)
            rows[case.name] = len(used)
    tidy = pd.concat(results, ignore_index=True).round(DECIMALS)
    summary = summarise_alternation(tidy).round(DECIMALS)
    digest = hashlib.sha256(frame.to_csv(index=False, lineterminator="\n").encode()).hexdigest()
    return AlternationOutcome(tidy, summary, rows, digest)


def _rows(experiment: AlternationExperiment, sources: Sources) -> pd.DataFrame:
    """Return the columns that the cases use, of the rows to keep, in the order of the files."""
    card = load_card(experiment.card)
    features = dict.fromkeys(name for case in experiment.cases for name in case.features)
    numeric = [experiment.target, *(name for name in features if name in experiment.numeric)]
    used = [experiment.target, *features]
    for name in (*used, *experiment.numeric, *experiment.keep):
        if name not in card.columns:
            raise UnknownNameError(f"column of the dataset {card.name!r}", name, card.columns)
    try:
        files = read_sources(card, sources)
    except DataNotFoundError as error:
        raise DataNotFoundError(
            f"{error.what}, and its embedded network cannot replace them: it has states of "
            f"{experiment.target!r}, not numbers",
            expected=error.expected,
            got=error.got,
            remedy=error.remedy,
        ) from error
    frames = [pd.DataFrame(records.columns) for records in read_files(card, files)]
    names = {spec.source or name: name for name, spec in card.columns.items()}
    raw = pd.concat(frames, ignore_index=True).rename(columns=names)
    raw = raw[list(dict.fromkeys([*used, *experiment.keep]))].apply(lambda column: column.str.strip())
    selected = pd.Series(True, index=raw.index)
    for name, values in experiment.keep.items():
        selected &= raw[name].isin(values)
    frame = raw.loc[selected, used].reset_index(drop=True)
    if frame.empty:
        raise DataError(
            f"No row of the dataset {card.name!r} is left",
            expected="rows with the values of 'keep'",
            got=f"none among {len(raw):,} rows",
            remedy="write these values as the file has them",
        )
    try:
        numbers: pd.DataFrame = frame.astype(dict.fromkeys(numeric, np.float64))
    except ValueError as error:
        raise DataError(
            f"A numeric column of the dataset {card.name!r} holds other values",
            expected="numbers in " + ", ".join(numeric),
            got=str(error),
            remedy="leave these rows out by 'keep', or the column out of 'numeric'",
        ) from error
    return numbers
