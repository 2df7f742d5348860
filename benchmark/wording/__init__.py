"""Words for facts: one table of words, and one template for each question, which gives Markdown.

``words.toml`` has a label, a clause and a meaning for each verdict and reason. Templates take facts only. The
page shows their Markdown as HTML (:func:`as_html`), the terminal by rich. Text from outside, such as the name
of a technique or a dataset, is escaped wherever a template shows it.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from benchmark.data.reading import FEW_ROWS
from benchmark.declarations import package_toml
from benchmark.facts.model import Answers, Estimate, Facts, Reason, Standing
from benchmark.runs.manifest import DatasetDescription, Manifest, PlantedBias
from benchmark.text import markdown, words
from benchmark.text.markdown import environment
from benchmark.text.terminal import WIDTH, as_text
from benchmark.text.words import LEVEL_SIGNS, NOT_REAL_LOUD, SAMPLED, SEVERAL_LEVELS
from benchmark.wording.overview import MOST_IN_COLUMNS, Overview, Row, level_by_level, overview

_RARE = 0.05  # share of the rarer label below which most models give all rows one answer
_TOO_GOOD = 0.99  # accuracy

LINES = 28
"""Lines of an answer, if its warnings leave that many."""

_MOST_ROWS, _LEAST_ROWS = 12, 3  # techniques in the table

QUESTIONS = (
    *("use", "decisions", "gaps", "ranks", "tuning", "frontier", "hidden"),
    *("missing", "certainty", "data", "methods", "files"),
)
"""Templates of the questions besides the answers, in their order in Markdown and in the terminal."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "people": ("decisions", "gaps"),
    "details": ("ranks", "tuning", "frontier", "hidden"),
    "data": ("data",),
    "methods": ("methods", "certainty", "missing"),
    "files": ("use", "files"),
}
"""Parts of a run's page below the answer, with the same templates; one without any text is left out."""


@functools.cache
def vocabulary() -> Mapping[str, Any]:
    """Return the table of words: goals, roles, verdicts and reasons, each by its code."""
    return package_toml(__name__, "words.toml")


def render(template: str, facts: Facts, **more: object) -> str:
    """Return the Markdown of a template in ``benchmark/wording/templates``, given facts and other values.

    A missing value is an error.
    """
    return render_values(template, **{**_values(facts), **more})


def render_values(template: str, package: str = __name__, /, **values: object) -> str:
    """Return the Markdown of a package's template that words other values than the facts of a run."""
    text = _environment(package).get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render_plain(template: str, **values: object) -> str:
    """Return the text of a template ``NAME.txt.j2``, which is no Markdown, for some values."""
    return str(_plain().get_template(f"{template}.txt.j2").render(**values))


def macro(template: str, name: str, facts: Facts) -> Callable[..., str]:
    """Return a macro of a template, for some facts, as a function that gives Markdown."""
    module = _environment().get_template(f"{template}.md.j2").make_module(_values(facts))
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
    """Return a reason as a label or a clause, with its arguments, or as a short label if it has one."""
    forms = vocabulary()["reason"][reason.code]
    return str(_phrase(forms.get(form, forms["label"])).render(reason.args))


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


def _values(facts: Facts) -> dict[str, Any]:
    """Return the values and functions that every template has, for some facts."""
    titles = {technique.name: technique.full_title for technique in facts.techniques}
    short = {technique.name: technique.title for technique in facts.techniques}
    datasets = {dataset.name: dataset for dataset in facts.datasets}
    metrics = {metric.name: metric.title for metric in facts.metrics}
    name, protocol = facts.run.level_name, facts.run.protocol
    folds = protocol.folds
    level = functools.partial(words.level_text, name)
    parts = {part for at in (facts, *facts.scenarios) for part in type(at).model_fields if getattr(at, part)}
    return {
        "facts": facts,
        "run": facts.run,
        **{f"{kind}s": meanings for kind, meanings in vocabulary().items()},
        "title": titles.__getitem__,
        "short_title": short.__getitem__,  # beside what it is told
        "titles": lambda names: [titles[name] for name in names],
        "short_titles": lambda names: [short[name] for name in names],
        "metric_title": lambda name: metrics.get(name, name),
        "dataset_titles": lambda names: [datasets[name].title for name in names],
        "level": level,
        # It stands for all if the bias changes nothing.
        "level_of": lambda scenario, at: f"every {words.LEVEL_SIGNS[name]}" if scenario.inert else level(at),
        "level_sign": words.LEVEL_SIGNS[name],
        "levels_sign": words.SEVERAL_LEVELS[name],
        "label": reason_text,
        "clause": functools.partial(reason_text, form="clause"),
        "dataset": lambda scenario: datasets[scenario.dataset],
        "capital": lambda text: text[:1].upper() + text[1:],
        "sentence": words.sentence,
        "few": lambda names, most=6: words.few(list(names), most),
        "met": _met,
        "by_technique": _by_technique,
        "parts": parts,  # those that are not empty
        "citations": lambda: _citations(facts),
        "questions": QUESTIONS,
        "overview": overview(facts),
        "samples": words.repetitions(protocol.repetitions) + (f" of {folds} folds" if folds else ""),
        "level_by_level": lambda: level_by_level(facts),
        "most_in_columns": MOST_IN_COLUMNS,
        "few_rows": FEW_ROWS,
        "rare": _RARE,
        "too_good": _TOO_GOOD,
    }


