"""The harness that one would write first, from pgmpy, aif360, pandas, scikit-learn and fairlearn.

It answers the same question as a block of the paper's experiment. Where aif360 has the technique it is
called; the rest is plain pandas. The classifier is scikit-learn's tree on one-hot columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fairlearn.metrics as fm
import pandas as pd
from aif360.algorithms.preprocessing import DisparateImpactRemover, Reweighing
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmark.data.table import Schema
from tools.performance import plain
from tools.performance.techniques import as_aif360
from tools.performance.timing import optional

__all__ = ["naive_block"]


def naive_block(
    model: Any, n_rows: int, test: pd.DataFrame, schema: Schema, techniques: list[str], seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Draw one training sample; yield each technique with its metrics on the test rows."""
    roles = plain.Roles.of(schema)
    states = {column.name: pd.CategoricalDtype(list(column.states)) for column in schema.columns}
    train = model.simulate(n_rows, seed=seed, show_progress=False)[list(schema.names)].astype(states)
    for technique in techniques:
        frame, weights = _mitigated(technique, train, schema, roles, seed)
        features = list(frame.columns.drop(roles.label))
        if technique == "drop_sensitive":
            features.remove(roles.sensitive)
        encoder = OneHotEncoder(handle_unknown="ignore").fit(frame[features])
        tree = DecisionTreeClassifier(random_state=seed)
        tree.fit(encoder.transform(frame[features]), frame[roles.label] == roles.favorable, weights)
        yield technique, _judged(tree.predict(encoder.transform(test[features])), test, roles)


def _mitigated(technique: str, train: pd.DataFrame, schema: Schema, roles: plain.Roles, seed: int) -> Any:
    if technique == "reweighing":
        groups = {"unprivileged_groups": [{roles.sensitive: 1}], "privileged_groups": [{roles.sensitive: 0}]}
        return train, Reweighing(**groups).fit_transform(as_aif360(train, schema)).instance_weights
    if technique == "massaging":
        return plain.massaging(train, roles), None
    if technique == "uniform_sampling":
        return plain.uniform_sampling(train, roles, seed), None
    if technique == "preferential_sampling":
        return plain.preferential_sampling(train, roles), None
    if technique.startswith("repair"):
        return _repaired(train, schema, roles, float(technique.partition("_")[2]), seed), None
    return train, None


def _repaired(train: pd.DataFrame, schema: Schema, roles: plain.Roles, level: float, seed: int) -> Any:
    """Repair by aif360, which treats codes as numbers and needs BlackBoxAuditing; else by pandas."""
    if optional("BlackBoxAuditing")[0] is None:
        return plain.repair(train, roles, level, seed)
    remover = DisparateImpactRemover(repair_level=level, sensitive_attribute=roles.sensitive)
    repaired = remover.fit_transform(as_aif360(train, schema))
    codes = pd.DataFrame(repaired.features, columns=repaired.feature_names).round().astype(int)
    frame = train.copy()
    for name in codes.columns.drop(roles.sensitive):
        frame[name] = pd.Categorical.from_codes(codes[name], dtype=train[name].dtype)
    return frame


def _judged(predicted: Any, test: pd.DataFrame, roles: plain.Roles) -> dict[str, float]:
    """Return the paper's four metrics and the usual ones of two groups."""
    deprived, favorable = roles.masks(test)
    rates = {"selection": fm.selection_rate, "fpr": fm.false_positive_rate, "fnr": fm.false_negative_rate}
    given = {"y_true": favorable, "y_pred": predicted, "sensitive_features": deprived}
    by_group = fm.MetricFrame(metrics=rates, **given).by_group
    return {
        "accuracy": accuracy_score(favorable, predicted),
        "discrimination": by_group["selection"][False] - by_group["selection"][True],
        "overestimation": by_group["fpr"][False] - by_group["fpr"][True],
        "underestimation": by_group["fnr"][True] - by_group["fnr"][False],
        "demographic_parity_ratio": fm.demographic_parity_ratio(**given),
        "equalized_odds_difference": fm.equalized_odds_difference(**given),
    }
