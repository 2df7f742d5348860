"""Figures with a row for each technique: improvements, gaps of groups, decisions restored, ranks, and AUC."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from benchmark.columns import BLIND, CROSSED, KNOWS
from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import BLUE, GREY, ORANGE, Look, beta_look
from benchmark.metrics import get_metric
from benchmark.metrics.restoration import RESTORATION
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.across import repetitions_needed
from benchmark.statistics.answers import effect_reasons, with_useful
from benchmark.statistics.cells import SCENARIO
from benchmark.statistics.restoration import LEAST_PEOPLE
from benchmark.tables.techniques import BELOW_CONSTANT, DEGENERATE
from benchmark.text.words import repetitions
from benchmark.wording import level_axis, ranked_over, vocabulary

_MOST_BETAS = 5
_MOST_COLUMNS = 3
_ENDS = ["improvement_low", "improvement_high", "simultaneous_low", "simultaneous_high"]
_OUTER: Look = {"lw": 0.7, "capstyle": "projecting"}
_INNER: Look = {"lw": 1.9, "capstyle": "butt"}
_SIGN: Look = {"xytext": (3, 1), "textcoords": "offset points", "gid": "below", "fontsize": 8, "zorder": 4}

# Marker and color of what is better, worse, or neither, by the codes of the vocabulary.
_LOOKS = {"b": ("o", BLUE), "w": ("s", ORANGE), ".": ("D", GREY)}

_SHARES = {
    "given_back": "Given back: % accepted of those who lost acceptance by the bias. More is better",
    "paid": "Paid: % refused of those whom clean model and biased baseline accept. Less is better",
    "in_their_place": "In their place: % accepted of those whom the clean model refuses. Less is better",
}
_REFERENCES: dict[str, Look] = {
    "refit_clean": {"color": "black", "lw": 1.1, "label": "untreated, refit on clean rows"},
    "refit_biased": {
        "color": "#882255",
        "lw": 1.2,
        "ls": (0, (3, 1.5)),
        "label": "untreated, refit on biased rows",
    },
    "biased_baseline": {
        "color": "#6E9A00",
        "lw": 1.3,
        "ls": (0, (1, 1.2)),
        "label": "biased baseline (0 % in the other panels)",
    },
}

_WIDTH = 2.6  # of a panel of ranks
_LANE = 0.09  # inches from one bar of a group to the next
_BAR: Look = {"color": "black", "lw": 2.4, "solid_capstyle": "butt", "clip_on": False, "gid": "group"}

AUC_METRICS = ("auc_overall", "auc", "auc_gap")
"""Metrics that the figure shows, from left to right."""

_TITLES = dict(zip(AUC_METRICS, ("AUC of everybody", "AUC of each group", "AUC gap"), strict=True))
_EXPLANATION = "One marker per model. The AUC gap is the largest minus the smallest AUC of the groups."
_CHANCE = 0.5


@style.styled()
def draw_forest(
    statistics: RunStatistics, scenario: Scenario, metric: str, choice: Choice = EVERYTHING
) -> Page:
    """Draw each technique's improvement of a metric over the baseline, with intervals.

    Each level of bias, or each of five, has a panel. Techniques without a comparison have no mark.
    """
    run = statistics.run
    rows = scenario.rows(statistics.compared).query("metric == @metric")
    betas = style.beta_ticks(sorted(rows["level"].unique()), _MOST_BETAS)
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    names = list(titles)
    labels = RowLabels(list(titles.values()), choice.width, parts=marks.parts_of(names, run))
    rows = rows[rows["technique"].isin(names)]
    signs = marks.signs_of(scenario.rows(statistics.standing), names)
    page = Page(
        len(betas),
        len(betas),
        panel=(max(1.5, 4.4 / len(betas)), labels.height),
        title=f"{scenario.heading}: {statistics.title(metric)}, improvement over the baseline",
        subtitle=f"Baseline: {run.titles[statistics.baseline_of(scenario)]}. By how much a technique is "
        "nearer to the ideal on the same training rows. "
        f"Band: up to {statistics.rope:g}, practically none. Thick: 95 % intervals, each by itself. "
        "Thin: intervals that hold for all techniques together, which decide.",
        notes=[
            *marks.told_notes(names, run),
            *marks.notes(scenario, signs=signs.values(), look="cross"),
        ],
        panel_titles=[*map(run.level_text, betas)],
        choice=choice,
        rows=labels,
        least=0.9,
    )
    limits = style.padded([*rows[["improvement", *_ENDS]].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
    for beta, axes in zip(betas, page.panels, strict=True):
        axes.axvspan(-statistics.rope, statistics.rope, color="#ECECEC", lw=0, zorder=0.5)
        axes.axvline(0, **style.RULE)
        _draw_effects(axes, rows[rows["level"] == beta], names, signs)
        axes.set_xlim(*limits)
    shown = vocabulary()["shown"]
    page.legend_below(
        [
            _in_legend(marker, color, f"{shown[code]['label']}, {words}", filled=words == "shown")
            for code, (marker, color) in _LOOKS.items()
            for words in ("shown", "not shown")
            if code != "."
        ]
    )
    if any(sign == DEGENERATE and beta in betas for (_, beta), sign in signs.items()):
        page.legend_below([_in_legend("x", GREY, "degenerate")])
    return page.fit()


def _in_legend(marker: str, color: str, label: str, *, filled: bool = True) -> Line2D:
    face = color if filled else "white"
    return Line2D([], [], ls="none", marker=marker, mec=color, mfc=face, label=label, **marks.ESTIMATE)


def _draw_effects(
    axes: Axes, rows: pd.DataFrame, names: Sequence[str], signs: Mapping[tuple[str, float], str]
) -> None:
    rows = rows[np.isfinite(rows["improvement"])]
    if rows.empty:
        style.say_empty(axes, "nothing is compared: the baseline is degenerate, or has no value")
        return
    y, looks = rows["technique"].map(names.index), []
    for row in records(rows):
        sign = signs.get((row.technique, row.level))
        looks.append(("x", GREY) if sign == DEGENERATE else _LOOKS["b" if row.improvement > 0 else "w"])
        (marker, color), at = looks[-1], (row.improvement, names.index(row.technique))
        face = color if row.better or row.worse else "white"
        axes.plot(*at, marker, mfc=face, mec=color, zorder=3, gid="effect", **marks.ESTIMATE)
        if sign == BELOW_CONSTANT:
            axes.annotate(BELOW_CONSTANT, at, **_SIGN)
    colors = [color for _, color in looks]
    for which, look in (("simultaneous", _OUTER), ("improvement", _INNER)):
        axes.hlines(y, rows[f"{which}_low"], rows[f"{which}_high"], colors=colors, zorder=2, **look)


@style.styled()
def draw_gaps(statistics: RunStatistics, rows: pd.DataFrame, choice: Choice = EVERYTHING) -> Page:
    """Draw the change of the largest gap in a rate by each technique, for every attribute.

    ``rows`` are those of ``statistics.groups`` for one rate, bias, classifier and test. Each dataset has a
    panel at the lowest and at the highest level of bias.
    """
    run, metric = statistics.run, str(rows["metric"].iloc[0])
    names = choice.of_techniques(rows["technique"].unique())
    choice.of_metrics([metric])
    betas = sorted({rows["level"].min(), rows["level"].max()})
    # Datasets may name the columns of an intersection in another order.
    attributes = rows["attribute"].map(lambda name: CROSSED.join(sorted(name.split(CROSSED))))
    rows = rows.assign(attribute=attributes)[rows["level"].isin(betas) & rows["technique"].isin(names)]
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    panels = [(beta, scenario) for beta in betas for scenario in scenarios]
    looks = {name: style.line_style(i) | {"ls": "none"} for i, name in enumerate(rows["attribute"].unique())}
    titles = [run.titles[name] for name in names]
    parts = marks.parts_of(names, run)
    labels = RowLabels(titles, choice.width, least=0.05 + 0.085 * len(looks), parts=parts)
    page = Page(
        len(panels),
        min(len(scenarios), _MOST_COLUMNS),
        panel=(1.9, labels.height),
        title=f"{get_metric(metric).title}, largest gap: what techniques change for every attribute",
        subtitle="The gap of a technique minus the baseline's gap on the same samples. Above 0 (right) "
        "groups are farther apart. Techniques know only the group above the panel. Means of "
        f"{repetitions(run.repetitions)} with 95 % intervals. Filled: the interval leaves out 0.",
        notes=[*marks.told_notes(names, run), *marks.notes(*scenarios)],
        panel_titles=[
            f"{scenario.heading}, {scenario.dataset.sensitive_feature} = "
            f"{scenario.dataset.deprived_group}, {run.level_text(beta)}"
            for beta, scenario in panels
        ],
        choice=choice,
        rows=labels,
    )
    ends = ["difference", "difference_low", "difference_high"]
    limits = style.padded([*rows[ends].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
    for (beta, scenario), axes in zip(panels, page.panels, strict=True):
        axes.axvline(0, **style.RULE)
        own = scenario.rows(rows[rows["level"] == beta])
        shown = list(own["attribute"].unique())
        for row in records(own):
            shift = (shown.index(row.attribute) - (len(shown) - 1) / 2) / len(shown)
            filled = row.difference_low > 0 or row.difference_high < 0
            marks.draw_estimate(
                axes,
                names.index(row.technique) + 0.75 * shift,
                (row.difference, row.difference_low, row.difference_high),
                (looks[row.attribute]["marker"], looks[row.attribute]["color"]),
                filled=filled,
                gid="gap",
            )
        axes.set_xlim(*limits)
    page.legend_beside(page.panels[0], [Line2D([], [], **look, label=name) for name, look in looks.items()])
    return page.fit()


@style.styled()
def draw_restoration(statistics: RunStatistics, scenario: Scenario, choice: Choice = EVERYTHING) -> Page:
    """Draw the decisions that techniques give back at a scenario's highest level of bias, and their cost.

    Each share of people has a panel. Marks and intervals are cut at 0 and 100 %. Lines are the refits of a
    technique's learner and, where it accepts others, the biased baseline.
    """
    run = statistics.run
    rows = scenario.rows(statistics.restoration)
    beta = float(rows["level"].max())
    rows = rows[rows["level"] == beta]
    tried = of_techniques(rows)
    nearest = tried[tried["metric"] == RESTORATION[0]].sort_values("value", kind="stable")
    states, ordered = [*run.knowledge.values()], dict.fromkeys([*nearest["technique"], *tried["technique"]])
    names = choice.of_techniques(sorted(ordered, key=lambda name: states.index(run.knowledge[name])))
    metrics = choice.of_metrics(_SHARES)
    standing = with_useful(scenario.rows(statistics.standing).query("level == @beta"))
    useful = set(standing.loc[standing["useful"], "technique"])
    signs = {name: sign for (name, _), sign in marks.signs_of(standing, names).items()}
    reasons = effect_reasons(rows.drop_duplicates("baseline"), statistics.effects)
    titles = [f"{run.titles[name]} {signs.get(name, '')}".strip() for name in names]
    labels = RowLabels(titles, choice.width, parts=marks.parts_of(names, run))
    page = Page(
        len(metrics),
        len(metrics),
        panel=(1.95, labels.height),
        title="Goal: restore decisions. Who gets back what the bias took: "
        f"{scenario.heading}, {run.level_text(beta)}",
        subtitle="The nearest to the clean model is first. Shares of people in "
        f"{repetitions(run.repetitions)}, with 95 % intervals. Clean model: the untreated learner, trained "
        "without planted bias. Refit: the same learner on a random draw of the rows; on biased rows it gives "
        "back decisions by chance.",
        notes=[
            "Better or worse: the 95 % interval of the difference to the refit on biased rows leaves out 0. "
            f"Hollow: see the sign beside the name. No mark: fewer than {LEAST_PEOPLE} people to count.",
            *(f"Not weighed: {reason}." for reason in marks.not_weighed(reasons)),
            *marks.told_notes(names, run),
            *marks.notes(scenario, signs=signs.values()),
        ],
        panel_titles=[_SHARES[metric] for metric in metrics],
        choice=choice,
        rows=labels,
        least=0.9,
    )
    for metric, axes in zip(metrics, page.panels, strict=True):
        of_metric = rows[rows["metric"] == metric]
        if of_metric["value"].isna().all():
            style.say_empty(axes, f"fewer than {LEAST_PEOPLE} people to count")
        else:
            _draw_share(axes, of_metric, names, useful)
    shown = vocabulary()["shown"]
    page.legend_below(
        [
            *(_in_legend(*look, shown[code]["label"]) for code, look in _LOOKS.items()),
            *(Line2D([], [], **look) for look in _REFERENCES.values()),
        ]
    )
    return page.fit()


def of_techniques(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of techniques other than the baselines."""
    return rows[rows["technique"] != rows["baseline"]]


