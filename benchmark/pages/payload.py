"""The numbers of a run for the page's scripts.

Arrays travel as base64 of little-endian 64-bit floats, with the axes level of bias, technique and metric, so
that scripts round them as Python does. Verdicts and sentences come from :mod:`benchmark.pages.answers`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EQUALISE, GOAL_METRICS, RESTORE
from benchmark.pages.answers import MARKS, against, marks, signs
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario, distinguishing_names
from benchmark.sections.answers import RANDOM, accepts_text, choice_headings, reading, scenario_notes
from benchmark.sections.choices import recommended_rule
from benchmark.sections.data import EMBEDDED
from benchmark.sections.goals import DISTANCE, WORDS, clean_words
from benchmark.sections.holds_up import metric_title, passes, survivors
from benchmark.sections.moved import shows_moved
from benchmark.sections.signs import DEGENERATE
from benchmark.statistics.answer_record import ANSWER_COLUMNS
from benchmark.statistics.answers import (
    ACCEPTANCE,
    ACCURACY,
    DISCRIMINATION,
    random_accuracy,
)
from benchmark.statistics.unprocessing import curves_of

_AXES = ("beta", "technique", "metric")

# The markers of benchmark.figures.style, by name in the scripts.
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
    """Return the page's names, looks, intervals, comparisons and answers, ready for JSON."""
    run, holding = statistics.run, survivors(statistics)
    scenarios = _scenarios(statistics)
    names = distinguishing_names(scenario.key for scenario in scenarios)
    clean = clean_words(statistics.answers, run.titles)
    return {
        "name": run.name,
        "intervals": "Student's" + ", corrected for overlapping splits" * run.protocol.overlaps,
        "tested": run.protocol.test_text,
        "alpha": statistics.alpha,
        "degenerate": DEGENERATE,
        "reading": reading(run, recommended_rule(statistics.answered, statistics.criteria)),
        "level": {
            "name": run.level_name,
            "before": run.level_text(0).removesuffix("0"),
            "one": run.level_sign,
            "several": run.levels_sign,
            "axis": f"Level of bias {run.level_sign}" if run.level_name == "beta" else run.level_axis,
            "limit": run.level_limit,
        },
        "goals": {
            goal: {
                "title": WORDS[goal].title.removeprefix("Goal: "),
                "metric": GOAL_METRICS[goal],
                "choices": choice_headings(goal, statistics.rope, moved=shows_moved(run))[1:],
                "column": WORDS[goal].column,
                "reading": clean + f" {DISTANCE}" * (goal == RESTORE),
            }
            for goal in statistics.answered
        },
        "columns": ANSWER_COLUMNS,
        "marks": MARKS,
        "random": RANDOM,
        "techniques": [
            {"name": name, "title": title or name, **_look(i)}
            for i, (name, title) in enumerate(run.titles.items())
        ],
        "metrics": [
            {
                "name": name,
                "title": statistics.title(name),
                "titleWithGoal": metric_title(statistics, name),
                "ideal": None if goal.ideal is None or np.isinf(goal.ideal) else goal.ideal,
                "direction": goal.direction,
            }
            for name, goal in statistics.metrics.items()
        ],
        "scenarios": [
            _scenario(statistics, holding, scenario, names[scenario.key]) for scenario in scenarios
        ],
    }


