"""Recommenders: rules that choose a technique for data that they have not seen."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.features import FEATURES
from benchmark.atlas.scenarios import SCENARIO, Scenarios
from benchmark.statistics.cells import Array
from benchmark.statistics.recommendation import EQUAL

NOTHING, DROP, AVERAGE, KIND, WRONG_KIND = "nothing", "drop", "average", "kind", "wrong_kind"
DATA, PLANTING, BOTH, RANDOM, ORACLE = "data", "planting", "data_and_planting", "random", "oracle"

LETTERS = {
    NOTHING: "(a) do nothing",
    DROP: "(b) leave the group out",
    AVERAGE: "(c) the best on average elsewhere",
    KIND: "(d) the best elsewhere for this kind and dose",
    WRONG_KIND: "(d') the same, told a wrong kind",
    DATA: "(e) predicted from features of the data",
    PLANTING: "(f) planting in one's rows",
    BOTH: "(g) features of the data and planting",
    RANDOM: "(h) at random",
    ORACLE: "(i) the oracle",
}
"""Recommenders by name, in words."""

DROP_TECHNIQUE = "drop_sensitive"
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Penalties of the ridge regression, of which the other clusters choose one."""


@dataclass(frozen=True, eq=False)
class Choices:
    """What a recommender scores in each scenario: the mean over both halves of the splits."""

    score: Array  # (n_scenarios,)
    chosen: tuple[str, ...]  # names of techniques; several names are separated by blanks


def recommended(scenarios: Scenarios, features: pd.DataFrame) -> dict[str, Choices]:
    """Return the choices of all recommenders that need no planting, by name, the oracle among them.

    ``features`` has the columns SCENARIO without the classifier, and :data:`FEATURES`. Whatever is fitted for
    a scenario is fitted without the scenarios that are left out with it.
    """
    design = _design(scenarios.frame, features)
    return {**_fixed(scenarios), **_fitted(scenarios, design, scenarios, design)}


def recommended_with_planting(
    truth: Scenarios,
    apparent: Scenarios,
    elsewhere: Scenarios,
    features: pd.DataFrame,
    features_elsewhere: pd.DataFrame,
) -> dict[str, Choices]:
    """Return the choices of all recommenders for rows whose labels hide bias, by name.

    ``truth`` and ``apparent`` have the same scenarios, with true values, and with the values that planting on
    top shows. ``elsewhere`` are scenarios with planted bias, which advice is fitted on.
    """
    design = _design(truth.frame, features, elsewhere.frame)
    others = _design(elsewhere.frame, features_elsewhere)
    choices = {**_fixed(truth), **_fitted(elsewhere, others, truth, design)}
    # What was planted on the rows of one half is scored on the other.
    choices[PLANTING] = _by_other_half(truth, apparent.choice_of_oracle)
    choices[BOTH] = _stacked(truth, apparent, elsewhere, others, design)
    return choices


def _fixed(scenarios: Scenarios) -> dict[str, Choices]:
    n = len(scenarios.frame)
    drop = scenarios.techniques.index(DROP_TECHNIQUE)
    others = scenarios.run.copy()
    others[:, 0] = False
    random = np.where(others, scenarios.score, np.nan)
    return {
        NOTHING: _always(scenarios, np.zeros(n, dtype=np.intp)),
        DROP: _always(scenarios, np.full(n, drop)),
        RANDOM: Choices(np.nanmean(random, axis=2).mean(axis=0), ("",) * n),
        ORACLE: _by_other_half(scenarios, scenarios.choice_of_oracle),
    }


def _always(scenarios: Scenarios, technique: NDArray[np.intp]) -> Choices:
    """Return the scores of one technique for each scenario."""
    rows = np.arange(len(technique))
    names = tuple(scenarios.techniques[i] for i in technique)
    return Choices(scenarios.score[:, rows, technique].mean(axis=0), names)


