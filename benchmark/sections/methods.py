"""What was measured and how, and whom to cite."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.sections.answers import NOT_TESTED
from benchmark.sections.certainty import rule
from benchmark.sections.choices import OUTDONE, recommended_rule
from benchmark.sections.data import cards_of
from benchmark.sections.goals import CLEAN_MODEL, WORDS
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import BELOW_CONSTANT, BELOW_WORDS, DEGENERATE, INSIDE_FRONTIER, ONE_GROUP
from benchmark.statistics.answer_record import answer_records
from benchmark.statistics.answers import NEARLY_ALL
from benchmark.techniques import find_technique
from benchmark.text.words import share

_PAPER = """@inproceedings{cardoso2019framework,
  author    = {Cardoso, Rodrigo L. and Meira Jr., Wagner and Almeida, Virgilio and Zaki, Mohammed J.},
  title     = {A Framework for Benchmarking Discrimination-Aware Models in Machine Learning},
  booktitle = {Proceedings of the AAAI/ACM Conference on AI, Ethics, and Society},
  year      = {2019},
}"""


def section(statistics: RunStatistics) -> Section:
    """Return definitions, metrics, techniques and citations."""
    run = statistics.run
    citations = {"The method of this benchmark": _PAPER, "The program": _software(run)}
    citations |= {card.title: card.bibtex.strip() for card in cards_of(run).values() if card.bibtex}
    return Section(
        "methods",
        "Methods and citations",
        (run.protocol.scope_text, run.protocol.variation_text, *([run.tests_note] if run.tests_note else [])),
        [
            Block(facts=_definitions(statistics)),
            Block(
                "Metrics",
                ("y+ is the favorable label, ŷ a prediction, g the deprived group, ḡ the favored one.",),
                table=TextTable(
                    ["metric", "name", "formula", "range", "ideal", "better", "source"],
                    [
                        _metric(name, statistics.title(name), goal)
                        for name, goal in statistics.metrics.items()
                    ],
                ),
            ),
            Block(
                "Techniques",
                table=TextTable(["technique", "method", "parameters", "published in"], [*_techniques(run)]),
            ),
            *(Block(title, code=entry) for title, entry in citations.items()),
        ],
    )


def _definitions(statistics: RunStatistics) -> dict[str, str]:
    overlap = ", which is corrected for splits that overlap" if statistics.resampling is not None else ""
    test = (
        "Two-sided corrected resampled t-test (Nadeau and Bengio, 2003) of by how much nearer to the ideal "
        "the technique is than the baseline: repetitions are splits of the same rows, which overlap."
        if statistics.resampling is not None
        else "Two-sided sign-flip permutation test of by how much nearer to the ideal the technique is than "
        f"the baseline: all signs where there are at most {statistics.n_flips:,} ways, else "
        f"{statistics.n_flips:,} drawn ones."
    )
    family = f"dataset, bias, classifier{', test' if statistics.names_tests else ''} and metric"
    most = share(NEARLY_ALL)
    recommended = " ".join(recommended_rule(answer_records(statistics.answers), statistics.criteria))
    return {
        "Interval": "95 %, Student's: the mean over the repetitions, plus and minus the quantile of t times "
        f"the standard error{overlap}. Where all values are equal it is a point, which does not mean that "
        "the next one would be the same.",
        "Difference": "Mean over the repetitions of the technique's value minus the baseline's on the same "
        "sample. Its interval is of these differences, not of the two means.",
        "p": f"{test} Corrected by Holm's method for all techniques and levels of bias of one {family}. "
        "It decides nothing here.",
        "Better, worse": rule(statistics),
        "Accepts": "Share of the test rows that are predicted the favorable label: of all, of the deprived "
        "and of the favored group; means over the repetitions.",
        f"{DEGENERATE} nearly everybody, or each group, gets the same answer": "In at least one repetition, "
        f"more than {most} of all rows, or of each of the two groups, are predicted the same label. Such a "
        f"classifier discriminates little because it decides little: at these {statistics.run.levels_sign} "
        "it "
        "is not ranked, is on no "
        "front, holds up nowhere and is never recommended. A baseline is compared with nevertheless, unless "
        f"it gives more than {most} of all rows the same label in more than half of its repetitions: then "
        "nothing is compared with it.",
        f"{BELOW_CONSTANT} {BELOW_WORDS}": "The mean accuracy is below that of "
        "refusing everybody, or of accepting everybody, whichever is right more often on the test rows. It "
        "is compared, and recommended only within the slack of accuracy.",
        f"{ONE_GROUP} one answer for a group": f"On average more than {most} of one of the groups are "
        "refused, or accepted. It is compared, and never recommended.",
        f"{INSIDE_FRONTIER} inside the unprocessing frontier": "Where the run recorded one: on the same "
        "samples, thresholds by group on the scores of the most accurate classifier without mitigation, "
        "chosen on the training sample, are more accurate at no more discrimination, and the 95 % interval "
        "of the difference lies below 0. It says nothing of whether a technique is recommended.",
        "Goals": f"{'; '.join(words.title for words in WORDS.values())}. {CLEAN_MODEL} Acceptance is equal "
        "where discrimination is 0. Answers, choices and ranks are of one goal each.",
        "Recommended": f"{recommended} Outdone ones are not: {OUTDONE}. {NOT_TESTED}",
        "Which technique holds up": f"The greatest {statistics.run.level_sign} at which it is better than "
        "the "
        "baseline and of use "
        f"(without {DEGENERATE}, {BELOW_CONSTANT} and {ONE_GROUP}), as far as technique and baseline have a "
        "value in every repetition up to there; else it is counted as incomplete.",
    }


def _metric(name: str, title: str, goal: object) -> list[str]:
    if not isinstance(goal, Metric):
        return [name, name, "declared by a plugin that is not loaded here", "", "", "", ""]
    low, high = (f"{value:g}".replace("inf", "∞") for value in goal.range)
    better = {"closer_to_ideal": "closer to the ideal", "none": "neither"}.get(goal.direction, goal.direction)
    formula = ". ".join(filter(None, [goal.formula, goal.note]))
    ideal = "" if goal.ideal is None else f"{goal.ideal:g}"
    return [title, name, formula, f"{low} to {high}", ideal, better, goal.source]


def _techniques(run: Manifest) -> Iterator[list[str]]:
    for entry in run.experiment.techniques:
        parameters = ", ".join(f"{name} = {value}" for name, value in entry.parameters.items())
        technique = find_technique(entry.technique)
        reference = getattr(technique, "reference", "from a plugin that is not loaded here")
        yield [entry.title or entry.name, entry.technique, parameters, reference]


def _software(run: Manifest) -> str:
    version = run.versions.get("betabench", "")
    return (
        "@software{betabench,\n"
        "  author  = {{The betabench developers}},\n"
        "  title   = {betabench: which fairness technique survives which amount of planted bias},\n"
        f"  version = {{{version}}},\n"
        f"  year    = {{{run.finished[:4]}}},\n"
        "}"
    )
