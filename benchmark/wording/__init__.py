"""Words for facts: one table of words, and one template for each question, which gives Markdown.

``words.toml`` has a label, a clause and a meaning for each verdict and reason. Templates take facts only. The
page shows their Markdown as HTML (:func:`as_html`), the terminal by rich. Text from outside, such as the name
of a technique or a dataset, is escaped wherever a template shows it.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from benchmark.data.reading import FEW_ROWS
from benchmark.facts.model import (
    Answers,
    Dataset,
    Estimate,
    Facts,
    Gap,
    Ranks,
    Reason,
    Run,
    Scenario,
    Standing,
    Technique,
)
from benchmark.text import markdown, words
from benchmark.text.templates import environment
from benchmark.wording.overview import (
    MOST_IN_COLUMNS,
    Case,
    Overview,
    Row,
    baseline_of,
    best_of,
    level_by_level,
    overview,
)

_RARE = 0.05  # share of the rarer label below which most models give all rows one answer
_TOO_GOOD = 0.99  # accuracy
# Remarks that change the meaning of the verdict that a technique helps.
_TELLING = ("accepts_fewer", "levels_down", "constant", "below_constant", "one_group", "incomplete")

QUESTIONS = (
    *("use", "decisions", "gaps", "ranks", "tuning", "frontier", "hidden"),
    *("missing", "certainty", "data", "methods", "files"),
)
"""Templates of the questions besides the answers, in the order in which they are shown."""


@functools.cache
def vocabulary() -> Mapping[str, Any]:
    """Return the table of words: goals, roles, verdicts and reasons, each by its code."""
    return tomllib.loads(files(__name__).joinpath("words.toml").read_text(encoding="utf-8"))


def render(template: str, facts: Facts, **more: object) -> str:
    """Return the Markdown of a template in ``benchmark/wording/templates``, given facts and other values.

    A missing value is an error.
    """
    return render_values(template, **{**_Words(facts).values, **more})


def render_values(template: str, package: str = __name__, /, **values: object) -> str:
    """Return the Markdown of a package's template that words other values than the facts of a run."""
    text = _environment(package).get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render_plain(template: str, **values: object) -> str:
    """Return the text of a template ``NAME.txt.j2``, which is no Markdown, for some values."""
    return str(_plain().get_template(f"{template}.txt.j2").render(**values))


def macro(template: str, name: str, facts: Facts) -> Callable[..., str]:
    """Return a macro of a template, for some facts, as a function that gives Markdown."""
    module = _environment().get_template(f"{template}.md.j2").make_module(_Words(facts).values)
    return lambda *values: str(getattr(module, name)(*values))


def as_html(text: str) -> str:
    """Return Markdown as HTML; HTML in it is shown, not used."""
    return str(markdown.parser().render(text))


def standing_texts(standing: Standing, goal: str, title: Callable[[str], str]) -> list[str]:
    """Return what a table says of a technique besides its verdict: why, what is best in it, what it hides."""
    table = vocabulary()
    texts = [] if standing.reason is None else [reason_text(standing.reason)]
    if standing.dominated_by is not None:
        texts.append(_phrase(table["verdict"]["dominated"]["by"]).render(title=title(standing.dominated_by)))
    for form, names in (("label", standing.best), ("tied", standing.tied)):
        texts += [_phrase(table["best"][name][form]).render(table["goal"][goal]) for name in names]
    texts += map(reason_text, standing.remarks)
    return texts


def reason_text(reason: Reason, form: str = "label") -> str:
    """Return a reason as a label or a clause, with its arguments."""
    return str(_phrase(vocabulary()["reason"][reason.code][form]).render(reason.args))


@functools.cache
def _environment(package: str = __name__) -> Environment:
    templates = environment(
        package,
        autoescape=True,  # so that macros return markup, which is not escaped again
        finalize=_escaped,
        keep_trailing_newline=True,
    )
    templates.filters |= {name: _safe(shown) for name, shown in _FILTERS.items()}
    return templates


@functools.cache
def _plain() -> Environment:
    templates = environment("benchmark.wording")
    templates.filters |= _FILTERS
    return templates


@functools.cache
def _phrase(text: str) -> Any:
    # Phrases stand in a template, which escapes them.
    return _plain().from_string(text)