def as_script(content: object) -> str:
    """Return JSON for a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _look(position: int) -> dict[str, str]:
    from benchmark.figures.style import line_style

    style = line_style(position)
    line = style["linestyle"]
    dash = line if isinstance(line, str) else ",".join(f"{2 * length:g}px" for length in line[1])
    return {"color": style["color"], "symbol": _SYMBOLS[style["marker"]], "dash": dash}


def _scenarios(statistics: RunStatistics) -> list[Scenario]:
    """Return the scenarios that were tried, in the order of the experiment."""
    run = statistics.run

    def position(scenario: Scenario) -> tuple[int, ...]:
        biases = [bias.name for bias in scenario.dataset.bias]
        classifier = run.classifiers.index(scenario.classifier)
        test = run.tests.index(scenario.test)
        return run.datasets.index(scenario.dataset), biases.index(scenario.bias), classifier, test

    return sorted(statistics.scenarios, key=position)


def _scenario(
    statistics: RunStatistics,
    holding: tuple[pd.DataFrame, pd.DataFrame],
    scenario: Scenario,
    names: Sequence[str],
) -> dict[str, Any]:
    run, dataset, metrics = statistics.run, scenario.dataset, list(statistics.metrics)
    tried = set(scenario.rows(statistics.results)["technique"])
    techniques = [name for name in run.titles if name in tried]
    cells = pd.MultiIndex.from_product([run.levels, techniques, metrics], names=_AXES)
    shown = _on(cells, scenario.rows(statistics.intervals))
    shares = _shares(statistics, scenario, techniques)
    baseline = statistics.baseline_of(scenario)
    return {
        "dataset": dataset.name,
        "bias": scenario.bias,
        "classifier": scenario.classifier,
        "test": scenario.test,
        "title": scenario.heading,
        "file": ", ".join([dataset.name, *names]),
        **({"baseline": baseline} if isinstance(baseline, str) else {"own": dict(baseline)}),
        "embedded": dataset.embedded,
        "notes": scenario_notes(scenario, run.titles),
        "inert": scenario.inert,
        "warnings": _warnings(scenario),
        "betas": list(run.levels),
        **({"solved": _solved(scenario, run.levels)} if run.level_name == "dose" else {}),
        "techniques": [list(run.titles).index(name) for name in techniques],
        **{name: _packed(shown[name].fillna(0)) for name in ("n", "missing")},
        **{name: _packed(shown[name]) for name in ("mean", "ci_low", "ci_high")},
        "compared": _compared(statistics, scenario, cells),
        "against": against(statistics, scenario, holding),
        "constant": _constant(scenario),
        "random": random_accuracy(scenario.constant_accuracy)
        if scenario.best_constant and scenario.best_constant.accept is None
        else None,
        "frontier": _frontier(statistics, scenario),
        "accepted": _packed(shares),
        "accepts": [accepts_text(row) for row in shares.itertuples(index=False, name=None)],
        "below": _below(statistics, scenario, techniques),
        "signs": signs(statistics, scenario, techniques),
        "reasons": _reasons(scenario.rows(statistics.failures), run.levels, techniques, metrics),
    }


def _solved(scenario: Scenario, doses: Sequence[float]) -> list[str]:
    """Return the β of each dose, as in files; empty where it is out of reach."""
    bias = next(bias for bias in scenario.dataset.bias if bias.name == scenario.bias)
    betas = {dose.dose: dose.beta for dose in bias.doses}
    return ["" if betas.get(dose) is None else f"{betas[dose]:g}" for dose in doses]


def _constant(scenario: Scenario) -> dict[str, Any] | None:
    if (constant := scenario.best_constant) is None:
        return None
    return {"accuracy": constant.accuracy, "words": constant.words}


def _frontier(statistics: RunStatistics, scenario: Scenario) -> list[dict[str, Any]]:
    """Return level of bias and coordinates of each unprocessing frontier of a scenario."""
    curves = curves_of(statistics.frontier, scenario.key)
    return [
        {
            "beta": float(str(beta)),
            "x": points[DISCRIMINATION].round(6).tolist(),
            "y": points[ACCURACY].round(6).tolist(),
        }
        for beta, points in (curves.groupby("beta") if len(curves) else ())
    ]


def _shares(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> pd.DataFrame:
    """Return the selection rates, by level of bias and technique."""
    cells = pd.MultiIndex.from_product([statistics.run.levels, techniques], names=_AXES[:2])
    answers = statistics.for_goal(EQUALISE).answers
    return scenario.rows(answers).set_index(list(_AXES[:2])).reindex(cells)[list(ACCEPTANCE)]


def _below(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> list[str]:
    """Return positions of level and technique of the rows below the best constant answer."""
    standing, betas = scenario.rows(statistics.standing), statistics.run.levels
    below = standing.loc[standing["below_constant"].eq(True), ["beta", "technique"]]
    return [
        f"{betas.index(b)},{techniques.index(name)}" for b, name in below.itertuples(index=False, name=None)
    ]


def _warnings(scenario: Scenario) -> list[str]:
    """Return the warnings and notes on a scenario's data."""
    dataset = scenario.dataset
    warnings = [EMBEDDED] if dataset.embedded else []
    warnings += [dataset.warning] if dataset.warning else []
    if scenario.inert:
        warnings.append(f"Warning: {dataset.inert_warnings[scenario.bias]}")
    return [*warnings, *(f"Note: {note}" for note in dataset.notes)]


def _on(cells: pd.MultiIndex, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index(list(_AXES)).reindex(cells)


def _compared(statistics: RunStatistics, scenario: Scenario, cells: pd.MultiIndex) -> dict[str, str]:
    """Return the differences to the baseline, and letters for their verdicts."""
    columns = {
        "n": "n",
        "difference": "difference",
        "low": "difference_low",
        "high": "difference_high",
        "p": "p_paired_holm",
    }
    compared = scenario.rows(statistics.compared)
    compared = compared.assign(passes=passes(statistics, compared))
    judged = _on(cells, scenario.rows(statistics.judged))
    numbers = {name: _packed(judged[column]) for name, column in columns.items()}
    return {**numbers, "marks": marks(_on(cells, compared))}


def _packed(values: pd.DataFrame | pd.Series[Any]) -> str:
    return base64.b64encode(values.to_numpy(dtype="<f8", na_value=np.nan).tobytes()).decode()


def _reasons(
    failures: pd.DataFrame, betas: Sequence[float], techniques: Sequence[str], metrics: Sequence[str]
) -> dict[str, str]:
    """Return the most frequent reason for missing values, by position of beta, technique and metric.

    A reason that concerns every metric, because the whole cell failed, has no position of a metric.
    """
    reasons = {}
    for (beta, technique), of_cell in failures.groupby(["beta", "technique"], sort=False):
        where = f"{betas.index(beta)},{techniques.index(technique)}"
        whole = of_cell[of_cell["metric"] == ""]
        if len(whole):
            reasons[where] = _counted(whole)
        for i, metric in enumerate(metrics):
            if (of_cell["metric"] == metric).any():
                reasons[f"{where},{i}"] = _counted(of_cell[of_cell["metric"].isin(["", metric])])
    return reasons


def _counted(failures: pd.DataFrame) -> str:
    counts = (
        failures.groupby(["status", "reason"], sort=False).size().sort_values(ascending=False, kind="stable")
    )
    (status, reason), number = counts.index[0], int(counts.iloc[0])
    others = f"; {int(counts.iloc[1:].sum())} for other reasons" if len(counts) > 1 else ""
    return f"{number} {status.replace('_', ' ')}: {reason}{others}"
