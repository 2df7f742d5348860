"""What a user knows of a file's bias: refusals that were looked at again, or true rates of the groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from markupsafe import Markup

from benchmark.api import run
from benchmark.columns import UNTREATED
from benchmark.data.draft import Draft
from benchmark.data.reading import Part, rates_of_sides, typed
from benchmark.data.refusals import read_verdicts
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
from benchmark.statistics.true_gap import TrueGap, gap_from_rate, gap_from_refusals, study_of
from benchmark.text.words import few
from benchmark.wording import render_values

TECHNIQUE = "rate_weights"
"""The technique that uses true rates; by refusals, its weights are those of ``refusal_weights``."""

_REFUSALS = 50  # to look at again
_ERRS = 0.05  # share of verdicts that may be wrong, in the second interval that is shown
_REPETITIONS = 5  # of a small run
_USUAL_DOSE = 0.1  # for which the study is cited where no gap is feared


@dataclass(frozen=True)
class KnownBias:
    """What is known of a file's bias, and the estimate of the deprived group's true rate from it."""

    deprived: Part
    favored: Part
    gap: TrueGap
    rates: Mapping[str, float]  # true rates of both groups, by ``"deprived"`` and ``"favored"``
    verdicts: tuple[int, int] | None = None  # refusals that were looked at again, and wrong ones; or rates
    if_people_err: TrueGap | None = None  # the estimate if some verdicts are wrong

    @property
    def gap_of_others(self) -> float:
        """The favored group's true minus its recorded rate, where both groups' rates are told."""
        return self.rates["favored"] - self.favored.favorable / self.favored.rows


def known_bias(
    drafted: Draft, relabel: str | Path | None, true_rate: Mapping[Any, float] | str | None
) -> KnownBias | None:
    """Return what verdicts in a sheet, or true rates that are told, say of a file; None without both."""
    *_, deprived, favored = drafted.reading.parts
    group = deprived.rows, deprived.favorable
    if relabel is None:
        if true_rate is None:
            return None
        rates, persons = rates_of_sides(true_rate, drafted.reading), drafted.persons
        people = None if persons is None else len(np.unique(persons[drafted.rows.deprived]))
        return KnownBias(deprived, favored, gap_from_rate(*group, rates["deprived"], people), rates)
    if true_rate is not None:
        expected, remedy = "--true-rate or --relabel", "give one of them"
        raise ExperimentError("True rates and verdicts are both given", expected=expected, remedy=remedy)
    wrong = read_verdicts(Path(relabel), drafted)
    found = len(wrong), int(wrong.sum())
    gap, if_people_err = (gap_from_refusals(*group, *found, errs) for errs in (0.0, _ERRS))
    rates = {"deprived": gap.true.value, "favored": favored.favorable / favored.rows}
    return KnownBias(deprived, favored, gap, rates, found, if_people_err)


def run_beside(
    folder: Path, plugins: Sequence[str | Path], workers: int | None, *knows: Telling, **parts: Any
) -> RunFrames:
    """Return the frames of a small run on the rows of a first look, without planted bias and refits.

    ``parts`` are chosen as by :func:`~benchmark.experiment.expand.narrow`.
    """
    whole = load_experiment(folder / "experiment.toml")
    plain = narrow(whole, betas=[0.0], repetitions=min(_REPETITIONS, whole.repetitions), **parts)
    plain = plain.model_copy(update={"paired_betas": False, "knows": knows})
    with TemporaryDirectory() as scratch:
        made = run(plain, plugins=plugins, output=scratch, workers=workers, progress=False)
        return read_frames(made.folder)


def told_beside(
    known: KnownBias, classifier: str, folder: Path, plugins: Sequence[str | Path], workers: int | None
) -> Mapping[str, Any] | None:
    """Return what the told technique changes on held-out rows; None if it has no result, or nothing to do.

    By verdicts, it is told the ends of the interval of the gap as well.
    """
    gaps, other = known.gap.gap._asdict(), known.gap_of_others
    if not (gaps["value"] or other):
        return None
    named = gaps if known.verdicts else {"value": gaps["value"]}
    knows = [Telling(fact="rates", name=name, deprived=gap, favored=other) for name, gap in named.items()]
    tried: dict[str, Any] = {"techniques": [UNTREATED, TECHNIQUE], "classifiers": [classifier]}
    frames = run_beside(folder, plugins, workers, *knows, **tried)
    compared = paired_comparisons(to_cells(frames.results, frames.resampling), UNTREATED, list_metrics())
    rows = compared[(compared["technique"] == f"{TECHNIQUE}_value") & (compared["n"] > 0)]
    changes = {row.metric: row for row in rows.itertuples()}
    if not {"accepted_deprived", "discrimination", "accuracy"} <= changes.keys():
        return None
    means = frames.results.groupby(["technique", "metric"])["value"].mean()
    ends = [means.get((f"{TECHNIQUE}_{end}", "accepted_deprived")) for end in ("low", "high")]
    return {"before": dict(means[UNTREATED]), "changes": changes, "ends": None if None in ends else ends}


def known_text(
    known: KnownBias, told: Mapping[str, Any] | None, classifier: str, drafted: Draft, card: str, whole: bool
) -> Markup:
    """Return what is known, the technique, its lines of Python, and what it changes, as Markdown.

    ``card`` is the file of the card. Unless the text is to be ``whole``, it has the line of the model alone.
    """
    names = ("label", "favorable", "sensitive", "deprived")
    roles: dict[str, Any] = dict(zip(names, drafted.roles.values(), strict=True))
    sides = dict.fromkeys(drafted.columns[roles["sensitive"]].states, known.rates["favored"])
    sides[roles["deprived"]] = known.rates["deprived"]
    rates = {group: round(rate, 4) for group, rate in sides.items()}
    learner = "" if classifier == "c45" else classifier  # which is the default
    code = snippet(TECHNIQUE, card, **roles, classifier=learner, told={"rates": rates})
    gap = known.gap.gap.value
    study = study_of("gap", classifier, gap)
    return Markup(
        render_values(
            "known",
            known=known,
            technique=TECHNIQUE,
            told=told,
            classifier=classifier,
            errs=_ERRS,
            enough=[gap / study.dose * end for end in (study.break_even, study.break_even_high)]
            if study and study.break_even > 0
            else None,
            code=code if whole else code[code.index("model = ") : code.index("model.fit")],
            few=few,
        )
    )


def look_again(
    drafted: Draft | None, file: str, file_options: FileOptions, learner: str, dose: float = _USUAL_DOSE
) -> Markup:
    """Return which number helps most against a bias, from how many people, and what to type, as Markdown.

    It is empty if the deprived group of a file that was read has no refusal. The study is cited at ``dose``.
    """
    n, width, group = _REFUSALS, None, "the deprived group"
    if drafted is not None:
        deprived = drafted.reading.parts[2]
        group = few([value for value, _ in deprived.values], 3)
        if not (n := min(n, deprived.rows - deprived.favorable)):
            return Markup()
        gap = gap_from_refusals(deprived.rows, deprived.favorable, n, n // 3).gap
        width = (gap.high - gap.low) / 2
    study = study_of("refusals", learner, dose, n)
    command = typed("sample-refusals", file, file_options)
    return Markup(render_values("look_again", n=n, width=width, group=group, study=study, command=command))
