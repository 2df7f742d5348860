"""Which technique to choose at which level of bias, and which holds up, in words: two pages of Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from benchmark.bias import list_bias_kinds
from benchmark.render.markdown import section_markdown
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import Protocol
from benchmark.runs.frames import Scenario
from benchmark.runs.left_out import BELOW_COLUMNS
from benchmark.runs.ranks import N_POSTERIOR, repeated_levels
from benchmark.runs.standing_marks import BELOW_CONSTANT
from benchmark.sections import Section, Surface, sections_of
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.frames import SCENARIO, WHERE, ScenarioKey
from benchmark.statistics.unprocessing import inside_shares
from benchmark.tables.answers import (
    ANSWER_HEADINGS,
    SAME_ANSWER,
    UNKNOWN_SHARES,
    answer_rows,
    answer_sentences,
    baseline_notes,
    choice_headings,
    choice_row,
    mark_notes,
    reading,
    scenario_notes,
    spots,
)
from benchmark.tables.groups import HOW_TO_READ_GAPS, gap_title, gaps_of, smallest_text
from benchmark.tables.significance import compared_metrics, data_notes, method_notes, pair_notes
from benchmark.tables.survivors import is_compared, survivors
from benchmark.tables.tuning import HOW_TO_READ as HOW_TO_READ_REGRETS
from benchmark.tables.tuning import regret_blocks
from benchmark.tables.winner import HEADING as USE_HEADING
from benchmark.tables.winner import winner
from benchmark.text import markdown
from benchmark.text.words import number

NOT_COMPARED = "nothing could be compared"
"""Stands where no technique is of use, or the baseline cannot be compared with."""

ANSWERS_PAGE = "answers.md"
"""Name of the page with every technique at every level of bias."""

FILES = {
    "answers": "each technique at each level of bias: discrimination left, cost in accuracy, shares "
    "accepted, and whether it may be recommended",
    "intervals": "mean, median and interval of each metric of each cell; missing repetitions",
    "comparisons": "each technique minus the baseline on the same samples: intervals, p-values, effect sizes",
    "ranks": "average ranks over datasets, with and without β; Friedman's test; groups that do not differ",
    "pairs": "each pair of techniques over datasets: Wilcoxon's test with Holm's correction, and the "
    "Bayesian signed-rank test with its region of practical equivalence",
    "pareto": "which techniques no other beats in a metric without losing accuracy",
    "robustness": "slope and area of each metric over β, and the β at which a technique stops beating the "
    "baseline",
    "agreement": "whether techniques rank alike with two classifiers, and what is shown with both",
    "regret": "what settings chosen on biased or on clean rows lose to those that the test rows would choose",
    "frontier_gaps": "which techniques thresholds by group on the best unconstrained scores outdo",
    "groups": "largest gap between the groups of each attribute, and what each technique changes of it",
}
"""What each CSV file holds."""

_FIGURES = {
    "heat": "Means and improvements over the baseline",
    "pareto": "Trade-offs and Pareto fronts",
    "forest": "Improvements over the baseline, with intervals",
    "groups": "Gaps between the groups of every attribute",
    "regret": "What it costs to choose settings on biased rows",
    "ranks": "Mean ranks",
}
_HOLDS_UP = "Which technique holds up at which level of bias"
_GROUPS = "What happens to other groups"
_AGREED = "Whether classifiers agree"
_TUNED = "What it costs to tune on biased rows"
_INSIDE = "Which techniques thresholds outdo"
_CERTAINTY = "How sure that is"
_NUMBERS = "Where the numbers are"
_MOST_RANKED = 3
_MOST_ROWS = 8


def left_out_notes(statistics: RunStatistics) -> list[str]:
    """Count what is better nowhere, because it is degenerate, and say of which baselines that is true."""
    degenerate = statistics.standing[statistics.standing["n_degenerate"] > 0]
    degenerate = degenerate[~repeated_levels(statistics.run, degenerate)]
    counts, baselines = [], []
    for scenario in statistics.scenarios:
        compared = statistics.baseline_titles(statistics.baseline_of(scenario))
        own = scenario.rows(degenerate)
        for beta, rows in own[~own["technique"].isin(compared)].groupby("beta"):
            several = "s" * (len(rows) > 1)
            counts.append(f"{len(rows)} technique{several} on {scenario.heading} at β = {beta:g}")
        notes = baseline_notes(own, compared)
        baselines += [f"{scenario.heading}: {note}" for note in notes]
    unknown = [UNKNOWN_SHARES] if statistics.answers["accepted"].isna().all() else []
    left = [f"Left out, because they answer {SAME_ANSWER}: {'; '.join(counts)}."] if counts else []
    return [*unknown, *left, *baselines]


def statistics_page(statistics: RunStatistics, tables: Sequence[str], figures: Sequence[str] = ()) -> str:
    """Return the page that answers which technique to choose, how sure that is, and where the numbers are.

    Tables in Markdown and figures in PNG are named relative to the page, which is Markdown.
    """
    run = statistics.run
    sections = sections_of(statistics, Surface.MARKDOWN)
    parts = {
        f"# Statistics of {markdown.plain(run.name)}": [
            f"{markdown.plain(run.title)}. Go to: {', '.join(_links(statistics, sections))}."
        ],
        "## At this level of bias: which technique, at what cost": _answers(statistics, _MOST_ROWS),
        f"## {_HOLDS_UP}": _survivors_section(statistics),
    }
    more = {
        **({f"## {_GROUPS}": _groups_section(statistics)} if len(statistics.groups) else {}),
        **({f"## {_AGREED}": _agreed_section(statistics)} if len(statistics.agreement) else {}),
        **({f"## {_TUNED}": _tuned_section(statistics)} if len(statistics.regret) else {}),
        **({f"## {_INSIDE}": _inside_section(statistics)} if len(statistics.frontier_gaps) else {}),
        f"## {_CERTAINTY}": _certainty_section(statistics),
        **({"## Figures": _figures_section(figures)} if figures else {}),
        f"## {_NUMBERS}": _files_section(statistics, sections, tables),
        f"## {USE_HEADING}": _use_section(statistics),
    }
    first, last = (
        ["\n".join([heading, "", *lines]) for heading, lines in some.items()] for some in (parts, more)
    )
    return "\n\n".join([*first, *(section_markdown(own, figures) for own in sections), *last]) + "\n"


def _links(statistics: RunStatistics, sections: Sequence[Section]) -> Iterator[str]:
    names = [scenario.heading for scenario in statistics.scenarios] if len(statistics.answers) else []
    some = {
        _GROUPS: statistics.groups,
        _AGREED: statistics.agreement,
        _TUNED: statistics.regret,
        _INSIDE: statistics.frontier_gaps,
    }
    there = [name for name, frame in some.items() if len(frame)]
    for name in (
        *names,
        _HOLDS_UP,
        *(section.title for section in sections),
        *there,
        _CERTAINTY,
        _NUMBERS,
        USE_HEADING,
    ):
        # As GitHub makes anchors of headings.
        anchor = re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")
        yield f"[{markdown.plain(name)}](#{anchor})"


def answers_page(statistics: RunStatistics) -> str:
    """Return the page with every technique at every level of bias, as Markdown."""
    run = statistics.run
    lines = [
        f"# Which technique, at what cost: {markdown.plain(run.name)}",
        "",
        f"{markdown.plain(run.title)}. [README.md](README.md) says how sure that is.",
        "",
        *_answers(statistics, None, level=2),
    ]
    return "\n".join(lines) + "\n"


def _answers(statistics: RunStatistics, most: int | None, level: int = 3) -> Iterator[str]:
    """Yield how to read the answers, and those of each scenario and level of bias."""
    run, answers = statistics.run, statistics.answers
    if answers.empty:
        yield "Discrimination is not recorded in these results, so that no technique can be recommended."
        return
    of = {(key, beta): rows for key, beta, rows in spots(answers)}
    yield "- β is the level of planted bias, from 0 (none) to 1: 25 % bias is β = 0.25."
    yield f"- {markdown.plain(reading(run))} Intervals are of 95 %."
    if most is not None:
        yield "- In brackets after an accuracy: its change to the baseline. Limits go by unrounded numbers."
        yield ""
        yield from _overview(statistics, of)
    yield from _bullets(
        ["Which of two recommended techniques is better is not tested.", *mark_notes(answers)]
    )
    cut_from = math.inf if most is None else most
    if any(len(rows) + rows["constant_answer"].ne("").any() > cut_from for rows in of.values()):
        yield f"- Long tables are cut here; [{ANSWERS_PAGE}]({ANSWERS_PAGE}) has all techniques."
    for scenario in statistics.scenarios:
        yield ""
        yield f"{'#' * level} {markdown.plain(scenario.heading)}"
        yield ""
        yield from _bullets([_planted_note(scenario, run.protocol), *data_notes([scenario.dataset], run)])
        for beta in scenario.telling_levels(run.betas):
            if (rows := of.get((scenario.key, beta))) is None:
                continue
            yield ""
            yield f"{'#' * (level + 1)} {markdown.plain(scenario.heading)} at β = {beta:g}"
            yield ""
            yield markdown.plain(" ".join(answer_sentences(rows, run.titles, rope=statistics.rope)))
            yield ""
            yield _plain_table(ANSWER_HEADINGS, answer_rows(rows, run.titles, most))


def _bullets(notes: Iterable[str]) -> Iterator[str]:
    return (f"- {markdown.plain(note)}" for note in notes if note)


def _plain_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown.table(head, ([markdown.plain(cell) for cell in row] for row in rows))


def _overview(
    statistics: RunStatistics, of: Mapping[tuple[ScenarioKey, float], pd.DataFrame]
) -> Iterator[str]:
    """Yield the choices at every level of bias, a table for each scenario."""
    run = statistics.run
    for scenario in statistics.scenarios:
        levels = [beta for beta in scenario.telling_levels(run.betas) if (scenario.key, beta) in of]
        restores = any(of[scenario.key, beta]["clean_distance"].notna().any() for beta in levels)
        rows = [choice_row(beta, of[scenario.key, beta], run.titles, restores=restores) for beta in levels]
        notes = "; ".join(scenario_notes(scenario, run.titles, statistics.baseline_of(scenario)))
        yield f"**{markdown.plain(scenario.heading)}** " + (f"({markdown.plain(notes)})" if notes else "")
        yield ""
        if scenario.dataset.warning:
            yield f"Warning: {markdown.plain(scenario.dataset.warning)}"
            yield ""
        yield _plain_table(choice_headings(statistics.rope, restores=restores), rows)
        yield ""


def _planted_note(scenario: Scenario, protocol: Protocol) -> str:
    """Say what bias is planted in a scenario, and what it does to the labels of training rows."""
    planted = next(own for own in scenario.dataset.biases if own.name == scenario.bias)
    if not (planted.kind or planted.description):  # a manifest that says nothing of it
        return ""
    kinds, real = list_bias_kinds(), protocol.train == "data"
    what, acting = planted.description or f"bias {scenario.bias!r}", ""
    if planted.kind in kinds and planted.edits and not real:  # such a description names the edits alone
        what = kinds[planted.kind].summary
        acting = f", here {', '.join(planted.acting)}" if planted.acting else ""
    levels = ", ".join(f"{number(d)} at β = {beta:g}" for beta, d in sorted(planted.discrimination))
    have = "have" if real else "are drawn with"
    drawn = f" Discrimination between the labels that training rows {have}: {levels}."
    return f"Planted: {what}{acting}.{drawn if levels else ''}"


def _use_section(statistics: RunStatistics) -> Iterator[str]:
    """Yield what is recommended at the highest level of bias, and how it is applied."""
    (*places, said), lines = winner(statistics)
    yield from _bullets(places)
    yield ""
    yield markdown.plain(said)
    if lines:
        yield f"\n```python\n{lines}```"


def _survivors_section(statistics: RunStatistics) -> Iterator[str]:
    found, incomplete = survivors(statistics)
    yield (
        f"Techniques that are better than the baseline by more than {statistics.rope:g} and of use, by the "
        "greatest β at which that is shown. In brackets: smaller β at which it is not shown. Shown is what "
        "intervals say that hold for all techniques at a β together."
    )
    if ACCURACY in statistics.metrics:
        yield (
            "**Bold**: at none of these β shown to be less accurate than the baseline by more than "
            f"{statistics.rope:g}."
        )
    if len(incomplete):
        yield (
            "Incomplete: techniques that are better at some β, but lack values there or at a smaller β, so "
            "that they do not count as holding up to there."
        )
    yield (
        "Of use, as far as that is recorded: at least as accurate as the best constant answer, and without "
        "nearly always the same answer to all or to one of the groups."
    )
    yield from map(markdown.plain, left_out_notes(statistics))
    yield ""
    headings = ["Dataset", "Metric", "Up to β", "Techniques", "Incomplete"]
    yield markdown.table(headings, _survivor_rows(statistics, found, incomplete))


def _survivor_rows(
    statistics: RunStatistics, found: pd.DataFrame, incomplete: pd.DataFrame
) -> Iterator[list[str]]:
    titles, shown = statistics.run.titles, ["technique", "not_at", "keeps_accuracy"]
    for scenario, metric in compared_metrics(statistics):
        own = scenario.rows(found[found["metric"] == metric])
        gaps = scenario.rows(incomplete[incomplete["metric"] == metric])["technique"]
        last = markdown.plain("; ".join(titles[name] for name in gaps)) or "–"
        traded = ACCURACY in statistics.metrics and metric != ACCURACY
        head = [markdown.plain(scenario.heading), markdown.plain(statistics.title(metric))]
        if own.empty:
            yield [
                *head,
                "–",
                "none shown" if is_compared(statistics, scenario, metric) else NOT_COMPARED,
                last,
            ]
        for level, rows in own.groupby("up_to", sort=False):
            names = [
                _survivor_text(titles[technique], not_at, traded and keeps_accuracy)
                for technique, not_at, keeps_accuracy in rows[shown].itertuples(index=False, name=None)
            ]
            up_to = "any" if scenario.inert else f"{level:g}"
            yield [*head, up_to, "; ".join(names), last]
            head, last = ["", ""], ""


def _survivor_text(title: str, not_at: str, bold: bool) -> str:
    """Return a technique's title with the levels of bias at which it does not hold up."""
    text = markdown.plain(title + (f" (not at {', '.join(not_at.split())})" if not_at else ""))
    return f"**{text}**" if bold else text


