"""A comparison in Markdown: both numbers of each published table, a summary, and its short form."""

import math
from collections.abc import Sequence
from itertools import product

import pandas as pd
from markupsafe import Markup

from benchmark.metrics import list_metrics
from benchmark.tables.techniques import HEADINGS
from benchmark.text import markdown
from benchmark.text.words import number, repetitions, sentence
from benchmark.wording import render_values
from studies.papers.pairing import TOLERANCES, Comparison

FAR = 0.03
"""Mean absolute error above which a dataset's technique is listed among the worst."""

_PACKAGES = ("betabench", "python", "numpy")  # whose versions are named


def technique_title(name: str, comparison: Comparison) -> str:
    """Return a published technique's name for readers: the title of our entry that repeats it, if any."""
    ours = comparison.entry.techniques.get(name, name)
    return comparison.run.titles.get(ours) or name.replace("_", " ").capitalize()


def metric_title(name: str) -> str:
    """Return a metric's name for readers."""
    metrics = list_metrics()
    return metrics[name].title if name in metrics else name.replace("_", " ").capitalize()


def worst_blocks(agreement: pd.DataFrame) -> pd.DataFrame:
    """Return the datasets' techniques whose mean absolute error is above :data:`FAR`, worst first."""
    far = (agreement["scope"] == "dataset and technique") & (agreement["mean_absolute_error"] > FAR)
    return agreement[far].sort_values("mean_absolute_error", ascending=False, kind="stable")


