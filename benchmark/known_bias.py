"""What a user knows of a file's bias: refusals that were looked at again, or true rates of the groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pandas as pd

from benchmark.api import run
from benchmark.columns import UNTREATED
from benchmark.data.draft import Draft, draft
from benchmark.data.reading import Part, Reading, rates_of_sides, typed
from benchmark.data.refusals import read_verdicts, refused, write_sheet
from benchmark.errors import ExperimentError
from benchmark.estimator.snippet import snippet
from benchmark.experiment.expand import narrow
from benchmark.experiment.plan import load_experiment
from benchmark.experiment.telling import Telling
from benchmark.file_options import FileOptions
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.statistics.cells import to_cells
from benchmark.statistics.paired import paired_comparisons
from benchmark.statistics.true_gap import Estimate, TrueGap, gap_from_rate, gap_from_refusals, study_of
from benchmark.text.words import few
from benchmark.wording import render_plain, render_values

REFUSALS = 50
"""Number of refusals to look at again, by default."""


def sample_refusals(
    data: pd.DataFrame | str | Path,
    m: int = REFUSALS,
    *,
    label: object = None,
    favorable: object = None,
    sensitive: object = None,
    deprived: object = None,
    seed: int = 1,
    output: str | Path = "refusals.csv",
    **reading: object,
) -> str:
    """Write a sheet with refused people of the deprived group, for others to judge; return how to judge them.

    The rows are drawn at random, without replacement. The sheet has the number of each row in the data, from
    1, the columns that are read, and an empty column ``verdict``. It has neither the label nor the group.
    With verdicts in it, it is the ``relabel`` of :func:`benchmark.quick`.

    Parameters
    ----------
    data : DataFrame, str or Path
        The rows, as for :func:`benchmark.quick`.
    m : int, default 50
        Number of rows to draw; all refusals of the group, if there are fewer.
    label, favorable, sensitive, deprived : object
        Columns and values, as for :func:`benchmark.quick`; so are those of ``reading``.
    seed : int, default 1
        The same seed draws the same rows.
    output : str or Path, default "refusals.csv"
        The sheet. A file with other content is never overwritten.

    Raises
    ------
    BetabenchError
        If the data cannot be read, the group has no refusal, or the sheet is there already.

    Examples
    --------
    >>> sample_refusals("people.csv", label="hired", favorable="yes", sensitive="sex")  # doctest: +SKIP
    """
    roles = {"label": label, "favorable": favorable, "sensitive": sensitive, "deprived": deprived}
    file_options = FileOptions.of(**roles, **reading)
    drafted = draft(data, file_options)
    path = Path(output)
    n = write_sheet(path, drafted, m, seed)
    file = "data" if isinstance(data, pd.DataFrame) else str(data)
    return render_plain(
        "refusals",
        n=n,
        parts=drafted.reading.parts,
        few=few,
        left=int(refused(drafted).sum()),
        path=str(path),
        width=width_of(drafted.reading, n),
        command=typed("quick", file, file_options, f"--relabel={path}"),
    )


def width_of(reading: Reading, n: int) -> float:
    """Return by how much so many refusals may miss the true gap, if a third of them is wrong."""
    deprived = reading.parts[2]
    gap = gap_from_refusals(deprived.rows, deprived.favorable, n, n // 3).gap
    return (gap.high - gap.low) / 2


@dataclass(frozen=True)
class KnownBias:
    """What is known of a file's bias, and the estimate of the deprived group's true rate from it."""

    fact: Literal["refusals", "rates"]
    deprived: Part
    favored: Part
    gap: TrueGap
    rates: Mapping[str, float]  # true rates of both groups, by ``"deprived"`` and ``"favored"``
    source: str = ""  # the sheet with verdicts
    examined: int = 0  # refusals that were looked at again
    wrong: int = 0  # those of them that are wrong
    if_people_err: TrueGap | None = None  # the estimate if a share :data:`ERRS` of the verdicts is wrong

    def tellings(self) -> tuple[Telling, ...]:
        """Return what :data:`TECHNIQUE` is told in an experiment without planted bias.

        By refusals, it is told the ends of the interval of the gap as well.
        """
        recorded = self.favored.favorable / self.favored.rows
        gaps = self.gap.gap._asdict() if self.fact == "refusals" else {"value": self.gap.gap.value}
        return tuple(
            Telling(fact="rates", name=name, deprived=gap, favored=self.rates["favored"] - recorded)
            for name, gap in gaps.items()
        )


TECHNIQUE = "rate_weights"
"""The technique that uses true rates; by refusals, its weights are those of ``refusal_weights``."""

ERRS = 0.05
"""Share of verdicts that may be wrong, in the second interval that is shown."""


def known_bias(
    drafted: Draft, relabel: str | Path | None, true_rate: Mapping[Any, float] | str | None
) -> KnownBias | None:
    """Return what verdicts in a sheet, or true rates that are told, say of a file; None without both."""
    *_, deprived, favored = drafted.reading.parts
    group = deprived.rows, deprived.favorable
    if relabel is None and true_rate is None:
        return None
    if relabel is None:
        rates = rates_of_sides(true_rate or "", drafted.reading)
        return KnownBias("rates", deprived, favored, gap_from_rate(*group, rates["deprived"]), rates)
    if true_rate is not None:
        raise ExperimentError(
            "True rates and re-examined refusals are both given",
            expected="--true-rate or --relabel",
            remedy="leave out one of the two",
        )
    rows, wrong = read_verdicts(Path(relabel), drafted)
    found = len(rows), int(wrong.sum())
    gap = gap_from_refusals(*group, *found)
    rates = {"deprived": gap.true.value, "favored": favored.favorable / favored.rows}
    err = gap_from_refusals(*group, *found, ERRS)
    return KnownBias("refusals", deprived, favored, gap, rates, str(relabel), *found, err)


def run_beside(
    folder: Path,
    plugins: Sequence[str | Path],
    workers: int | None,
    *,
    knows: Sequence[Telling] = (),
    **parts: Any,
) -> RunFrames:
    """Return the frames of a small run on the rows of a first look, without planted bias and refits.

    ``parts`` are chosen as by :func:`~benchmark.experiment.expand.narrow`.
    """
    whole = load_experiment(folder / "experiment.toml")
    few_repetitions = min(_REPETITIONS, whole.repetitions)
    plain = narrow(whole, betas=[0.0], repetitions=few_repetitions, **parts)
    plain = plain.model_copy(update={"paired_betas": False, "knows": tuple(knows)})
    with TemporaryDirectory() as scratch:
        return read_frames(
            run(plain, plugins=plugins, output=scratch, workers=workers, progress=False).folder
        )


_REPETITIONS = 5  # of a small run


@dataclass(frozen=True)
class Told:
    """What a told technique changes on held-out rows of a file; each change with its interval over splits."""

    before: Mapping[str, float]  # means of the model that is told nothing, by metric
    changes: Mapping[str, Estimate]  # from them, by metric
    at_ends: (
        tuple[float, float] | None
    )  # accepted share of the deprived group if told the ends of the interval


def told_beside(
    known: KnownBias, folder: Path, classifier: str, plugins: Sequence[str | Path], workers: int | None
) -> Told | None:
    """Return what telling what is known changes in a first look; None if the technique has no result."""
    entries = {"techniques": [UNTREATED, TECHNIQUE], "classifiers": [classifier]}
    frames = run_beside(folder, plugins, workers, knows=known.tellings(), **entries)
    compared = paired_comparisons(to_cells(frames.results, frames.resampling), UNTREATED, list_metrics())
    means = frames.results.groupby(["technique", "metric"])["value"].mean()
    changes = compared[compared["technique"] == f"{TECHNIQUE}_value"].set_index("metric")
    if not {*_SHOWN} <= {*changes.index} or changes.loc[[*_SHOWN], "difference"].isna().any():
        return None
    ends = [means.get((f"{TECHNIQUE}_{end}", "accepted_deprived")) for end in ("low", "high")]
    return Told(
        {metric: float(means[UNTREATED, metric]) for metric in _SHOWN},
        {
            metric: Estimate(
                *(float(changes.loc[metric, f"difference{end}"]) for end in ("", "_low", "_high"))
            )
            for metric in _SHOWN
        },
        None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1])),
    )


_SHOWN = ("accepted_deprived", "discrimination", "accuracy")


def known_text(
    known: KnownBias, told: Told | None, classifier: str, drafted: Draft, card: str, *, whole: bool = True
) -> str:
    """Return what is known, the technique, its lines of Python, and what it changes, as Markdown.

    ``card`` is the file of the card. Unless the text is to be ``whole``, it has the line of the model alone.
    """
    label, favorable, sensitive, deprived = drafted.roles.values()
    roles = {"label": label, "favorable": favorable, "sensitive": sensitive, "deprived": deprived}
    rates = {
        state: round(known.rates["deprived" if state == deprived else "favored"], 4)
        for state in drafted.columns[sensitive].states
    }
    learner = "" if classifier == "c45" else classifier  # which is the default
    code = snippet(TECHNIQUE, card, **roles, classifier=learner, told={"rates": rates})
    return render_values(
        "known",
        known=known,
        technique=TECHNIQUE,
        told=told,
        classifier=classifier,
        errs=ERRS,
        enough=_break_even(known.gap.gap.value, classifier),
        code=code if whole else code[code.index("model = ") : code.index("model.fit")],
        few=few,
    )


def _break_even(gap: float, classifier: str) -> float | None:
    """Return the true gap below which telling a gap did harm in the study; None where this is not known."""
    study = study_of("gap", classifier, gap)
    return None if study is None or not study.break_even > 0 else gap / float(study.break_even)


def look_again(reading: Reading | None, file: str, file_options: FileOptions, learner: str) -> str:
    """Return which number helps most against a bias, from how many people, and what to type, as Markdown.

    It is empty if the deprived group of a file that was read has no refusal.
    """
    n, width, group = REFUSALS, None, "the deprived group"
    if reading is not None:
        deprived = reading.parts[2]
        n = min(n, deprived.rows - deprived.favorable)
        width, group = width_of(reading, n) if n else None, few([value for value, _ in deprived.values], 3)
    if not n:
        return ""
    return render_values(
        "look_again",
        n=n,
        width=width,
        group=group,
        study=study_of("refusals", learner, _USUAL_DOSE, n),
        command=typed("sample-refusals", file, file_options),
    )


_USUAL_DOSE = 0.1  # for which the study is cited where no gap is known
