"""The numbers of a run as the page's scripts read them.

Arrays travel as base64 of little-endian 32-bit floats, with the axes level of bias, technique, metric and,
for the single values, repetition: a tenth of what the tidy file takes, and seven digits of every number.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark.columns import EACH_OWN, OWN, UNTREATED
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.frames import Scenario, distinguishing_names
from benchmark.runs.standing_marks import BELOW_CONSTANT, DEGENERATE, INSIDE_FRONTIER, ONE_GROUP
from benchmark.statistics import paired_comparisons
from benchmark.statistics.answers import (
    ACCEPTANCE,
    ACCURACY,
    CHEAP,
    DISCRIMINATION,
    LEAST,
    NEARLY_ALL,
    random_accuracy,
)
from benchmark.statistics.frames import Baseline, to_cells
from benchmark.statistics.intervals import CONFIDENCE
from benchmark.statistics.unprocessing import INSIDE, curves_of
from benchmark.tables.answers import (
    CANDIDATE,
    INSIDE_NOTE,
    INSIDE_WORDS,
    LEVELS_DOWN,
    LEVELS_DOWN_NOTE,
    RANDOM,
    RANDOM_REMARK,
    SAME_ANSWER,
    UNKNOWN_SHARES,
    choice_title,
    reading,
    scenario_notes,
)

_AXES = ("beta", "technique", "metric")

# What the scripts call the marks and dashes of benchmark.figures.style.
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


def page_numbers(statistics: RunStatistics) -> dict[str, Any]:
    """Return what the page shows and computes with, ready for JSON.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.folder_statistics`.

    Returns
    -------
    dict
        Names, looks, and for each scenario the intervals of the statistics, the differences to its baseline
        and to doing nothing, and all values, with which the page compares to any other technique.
    """
    run = statistics.run
    compared = _comparisons(statistics)
    found = _scenarios(statistics)
    names = distinguishing_names(scenario.key for scenario in found)
    n_most = int(statistics.results["repetition"].max()) + 1
    return {
        "name": run.name,
        "alpha": statistics.alpha,
        "rope": statistics.rope,
        "flips": statistics.n_flips,
        # Repetitions that overlap: neither interval nor test of single values is computed on the page.
        "overlapping": statistics.resampling is not None,
        "signs": {
            "degenerate": DEGENERATE,
            "below": BELOW_CONSTANT,
            "oneGroup": ONE_GROUP,
            "levelsDown": LEVELS_DOWN,
            "inside": INSIDE_FRONTIER,
        },
        "nearlyAll": NEARLY_ALL,
        "reading": reading(run),
        "namesTests": statistics.names_tests,
        "unknownShares": UNKNOWN_SHARES,
        "sameAnswer": SAME_ANSWER,
        "candidate": CANDIDATE,
        "choices": {name: choice_title(name, statistics.rope) for name in (LEAST, CHEAP)},
        "levelsDown": LEVELS_DOWN_NOTE,
        "inside": {"words": INSIDE_WORDS, "note": INSIDE_NOTE},
        "random": {"title": RANDOM, "remark": RANDOM_REMARK},
        **({"ownTitle": EACH_OWN} if OWN in run.classifiers else {}),
        # Of Student's distribution, by degrees of freedom from 1.
        "quantiles": [round(float(stdtrit(df, (1 + CONFIDENCE) / 2)), 6) for df in range(1, max(2, n_most))],
        "techniques": [
            {"name": name, "title": title or name, **_look(i)}
            for i, (name, title) in enumerate(run.titles.items())
        ],
        "metrics": [
            {
                "name": name,
                "title": statistics.title(name),
                "ideal": None if goal.ideal is None or np.isinf(goal.ideal) else goal.ideal,
                "direction": goal.direction,
            }
            for name, goal in statistics.metrics.items()
        ],
        "scenarios": [_scenario(statistics, own, names[own.key], compared) for own in found],
    }


def as_script(content: object) -> str:
    """Return JSON that may stand in a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _look(position: int) -> dict[str, str]:
    from benchmark.figures.style import line_style

    style = line_style(position)
    line = style["linestyle"]
    dash = line if isinstance(line, str) else ",".join(f"{2 * length:g}px" for length in line[1])
    return {"color": style["color"], "symbol": _SYMBOLS[style["marker"]], "dash": dash}


def _comparisons(statistics: RunStatistics) -> list[pd.DataFrame]:
    """Return the differences to each dataset's baseline, and to doing nothing where that is another one."""
    results = statistics.results
    others = [
        place for place, own in statistics.baselines.by.items() if isinstance(own, str) and own != UNTREATED
    ]
    own = results[pd.MultiIndex.from_frame(results[["dataset", "classifier"]]).isin(others)]
    if UNTREATED not in set(own["technique"]):
        return [statistics.comparisons]
    others_compared = paired_comparisons(
        to_cells(own, statistics.resampling), UNTREATED, statistics.goals, alpha=statistics.alpha
    )
    return [statistics.comparisons, others_compared]


def _scenarios(statistics: RunStatistics) -> list[Scenario]:
    """Return the scenarios that were tried, in the order of the experiment."""
    run = statistics.run

    def place(scenario: Scenario) -> tuple[int, ...]:
        biases = [bias.name for bias in scenario.dataset.biases]
        classifier = run.classifiers.index(scenario.classifier)
        test = run.tests.index(scenario.test)
        return run.datasets.index(scenario.dataset), biases.index(scenario.bias), classifier, test

    return sorted(statistics.scenarios, key=place)


def _scenario(
    statistics: RunStatistics, scenario: Scenario, names: Sequence[str], compared: Sequence[pd.DataFrame]
) -> dict[str, Any]:
    run, dataset, metrics = statistics.run, scenario.dataset, list(statistics.metrics)
    own = scenario.rows(statistics.results)
    tried, baseline = set(own["technique"]), statistics.baseline_of(scenario)
    techniques = [name for name in run.titles if name in tried]
    cells = pd.MultiIndex.from_product([run.betas, techniques, metrics], names=_AXES)
    shown = _on(cells, scenario.rows(statistics.intervals))
    values = own.pivot_table(
        index=list(_AXES), columns="repetition", values="value", sort=False, dropna=False
    )
    return {
        "dataset": dataset.name,
        "bias": scenario.bias,
        "classifier": scenario.classifier,
        "test": scenario.test,
        "title": scenario.heading,
        "file": ", ".join([dataset.name, *names]),
        "baseline": baseline if isinstance(baseline, str) else OWN,
        **({} if isinstance(baseline, str) else {"own": dict(baseline)}),
        "embedded": dataset.embedded,
        "notes": scenario_notes(scenario),
        "inert": scenario.inert,
        "warnings": _warnings(scenario),
        "betas": list(run.betas),
        "techniques": [list(run.titles).index(name) for name in techniques],
        **{name: _packed(shown[name].fillna(0)) for name in ("n", "missing")},
        **{name: _packed(shown[name]) for name in ("mean", "ci_low", "ci_high")},
        "values": _packed(values.reindex(cells)),
        "width": values.shape[1],
        "compared": {
            name: _compared(_on(cells, found))
            for frame in compared
            for name, found in _by_baseline(scenario.rows(frame), baseline)
        },
        "constant": _constant(scenario),
        "random": random_accuracy(scenario.constant_accuracy) if scenario.best_constant else None,
        "frontier": _frontier(statistics, scenario),
        **_standing(statistics, scenario, techniques),
        "reasons": _reasons(scenario.rows(run.failures), run.betas, techniques, metrics),
    }


def _by_baseline(rows: pd.DataFrame, baseline: Baseline) -> Iterable[tuple[str, pd.DataFrame]]:
    if not isinstance(baseline, str):
        return [(OWN, rows)] if len(rows) else []
    return ((str(name), found) for name, found in rows.groupby("baseline"))


def _constant(scenario: Scenario) -> dict[str, Any] | None:
    if (constant := scenario.best_constant) is None:
        return None
    return {"accuracy": constant.accuracy, "words": constant.words}


def _frontier(statistics: RunStatistics, scenario: Scenario) -> list[dict[str, Any]]:
    """Return level of bias and coordinates of each unprocessing frontier that a scenario is compared with."""
    curves = curves_of(statistics.frontier, scenario.key)
    return [
        {
            "beta": float(str(beta)),
            "x": own[DISCRIMINATION].round(6).tolist(),
            "y": own[ACCURACY].round(6).tolist(),
        }
        for beta, own in (curves.groupby("beta") if len(curves) else ())
    ]


def _standing(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> dict[str, Any]:
    """Return who is accepted, and by position of beta and technique which classifiers are of no use."""
    betas = statistics.run.betas
    cells = pd.MultiIndex.from_product([betas, techniques], names=_AXES[:2])
    standing = scenario.rows(statistics.standing).set_index(list(_AXES[:2])).reindex(cells)
    where = [f"{i},{j}" for i in range(len(betas)) for j in range(len(techniques))]
    gaps = scenario.rows(statistics.frontier_gaps).set_index(list(_AXES[:2]))["standing"].reindex(cells)
    shares = scenario.rows(statistics.answers).set_index(list(_AXES[:2])).reindex(cells)[list(ACCEPTANCE)]
    return {
        "accepted": _packed(shares),
        "inside": [cell for cell, standing in zip(where, gaps, strict=True) if standing == INSIDE],
        "degenerate": {
            cell: [int(n), why]
            for cell, n, why in zip(where, standing["n_degenerate"], standing["degenerate"], strict=True)
            if n > 0
        },
        **{
            name: [cell for cell, flag in zip(where, standing[column].eq(True), strict=True) if flag]
            for name, column in (("below", "below_constant"), ("mostlyConstant", "mostly_constant"))
        },
    }


def _warnings(scenario: Scenario) -> list[str]:
    """Return what readers must know before they trust a number."""
    dataset = scenario.dataset
    told = [dataset.warning] if dataset.warning else []
    if scenario.inert:
        told.append(f"Warning: {dataset.inert_warnings[scenario.bias]}")
    told += [f"Note: {note}" for note in dataset.notes]
    return told


def _on(cells: pd.MultiIndex, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index(list(_AXES)).reindex(cells)


def _compared(frame: pd.DataFrame) -> dict[str, str]:
    columns = {
        "n": "n",
        "difference": "difference",
        "low": "difference_low",
        "high": "difference_high",
        "improvement": "improvement",
        "improvementLow": "improvement_low",
        "improvementHigh": "improvement_high",
        "p": "p_permutation_holm",
    }
    return {name: _packed(frame[column]) for name, column in columns.items()}


def _packed(values: pd.DataFrame | pd.Series[Any]) -> str:
    return base64.b64encode(values.to_numpy(dtype="<f4", na_value=np.nan).tobytes()).decode()


def _reasons(
    failures: pd.DataFrame, betas: Sequence[float], techniques: Sequence[str], metrics: Sequence[str]
) -> dict[str, str]:
    """Return by position of beta, technique and metric why values are missing: the most frequent reason.

    A reason that concerns every metric, because the whole cell failed, has no position of a metric.
    """
    found = {}
    for (beta, technique), own in failures.groupby(["beta", "technique"], sort=False):
        where = f"{betas.index(beta)},{techniques.index(technique)}"
        whole = own[own["metric"] == ""]
        if len(whole):
            found[where] = _counted(whole)
        for i, metric in enumerate(metrics):
            if (own["metric"] == metric).any():
                found[f"{where},{i}"] = _counted(own[own["metric"].isin(["", metric])])
    return found


def _counted(failures: pd.DataFrame) -> str:
    counts = (
        failures.groupby(["status", "reason"], sort=False).size().sort_values(ascending=False, kind="stable")
    )
    (status, reason), number = counts.index[0], int(counts.iloc[0])
    others = f"; {int(counts.iloc[1:].sum())} for other reasons" if len(counts) > 1 else ""
    return f"{number} {status.replace('_', ' ')}: {reason}{others}"