def _citations(facts: Facts) -> str:
    """Return what to cite as BibTeX: the method, the program, and the datasets."""
    run = facts.run
    template = _plain().get_template("citations.bib")
    ours = template.render(version=run.versions.get("betabench", ""), year=run.finished[:4]).strip()
    cards = (dataset.bibtex.strip() for dataset in facts.datasets)
    return "\n".join(dict.fromkeys(filter(None, [ours, *cards])))


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


def answer_text(
    facts: Facts, template: str = "terminal", *, width: int = WIDTH, full: bool = False, **more: object
) -> str:
    """Return the answer as Markdown for a number of columns.

    Its table has as many techniques as :data:`LINES` allow. With ``full``, all levels of bias follow.
    ``more`` are values of the template besides the facts: the ``folder`` of the run, the ``page`` with all
    numbers, how a file was ``read``, and what is ``known`` of its labels, beside which the table may go.
    """
    values = {"folder": "", "page": "", "read": None, "known": "", "wide": width >= WIDTH, **more}
    least = 0 if values["known"] else _LEAST_ROWS
    for rows in range(_MOST_ROWS, least - 1, -1):
        text = render(template, facts, **values, most_rows=rows, full=False)
        if len(as_text(text, width).splitlines()) <= LINES:
            break
    return render(template, facts, **values, most_rows=rows, full=True) if full else text


def provenance(dataset: DatasetDescription) -> str:
    """Return the source of a dataset's test data: ``"tested on real data"``."""
    if dataset.embedded:
        return f"{NOT_REAL_LOUD}: tested on a {SAMPLED}"
    return f"tested on {'a ' if dataset.test_data.startswith('sample') else ''}{dataset.test_data}"


def planted(bias: PlantedBias) -> str:
    """Return a planted bias, with the β of each dose, or the most that can be added."""
    solved = [
        f"dose {dose.dose:g} is β = {dose.beta:.3g}"
        if dose.beta is not None
        else f"dose {dose.dose:g} is out of reach, at most {dose.gap:.3f} is added"
        for dose in bias.doses
        if dose.dose > 0
    ]
    return "; ".join([f"Bias {bias.name!r}: {bias.description}", *solved])


def all_planted(dataset: DatasetDescription) -> str:
    """Return all biases that are planted in a dataset."""
    return "; ".join(planted(bias) for bias in dataset.bias if bias.description)


def level_axis(run: Manifest) -> str:
    """Return the label of an axis of levels of bias."""
    return "planted bias β" if run.unit == "beta" else "planted dose: label gap added"


def levels_are_paired(run: Manifest) -> str:
    """Return a sentence on curves over levels of bias."""
    if run.experiment.paired_betas:
        levels = SEVERAL_LEVELS[run.unit]
        return f"A repetition has the same random numbers at all {levels}: curves over {levels} are paired."
    return f"Each {LEVEL_SIGNS[run.unit]} has its own samples, even within one repetition."


def ranked_over(run: Manifest) -> str:
    """Return what is ranked together: ``"datasets and all β"``, ``"datasets and doses 0.05 and 0.1"``."""
    levels = run.pooled_levels
    if len(levels) < 2:
        return f"datasets at {run.level_text(*levels)}" if levels else "datasets"
    return f"datasets and {'all β' if run.unit == 'beta' else run.level_text(*levels)}"