def _draw_share(axes: Axes, rows: pd.DataFrame, names: Sequence[str], useful: set[str]) -> None:
    metric, by_name = rows["metric"].iloc[0], rows.set_index("technique")
    shown = by_name.loc[list(names)]
    percents = 100 * shown[["value", "value_low", "value_high"]].to_numpy(dtype=float).clip(0, 1)
    lines = {name: 100 * shown[name].to_numpy(dtype=float) for name in ("refit_clean", "refit_biased")}
    if metric == "in_their_place":
        untreated = by_name["value"].reindex(shown["baseline"])
        lines["biased_baseline"] = 100 * untreated.to_numpy(dtype=float)
    # Lines of one learner meet, lines of several do not.
    half, y = 0.5 if shown["baseline"].nunique() == 1 else 0.36, np.arange(len(names))
    for name, values in lines.items():
        axes.vlines(values, y - half, y + half, zorder=1.5, gid=name, **_REFERENCES[name])
    for row, (name, estimate) in enumerate(zip(names, percents, strict=True)):
        more, less = shown["beyond_refit_low"].iloc[row] > 0, shown["beyond_refit_high"].iloc[row] < 0
        better, worse = (more, less) if metric == "given_back" else (less, more)
        look = _LOOKS["b" if better else "w" if worse else "."]
        marks.draw_estimate(axes, row, estimate, look, filled=name in useful, gid="share")
    highest = max(np.nanmax([*percents.ravel(), *np.concatenate(list(lines.values())), 0.0]), 1.0)
    axes.set_xlim(-0.04 * highest, 1.04 * highest)


