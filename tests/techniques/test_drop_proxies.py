"""Leaving out proxies hides the columns that tell the group, by the association that drafted cards name."""

import numpy as np
import pytest

from benchmark.classifiers import naive_bayes_ranker
from benchmark.data.association import PROXY, cramers_v
from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques import Tools, get_technique
from tests.helpers.tables import table

TOOLS = Tools(lambda c: None, naive_bayes_ranker, np.random.default_rng(0))  # type: ignore[arg-type,return-value]


def rows() -> Table:
    """Draw rows whose first feature is the group with 10 % of errors; the second is by chance."""
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=2000)
    proxy = np.where(rng.random(2000) < 0.1, 1 - group, group)
    return table(list(group), list(rng.integers(2, size=2000)), list(proxy), list(rng.integers(3, size=2000)))


def features(data: Table, **parameters: float) -> tuple[str, ...]:
    technique = get_technique("drop_proxies", **parameters)
    prepared = technique.prepare(data, TOOLS)
    assert prepared.table is data
    assert prepared.features is not None
    return prepared.features


def test_group_and_proxy_are_hidden_and_the_rest_is_not() -> None:
    assert cramers_v(rows().codes[:, rows().schema.index("x0")], rows().deprived) == pytest.approx(
        0.8, abs=0.05
    )
    assert features(rows()) == ("x1",)
    assert features(rows(), threshold=PROXY) == ("x1",)
    assert features(rows(), threshold=0.9) == ("x0", "x1")


def test_columns_that_all_tell_the_group_leave_nothing_to_learn_from() -> None:
    with pytest.raises(DeclinedError, match="leaves nothing to learn from"):
        features(rows(), threshold=0.0)
