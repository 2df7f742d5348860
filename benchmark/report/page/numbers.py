"""The numbers of a run as the page's scripts read them.

Arrays travel as base64 of little-endian 32-bit floats, with the axes level of bias, technique, metric and,
for the single values, repetition: a tenth of what the tidy file takes, and seven digits of every number.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark.metrics import Metric, list_metrics
from benchmark.report.compare_inputs import FinishedRun, RunDataset
from benchmark.statistics import Goal, cell_intervals, paired_comparisons
from benchmark.statistics.bootstrap import CONFIDENCE, N_RESAMPLES
from benchmark.statistics.frames import SCENARIO

__all__ = ["UNTREATED", "Undeclared", "as_script", "goals_of", "page_numbers"]

UNTREATED = "none"
"""The technique that every dataset is compared with besides its own baseline, where the run has it."""

_INTERVALS = ("", "bca", "percentile")
_AXES = ("beta", "technique", "metric")

# What the scripts call the marks and dashes of benchmark.report.style.
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "X": "x",
    "<": "triangle-left",
    ">": "triangle-right",
}


@dataclass(frozen=True)
class Undeclared:
    """Stands for a metric of a plugin that is not loaded: nobody knows which of its values are good."""

    title: str
    ideal: float | None = None
    direction: str = "none"


def goals_of(metrics: Sequence[str]) -> dict[str, Metric | Undeclared]:
    """Return the declaration of each metric."""
    known = list_metrics()
    return {name: known.get(name) or Undeclared(name) for name in metrics}


def page_numbers(run: FinishedRun, results: pd.DataFrame) -> dict[str, Any]:
    """Return what the page shows and computes with, ready for JSON.

    Parameters
    ----------
    run : FinishedRun
        What :func:`~benchmark.report.compare_inputs.read_run` returns.
    results : DataFrame
        What :func:`~benchmark.report.compare_inputs.read_results` returns.

    Returns
    -------
    dict
        Names, looks, and for each scenario the intervals of
        :func:`~benchmark.statistics.cell_intervals`, the differences of
        :func:`~benchmark.statistics.paired_comparisons` to its baseline and to doing nothing, and all
        values, with which the page compares to any other technique.
    """
    metrics = list(dict.fromkeys(results["metric"]))
    goals = goals_of(metrics)
    intervals = cell_intervals(results, seed=run.seed)
    compared = list(_comparisons(run, results, goals))
    n_most = int(results["repetition"].max()) + 1
    return {
        "name": run.name,
        "confidence": CONFIDENCE,
        "resamples": N_RESAMPLES,
        "intervals": _INTERVALS,
        # Of Student's distribution, by degrees of freedom from 1.
        "quantiles": [round(float(stdtrit(df, (1 + CONFIDENCE) / 2)), 6) for df in range(1, max(2, n_most))],
        "techniques": [
            {"name": name, "title": title or name, **_look(i)}
            for i, (name, title) in enumerate(run.techniques.items())
        ],
        "metrics": [
            {
                "name": name,
                "title": goal.title,
                "ideal": None if goal.ideal is None or np.isinf(goal.ideal) else goal.ideal,
                "direction": goal.direction,
            }
            for name, goal in goals.items()
        ],
        "scenarios": [
            _scenario(run, dataset, key, results, intervals, compared)
            for dataset in run.datasets
            for key in _keys(run, dataset, results)
        ],
    }


def as_script(content: object) -> str:
    """Return JSON that may stand in a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _look(position: int) -> dict[str, str]:
    from benchmark.report.style import line_style

    style = line_style(position)
    line = style["linestyle"]
    dash = line if isinstance(line, str) else ",".join(f"{2 * length:g}px" for length in line[1])
    return {"color": style["color"], "symbol": _SYMBOLS[style["marker"]], "dash": dash}


def _comparisons(
    run: FinishedRun, results: pd.DataFrame, goals: Mapping[str, Goal]
) -> Iterator[tuple[str, pd.DataFrame]]:
    baselines = {dataset.name: {dataset.baseline, UNTREATED} for dataset in run.datasets}
    for baseline in run.techniques:
        of = [name for name, wanted in baselines.items() if baseline in wanted]
        own = results[results["dataset"].isin(of)]
        if (own["technique"] == baseline).any():
            yield baseline, paired_comparisons(own, baseline, goals, seed=run.seed)


