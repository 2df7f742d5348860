"""Statements on sources follow from their means."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import studies.sources.findings as findings
from benchmark.columns import ORIGINAL, RESTORE, TRUTH, hidden_name
from studies.source_means import COLUMNS, REACHED

HIDDEN, DOSES = 0.10, (0.05, 0.10)


@pytest.fixture(scope="module")
def means() -> Iterator[pd.DataFrame]:
    """Means of three sources, which take the place of the committed ones; the third reaches the low dose."""
    rng = np.random.default_rng(0)
    bias, metric = hidden_name("label", HIDDEN), findings.METRICS[RESTORE]
    rows = []
    for source in findings.sources()[:3]:
        where = source, bias
        for level, test in ((0.0, TRUTH), *((dose, ORIGINAL) for dose in DOSES)):
            rows += [
                (*where, level, test, name, "c45", metric, rng.random(), 0.01, 10)
                for name in findings.techniques()
            ]
            rows.append((*where, level, test, "", "", f"tau_of_halves_{RESTORE}", 0.5, np.nan, 10))
        for dose in DOSES:
            reached = float(dose == DOSES[0] or source != findings.sources()[2])
            rows.append((*where, dose, ORIGINAL, "", "", REACHED, reached, np.nan, 10))
    table = pd.DataFrame(rows, columns=COLUMNS)
    cached = findings.means, findings.ranked, findings.planting
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "committed", lambda _: table)
        for function in cached:
            function.cache_clear()
        yield table
    for function in cached:
        function.cache_clear()


@pytest.mark.parametrize("dose", DOSES)
def test_planting_tells_of_all_sources_that_reach_its_dose(means: pd.DataFrame, dose: float) -> None:
    own = findings.planting(RESTORE, HIDDEN, dose)
    reached = findings.sources()[: 3 if dose == DOSES[0] else 2]
    distances = means[means["metric"] == findings.METRICS[RESTORE]].set_index(
        ["dataset", "level", "technique"]
    )
    regrets = []
    for source in reached:
        apparent, true = (distances["mean"].loc[source, level] for level in (dose, 0.0))
        regrets.append(true[apparent.idxmin()] - true.min())
    assert own.regrets["own"] == pytest.approx(regrets)
    assert np.isfinite([own.tau, own.ceiling, *own.regrets.values()]).all()
