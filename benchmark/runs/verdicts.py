"""Comparisons of a run's techniques with their baselines, verdicts on them, and ranks among each other.

Degenerate techniques have no value where ranks and fronts are computed. Here they get the reason for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.columns import BLIND, GOAL_METRICS, KNOWS, RESTORE, UNTREATED
from benchmark.errors import ReportError
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined, joined_in_order
from benchmark.statistics.across import ALPHA, RANK_COLUMNS, rank_table
from benchmark.statistics.answers import ACCURACY, ANSWER_COLUMNS, DISCRIMINATION, answer_table, judged
from benchmark.statistics.cells import PLANTED, SCENARIO, Baselines, Cells, Goal, require_known, to_cells
from benchmark.statistics.hidden_bias import HIDDEN_BIAS, HIDDEN_KIND, hidden_bias_table, withheld
from benchmark.statistics.paired import COMPARED_COLUMNS, paired_comparisons
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import EFFECT_COLUMNS, effect_table
from benchmark.statistics.unprocessing import with_frontier


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return the baselines of techniques, on each dataset that has results or failures.

    ``run`` declares each dataset's baseline, and ``results`` are its values. ``baseline`` takes the place of
    the declared one wherever it was run. Then clean models are still those of doing nothing,
    or of the declared baseline if that was not run. An UnknownNameError says that the results have no
    technique of that name; a ReportError that a dataset's declared baseline was not run.
    """
    if baseline is not None:
        require_known("technique", [baseline], results["technique"])
    used, untreated = dict(run.baselines(results).by), {}
    tried = results.groupby(["dataset", "classifier"], sort=False)["technique"].agg(set)
    for (dataset, classifier), declared in used.items():
        techniques = tried[dataset, classifier]
        name = baseline if baseline is not None and baseline in techniques else declared
        if name not in techniques:
            raise ReportError(
                f"The baseline {name!r} of {dataset} was not run with {classifier}",
                expected="one of " + ", ".join(sorted(techniques)),
                got=repr(name),
                remedy="name one of these with --baseline, or run the experiment with the baseline as well",
            )
        clean = UNTREATED if UNTREATED in techniques else declared
        untreated[dataset, classifier] = name if name in (declared, UNTREATED) else clean
        used[dataset, classifier] = name
    return Baselines(used, untreated, run.learners)


def effects_of_bias(run: RunFrames) -> pd.DataFrame:
    """Return where the planted bias changed anything, and which techniques undo no more than chance does.

    The frame is empty if a run has no clean model. If outside rates say that labels hide much bias, ranks may
    disagree with the truth, and the frame says so. ``run`` has its reference rows; techniques are compared
    with the baselines that it declares.
    """
    manifest, results = run.manifest, run.results
    measured = (results["metric"] == GOAL_METRICS[RESTORE]).any()
    if not (manifest.experiment.paired_betas and measured):
        return pd.DataFrame(columns=list(EFFECT_COLUMNS))
    baselines = manifest.baselines(results)
    effects = effect_table(results, baselines, run.standing, run.resampling, manifest.refits_of)
    rows = effects[[*PLANTED, "reason"]].itertuples(index=False, name=None)
    effects = effects.assign(
        reason=[reason or (HIDDEN_BIAS if _hides(manifest, *names) else "") for *names, reason in rows]
    )
    return joined_in_order([effects], manifest, EFFECT_COLUMNS)


def _hides(run: Manifest, dataset: str, bias: str, level: float) -> bool:
    """Return whether a dataset hides so much bias, by outside rates, that ranks to restore are unreliable."""
    record = run.dataset(dataset)
    dose, planted = record.hidden_dose, record.planted(bias)
    if dose is None or planted.kind != HIDDEN_KIND:
        return False
    return withheld(hidden_bias_table(), dose, planted.added(level), RESTORE)