@style.styled()
def draw_ranks(statistics: RunStatistics, ranks: pd.DataFrame, choice: Choice = EVERYTHING) -> Page:
    """Draw mean ranks, best on top, and bars along techniques that do not differ.

    ``ranks`` are rows of ``statistics.ranks`` for one set of datasets, bias, classifier and test. The bars
    are those of the diagram of Demšar (2006). Of chosen techniques, ranks are still those among all.
    """
    run = statistics.run
    metrics = choice.of_metrics(ranks["metric"].unique())
    titles = marks.titles_of(ranks, run, choice)
    ranks = ranks[ranks["technique"].isin(titles) & ranks["metric"].isin(metrics)]
    pooled = ranks[(ranks["over"] == "dataset level") & ranks["mean_rank"].notna()]
    pooled = pooled.sort_values("mean_rank", kind="stable")
    # Techniques are ranked among those that know as much. One beside doing nothing makes no ranking.
    sizes = ranks.groupby(KNOWS, sort=False)["technique"].nunique()
    states = [knowledge for knowledge, n in sizes.items() if knowledge == BLIND or n > 2] or [*sizes.index]
    panels = [(metric, knowledge) for metric in metrics for knowledge in states]
    tables = [
        pooled[(pooled["metric"] == metric) & (pooled[KNOWS] == knowledge)].reset_index(drop=True)
        for metric, knowledge in panels
    ]
    below = set(ranks.loc[ranks["below_constant"], "technique"])
    titles = {own.name: own.title for own in run.techniques if own.name in titles}
    titles |= {name: f"{titles[name]} {BELOW_CONSTANT}" for name in below}
    labels = [RowLabels([titles[name] for name in table["technique"]], choice.width) for table in tables]
    n_rows = max(map(len, tables))
    page = Page(
        len(panels),
        min(2, len(panels)),
        panel=(_WIDTH, max(0.5, n_rows * max(own.row for own in labels))),
        title=f"Mean ranks on {statistics.ranked_on(**ranks.iloc[0][['datasets', *SCENARIO[1:]]])}",
        subtitle=f"1 is best. Large: over {ranked_over(run)}; small: over the datasets at each "
        f"{run.level_sign}, on the same scale. Bars at the right join techniques that are not shown "
        "to differ (Wilcoxon, Holm).",
        notes=[
            *marks.told_notes(titles, run, "Tinted"),
            *_notes(statistics, ranks),
            *marks.notes(signs=[BELOW_CONSTANT] * bool(below)),
        ],
        panel_titles=[
            statistics.title(metric) + (f", told {knowledge}" if knowledge != BLIND else "")
            for metric, knowledge in panels
        ],
        choice=choice,
        left=max(own.width for own in labels),
    )
    for axes, table, own, (metric, knowledge) in zip(page.panels, tables, labels, panels, strict=True):
        if knowledge != BLIND:
            axes.set_facecolor(marks.TOLD)
        if table.empty:
            style.say_empty(axes, "no technique has a rank over all")
            axes.set(yticks=[])
            continue
        of_panel = (ranks["metric"] == metric) & (ranks[KNOWS] == knowledge)
        each = ranks[of_panel & (ranks["over"] == "dataset")]
        _draw_ranks(axes, table, each, run.level_limit)
        own.write(axes, n_rows)
        _draw_groups(axes, table["groups"])
    shown = sorted(ranks["level"].dropna().unique())
    page.add_beta_colorbar(shown, limit=run.level_limit, label=level_axis(run))
    return page.fit()