def _by_other_half(scenarios: Scenarios, chosen: NDArray[np.intp]) -> Choices:
    """Return the scores of techniques that one half chose, shape (2, n_scenarios), in the other half."""
    names = ((scenarios.techniques[i] for i in dict.fromkeys(pair)) for pair in chosen.T)
    return Choices(scenarios.by_other_half(chosen), tuple(map(" ".join, names)))


def _fitted(source: Scenarios, source_design: Array, target: Scenarios, design: Array) -> dict[str, Choices]:
    """Return the choices for target scenarios that are fitted on source scenarios of other clusters."""
    n = len(target.frame)
    average, kind = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    wrong_scores, wrong_names = np.full(n, np.nan), np.full(n, "", dtype=object)
    rows = np.arange(n)
    for others, here in _left_out(source, target):
        for classifier in dict.fromkeys(target.frame.loc[here, "classifier"]):
            same, of = others & at(source, classifier), here & at(target, classifier)
            average[of] = _best_on_average(source, same, target.run[of])
            for bias, level in {*target.frame.loc[of, ["bias", "level"]].itertuples(index=False, name=None)}:
                asked, same_level = of & at(target, bias=bias, dose=level), same & at(source, dose=level)
                of_kind = same_level & at(source, bias=bias)
                kind[asked] = _best_on_average(source, of_kind if of_kind.any() else same, target.run[asked])
                wrong = [
                    _best_on_average(source, same_level & at(source, bias=other), target.run[asked])
                    for other in dict.fromkeys(source.frame.loc[same_level, "bias"])
                    if other != bias
                ]
                if wrong:
                    scores = [target.score[:, rows[asked], choice].mean(axis=0) for choice in wrong]
                    wrong_scores[asked] = np.mean(scores, axis=0)
                    names = dict.fromkeys(target.techniques[i] for choice in wrong for i in choice)
                    wrong_names[asked] = " ".join(names)
    choices = {AVERAGE: _always(target, average), KIND: _always(target, kind)}
    choices[WRONG_KIND] = Choices(wrong_scores, tuple(wrong_names))
    predicted = predictions(source, source_design, target, design)
    choices[DATA] = _always(target, highest(predicted, target.run))
    return choices


def _left_out(source: Scenarios, target: Scenarios) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield for each cluster of the target the source scenarios of other clusters, and its scenarios."""
    for cluster in dict.fromkeys(target.frame["left_out"]):
        yield (
            (source.frame["left_out"] != cluster).to_numpy(),
            (target.frame["left_out"] == cluster).to_numpy(),
        )


def at(
    scenarios: Scenarios, learner: str | None = None, bias: str | None = None, dose: float | None = None
) -> NDArray[np.bool_]:
    """Return which scenarios have a learner, a kind of bias and a dose, as far as they are given."""
    of = np.ones(len(scenarios.frame), dtype=bool)
    for name, value in {"classifier": learner, "bias": bias, "level": dose}.items():
        if value is not None:
            of &= (scenarios.frame[name] == value).to_numpy()
    return of


def cluster_means(frame: pd.DataFrame, values: Array, by: str = "cluster") -> pd.DataFrame:
    """Return means over scenarios, then over datasets, for each cluster; a row each, sorted by name.

    ``values`` have shape (n_scenarios,) or (n_scenarios, n_columns); NaN is left out.
    """
    columns = pd.DataFrame(np.asarray(values, dtype=float))
    of_datasets = columns.groupby([frame[by].to_numpy(), frame["dataset"].to_numpy()]).mean()
    return of_datasets.groupby(level=0).mean()


def _best_on_average(source: Scenarios, rows: NDArray[np.bool_], run: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return for each target scenario the technique of the largest mean gain in some source scenarios.

    Clusters count equally. Only techniques count that were tried in all of these clusters, and in the target.
    """
    gains = cluster_means(source.frame[rows], source.gain[rows], "left_out")
    mean = gains.mean().where(gains.notna().all()).to_numpy()
    return highest(np.broadcast_to(mean, run.shape), run)


