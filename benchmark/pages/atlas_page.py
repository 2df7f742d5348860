"""The page of an atlas: what to try, how it did on each dataset, and where it fails."""

import itertools
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pandas as pd
from markupsafe import Markup

from benchmark.atlas.adviser import WORDS, Advice, Adviser, Stage, name_of
from benchmark.atlas.means import REASON, VALUES
from benchmark.atlas.recommenders import DROP_TECHNIQUE
from benchmark.columns import BLIND, GOALS, RESTORE, UNTREATED
from benchmark.pages.html import in_script, render, scripts

ANY = "any"
"""Value of a choice that restricts nothing."""
_OF_DOT = ["technique", "card"]
_NUMBERS = [*VALUES.values(), "accuracy", "agreement"]


def choices_of(adviser: Adviser) -> dict[str, list[str]]:
    """Return the values of each choice on the page, by its name, in the order of the page."""
    frame = adviser.scenarios[RESTORE].frame
    return {
        "goal": list(GOALS),
        "bias": [ANY, *(bias for bias in WORDS["bias"] if bias in {*frame["bias"]})],
        "dose": [f"{dose:g}" for dose in adviser.doses],
        "knows": [BLIND, *adviser.states],
        "classifier": list(adviser.learners),
        "group": ["known", "unknown"],
        "stage": [ANY, *WORDS["stage"]],
    }


def sentences_of(adviser: Adviser) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield for each combination of choices its key, the technique of the advice, and its sentences."""

    @cache
    def advice(goal: str, bias: str, dose: str, knows: str, learner: str, group: str, stage: str) -> Advice:
        of_stage: Stage | None = None if stage == ANY else stage  # type: ignore[assignment]
        return adviser.advise(
            goal,
            bias=None if bias == ANY else bias,
            dose=float(dose),
            knows=knows,
            stage=of_stage,
            learner=learner,
            group_known=group == "known",
        )

    for values in itertools.product(*choices_of(adviser).values()):
        goal, bias, dose, knows, *others = values
        # What is known of the bias is of no use to equalize.
        told = advice(goal, bias, dose, knows if goal == RESTORE else BLIND, *others)
        yield "|".join(values), told.technique, (*told.sentences, WORDS["grade"][told.grade])


def atlas_page(adviser: Adviser) -> str:
    """Return the page as HTML: one file that loads nothing, with its data and its drawing inside."""
    texts: dict[str, int] = {}
    advice = {}
    parts = adviser.tables.dose_rows.groupby(["classifier", "card"])["part"].unique().reset_index()
    for key, technique, sentences in sentences_of(adviser):
        advice[key] = [technique, *(texts.setdefault(sentence, len(texts)) for sentence in sentences)]
    payload = {
        "texts": list(texts),
        "advice": advice,
        "techniques": {name: name_of(name) for name in adviser.scenarios[RESTORE].techniques[1:]},
        "reasons": WORDS["failed"],
        "numbers": _NUMBERS,
        "rows": _rows(adviser),
        "failed": _failed(adviser),
        "toml": _toml(adviser),
        # The parts whose rows a dot shows.
        "parts": {f"{learner}|{card}": [*names] for learner, card, names in parts.itertuples(index=False)},
        "marks": {"nothing": UNTREATED, "drop": DROP_TECHNIQUE, "oracle": "oracle"},
    }
    return render(
        "atlas.html",
        title=adviser.atlas.title,
        version=adviser.atlas.version,
        words=WORDS,
        choices=choices_of(adviser),
        states={state: adviser.title(state) for state in adviser.states},
        comparison={
            goal: {
                f"{words}, dose {dose:g}": adviser.comparison(goal, kind, dose)
                for kind, words in WORDS["regret"].items()
                for dose in adviser.doses
            }
            for goal in GOALS
        },
        claims=adviser.claims.to_dict("records"),
        parts_to_run=adviser.parts_to_run,
        n_datasets=adviser.scenarios[RESTORE].frame["card"].nunique(),
        n_clusters=adviser.scenarios[RESTORE].frame["cluster"].nunique(),
        payload=in_script(json.dumps(payload, separators=(",", ":"))),
        script=Markup(scripts(("elements.js", "atlas.js"))),
    )


def _rows(adviser: Adviser) -> dict[str, dict[str, dict[str, list[Any]]]]:
    """Return by learner, bias and dose the numbers of each technique on each card, and why it is not allowed.

    They are means over both halves of the splits, over editions of a card, and over biases and levels.
    """
    _, biases, levels, _, learners, *_ = choices_of(adviser).values()
    rows = pd.concat([adviser.tables.dose_rows, _oracles(adviser)], ignore_index=True)
    level_of_rows = rows["level"].map("{:g}".format)
    table: dict[str, dict[str, dict[str, list[Any]]]] = {}
    for learner, bias, dose in itertools.product(learners, biases, levels):
        some = rows[
            (rows["classifier"] == learner)
            & ((bias == ANY) | (rows["bias"] == bias))
            & (level_of_rows == dose)
        ]
        means = some.groupby([*_OF_DOT, "bias", "level"])[_NUMBERS].mean().groupby(level=_OF_DOT).mean()
        shown = means.round(4).astype(object).where(means.notna(), None)
        reasons = pd.DataFrame({goal: _most_frequent(some, REASON[goal]) for goal in GOALS})
        found = table.setdefault(f"{learner}|{bias}|{dose}", {})
        for (technique, card), *entries in shown.join(reasons).itertuples():
            found.setdefault(technique, {})[card] = entries
    return table


def _failed(adviser: Adviser) -> dict[str, dict[str, list[str]]]:
    """Return the datasets on which each technique fails, by goal, bias, dose and learner, for all choices."""
    failed = {}
    goals, biases, doses, _, learners, *_ = choices_of(adviser).values()
    for goal, bias, dose, learner in itertools.product(goals, biases, doses, learners):
        records = adviser.records(goal, learner, None if bias == ANY else bias, float(dose))
        failed["|".join((goal, bias, dose, learner))] = {
            name: list(record.failed) for name, record in records.items() if record.failed
        }
    return failed


def _oracles(adviser: Adviser) -> pd.DataFrame:
    """Return the oracle's scores for both goals as rows of a technique."""
    scores = []
    for goal in GOALS:
        scenarios = adviser.scenarios[goal]
        table = scenarios.frame.assign(**{VALUES[goal]: scenarios.by_other_half(scenarios.score)})
        scores.append(table.groupby(["classifier", "bias", "level", "card"])[VALUES[goal]].mean())
    both = pd.concat(scores, axis=1, join="inner").reset_index()
    return both.assign(technique="oracle", **dict.fromkeys(REASON.values(), ""))


def _most_frequent(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the most frequent reason where a technique is not allowed in most rows, else ""; by dot."""
    counts = rows.groupby([*_OF_DOT, column], sort=True).size().unstack(fill_value=0)
    given = counts.drop(columns="", errors="ignore")
    if given.empty:
        return pd.Series("", index=counts.index)
    return given.idxmax(axis=1).where(2 * given.sum(axis=1) > counts.sum(axis=1), "")


def _toml(adviser: Adviser) -> dict[str, str]:
    """Return for each part of the file the lines that make its rows."""
    shown = {}
    for part, fields in adviser.atlas.parts.items():
        content = {**adviser.atlas.shared, **fields}
        lines = [f"[parts.{part}]", *(f"{name} = {json.dumps(value)}" for name, value in content.items())]
        shown[part] = "\n".join(lines)
    return shown