def _draw_groups(axes: Axes, groups: pd.Series) -> None:
    """Draw a bar along the rows of each group, beside others that it would meet."""
    names = groups.astype(str).str.split().explode()
    spans = names.index.to_series().groupby(names.to_numpy()).agg(["min", "max"])
    ends: list[int] = []  # of the last bar in each lane
    for first, last in sorted(spans[spans["min"] < spans["max"]].to_numpy().tolist()):
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        x = 1 + (0.1 + _LANE * lane) / _WIDTH
        axes.plot([x, x], [first - 0.32, last + 0.32], transform=axes.get_yaxis_transform(), **_BAR)


def _draw_ranks(axes: Axes, table: pd.DataFrame, each: pd.DataFrame, limit: float) -> None:
    rows = {name: row for row, name in enumerate(table["technique"])}
    each = each[each["technique"].isin(rows) & each["mean_rank"].notna()].sort_values("level", kind="stable")
    # More techniques may be ranked at one level than over all: ranks are brought to one scale.
    shrunk = (len(table) - 1) / np.maximum(each["n_techniques"] - 1, 1)
    x, y = 1 + (each["mean_rank"] - 1) * shrunk, each["technique"].map(rows)
    axes.scatter(x, y, c=each["level"], s=11, lw=0, zorder=2, **beta_look(limit))
    axes.plot(table["mean_rank"], range(len(table)), "o", mfc="none", mec="black", mew=1.3, ms=7, zorder=3)
    axes.set_xlim(0.5, max([2, *table["n_techniques"]]) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=(1, 2, 5, 10)))