def ways_of_reading(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the title of each way to read the published numbers, and the suffix of its columns."""
    return [("as printed", ""), *((reading.title, reading.suffix) for reading in comparison.readings)]


def table_markdown(comparison: Comparison, table: int) -> str:
    """Return one published table with both numbers in each cell, as Markdown.

    A row per dataset and beta, a column per technique and metric.
    """
    rows = comparison.rows[comparison.rows["table"] == table]
    texts = [
        ("**{} → {}**" if abs(apart) > TOLERANCES[-1] else "{} → {}").format(number(theirs), number(ours))
        for theirs, ours, apart in rows[["published", "ours", "difference"]].to_numpy()
    ]
    key = ["dataset", "beta", "technique", "metric"]
    cells = rows.assign(text=texts).pivot(index=key[:2], columns=key[2:], values="text")
    # In the order of print, but for levels of bias.
    datasets, betas, techniques, metrics = (rows[name].unique() for name in key)
    columns = list(product(techniques, metrics))
    index = pd.MultiIndex.from_product([datasets, sorted(betas)], names=["Dataset", "β"])
    cells = cells.reindex(index, columns=pd.MultiIndex.from_tuples(columns))
    heads = [f"{technique_title(t, comparison)} {HEADINGS.get(m, metric_title(m))}" for t, m in columns]
    cells = cells.set_axis(heads, axis=1).rename(index="{:.2f}".format, level=1)
    return _rendered(
        "table",
        comparison,
        rows,
        number=table,
        metrics=" and ".join(metric_title(metric).lower() for metric in metrics),
        cells=_table(cells.fillna("")),
        tolerance=f"{TOLERANCES[-1]:g}",
    )


def summary_markdown(comparison: Comparison, *, figure: str | None = None, short: bool = False) -> str:
    """Return the summary of a comparison as Markdown, or a short form for the terminal.

    ``figure`` is a file relative to it.
    """
    agreement, ranks, ways = comparison.agreement, comparison.ranks, ways_of_reading(comparison)
    blocks = agreement["scope"] == "dataset and technique"
    errors = [agreement[f"mean_absolute_error{suffix}"] for _, suffix in ways]
    changed = pd.concat(errors, axis=1).ne(errors[0], axis=0).any(axis=1) & errors[0].notna()
    variants = comparison.variants.query("technique == ''") if len(comparison.variants) else None
    scenarios = [ranks["dataset"].unique(), ranks["metric"].unique()]
    taus = ranks.pivot(index=["dataset", "metric"], columns="beta", values="tau_b")
    taus = taus.reindex(pd.MultiIndex.from_product(scenarios, names=["Dataset", "Metric"]))
    taus = taus.rename(columns="β = {:g}".format).rename(index=metric_title, level=1)
    return _rendered(
        "terminal" if short else "comparison",
        comparison,
        comparison.rows,
        agreement=_agreement(agreement[~blocks & ~(short & (agreement["scope"] == "technique"))], comparison),
        changed=_agreement(agreement[changed], comparison, ways) if changed.any() else "",
        worst=_agreement(worst, comparison) if len(worst := worst_blocks(agreement)) else "",
        far=f"{FAR:g}",
        variants="" if variants is None else _agreement(variants, comparison),
        n_ranks=ranks["tau_b"].count(),
        mean_rank=number(ranks["tau_b"].mean(), 2),
        ranks=_table(taus.assign(Mean=taus.mean(axis=1)).map(number, digits=2)),
        tables=comparison.rows["table"].unique(),
        figure=figure,
    )


def _rendered(template: str, comparison: Comparison, rows: pd.DataFrame, **values: object) -> str:
    run, everything = comparison.run, comparison.rows
    missing = rows.loc[rows["ours"].isna(), "reason"]
    return render_values(
        template,
        "studies.papers",
        comparison=comparison,
        run=run,
        samples=repetitions(run.repetitions),
        partial=((everything["n"] > 0) & (everything["n"] < run.repetitions)).sum(),
        versions=[f"{name} {run.versions[name]}" for name in _PACKAGES if name in run.versions],
        reasons=missing.value_counts(sort=False).items(),
        sources=_sources(rows, comparison),
        **values,
    )


def _table(texts: pd.DataFrame) -> Markup:
    """Return a table of Markdown, in which headings and the names in the index are escaped."""
    named = texts.index.nlevels
    rows = [
        [*map(markdown.plain, names[:named]), *cells]
        for names, cells in zip(texts.index.to_frame().to_numpy(), texts.to_numpy(), strict=True)
    ]
    head = [markdown.plain(name or "") for name in (*texts.index.names, *texts)]
    return Markup(markdown.table(head, rows, named=named))


def _agreement(
    rows: pd.DataFrame, comparison: Comparison, ways: Sequence[tuple[str, str]] = (("", ""),)
) -> Markup:
    """Return numbers of compared ones, shares within each tolerance, and mean errors in some readings."""
    columns = {"Compared": rows["compared"].astype(str) + " of " + rows["published"].astype(str)}
    for way, suffix in ways:
        within, error = (
            ("±{:g}, {way}", "mean error, {way}") if way else ("Within ±{:g}", "Mean absolute error")
        )
        for tolerance in TOLERANCES:
            columns[within.format(tolerance, way=way)] = rows[f"within_{tolerance}{suffix}"].map(_share)
        columns[error.format(way=way)] = rows[f"mean_absolute_error{suffix}"].map(number)
    headings = [_heading(row, comparison) for _, row in rows.iterrows()]
    return _table(pd.DataFrame(columns).set_axis(pd.Index(headings)))


def _heading(row: pd.Series, comparison: Comparison) -> str:
    """Return the heading of a row of the agreement, or of a variant's, for readers."""
    if "variant" in row:
        return f"{row['dataset']}: {row['variant']}"
    if row["scope"] == "overall":
        return "All"
    if row["table"]:
        return f"Table {row['table']}" if row["scope"] == "table" else str(row["table"])
    technique = row["technique"] and technique_title(row["technique"], comparison)
    return ", ".join(filter(None, (row["dataset"], technique)))


def _share(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def _sources(rows: pd.DataFrame, comparison: Comparison) -> list[str]:
    """Return, for each published dataset, the run's entries that its numbers are compared with."""
    lines = []
    metrics = {name: comparison.entry.metric(name) for name in rows["metric"].unique()}
    if renamed_metrics := [
        f"{name} is {ours.metric}" + (" with the other sign" if ours.negated else "")
        for name, ours in metrics.items()
        if name != ours.metric or ours.negated
    ]:
        lines.append("; ".join(renamed_metrics) + ".")
    compared = rows[rows["ours"].notna()].groupby(["dataset", "our_dataset", "test_data"], sort=False)
    for (dataset, ours, test_data), part in compared:
        names = part.loc[part["technique"] != part["our_technique"], ["technique", "our_technique"]]
        renamed = names.drop_duplicates().itertuples(index=False, name=None)
        used = (f"{kind} {' and '.join(part[f'our_{kind}'].unique())}" for kind in ("bias", "classifier"))
        others = ", ".join(f"{name} is {our_name}" for name, our_name in renamed)
        how = "; ".join(filter(None, [", ".join(used), others]))
        warning = next((d.warning for d in comparison.datasets if d.name == ours), None)
        caution = f" Warning: {sentence(warning)}" if warning else ""
        lines.append(f"{dataset}: ours is {ours} ({how}), tested on {test_data}.{caution}")
    return lines
