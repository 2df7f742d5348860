"""A technique of somebody's own beside those of an atlas that know as much: ``betabench atlas --add``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.api import run
from benchmark.atlas.adviser import Adviser
from benchmark.atlas.means import REFIT, part_means
from benchmark.atlas.recommenders import DOSE, cluster_means
from benchmark.atlas.scenarios import SCENARIO, Scenarios, scenarios_of
from benchmark.columns import RESTORE, UNTREATED
from benchmark.errors import TechniqueError, UnknownNameError
from benchmark.experiment.expand import narrow
from benchmark.statistics.hypothesis_tests import sign_flip_interval
from benchmark.techniques import load_plugin
from benchmark.text.markdown import table
from benchmark.text.terminal import Steps, output_console
from benchmark.text.words import EMBEDDED, few, file_name

LEARNERS = ("c45", "logistic_regression")
"""Learners that a technique is tried with."""

MEASURES = ("gain", "agreement_gain")
COLUMNS = (
    *("knows", "level", "technique", "yours", "n_sources"),
    *(f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")),
    "rank",
)
"""Columns of :attr:`Entrants.rows`."""


@dataclass(frozen=True, eq=False)
class Entrants:
    """Techniques of a plugin beside those of an atlas, in the same scenarios."""

    rows: pd.DataFrame  # columns :data:`COLUMNS`; gains are over doing nothing, in means over sources
    embedded: tuple[str, ...]  # sources whose networks stand in for their data
    seconds: float  # of one process, for the plugin's cells and those of doing nothing

    def __str__(self) -> str:
        texts = []
        if self.embedded:
            texts.append(
                f"The data of {few(self.embedded, 3)} are not at hand. Samples of embedded networks stand in "
                "for them."
            )
        for (state, level), rows in self.rows.groupby(["knows", "level"], sort=False):
            lines = [
                [
                    str(row["rank"]),
                    f"**{row['technique']}**" if row["yours"] else str(row["technique"]),
                    str(row["n_sources"]),
                    *(
                        _told([float(row[f"{measure}{end}"]) for end in ("", "_low", "_high")])
                        for measure in MEASURES
                    ),
                ]
                for row in rows.to_dict("records")
            ]
            head = ["rank", "technique", "sources", "nearer to the clean model", "agrees more with it"]
            title = f"Knows {state}, dose {level:g}: gains over doing nothing [95 % over sources]"
            texts.append(f"{title}\n\n{table(head, lines)}")
        return "\n\n".join(texts)


def _told(ends: Sequence[float]) -> str:
    form = "{:+.3f} [{:+.3f}, {:+.3f}]" if np.isfinite(ends).all() else "{:+.3f}"  # of few sources
    return form.format(*ends)


def enter(
    plugin: str | Path,
    *,
    atlas: str | Path | None = None,
    datasets: Sequence[str] | None = None,
    doses: Sequence[float] = (DOSE,),
    repetitions: int = 2,
    output: str | Path | None = None,
    data_dir: str | Path | None = None,
    offline: bool = True,
    workers: int | None = None,
    progress: bool = True,
) -> Entrants:
    """Return the techniques of a plugin beside those of an atlas that know as much.

    Only their cells are computed, and those of doing nothing, with C4.5 and logistic regression. They are
    told what the atlas's file lets them know. A source's embedded network stands in for data that are not at
    hand.

    Parameters
    ----------
    plugin : str or Path
        A file that registers techniques.
    atlas : str or Path, optional
        The folder of another atlas than the shipped one.
    datasets : sequence of str, optional
        Only these of the atlas's sources.
    doses : sequence of float, default (0.1,)
        Doses of bias, among those of the atlas.
    repetitions : int, default 2
        Splits of each source.
    output : str or Path, optional
        Folder of the runs, by default ``results/PLUGIN_in_atlas``. What is stored there is not computed
        again.
    data_dir, offline, workers, progress
        As in :func:`benchmark.run`.

    Raises
    ------
    BetabenchError
        If the plugin registers no technique, or a name is none of the atlas's.
    """
    adviser = Adviser.of(None if atlas is None else Path(atlas))
    names = list(load_plugin(plugin))
    folder = Path("results", f"{Path(plugin).stem}_in_atlas") if output is None else Path(output)
    if not names:
        raise TechniqueError(
            f"{plugin} registers no technique",
            expected="a class with @register",
            got="none",
            remedy="betabench new-technique writes a file to begin with",
        )
    part = adviser.tables.advice_parts[0]
    experiment = adviser.atlas.experiments[part]
    known = [entry.name for entry in experiment.datasets]
    if unknown := [name for name in datasets or () if name not in known]:
        raise UnknownNameError("dataset", unknown[0], known)
    if unknown := [f"{dose:g}" for dose in doses if dose not in adviser.doses]:
        raise UnknownNameError("dose", unknown[0], [f"{dose:g}" for dose in adviser.doses])
    steps = Steps(output_console(quiet=not progress))
    means, seconds = [], 0.0
    for dataset in (name for name in known if name in (datasets or known)):
        steps.note(f"{dataset} ...")
        finished = run(
            narrow(
                experiment,
                datasets=[dataset],
                techniques=[UNTREATED, *names],
                classifiers=LEARNERS,
                doses=[0.0, *doses],
                repetitions=repetitions,
            ),
            plugins=[plugin],
            techniques=[UNTREATED, *names],
            output=folder / file_name(dataset),
            data_dir=data_dir,
            offline=offline,
            workers=workers,
            progress=False,
        )
        assert finished.run_folder is not None
        means.append(part_means(finished.run_folder.run, part, adviser.atlas))
        seconds += finished.finished.manifest.durations_in_seconds["all_cells"]
    rows = pd.concat(means, ignore_index=True)
    rows = rows[(rows["pooled"] == 1) & (rows["level"] > 0) & (rows["technique"] != REFIT)]
    of_networks = rows["dataset"][rows["dataset"].str.endswith(EMBEDDED)]
    embedded = tuple(of_networks.str.removesuffix(EMBEDDED).unique())
    rows = rows.assign(dataset=rows["dataset"].str.removesuffix(EMBEDDED))
    committed = adviser.tables.dose_rows
    committed = committed.assign(dataset=committed["dataset"].str.removesuffix(EMBEDDED))
    keys = list(SCENARIO)
    here = pd.MultiIndex.from_frame(committed[keys]).isin(pd.MultiIndex.from_frame(rows[keys]))
    yours = pd.DataFrame(_gains(scenarios_of(rows, RESTORE))).assign(yours=True)
    theirs = pd.DataFrame(_gains(scenarios_of(committed[here], RESTORE))).assign(yours=False)
    both = pd.concat([yours, theirs[theirs["knows"].isin(yours["knows"])]], ignore_index=True)
    groups = both.groupby(["knows", "level"])["gain"]
    both["rank"] = groups.rank(ascending=False, method="min").astype(int)
    ordered = both.sort_values(["knows", "level", "rank"], ignore_index=True)
    return Entrants(ordered[list(COLUMNS)], embedded, seconds)


def _gains(scenarios: Scenarios) -> Iterator[dict[str, object]]:
    """Yield the gains of each technique over doing nothing at each dose, in means over sources."""
    agreement = (scenarios.agreed - scenarios.agreed[:, :, :1]).mean(axis=0)
    for level in sorted(scenarios.frame["level"].unique()):
        of = (scenarios.frame["level"] == level).to_numpy()
        for i, name in enumerate(scenarios.techniques[1:], start=1):
            tried = of & scenarios.run[:, i]
            if tried.any():
                both = np.column_stack([scenarios.gain[:, i], agreement[:, i]])[tried]
                both = cluster_means(scenarios.frame[tried], both).to_numpy()
                row = {"knows": scenarios.knows[i], "level": level, "technique": name, "n_sources": len(both)}
                for measure, values in zip(MEASURES, both.T, strict=True):
                    low, high = sign_flip_interval(values)
                    row |= {measure: float(values.mean()), f"{measure}_low": low, f"{measure}_high": high}
                yield row