def _notes(statistics: RunStatistics, ranks: pd.DataFrame) -> list[str]:
    """Return notes on too few datasets or blocks for a test, and on techniques without ranks."""
    run = statistics.run
    pooled = ranks[ranks["over"] == "dataset level"]
    gone = pooled.loc[pooled["mean_rank"].isna(), "technique"].unique()
    few = ranks[ranks["n_datasets"] < ranks["datasets_needed"]]
    notes = [
        f"Warning: {'1 dataset is' if row.n_datasets == 1 else f'{row.n_datasets} datasets are'} too few "
        f"for a claim beyond {'it' if row.n_datasets == 1 else 'them'}; it takes {row.datasets_needed}."
        for row in few.head(1).itertuples()
    ]
    ranked = pooled[pooled["mean_rank"].notna() & (pooled["n_techniques"] > 1)].drop_duplicates("metric")
    for _, rows in ranked.groupby(["n_techniques", "n_blocks"]):
        n, n_blocks = rows[["n_techniques", "n_blocks"]].iloc[0].astype(int)
        n_pairs = n * (n - 1) // 2
        if n_blocks < (needed := repetitions_needed(n_pairs, statistics.alpha)):
            notes.append(
                f"{', '.join(map(statistics.title, rows['metric']))}: no test can find a difference. "
                f"{n_pairs:,} {'pairs of techniques take' if n_pairs > 1 else 'pair of techniques takes'} "
                f"at least {needed} blocks; there are {n_blocks}."
            )
    if len(gone):
        titles = "; ".join(run.titles[name] for name in gone)
        notes.append(f"Without a rank over {ranked_over(run)}, as degenerate or without values: {titles}.")
    return notes