def run_answers(
    run: RunFrames,
    baseline: str | None = None,
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    effects: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.answers.answer_table` of a run, with the standing by its frontier.

    The run has its reference rows; it may have a single repetition. ``baseline`` takes the place of the one
    that it declares, as in :func:`baselines_of`. Nothing is compared with a baseline that has no results.
    ``alpha`` is the level of significance. ``effects`` are from :func:`effects_of_bias`, and computed unless
    given. The table is empty without discrimination, and has no standing without a frontier.
    """
    chosen = run.of_choices
    results, resampling = chosen.results, chosen.resampling
    baselines = baselines_of(chosen.manifest, results, baseline)
    of_goals = results[results["metric"].isin((ACCURACY, *GOAL_METRICS.values()))]
    if not (of_goals["metric"] == DISCRIMINATION).any():
        return pd.DataFrame(columns=list(ANSWER_COLUMNS))
    comparisons = compare_with(to_cells(of_goals, resampling), baselines, list_metrics(), alpha)
    answers = answer_table(
        results,
        judged(comparisons, alpha=alpha, rope=criteria.margin),
        chosen.standing,
        baselines,
        criteria,
        resampling,
        paired_levels=chosen.manifest.experiment.paired_betas,
        effects=effects_of_bias(run) if effects is None else effects,
        knowledge=chosen.manifest.knowledge,
    )
    answers = joined_in_order([answers], chosen.manifest, ANSWER_COLUMNS)
    return with_frontier(answers, chosen.frontier_gaps)


def compare_with(cells: Cells, baselines: Baselines, goals: Mapping[str, Goal], alpha: float) -> pd.DataFrame:
    """Return comparisons of the techniques of each dataset with their baseline, where it has results."""
    compared = [
        paired_comparisons(cells.take(rows), baseline, goals, learners=baselines.learners, alpha=alpha)
        for rows, baseline in baselines.parts(cells.keys)
        if (cells.keys["technique"] == baseline)[rows].any()
    ]
    return joined(compared, COMPARED_COLUMNS)


BELOW_COLUMNS = ("below_constant", "below_constant_levels")
"""Columns of ranks and Pareto fronts: whether a technique is less accurate than the best constant answer on
any dataset of the row, and at which levels of bias."""


def ranks_of(
    cells: Cells, goals: Mapping[str, Goal], run: Manifest, knowledge: Mapping[str, str], *, alpha: float
) -> pd.DataFrame:
    """Return the ranks of techniques among those that know as much, and doing nothing.

    ``knowledge`` has what each technique of the cells is told. The columns are
    :data:`~benchmark.statistics.across.RANK_COLUMNS`, and :data:`KNOWS` behind the technique.
    """
    # A mean over some of the repetitions is not ranked beside means over all of them.
    whole = replace(cells, values=np.where((cells.n == cells.n_expected)[:, None], cells.values, np.nan))
    tables = []
    for told, over, panel in _panels(whole, run, knowledge):
        tables.append(rank_table(panel, goals, over=over, alpha=alpha))
        tables[-1].insert(RANK_COLUMNS.index("technique") + 1, KNOWS, told)
    return joined(tables, (*RANK_COLUMNS, KNOWS))


def repeated_levels(run: Manifest, frame: pd.DataFrame) -> pd.Series[bool]:
    """Return for each row whether its bias has no effect and its level is not the least."""
    inert = [(data.name, bias.name) for data in run.datasets for bias in data.bias if bias.inert]
    is_inert = pd.MultiIndex.from_frame(frame[["dataset", "bias"]]).isin(inert)
    return frame["level"].gt(frame["level"].min()) & is_inert


def _pooled(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels of bias that are pooled over datasets: all levels of β, not every dose."""
    levels = pd.MultiIndex.from_frame(cells.keys[list(PLANTED)])
    return cells.take(~levels.isin(run.apart)) if run.apart else cells


def _pooled_across(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels that are pooled with each other; a dataset must reach all of them."""
    if run.unit == "beta":
        return cells
    reachable = cells.take(cells.keys["level"].isin(run.pooled_levels).to_numpy())
    n_reached = reachable.keys.groupby([*PLANTED[:-1]], sort=False)["level"].transform("nunique")
    return reachable.take((n_reached == len(run.pooled_levels)).to_numpy())


def _panels(
    cells: Cells, run: Manifest, knowledge: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...], Cells]]:
    """Yield the cells of each set of techniques that was tried somewhere, wherever all of the set were tried.

    The techniques of a set know as much, which is yielded as well; doing nothing is in each set.

    An experiment may give some datasets fewer techniques, and learners of techniques' own train few. Each set
    comes twice, with the axes that it is ranked over: datasets, then datasets and levels of bias. In the
    latter, a dataset on which the bias has no effect counts once, by its least level. Levels in
    :attr:`~benchmark.runs.manifest.Manifest.pooled_levels` are pooled with each other, but for those in
    :attr:`~benchmark.runs.manifest.Manifest.apart`.
    """
    cells = _pooled(cells, run)
    place = ["dataset", "classifier"]
    tried = cells.keys.groupby(place, sort=False)["technique"].agg(frozenset)
    at = pd.MultiIndex.from_frame(cells.keys[place])
    nothing = {UNTREATED, *run.learners}
    sets = [
        (told, own)
        for names in dict.fromkeys(tried)
        for told in dict.fromkeys((BLIND, *knowledge.values()))
        if (own := frozenset(n for n in names if n in nothing or knowledge.get(n, BLIND) == told)) - nothing
        or (told == BLIND and own == names)
    ]
    for told, techniques in dict.fromkeys(sets):
        places = tried.index[[techniques <= names for names in tried]]
        within = cells.take(at.isin(places)).where(technique=list(techniques))
        yield told, ("dataset",), within
        across = _pooled_across(within, run)
        yield told, ("dataset", "level"), across.take(~repeated_levels(run, across.keys).to_numpy())


def _covered(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of standings that each row of a table covers: of its beta, or of all betas.

    They have their order in the standings, and the position of the table's row in the column ``row``.
    """
    shared = [*SCENARIO, "technique"]
    rows = table.assign(row=range(len(table)), of_row=table["level"])
    if "datasets" in table.columns:
        rows = rows.assign(dataset=rows["datasets"].str.split()).explode("dataset")
    standing = standing.assign(order=range(len(standing)))
    found = rows[[*shared, "row", "of_row"]].merge(standing, on=shared).sort_values(["row", "order"])
    pooled = found["of_row"].isna() & ~found.get("repeated", pd.Series(False, index=found.index))
    covered: pd.DataFrame = found[(found["of_row"] == found["level"]) | pooled]
    return covered


def with_degenerate(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return ranks or Pareto fronts with the reason ``constant`` where a technique is left out for that.

    Ranks also have the first dataset and level at which it is degenerate.
    """
    degenerate = _covered(table, standing[standing["n_degenerate"] > 0])
    first = degenerate.drop_duplicates("row").set_index("row").reindex(range(len(table)))
    first = first.set_axis(table.index).where(table["reason"] != "")
    marked = table.assign(reason=table["reason"].mask(first["level"].notna(), "constant"))
    for column, known in (("reason_dataset", "dataset"), ("reason_level", "level")):
        if column in table.columns:
            marked[column] = first[known].fillna(table[column])
    return marked


def with_below(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return a table with :data:`BELOW_COLUMNS`; it has ``level``, and ``dataset`` or ``datasets``."""
    below = _covered(table, standing[standing["below_constant"]])
    levels = below.groupby("row")["level"].agg(
        lambda found: " ".join(f"{level:g}" for level in sorted({*found}))
    )
    betas = levels.astype(object).reindex(range(len(table))).fillna("").to_numpy()
    return table.assign(below_constant=betas != "", below_constant_levels=betas)
