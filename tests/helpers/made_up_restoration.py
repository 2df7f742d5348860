"""Statistics with made-up shares of people, each told by the place of a technique in its run."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, GOAL_METRICS, RESTORE
from benchmark.metrics.restoration import RESTORATION
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.answers import with_useful
from benchmark.statistics.cells import SCENARIO, WHERE
from benchmark.statistics.restoration import EFFECT_COLUMNS, RESTORATION_COLUMNS

BETA = 0.5
BASELINE: Mapping[str, float] = {
    name: 0.3 if "place" in name or "distance" in name else 0.0 for name in RESTORATION
}


def with_restoration(statistics: RunStatistics, effects: str = "", beta: float = BETA) -> RunStatistics:
    """Return statistics in which the technique at place i is .1 + .05 i from the clean model.

    It gives back 80 - 5 i %; its other shares are 10 + 5 i %, all shown to be above those of the refit.
    The second technique has an interval of the difference to the refit that holds 0, and the last one no
    shares. All are compared with the first technique.
    """
    names = list(statistics.run.titles)
    rows, reasons = [], []
    for scenario in statistics.scenarios:
        for i, name in enumerate(names):
            baseline = names[0]
            for metric in RESTORATION:
                value = 0.8 - 0.05 * i if "given_back" in metric else 0.1 + 0.05 * i
                value = BASELINE[metric] if name == baseline else value
                if i == len(names) - 1 and metric in RESTORATION[2:]:
                    value = np.nan
                low, high = (0.1, 0.3) if i != 1 else (-0.1, 0.3)
                told = (value, value - 0.3, value + 0.3, 0.7, 0.6, 0.2, low, high, "")
                rows.append((*scenario.key, beta, name, baseline, metric, 4, *told))
        baselines = dict.fromkeys(row[len(SCENARIO) + 2] for row in rows)
        reasons += [(*scenario.key, beta, baseline, "", effects) for baseline in baselines]
    return answered(
        replace(
            statistics,
            restoration=pd.DataFrame(rows, columns=list(RESTORATION_COLUMNS)),
            effects=pd.DataFrame(reasons, columns=list(EFFECT_COLUMNS)),
        )
    )


def answered(statistics: RunStatistics) -> RunStatistics:
    """Return statistics that recommend to restore whatever is of use and nearer than its baseline.

    Those without answers stay as they are.
    """
    if "goal" not in statistics.answers.columns:
        return statistics
    answers = statistics.answers[statistics.answers["goal"] == EQUALIZE]
    told = statistics.restoration
    told = told[told["metric"] == GOAL_METRICS[RESTORE]]
    distance = told.set_index([*WHERE])["value"]
    before = distance.reindex(pd.MultiIndex.from_frame(told.assign(technique=told["baseline"])[[*WHERE]]))
    standing = with_useful(statistics.standing).set_index([*WHERE])["useful"]
    nearer = distance.index[distance.to_numpy() < before.to_numpy() - 0.01]
    keys = pd.MultiIndex.from_frame(answers[[*WHERE]])
    good = keys.isin(nearer) & keys.isin(standing.index[standing])
    verdicts = np.where(answers["role"] == "technique", np.where(good, "helps", "not_shown"), "")
    restore = answers.assign(goal=RESTORE, metric=GOAL_METRICS[RESTORE], verdict=verdicts, reason="")
    return replace(statistics, answers=pd.concat([restore, answers], ignore_index=True))