def _groups_section(statistics: RunStatistics) -> Iterator[str]:
    metric = statistics.groups["metric"].iloc[0]
    shown = f"Shown is {gap_title(metric).lower()}; groups.csv has other rates. {smallest_text(statistics)}"
    yield from _bullets([HOW_TO_READ_GAPS, shown.strip()])
    for block in gaps_of(statistics, metric):
        yield ""
        yield f"**{markdown.plain(block.scenario.heading)}, {block.heading}**"
        yield ""
        yield _plain_table(block.headings, block.rows)


def _agreed_section(statistics: RunStatistics) -> Iterator[str]:
    yield (
        "Kendall's τ of techniques' mean distances to the ideal between two classifiers on the same rows: "
        "mean over datasets and levels of bias, and in brackets, for comparison, τ of one classifier between "
        "halves of its own repetitions, which noise alone keeps below 1. A change is shown where its 95 % "
        "interval lies off 0, corrected for nothing: how many are shown with the first classifier, with the "
        "second, with both, and with both to be the opposite. agreement.csv has each."
    )
    table = statistics.agreement
    for metric, test in table[["metric", "test"]].drop_duplicates().itertuples(index=False):
        rows = []
        own = table[(table["metric"] == metric) & (table["test"] == test)]
        for (first, second), part in own.groupby(["first", "second"], sort=False):
            both, opposite, one, other = (
                int(part[name].sum()) for name in ("both", "opposite", "only_first", "only_second")
            )
            tau = f"{part['tau'].mean():.2f} ({part['halves'].mean():.2f})"
            shown = (both + opposite + one, both + opposite + other, both, opposite)
            rows.append([f"{first}, {second}", tau, *map(str, shown)])
        yield ""
        yield f"**{markdown.plain(statistics.title(metric, test))}**"
        yield ""
        yield _plain_table(["classifiers", "τ", "first", "second", "both", "opposite"], rows)