def _escaped(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return Markup(markdown.plain(value))


def _safe(shown: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *arguments, **settings: Markup(shown(*arguments, **settings))


def _signed(value: float | None, digits: int = 3) -> str:
    """Return a change with its sign: ``"+.037"``, ``"-.037"``."""
    text = words.short(value, digits)
    return text if value is None or text.startswith("-") or float(text) == 0 else f"+{text}"


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a mean with its interval in brackets, if it has one."""
    shown = _signed if signed else words.short
    if estimate.mean is None or estimate.low is None:
        return shown(estimate.mean)
    return f"{shown(estimate.mean)} [{shown(estimate.low)}, {shown(estimate.high)}]"


def _usage(technique: Technique, data: Dataset) -> str:
    """Return the expression of Python that makes a technique for a dataset."""
    parameters = f", parameters={technique.parameters!r}" if technique.parameters else ""
    return f"FairClassifier({technique.method!r}{parameters}, sensitive={data.sensitive!r})"


_FILTERS: Mapping[str, Callable[..., str]] = {
    "block": markdown.block,
    "code": markdown.code,
    "interval": _interval,
    "link": markdown.address,
    "number": words.short,
    "p": lambda value: words.p_value(math.nan if value is None else value),
    "share": lambda value: words.share(math.nan if value is None else value),
    "signed": _signed,
}


class _Words:
    """The values and functions that every template has, for some facts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._titles = {technique.name: technique.title for technique in facts.techniques}
        self._datasets = {dataset.name: dataset for dataset in facts.datasets}
        self._metrics = {metric.name: metric.title for metric in facts.metrics}
        several = words.SEVERAL_LEVELS[facts.run.level_name]
        self.values: dict[str, Any] = {
            "facts": facts,
            "run": facts.run,
            **{f"{kind}s": meanings for kind, meanings in vocabulary().items()},
            "title": self._titles.__getitem__,
            "titles": lambda names: [self._titles[name] for name in names],
            "metric_title": lambda name: self._metrics.get(name, name),
            "dataset_titles": lambda names: [self._datasets[name].title for name in names],
            "level": self._level,
            "level_of": self._level_of,
            "level_sign": words.LEVEL_SIGNS[facts.run.level_name],
            "levels_sign": several,
            "label": reason_text,
            "clause": functools.partial(reason_text, form="clause"),
            "dataset": self._dataset,
            "capital": lambda text: text[:1].upper() + text[1:],
            "sentence": words.sentence,
            "few": lambda names, most=6: words.few(list(names), most),
            "before": baseline_of,
            "taken": functools.partial(best_of, choice="least"),
            "met": _met,
            "by_technique": _by_technique,
            "reasons_of": _reasons_of,
            "has": self._has,
            "answered": self._answered,
            "unanswered": self._unanswered,
            "short_reasons": self._short_reasons,
            "protocol_words": self._protocol_words,
            "where_ranked": self._where_ranked,
            "gaps_at_highest": self._gaps_at_highest,
            "citations": self._citations,
            "questions": QUESTIONS,
            "usage": _usage,
            "overview": overview(facts),
            "samples": _samples(facts.run),
            "case": Case,
            "level_by_level": lambda: level_by_level(facts),
            "best_of": best_of,
            "most_in_columns": MOST_IN_COLUMNS,
            "few_rows": FEW_ROWS,
            "rare": _RARE,
            "too_good": _TOO_GOOD,
            "by_name": {technique.name: technique for technique in facts.techniques}.__getitem__,
            "telling": _TELLING,
        }

    def _level(self, *levels: float) -> str:
        return words.level_text(self._facts.run.level_name, *levels)

    def _level_of(self, scenario: Scenario, level: float) -> str:
        """Return a level of bias of a scenario; it stands for all if the bias changes nothing."""
        if scenario.inert:
            return f"every {words.LEVEL_SIGNS[self._facts.run.level_name]}"
        return self._level(level)

    def _dataset(self, scenario: Scenario) -> Dataset:
        return self._datasets[scenario.dataset]

    def _has(self, part: str) -> bool:
        """Return whether the facts, or those of any scenario, have a part."""
        facts = self._facts
        return any(getattr(scenario, part, ()) or getattr(facts, part, ()) for scenario in facts.scenarios)

    def _answered(self) -> set[str]:
        """Return the goals with answers."""
        return {answers.goal for scenario in self._facts.scenarios for answers in scenario.answers}

    def _unanswered(self) -> list[Reason]:
        """Return the reasons why there is no answer for the goal to restore, each once."""
        reasons = (scenario.unanswered for scenario in self._facts.scenarios)
        return list({reason.code: reason for reason in reasons if reason is not None}.values())

    def _short_reasons(self) -> list[str]:
        """Return the codes of the reasons that stand beside numbers, in the order of the words."""
        met = {
            row.reason.code
            for scenario in self._facts.scenarios
            for answers in scenario.answers
            for level in answers.levels
            for row in level.techniques
            if row.reason
        }
        return [code for code, texts in vocabulary()["reason"].items() if code in met and "short" in texts]

    def _protocol_words(self) -> Mapping[str, str]:
        protocol = self._facts.run.protocol
        split = protocol.holdout is not None or protocol.folds is not None
        code = "overlaps" if protocol.overlaps else "splits" if split else "samples"
        found: Mapping[str, str] = vocabulary()["protocol"][code]
        return found

    def _where_ranked(self, ranks: Ranks) -> str:
        """Return what tells ranks over the same datasets apart, after a comma; nothing if nothing does."""
        tests = vocabulary()["test"]
        several = [
            tests[ranks.test]["label"] if name == "test" else getattr(ranks, name)
            for name in ("bias", "classifier", "test")
            if len({getattr(other, name) for other in self._facts.ranks}) > 1
        ]
        return "".join(f", {value}" for value in several)

    def _gaps_at_highest(self) -> Iterator[Mapping[str, Any]]:
        """Yield the gaps of each attribute at a scenario's highest level of bias, with changes that show."""
        facts = self._facts
        rows: dict[tuple[int, str, str], list[Gap]] = {}
        highest = {
            i: max(gap.level for gap in facts.gaps if gap.scenario == i)
            for i in {g.scenario for g in facts.gaps}
        }
        for gap in facts.gaps:
            if gap.level == highest[gap.scenario]:
                rows.setdefault((gap.scenario, gap.attribute, gap.metric), []).append(gap)
        for (i, attribute, metric), gaps in rows.items():
            scenario = facts.scenarios[i]
            yield {
                "where": f"{scenario.heading}, {self._level_of(scenario, highest[i])}",
                "attribute": attribute,
                "rate": self._metrics.get(metric, metric.replace("_", " ")),
                "before": next((gap.gap for gap in gaps if gap.technique == scenario.baseline), None),
                "wider": [self._titles[gap.technique] for gap in gaps if (gap.change.low or 0) > 0],
                "narrower": [self._titles[gap.technique] for gap in gaps if (gap.change.high or 0) < 0],
            }

    def _citations(self) -> str:
        """Return what to cite as BibTeX: the method, the program, and the datasets."""
        run = self._facts.run
        template = _plain().get_template("citations.bib")
        ours = template.render(version=run.versions.get("betabench", ""), year=run.finished[:4])
        cards = (dataset.card.get("bibtex", "").strip() for dataset in self._facts.datasets)
        return "\n".join(dict.fromkeys(filter(None, [ours.strip(), *cards])))


def _samples(run: Run) -> str:
    """Return the number of samples of a run: ``"30 repetitions"``, ``"1 repetition of 5 folds"``."""
    folds = run.protocol.folds
    return words.repetitions(run.protocol.repetitions) + (f" of {folds} folds" if folds else "")


def _met(overview: Overview, rows: Iterable[Row]) -> list[Mapping[str, str]]:
    """Return the words of the verdicts that rows of a table have."""
    cells = [zip(row.cells, overview.cases, strict=True) for row in rows]
    found = {cell.verdict for pairs in cells for cell, case in pairs if cell and not case.level.reason}
    return [verdict for name, verdict in vocabulary()["verdict"].items() if name in found]


def _by_technique(answers: Answers) -> list[tuple[str, list[Standing | None]]]:
    """Return the techniques in the order of the highest level of bias, each at every level."""
    names = [row.technique for level in reversed(answers.levels) for row in level.techniques]
    at_levels = [{row.technique: row for row in level.techniques} for level in answers.levels]
    return [(name, [level.get(name) for level in at_levels]) for name in dict.fromkeys(names)]


def _reasons_of(answers: Answers) -> list[tuple[Reason, list[float]]]:
    """Return the reasons of levels of bias at which nothing can be said of any technique."""
    found: dict[str, tuple[Reason, list[float]]] = {}
    for level in answers.levels:
        if level.reason is not None:
            found.setdefault(level.reason.code, (level.reason, []))[1].append(level.level)
    return list(found.values())