def _keys(run: FinishedRun, dataset: RunDataset, results: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return dataset, bias and classifier of all that was tried, in the order of the experiment."""
    tried = pd.concat([results[list(SCENARIO)], run.failures[list(SCENARIO)]]).drop_duplicates()
    found = set(tried.itertuples(index=False, name=None))
    keys = [(dataset.name, bias, classifier) for bias in dataset.biases for classifier in run.classifiers]
    return [key for key in keys if key in found]


def _scenario(
    run: FinishedRun,
    dataset: RunDataset,
    key: tuple[str, str, str],
    results: pd.DataFrame,
    intervals: pd.DataFrame,
    compared: Sequence[tuple[str, pd.DataFrame]],
) -> dict[str, Any]:
    own, failures = _rows(results, key), _rows(run.failures, key)
    tried = {*own["technique"], *failures["technique"]}
    techniques = [name for name in run.techniques if name in tried]
    metrics = list(dict.fromkeys(results["metric"]))
    cells = pd.MultiIndex.from_product([run.betas, techniques, metrics], names=_AXES)
    shown = _on(cells, _rows(intervals, key))
    values = own.pivot_table(
        index=list(_AXES), columns="repetition", values="value", sort=False, dropna=False
    )
    names = [dataset.name]
    names += [key[1]] if len(dataset.biases) > 1 else []
    names += [key[2]] if len(run.classifiers) > 1 else []
    return {
        "dataset": key[0],
        "bias": key[1],
        "classifier": key[2],
        "title": ", ".join(names),
        "baseline": dataset.baseline,
        "embedded": dataset.embedded,
        "warning": dataset.warning,
        "betas": list(run.betas),
        "techniques": [list(run.techniques).index(name) for name in techniques],
        "repetitions": run.repetitions,
        "n": _packed(shown["n"].fillna(0)),
        **{name: _packed(shown[name]) for name in ("mean", "ci_low", "ci_high")},
        "interval": _packed(shown["interval"].map({name: i for i, name in enumerate(_INTERVALS)})),
        "values": _packed(values.reindex(cells)),
        "width": values.shape[1],
        "compared": {
            baseline: _compared(_on(cells, found))
            for baseline, frame in compared
            if len(found := _rows(frame, key))
        },
        "reasons": _reasons(failures, run.betas, techniques),
    }


def _rows(frame: pd.DataFrame, key: tuple[str, str, str]) -> pd.DataFrame:
    dataset, bias, classifier = key
    of = (frame["dataset"] == dataset) & (frame["bias"] == bias) & (frame["classifier"] == classifier)
    return frame[of]


def _on(cells: pd.MultiIndex, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index(list(_AXES)).reindex(cells)


def _compared(frame: pd.DataFrame) -> dict[str, str]:
    columns = {
        "n": "n",
        "difference": "difference",
        "low": "difference_low",
        "high": "difference_high",
        "improvement": "improvement",
        "p": "p_permutation_holm",
    }
    return {name: _packed(frame[column]) for name, column in columns.items()}


def _packed(values: pd.DataFrame | pd.Series[Any]) -> str:
    return base64.b64encode(values.to_numpy(dtype="<f4", na_value=np.nan).tobytes()).decode()


def _reasons(failures: pd.DataFrame, betas: Sequence[float], techniques: Sequence[str]) -> dict[str, str]:
    """Return by position of beta and technique why values are missing: the most frequent reason first."""
    found = {}
    for (beta, technique), own in failures.groupby(["beta", "technique"], sort=False):
        once = own.drop_duplicates(["repetition", "status", "reason"])
        counts = (
            once.groupby(["status", "reason"], sort=False).size().sort_values(ascending=False, kind="stable")
        )
        (status, reason), number = counts.index[0], int(counts.iloc[0])
        others = f"; {int(counts.iloc[1:].sum())} for other reasons" if len(counts) > 1 else ""
        found[f"{betas.index(beta)},{techniques.index(technique)}"] = f"{number} {status}: {reason}{others}"
    return found