def best_elsewhere(
    scenarios: Scenarios,
    learner: str,
    candidates: Collection[str],
    *,
    bias: str | None = None,
    dose: float | None = None,
) -> tuple[NDArray[np.intp], str]:
    """Return the best technique for each scenario from other clusters, and the best over all clusters.

    Only scenarios of the learner count in which a candidate was tried, and of the kind of bias and the dose
    if they are given.
    """
    mask = np.array([name in candidates for name in scenarios.techniques])
    run = scenarios.run & mask
    of = at(scenarios, learner, bias, dose) & run.any(axis=1)
    chosen = np.zeros(len(scenarios.frame), dtype=np.intp)
    for others, here in _left_out(scenarios, scenarios):
        chosen[here] = _best_on_average(scenarios, of & others, run[here])
    everywhere = run[of].all(axis=0)[None, :] if of.any() else np.zeros((1, len(mask)), dtype=bool)
    best = int(_best_on_average(scenarios, of, everywhere)[0]) if of.any() else 0
    return chosen, scenarios.techniques[best]


def highest(gain: Array, run: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the technique of the highest gain in each row; doing nothing gains 0 and wins ties."""
    gain = np.where(run & np.isfinite(gain), gain, -np.inf)
    gain[:, 0] = 0.0
    return np.asarray((gain >= gain.max(axis=1, keepdims=True) - EQUAL).argmax(axis=1))


def _design(frame: pd.DataFrame, features: pd.DataFrame, names_of: pd.DataFrame | None = None) -> Array:
    """Return what gains are predicted from, shape (n_scenarios, n_features): see :data:`FEATURES`.

    Rates are logits, numbers of rows and columns logarithms. Dose, kind and learner follow, the last two as
    columns of 0 and 1, by the names in ``names_of``.
    """
    names_of = frame if names_of is None else names_of
    where = [name for name in SCENARIO if name != "classifier"]
    features = features[[*where, *FEATURES]]
    table = frame[list(SCENARIO)].merge(features, on=where, how="left", validate="many_to_one")

    def logit(share: pd.Series) -> Array:
        clipped = share.clip(0.001, 0.999).to_numpy(dtype=float)
        return np.asarray(np.log(clipped / (1 - clipped)))

    columns = [
        logit(table["rate_deprived"]),
        logit(table["rate_favored"]),
        table["rate_favored"] - table["rate_deprived"],
        logit(table["share_deprived"]),
        table["group_auc"],
        table["label_auc"],
        table["strongest_proxy"],
        np.log(table["rows"]),
        np.log(table["columns"]),
        table["level"],
        *(table["bias"] == bias for bias in sorted({*names_of["bias"]})),
        *(table["classifier"] == name for name in sorted({*names_of["classifier"]})),
    ]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


def predictions(source: Scenarios, source_design: Array, target: Scenarios, design: Array) -> Array:
    """Return predicted gains of the techniques in target scenarios, shape (n_scenarios, n_techniques).

    They are a ridge regression for each technique, fitted on the source scenarios of other clusters. Clusters
    count equally, and datasets within them. The penalty is the one with the least error in clusters that are
    left out of these in turn.
    """
    predicted = np.full((len(target.frame), len(target.techniques)), np.nan)
    weights = _weights(source.frame)  # those of a cluster do not depend on other clusters
    for others, here in _left_out(source, target):
        part = source.take(others)
        predicted[here] = _ridge(part, source_design[others], weights[others], design[here])
    return predicted


def predicted_elsewhere(
    source: Scenarios, features: pd.DataFrame, frame: pd.DataFrame, own_features: pd.DataFrame
) -> Array:
    """Return predicted gains in data that are none of the atlas's, shape (n_rows, n_techniques).

    ``frame`` has the columns SCENARIO, and ``own_features`` as many rows as it has datasets, biases and
    levels, with the columns of ``features``.
    """
    design, own_design = _design(source.frame, features), _design(frame, own_features, source.frame)
    return _ridge(source, design, _weights(source.frame), own_design)


def _ridge(source: Scenarios, design: Array, weights: Array, target: Array) -> Array:
    clusters, gain = source.frame["left_out"].to_numpy(), source.gain
    if len(np.unique(clusters)) < 2:  # there is no other cluster to choose the penalty by
        return np.full((len(target), gain.shape[1]), np.nan)
    errors = np.zeros(len(PENALTIES))
    for cluster in np.unique(clusters):
        inside = clusters == cluster
        fitted = _fit(design[~inside], gain[~inside], weights[~inside], design[inside])
        missed = (fitted - gain[inside]) ** 2
        errors += np.nansum(missed * weights[inside][None, :, None], axis=(1, 2))
    penalty = int(np.argmin(errors))
    return np.asarray(_fit(design, gain, weights, target)[penalty])


def _weights(frame: pd.DataFrame) -> Array:
    """Return weights of scenarios by which clusters, and datasets within them, count equally."""
    in_dataset = frame.groupby(["left_out", "dataset"])["bias"].transform("size")
    n_datasets = frame.groupby("left_out")["dataset"].transform("nunique")
    return np.asarray(1.0 / (in_dataset * n_datasets), dtype=float)


def _fit(design: Array, gain: Array, weights: Array, target: Array) -> Array:
    """Return predictions with each penalty, shape (n_penalties, n_targets, n_techniques).

    A penalty stands beside the weighted mean of squared errors.
    """
    from sklearn.linear_model import Ridge

    share = weights / weights.sum()
    center = share @ design
    spread = np.sqrt(share @ (design - center) ** 2)
    spread[spread < EQUAL] = 1.0
    # A feature that is missing in the target counts as average.
    X, Z = (design - center) / spread, np.nan_to_num((target - center) / spread)
    fitted = np.full((len(PENALTIES), len(target), gain.shape[1]), np.nan)
    present, pattern = np.unique(np.isfinite(gain), axis=1, return_inverse=True)
    for number, rows in enumerate(present.T):  # techniques that were tried in the same scenarios
        if rows.sum() < 2:
            continue
        columns = np.flatnonzero(pattern.ravel() == number)
        w, y = weights[rows] / weights[rows].sum(), gain[np.ix_(rows, columns)]
        # One fit for all penalties: each has a copy of the targets.
        ridge = Ridge(np.repeat(PENALTIES, len(columns)), solver="svd")
        ridge.fit(X[rows], np.tile(y, len(PENALTIES)), sample_weight=w)
        fitted[:, :, columns] = ridge.predict(Z).reshape(len(Z), len(PENALTIES), -1).swapaxes(0, 1)
    return fitted


def _stacked(
    truth: Scenarios, apparent: Scenarios, elsewhere: Scenarios, others_design: Array, design: Array
) -> Choices:
    """Return choices by a sum of predicted and apparent gains, weighted as other clusters' true gains ask.

    For each cluster, predictions and weights are fitted without it, those of the other clusters as well.
    """
    n = len(truth.frame)
    chosen = np.zeros((2, n), dtype=np.intp)
    seen = apparent.value[:, :, :1] - apparent.score  # apparent gains of each half
    true = truth.value[:, :, :1] - truth.score
    weights = _weights(truth.frame)
    for remaining, here in _left_out(elsewhere, truth):
        predicted = predictions(elsewhere.take(remaining), others_design[remaining], truth, design)
        tried = truth.run & apparent.run & np.isfinite(predicted)
        for half in (0, 1):
            rows, columns = np.nonzero(tried & ~here[:, None])
            X = np.column_stack([predicted[rows, columns], seen[half, rows, columns]])
            root = np.sqrt(weights[rows])
            slope = np.linalg.lstsq(X * root[:, None], true[1 - half, rows, columns] * root, rcond=None)[0]
            expected = slope[0] * predicted[here] + slope[1] * seen[half][here]
            chosen[half, here] = highest(expected, tried[here])
    return _by_other_half(truth, chosen)


def each(choices: Mapping[str, Choices]) -> Iterator[tuple[str, Choices]]:
    """Yield recommenders in the order of their letters."""
    for name in LETTERS:
        if name in choices:
            yield name, choices[name]
