"""A run's numbers beside published ones: pairs, differences, and agreement of ranks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmark.columns import ORIGINAL
from benchmark.errors import ReportError
from benchmark.runs.finished import FinishedRun
from benchmark.runs.manifest import DatasetDescription, Manifest
from benchmark.statistics.cells import CELL_KEY
from benchmark.text.words import NOT_REAL_LOUD, REAL, SAMPLED
from studies.papers.entry import PublishedDataset, PublishedEntry
from studies.papers.readings import Reading, add_readings

TOLERANCES = (0.02, 0.05)
"""Absolute differences up to which a number counts as repeated, in the units of the metric."""

EMBEDDED = "embedded network"
"""Test data of numbers that were not measured on real data."""

COMPARISON_COLUMNS = (
    *("table", "dataset", "technique", "beta", "metric", "published"),
    *("ours", "ci_low", "ci_high", "difference", *(f"within_{tolerance}" for tolerance in TOLERANCES)),
    *("n", "our_dataset", "our_bias", "our_technique", "our_classifier", "test_data", "reason"),
)
"""Columns of ``comparison.csv``: the published key and number, our number, its place, and a reason if none.

Two more follow for each reading: the published number in it, and ours minus that (``published_as_read``,
``difference_as_read``).
"""

_MOST_DECIMALS = 6  # of published numbers

# Keys of summaries, besides all numbers together and groups of tables.
_SCOPES = (["table"], ["dataset"], ["technique"], ["dataset", "technique"])


@dataclass(frozen=True)
class Comparison:
    """A run, whose numbers are ours, beside published numbers."""

    run: Manifest
    entry: PublishedEntry  # maps published names to ours
    rows: pd.DataFrame  # from :func:`compare`
    agreement: pd.DataFrame  # from :func:`agreement`
    ranks: pd.DataFrame  # from :func:`rank_correlations`
    variants: pd.DataFrame  # from :func:`variant_agreement`
    readings: tuple[Reading, ...] = ()  # other ways to read the published numbers than as printed

    @property
    def datasets(self) -> tuple[DatasetDescription, ...]:
        """The run's datasets that have a published counterpart, in the experiment's order."""
        used = set(self.rows.loc[self.rows["ours"].notna(), "our_dataset"])
        return tuple(dataset for dataset in self.run.datasets if dataset.name in used)

    @property
    def warning(self) -> str | None:
        """Warning for every table and figure if our numbers are not of real data, else None."""
        embedded = [dataset.name for dataset in self.datasets if dataset.embedded]
        if not embedded:
            return None
        return (
            f"{NOT_REAL_LOUD}: the published numbers are of real data, ours on "
            f"{', '.join(embedded)} were tested on a {SAMPLED}"
        )


def build_comparison(
    run: FinishedRun,
    entry: PublishedEntry,
    published: pd.DataFrame,
    *,
    readings: tuple[Reading, ...] = (),
    allow_embedded: bool = False,
) -> Comparison:
    """Return the comparison of a run with published numbers; errors and arguments as of :func:`compare`."""
    published = add_readings(published, readings)
    rows = compare(run, entry, published, allow_embedded=allow_embedded)
    variants = variant_agreement(run, entry, published, allow_embedded=allow_embedded)
    return Comparison(
        run.manifest, entry, rows, agreement(rows, entry), rank_correlations(rows), variants, readings
    )


def compare(
    run: FinishedRun, entry: PublishedEntry, published: pd.DataFrame, *, allow_embedded: bool = False
) -> pd.DataFrame:
    """Return each published number beside the mean that repeats it.

    ``published`` has the columns :data:`~studies.papers.comparison_files.PUBLISHED_COLUMNS`, and
    may have one for each reading (:func:`~studies.papers.readings.add_readings`). The result has
    :data:`COMPARISON_COLUMNS`, two columns for each reading, and a row for each published number, in that
    order. ``difference`` is ours minus published. Without counterpart, our numbers are empty and there is a
    ``reason``. A ReportError means that no published number has a counterpart, that the mapping is ambiguous
    or names something that was not published, or that our numbers are not of real data, unless
    ``allow_embedded``.
    """
    _require_published_names(entry, published)
    columns = [*CELL_KEY, "mean", "ci_low", "ci_high", "n"]
    summary = run.summary[columns]
    if run.manifest.unit != "beta":  # a dose of 0.5 is not the published β of 0.5
        summary = summary[summary["level"] == 0]
    means = {row[:-4]: row[-4:] for row in summary.itertuples(index=False, name=None)}
    keys = published[["dataset", "technique", "beta", "metric"]].itertuples(index=False, name=None)
    ours = pd.DataFrame([_counterpart(run, entry, means, *key) for key in keys])
    suffixes = _suffixes(published, "value")
    values = {f"value{suffix}": f"published{suffix}" for suffix in suffixes}
    theirs = published.rename(columns=values).reset_index(drop=True)
    rows = pd.concat([theirs, ours], axis=1)
    if rows["ours"].isna().all():
        raise ReportError(
            "No published number has a counterpart in this run",
            expected="results of " + ", ".join(published["technique"].unique()),
            got=f"for all {len(rows)} numbers: " + "; ".join(rows["reason"].unique()[:3]),
            remedy="run the experiment that the [published] section belongs to, or correct that section",
        )
    embedded = rows.loc[rows["ours"].notna() & (rows["test_data"] == EMBEDDED), "our_dataset"]
    if len(embedded) and not allow_embedded:
        raise ReportError(
            "The published numbers are of real data, and this run was tested on embedded networks",
            expected="a run on real data",
            got=", ".join(embedded.unique()),
            remedy="give the real files to 'betabench run' (--data-dir or BETABENCH_DATA), "
            "or compare anyway with --allow-embedded",
        )
    for suffix in suffixes:
        # Rounding removes binary fractions: 0.26 - 0.21 must count as within 0.05.
        rows[f"difference{suffix}"] = (rows["ours"] - rows[f"published{suffix}"]).round(12)
    for tolerance in TOLERANCES:
        within = (rows["difference"].abs() <= tolerance).astype("boolean")
        rows[f"within_{tolerance}"] = within.where(rows["ours"].notna())
    more = [f"{column}{suffix}" for suffix in suffixes[1:] for column in ("published", "difference")]
    return rows[[*COMPARISON_COLUMNS, *more]]


def variant_agreement(
    run: FinishedRun, entry: PublishedEntry, published: pd.DataFrame, *, allow_embedded: bool = False
) -> pd.DataFrame:
    """Return the agreement of each variant of a dataset with the published numbers.

    Each variant over all techniques (``technique`` empty) and by technique, in the experiment's order.
    """
    rows = []
    for dataset, variants in entry.variants.items():
        others = tuple(other for other in entry.datasets if other.name != dataset)
        for variant in variants:
            published_dataset = PublishedDataset(
                name=dataset, entry=variant.entry, bias=variant.bias, classifier=variant.classifier
            )
            datasets = (published_dataset, *others)
            techniques = {**entry.techniques, **variant.techniques}
            mapping = entry.model_copy(update={"datasets": datasets, "techniques": techniques})
            compared = compare(run, mapping, published, allow_embedded=allow_embedded)
            compared = compared[(compared["dataset"] == dataset) & compared["ours"].notna()]
            where = {"dataset": dataset, "variant": variant.name}
            rows.append({**where, "technique": "", **_agreement_of(compared)})
            rows += [
                {**where, "technique": technique, **_agreement_of(part)}
                for technique, part in compared.groupby("technique", sort=False)
            ]
    return pd.DataFrame(rows)


def agreement(comparison: pd.DataFrame, entry: PublishedEntry) -> pd.DataFrame:
    """Return a summary of the differences between our numbers and the published ones.

    The first column is the scope: overall, by group of tables, by table, dataset and technique, and by
    dataset and technique together, each in the published order. Columns that a scope spans are empty.
    ``within_*`` are shares of the compared numbers, in [0, 1]. They and ``mean_absolute_error`` are NaN if no
    number was compared, and follow again for each reading.
    """
    parts: list[tuple[str, dict[str, str], pd.DataFrame]] = [("overall", {}, comparison)]
    for heading, tables in entry.groups.items():
        parts.append(("tables", {"table": heading}, comparison[comparison["table"].isin(tables)]))
    for keys in _SCOPES:
        for _, part in comparison.groupby(keys, sort=False):
            parts.append((" and ".join(keys), {key: str(part[key].iloc[0]) for key in keys}, part))
    rows = [
        {"scope": scope, "table": "", "dataset": "", "technique": "", **where, **_agreement_of(part)}
        for scope, where, part in parts
    ]
    return pd.DataFrame(rows)


def rank_correlations(comparison: pd.DataFrame) -> pd.DataFrame:
    r"""Return rank correlations of the techniques between published numbers and ours.

    Kendall's :math:`\tau_b`, which allows for ties, of the techniques that have both numbers. Ours are
    rounded to the printed number of decimals, so that techniques can tie as in print. A row is a published
    dataset, beta and metric, with the number of techniques. ``tau_b`` lies in [-1, 1]. It is NaN if fewer
    than two techniques are compared, or if all are tied in print or in ours.

    References
    ----------
    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.
    """
    from scipy.stats import kendalltau

    rows, decimals = [], _decimals(comparison["published"])
    for (dataset, beta, metric), part in comparison.groupby(["dataset", "beta", "metric"], sort=False):
        both = part[part["ours"].notna()]
        theirs, ours = both["published"], both["ours"].round(decimals)
        defined = min(theirs.nunique(), ours.nunique()) >= 2
        tau = float(kendalltau(theirs, ours, variant="b").statistic) if defined else float("nan")
        rows.append((dataset, beta, metric, len(both), tau, _test_data(both)))
    return pd.DataFrame(rows, columns=["dataset", "beta", "metric", "techniques", "tau_b", "test_data"])


def _decimals(printed: pd.Series) -> int:
    """Return the number of decimals of printed numbers."""
    exact = (n for n in range(_MOST_DECIMALS) if ((printed.round(n) - printed).abs() < 1e-12).all())
    return next(exact, _MOST_DECIMALS)


def _counterpart(
    run: FinishedRun,
    entry: PublishedEntry,
    means: Mapping[tuple[object, ...], tuple[Any, ...]],
    dataset: str,
    technique: str,
    beta: float,
    metric: str,
) -> dict[str, object]:
    """Return the columns from ``ours`` to ``reason``, except columns that need the published number."""
    manifest, mapped, ours_of = run.manifest, entry.dataset(dataset, technique), entry.metric(metric)
    found: dict[str, Any] = {"ours": math.nan, "ci_low": math.nan, "ci_high": math.nan, "n": 0}
    found |= dict.fromkeys(COMPARISON_COLUMNS[-6:], "")
    ours = next((d for d in manifest.datasets if d.entry.name == mapped.entry), None)
    if ours is None:
        return {**found, "reason": f"dataset {mapped.entry} is not part of this run"}
    name = ours.entry.name
    found |= {
        "our_dataset": ours.name,
        "our_bias": _choose("bias", mapped.bias, [bias.name for bias in ours.bias], name),
        "our_technique": entry.technique(technique, ours.baseline),
        "our_classifier": _choose("classifier", mapped.classifier, manifest.classifiers, name),
        "test_data": EMBEDDED if ours.embedded else REAL,
    }
    own = found["our_technique"]
    # Published numbers are of test rows without planted bias.
    key = (ours.name, found["our_bias"], beta, own, found["our_classifier"], ORIGINAL, ours_of.metric)
    if key not in means:
        run_has: list[tuple[str, str, bool]] = [
            ("technique", own, manifest.technique(own) is not None),
            ("β =", f"{beta:g}", beta in manifest.levels and (manifest.unit == "beta" or beta == 0)),
            ("metric", ours_of.metric, manifest.metric(ours_of.metric) is not None),
        ]
        absent = (f"{kind} {name} is not part of this run" for kind, name, there in run_has if not there)
        return {**found, "reason": next(absent, "the summary has no such row")}
    mean, low, high, n = means[key]
    if n == 0:
        return {**found, "reason": _why_empty(run, key)}
    if ours_of.negated:  # 0 - x and not -x, because a zero would be written as -0.0
        mean, low, high = 0.0 - mean, 0.0 - high, 0.0 - low
    return {**found, "ours": mean, "ci_low": low, "ci_high": high, "n": n}


def _why_empty(run: FinishedRun, key: tuple[object, ...]) -> str:
    """Return why no repetition has a value: the most frequent status, and its first reason."""
    rows = run.failures[run.failures["metric"].isin(["", key[-1]])]
    for column, value in zip(CELL_KEY[:-1], key[:-1], strict=True):
        rows = rows[rows[column].isin(["", value] if column == "test" else [value])]
    if rows.empty:
        return "no value, and no reason is recorded"
    status = rows["status"].mode().iloc[0]
    of_status = rows[rows["status"] == status]
    return f"{len(of_status)} × {status}: {of_status['reason'].iloc[0]}"


def _choose(kind: str, named: str | None, names: Sequence[str], dataset: str) -> str:
    if named in names or (named is None and len(names) == 1):
        return named or names[0]
    raise ReportError(
        f"The [published] section does not say which {kind} on {dataset} repeats the published numbers",
        expected="one of " + ", ".join(names),
        got="none" if named is None else repr(named),
        remedy=f"name one as '{kind}' in a [[published.datasets]] entry of the experiment file",
    )


def _require_published_names(entry: PublishedEntry, published: pd.DataFrame) -> None:
    named: dict[str, Sequence[object]] = {
        "dataset": [d.name for d in entry.datasets],
        "technique": [
            *([entry.baseline] if entry.baseline is not None else []),
            *entry.techniques,
            *(technique for d in entry.datasets for technique in d.techniques),
        ],
        "metric": list(entry.metrics),
        "table": [table for tables in entry.groups.values() for table in tables],
    }
    for column, names in named.items():
        values = list(published[column].unique())
        unknown = [name for name in names if name not in values]
        if unknown:
            raise ReportError(
                f"The [published] section names a {column} that was not published",
                expected="one of " + ", ".join(map(str, values)),
                got=", ".join(map(str, unknown)),
                remedy=f"use the names in {entry.file}",
            )


def _agreement_of(part: pd.DataFrame) -> dict[str, object]:
    both = part[part["ours"].notna()]
    values: dict[str, object] = {"published": len(part), "compared": len(both)}
    for suffix in _suffixes(part, "difference"):
        apart = both[f"difference{suffix}"].abs()
        values |= {f"within_{t}{suffix}": float((apart <= t).mean()) for t in TOLERANCES}
        values[f"mean_absolute_error{suffix}"] = apart.mean()
        values.setdefault("test_data", _test_data(both))  # behind the numbers as printed
    return values


def _suffixes(frame: pd.DataFrame, column: str) -> list[str]:
    """Return the suffixes of a column's name: empty as printed, then one for each reading."""
    return [name.removeprefix(column) for name in map(str, frame) if name.startswith(column)]


def _test_data(rows: pd.DataFrame) -> str:
    return " and ".join(sorted(rows["test_data"].unique()))