@style.styled()
def draw_auc(frame: pd.DataFrame, title: str, choice: Choice = EVERYTHING) -> Page:
    """Draw models' AUC overall, by group, and the gap between the groups, each in a panel.

    The design follows Figure 1 of the AUC Gap guide (Measuring and Mitigating Model Bias). The frame has a
    row per model and value: column ``model``, and ``metric``, ``group``, ``value`` and ``n_rows`` of a
    :class:`~benchmark.metrics.Measurement`. Other metrics than :data:`AUC_METRICS` are ignored.
    Models are chosen as techniques, by their titles.
    """
    rows = frame[frame["metric"].isin(AUC_METRICS)]
    metrics, models = choice.of_metrics(AUC_METRICS), choice.of_techniques(rows["model"].unique())
    rows = rows[rows["model"].isin(models)]
    missing = rows.loc[rows["value"].isna(), "model"].unique()
    by_metric = {metric: rows[rows["metric"] == metric] for metric in AUC_METRICS}
    groups = dict(by_metric["auc"][["group", "n_rows"]].itertuples(index=False, name=None))
    positions = {name: i for i, name in enumerate(groups)}
    named = [f"{name} (n\u00a0=\u00a0{n:,})" for name, n in groups.items()]
    labels = {
        True: RowLabels(named, choice.width, least=0.1 + 0.1 * len(models)),
        False: RowLabels(models, choice.width),
    }
    limits = style.padded([*by_metric["auc_overall"]["value"], *by_metric["auc"]["value"]], 0.08, 0.01)
    has_chance = limits[0] <= _CHANCE <= limits[1]
    page = Page(
        len(metrics),
        len(metrics),
        panel=(1.9, max(own.height for own in labels.values())),
        title=title,
        subtitle=f"{_EXPLANATION} Dashed: chance." if has_chance else _EXPLANATION,
        notes=marks.notes(missing=missing),
        panel_titles=[_TITLES[metric] for metric in metrics],
        choice=choice,
        left=labels[False].width,
    )
    for metric, axes in zip(metrics, page.panels, strict=True):
        own, of_groups = labels[metric == "auc"], metric == "auc"
        for i, model in enumerate(models):
            values = by_metric[metric][by_metric[metric]["model"] == model]
            shift = 0.7 * ((i + 0.5) / len(models) - 0.5)
            at = values["group"].map(positions) + shift if of_groups else [i] * len(values)
            look = {**style.line_style(i), "linestyle": "none"}
            axes.plot(values["value"].to_numpy(), at, mec="white", mew=0.4, ms=6.5, zorder=3, **look)
            if metric == "auc_gap":
                axes.hlines(at, 0, values["value"], color=look["color"], lw=1.0)
        own.write(axes)
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(own)):
            axes.axhline(edge - 0.5, color="#E4E4E4", lw=0.6, zorder=0.5)
        if metric == "auc_gap":
            axes.axvline(0, **style.RULE)
            axes.set_xlim(*style.padded([*by_metric["auc_gap"]["value"], 0.0], 0.08, 0.01))
            continue
        axes.set_xlim(limits[0], min(limits[1], 1.02))
        if has_chance:
            axes.axvline(_CHANCE, **style.DASHED_RULE)
    return page.fit()


def auc_rows(summary: pd.DataFrame, scenario: Scenario, beta: float, run: Manifest) -> pd.DataFrame:
    """Return a run's frame for :func:`draw_auc`: means over the repetitions, one model per technique.

    The summary has all metrics of the run. The frame is empty if AUC by group was not measured.
    """
    rows = scenario.rows(summary)
    names = rows["metric"].str.removesuffix("]").str.partition("[")
    sizes = scenario.dataset.group_rows
    rows = rows.assign(metric=names[0], group=names[2], value=rows["mean"])
    rows["model"] = rows["technique"].map(run.titles)
    rows["n_rows"] = rows["group"].map(sizes).fillna(sum(sizes.values())).astype(int)
    known = rows["metric"].isin(AUC_METRICS) & rows["group"].isin(["", *sizes]) & (rows["level"] == beta)
    return rows.loc[known, ["model", "metric", "group", "value", "n_rows"]].dropna(subset="model")
