"""What the run ``alternation`` says of Alelyani (2021).

``python -m studies alternation`` writes ``results/alternation/FINDINGS.md`` anew from the committed
values. ``experiments/alternation.toml`` has the cases.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from benchmark.text.markdown import table
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "alternation"
FINDINGS = FOLDER / "FINDINGS.md"
CASES = ("ten", "ordinal", "six", "zeros")
SHORT = {"Amer Indian Aleut or Eskimo": "American Indian", "Asian or Pacific Islander": "Asian"}
PAIRS = (
    *(("Female", "Male"), ("White", "Black"), ("Asian", "Black"), ("Asian", "White")),
    *(("American Indian", "White"), ("American Indian", "Black"), ("American Indian", "Asian")),
)


@cache
def summary() -> pd.DataFrame:
    """Return the committed means by case, variant, group and new value."""
    rows = pd.read_csv(FOLDER / "summary.csv", keep_default_na=False, na_values=[""])
    other = rows["first"].where(rows["group"] == rows["second"], rows["second"])
    rows = rows.assign(group=rows["group"].replace(SHORT), other=other.replace(SHORT))
    return rows.set_index(["case", "variant", "group", "other"]).sort_index()


def number(case: str, group: str, other: str, column: str, variant: str = "predict") -> float:
    """Return a number of an exchange."""
    return float(summary().loc[(case, variant, group, other), column])


def change(case: str, group: str, other: str) -> str:
    """Return the change of a group's mean prediction, and in how many folds it rises."""
    value = round(number(case, group, other, "change"))
    return f"{f'{value:+d}'.replace('-', '−') if value else 0} ({number(case, group, other, 'folds_up'):.0f})"


def rows() -> list[list[str]]:
    """Return a row for each pair of values, and for each case the changes of both groups."""
    return [
        [f"{one}, {two}", *(f"{change(case, one, two)}, {change(case, two, one)}" for case in CASES)]
        for one, two in PAIRS
    ]


def divergences(case: str, column: str = "kl") -> tuple[float, float]:
    """Return the divergences of women and of men."""
    return number(case, "Female", "Male", column), number(case, "Male", "Female", column)


def claims() -> list[list[str]]:
    """Return what the paper says beside what is measured here."""
    women, men = divergences("ten")
    return [
        ["14,864 rows", "found exactly, but the paper's means are those of the 8,414 rows with a wage"],
        [
            'wages of 850 to 1,180 "USD"',
            "cents, so 8.50 to 11.80 dollars an hour: 425 is among the commonest values, and 4.25 dollars "
            "was the minimum wage",
        ],
        [
            "predicted wages of women rise by about 280 if they count as men, and those of men fall by "
            "about 300 if they count as women",
            "direction **holds** in every fold of the rows with a wage; size with few attributes",
        ],
        [
            "divergence about 0.9 for women, more than for men",
            f"**does not hold**: less than for men in all four cases ({women:.2f} and {men:.2f} in `ten`); "
            "the other direction of the same divergence turns it round in two",
        ],
        [
            "predicted wages of White people rise much if they count as Black, and those of Black people "
            "fall if they count as White",
            "**does not hold**: wages of White people fall, wages of Black people rise",
        ],
        [
            "predicted wages of Asian people rise if they count as Black, and those of Black people fall if "
            "they count as Asian",
            "**does not hold**: for Asian people it depends on the case; wages of Black people rise",
        ],
        [
            "nothing to say of American Indians, but higher wages both from and to that race",
            "the first **holds**: 93 rows, and signs that depend on fold and model; the second **does "
            "not**: predicted wages of American Indians fall if they count as White, Black or Asian",
        ],
        [
            "train again on the exchanged rows (Section 5)",
            "gives a divergence of 0; numbers like the paper's cannot come from it",
        ],
    ]


def findings() -> str:
    """Return the page of findings; ``tests/audit/test_alternation.py`` holds its other words."""
    answer = (
        "**Alelyani's (2021) direction for women and men holds; the divergence and the directions for races "
        "do not.** In that study, a regression predicts hourly wages in Census-Income (KDD), and sexes or "
        "races are exchanged."
    )
    lines = [
        "**How to read it.** Change of the mean prediction in cents, and in how many of ten folds it rises: "
        "the first group as the second, then the reverse. [Summary](summary.csv) and [folds](results.csv) "
        "have all numbers.",
        "**Cases.** `ten` and `ordinal` have ten attributes, `ordinal` as numbers in alphabetical order. "
        "`six` is without occupation, union, weeks and employer. `zeros` has all 14,864 rows, 6,450 with a "
        "wage of 0.",
        "**Method.** The table predicts the same rows twice (`predict`). If the model reads values as "
        "categories, training on exchanged rows (`train`) gives the same predictions. Exchanging in both "
        "places (`retrain`) then gives a divergence of 0 for any data. If three or more values enter as one "
        "number (`ordinal`), `retrain` measures their order.",
        "**Divergence is no evidence of disadvantage.** Predictions for men vary more, and Equation 3 "
        "divides by the variance of exchanged predictions. Most of the largest are those of American "
        "Indians, about 9 rows in a fold.",
        "**What would change our mind.** [Rows and attributes](../../experiments/alternation.toml) with "
        "which predicted wages of White people rise if they count as Black. An exchange leaves proxies "
        "unchanged. It may create combinations of values that no person in the data has. It measures the use "
        "of a column, not harm.",
    ]
    title = "Which findings of Alelyani (2021) hold?"
    picture = "![Mean predictions by fold, sex exchanged](figures/means_sex.png)"
    tables = [
        table(["exchanged", *(f"`{case}`" for case in CASES)], rows()),
        table(["the paper", "here"], claims()),
    ]
    return finding(title, answer, picture, tables, lines)


FILES: Files = {FINDINGS: findings}