def _tuned_section(statistics: RunStatistics) -> Iterator[str]:
    yield from _bullets([f"Rule: {statistics.run.tuned_by}.", HOW_TO_READ_REGRETS])
    for block in regret_blocks(statistics):
        yield ""
        yield f"**{markdown.plain(block.heading)}**"
        yield ""
        yield _plain_table(block.headings, block.rows)


def _certainty_section(statistics: RunStatistics) -> Iterator[str]:
    run = statistics.run
    warnings = [f"Warning, {warning}" for warning in statistics.warnings]
    yield from _bullets(
        [*method_notes(statistics), *pair_notes(statistics), *warnings, *data_notes(run.datasets, run)]
    )
    # A repetition without a value counts once, on however many tests it has none.
    fits = [column for column in WHERE if column != "test"]
    gaps = statistics.intervals.groupby(fits, sort=False)["missing"].max()
    gaps = gaps.groupby("technique", sort=False).sum()
    if (gaps > 0).any():
        listed = ", ".join(f"{run.titles[str(name)]} {n}" for name, n in gaps[gaps > 0].items())
        yield f"- Repetitions without a value (the run's failures.csv says why): {markdown.plain(listed)}."
    yield ""
    yield (
        "Over several datasets and all β, techniques are ranked where all of them have values; best mean "
        "ranks, and the p-value of Friedman's test (Iman and Davenport's F). A dataset on which the bias has "
        "no effect counts at one β. A dataset at several β is no "
        "independent evidence, and p-values are too small for it. Degenerate: techniques without a rank, "
        f"because they answer {SAME_ANSWER} at some β on some of these datasets."
    )
    rows = list(_rank_rows(statistics))
    if any(BELOW_CONSTANT in row[4] for row in rows):
        yield (
            f"{BELOW_CONSTANT}: less accurate than the best constant answer at the β in brackets, on at "
            "least one of these datasets. Such techniques have a rank, and are no choice there."
        )
    yield ""
    yield markdown.table(["Datasets", "Metric", "Techniques", "Degenerate", "Best mean ranks", "p"], rows)


