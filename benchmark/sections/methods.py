"""What was measured and how, and whom to cite."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.sections.answers import NOT_TESTED
from benchmark.sections.certainty import rule
from benchmark.sections.choices import DOMINATED, recommended_rule
from benchmark.sections.data import cards_of
from benchmark.sections.goals import DISTANCE, WORDS, clean_words
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import BELOW_WORDS
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
    level, levels = statistics.run.level_sign, statistics.run.levels_sign
    overlap = ""
    test = (
        "Two-sided sign-flip permutation test of how much nearer to the ideal the technique is than the "
        f"baseline. All signs are tried if there are at most {statistics.n_flips:,} ways, else "
        f"{statistics.n_flips:,} random ones."
    )
    if statistics.resampling is not None:
        overlap = ", corrected for splits that overlap"
        test = (
            "Two-sided corrected resampled t-test (Nadeau and Bengio, 2003) of how much nearer to the ideal "
            "the technique is than the baseline. Repetitions are splits of the same rows, which overlap."
        )
    family = f"dataset, bias, classifier{', test' if statistics.names_tests else ''} and metric"
    most = share(NEARLY_ALL)
    recommended = " ".join(recommended_rule(statistics.answered, statistics.criteria))
    return {
        "Interval": "Student's 95 % interval: mean over the repetitions, plus and minus the quantile of t "
        f"times the standard error{overlap}. If all values are equal, the interval is a point. The next "
        "value may still differ.",
        "Difference": "Mean over the repetitions of the technique's value minus the baseline's on the same "
        "sample. Its interval is made from these differences, not from the two means.",
        "p": f"{test} Holm's method corrects it for all techniques and levels of bias of one {family}. No "
        "verdict depends on p.",
        "Better, worse": rule(statistics),
        "Selection rate": "Share of the test rows that get the favorable prediction: of all, of the deprived "
        "and of the favored group. Means over the repetitions.",
        "Degenerate": f"In at least one repetition, more than {most} of all rows, or of each group, get the "
        "same prediction. Such a classifier discriminates little because it decides little. At these "
        f"{levels} it is not ranked, on no front, holds up nowhere and is never recommended. A degenerate "
        f"baseline is still compared with, unless it gives more than {most} of all rows the same label in "
        "more than half of its repetitions.",
        BELOW_WORDS.capitalize(): "The best constant answer refuses everybody or accepts everybody, "
        "whichever is right more often on the test rows. A technique below it on average is compared, and "
        "recommended only within the slack of accuracy.",
        "One answer for a group": f"On average more than {most} of one of the groups are refused, or "
        "accepted. The technique is compared, and never recommended.",
        "Inside the unprocessing frontier": "Thresholds by group, chosen on the training sample, dominate "
        "the technique. They use the scores of the most accurate untreated classifier. On the same samples "
        "they are more accurate at no more discrimination (95 % interval of the difference below 0). It does "
        "not decide on recommendations.",
        "Goals": f"{'; '.join(words.title for words in WORDS.values())}. "
        f"{clean_words(statistics.answers, statistics.run.titles)} {DISTANCE} Acceptance is equal "
        "where discrimination is 0. Each answer, choice and rank is for one goal.",
        "Recommended": f"{recommended} Dominated techniques are not recommended: {DOMINATED}. {NOT_TESTED}",
        "Which technique holds up": f"The greatest {level} at which the technique is better than the "
        "baseline and useful: not degenerate, not below a constant, not one answer for a group. Up to there, "
        "technique and baseline need a value in every repetition; else the technique is incomplete.",
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