def _rank_rows(statistics: RunStatistics) -> Iterator[list[str]]:
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    run, standing = statistics.run, statistics.standing
    degenerate = standing[(standing["n_degenerate"] > 0) & ~repeated_levels(run, standing)]
    where = list(SCENARIO[1:])
    for (datasets, *place, name), own in pooled.groupby(["datasets", *where, "metric"], sort=False):
        there = degenerate[
            degenerate["dataset"].isin(str(datasets).split()) & (degenerate[where] == place).all(axis=1)
        ]
        left_out = own["technique"].isin(there["technique"]).sum()
        p = own["p_f"].iloc[0]
        yield [
            markdown.plain(
                statistics.ranked_on(str(datasets), **dict(zip(where, map(str, place), strict=True)))
            ),
            markdown.plain(statistics.title(str(name))),
            f"{own['mean_rank'].count()} of {len(own)}",
            str(left_out) if left_out else "none",
            markdown.plain(_best_ranks(own.dropna(subset="mean_rank"), run.titles)),
            "–" if pd.isna(p) else f"{p:.2g}",
        ]


def _best_ranks(ranked: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Name the best of one ranking; then those less accurate than a constant that would be among them."""
    if len(ranked) < 2:  # one technique alone has no rank
        return "–"
    flag, at = BELOW_COLUMNS
    of_use = ranked[~ranked[flag]].nsmallest(_MOST_RANKED, "mean_rank")
    last = of_use["mean_rank"].max()  # NaN where none is of use
    others = ranked[ranked[flag] & ~(ranked["mean_rank"] > last)].nsmallest(_MOST_RANKED, "mean_rank")
    columns = ["technique", "mean_rank", at]
    named = [
        f"{titles[name]} {rank:.2f}" for name, rank, _ in of_use[columns].itertuples(index=False, name=None)
    ]
    marked = [
        f"{titles[name]} {BELOW_CONSTANT} {rank:.2f} (β = {', '.join(betas.split())})"
        for name, rank, betas in others[columns].itertuples(index=False, name=None)
    ]
    if not named:
        return "; ".join(marked)
    return "; ".join(named) + (f". Among them would rank: {'; '.join(marked)}" if marked else "")


def _inside_section(statistics: RunStatistics) -> Iterator[str]:
    """Yield how many techniques are inside the unprocessing frontier, at each level of bias."""
    run, gaps = statistics.run, statistics.frontier_gaps
    yield (
        "How many techniques are inside the unprocessing frontier: at no more discrimination, thresholds by "
        "group on the scores of the most accurate classifier without mitigation, chosen on the training "
        "sample, are more accurate there, and the 95 % interval of the difference on the same samples lies "
        "below 0. Intervals do not allow for how many techniques there are."
    )
    if statistics.unscored:
        yield f"No scores, and so no frontier: {', '.join(statistics.unscored)}."
    yield ""
    shares = inside_shares(gaps, statistics.unconstrained)
    rows = []
    for scenario in statistics.scenarios:
        counts = scenario.rows(shares).set_index("beta")[["n_inside", "n_techniques"]]
        cells = ["{} of {}".format(*counts.loc[beta]) if beta in counts.index else "–" for beta in run.betas]
        rows.append([scenario.heading, *cells])
    yield _plain_table(["", *(f"β = {beta:g}" for beta in run.betas)], rows)


# Files are named, not linked: in betabench's own repository only the pictures that the page shows are kept.
def _figures_section(figures: Sequence[str]) -> Iterator[str]:
    yield (
        "Shown is the first of each kind. `betabench report` draws all of them, with `--formats png,pdf,svg` "
        "in other formats as well."
    )
    for kind, text in _FIGURES.items():
        if own := [path for path in figures if path.startswith((f"figures/{kind}_", f"figures/{kind}."))]:
            yield ""
            yield f"**{text}**: " + ", ".join(f"`{path}`" for path in own)
            yield ""
            yield f"![{text}]({own[0]})"


def _files_section(
    statistics: RunStatistics, sections: Sequence[Section], tables: Sequence[str]
) -> Iterator[str]:
    yield "`betabench report` writes these files beside this page; `results/README.md` explains every column."
    yield (
        "Numbers have six significant digits. Bayesian probabilities come from "
        f"{N_POSTERIOR:,} samples and have an error of up to 0.005."
    )
    yield ""
    files = FILES | {name: text for section in sections for name, text in section.files.items()}
    yield from (f"- `{name}.csv`: {files[name]}" for name in statistics.frames)
    yield from (f"- `{path}`" for path in tables)
    yield ""
    yield "Each table is there as Markdown, CSV, and LaTeX for `\\input` (packages booktabs and adjustbox)."
