"""The pages of techniques say what the code says, in Markdown that every renderer shows alike."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from benchmark.data import Table
from benchmark.errors import ReportError
from benchmark.techniques import Interval, Prepared, PreProcessing, Technique, Tools, list_techniques
from website.technique_figures import EXPERIMENTS, ShownRun, draw_technique, shown_runs, technique_figures
from website.technique_pages import (
    documentation_flaws,
    technique_page,
    technique_pages,
)

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "techniques"
FIGURES = "## Discrimination against accuracy\n\n"
OURS = [t for t in list_techniques().values() if t.__module__.startswith("benchmark.techniques.")]


class Documented(PreProcessing):
    r"""Do one thing, for <everybody> & [nobody].

    An aside before the idea.

    Idea: weigh by :math:`w_i = \{x \,|\, y\}_{i}`, *not* by ``a_b``; see :class:`~benchmark.data.table.Table`
    and :func:`np.dot`. It costs $5 and $6, 2 * 3 * 4 _snake_case_. The formula is

    .. math::

        \hat{y}_i < \frac{a}{b}
        - c^*

    and two things follow:

    - the first,
      on two lines;
    - the second.

    # is no heading. Changes: labels. Limits: none known.

    More on it.

    - left over

    Notes
    -----
    A note.

    References
    ----------
    Somebody (2000), On things.
    """

    name = "documented"
    reference = "Somebody <b>& others</b> (2000),\n On *things* | [more](http://evil)"
    summary = "Do | one thing_"
    version = "1_a_"
    randomised = True

    # How far | how `much`: :math:`w_i`.
    # A second line.
    level: Annotated[float, Interval(0, 1)] = 1.0
    other: Annotated[float, Interval(0)] = 2.5  # how far
    count: Annotated[int, Interval(1, 9)] = 3  # how many, and whether
    choice: Literal["a|b", "c`d"] = "a|b"  # what to take
    flag: bool = False  # how many, and whether

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)


class Inheriting(Documented):
    """Do the same.

    Idea: as before. Changes: nothing. Limits: all.

    References
    ----------
    Nobody.
    """

    name = "inheriting"

    # How many.
    count: Annotated[int, Interval(1, 9)] = 3
    flag: bool = False  # whether


def page(technique: type[Technique]) -> str:
    return technique_page(technique, FOLDER)


def rendered(text: str) -> str:
    """Return Markdown as a renderer shows it that knows no formulas."""
    return str(MarkdownIt("commonmark").enable("table").render(text))


def test_every_link_leads_to_a_file() -> None:
    pages = technique_pages(FOLDER)
    for name, text in pages.items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert link in pages or (FOLDER / unquote(link)).resolve().is_file(), f"{name}: {link}"


@pytest.mark.parametrize("technique", [*OURS, Documented, Inheriting], ids=lambda t: t.name)
def test_every_docstring_makes_a_page_without_restructuredtext_whose_formulas_survive(
    technique: type[Technique],
) -> None:
    assert documentation_flaws(technique) == []
    text = page(technique)
    words = re.sub(r"`+[^`]+`+", "", text)  # code may hold anything
    for left in (r":\w+:`", r"\.\. \w+::", r"::\s*$", r"^\s*>>>", r"`_\b", r"^[-=~]{3,}$"):
        assert not re.search(left, words, re.MULTILINE), left
    shown = html.unescape(re.sub(r"<[^>]+>", "", rendered(text)))
    for formula in re.findall(r"(?<!\\)(\${1,2}[^$`]+?(?<!\\)\${1,2})", text):
        assert formula in shown
        assert not re.search(r"\\[^A-Za-z\s]", formula), f"{formula}: spell it in letters"


def test_texts_from_declarations_stay_texts() -> None:
    shown = rendered(page(Documented))
    for text in (
        "Do one thing, for &lt;everybody&gt; &amp; [nobody].",
        "Somebody &lt;b&gt;&amp; others&lt;/b&gt; (2000), On *things* | [more](http://evil)",
        "version 1_a_",
        "It costs $5 and $6, 2 * 3 * 4 _snake_case_.",
        "# is no heading.",
    ):
        assert text in shown
    assert "evil" not in "".join(re.findall(r'href="([^"]*)"', shown))
    assert "<b>" not in shown
    assert shown.count("<em>") == 1
    # A pipe in a cell makes no further cell.
    rows = re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)
    assert {len(re.findall(r"<t[hd]", row)) for row in rows if "<code>" in row} == {3, 4}
    assert "<code>a|b</code>, <code>c`d</code>" in shown


def test_a_page_by_hand() -> None:
    lines = page(Documented).splitlines()
    assert lines[0] == "# Documented"
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings == ["Idea", "What it changes", "Known limits", "Details", "Notes", "Parameters",
                        "Capabilities", "Citation", "References", "Use it"]  # fmt: skip
    for line in (
        r"$$\hat{y}_ i \lt \frac{a}{b} - c^\ast$$",
        "- the first, on two lines;",
        "Labels.",
        "None known.",
        "An aside before the idea.",
        "More on it.",
        "- left over",
        r"| `level` | number in \[0, 1\] | `1.0` | How far \| how \`much\`: $w_i$. A second line. |",
        r"| `other` | number in \[0, ∞) | `2.5` | How far. |",
    ):
        assert line in lines
    assert r"$w_i = \lbrace x \thinspace \vert \thinspace y\rbrace _ {i}$" in "\n".join(lines)
    assert "*not* by `a_b`; see `Table` and `np.dot`." in "\n".join(lines)
    assert [line for line in lines if line.startswith("| `randomised` | yes | ")]
    assert [line for line in lines if line.startswith("| `needs_weights` | no | ")]


def test_inherited_parameters_are_described_where_they_are() -> None:
    lines = page(Inheriting).splitlines()
    assert r"| `other` | number in \[0, ∞) | `2.5` | How far. |" in lines
    assert r"| `count` | integer in \[1, 9\] | `3` | How many. |" in lines
    assert "| `flag` | `True` or `False` | `False` | Whether. |" in lines


def test_a_docstring_that_is_no_page_is_refused() -> None:
    class Bare(Documented):
        """Idea: only one."""

    class Silent(Inheriting):
        pass

    class Half(Documented):
        """Do half.

        Idea: a. Changes: b. Limits: c.
        """

        new: bool = True

    assert documentation_flaws(Documented) == []
    assert documentation_flaws(Half) == ["it does not describe the parameter 'new'"]
    for broken in (Bare, Silent):
        flaws = " ".join(documentation_flaws(broken))
        assert all(part in flaws for part in ("'Idea'", "'Changes'", "'Limits'"))
        with pytest.raises(ReportError, match="Limits"):
            page(broken)


def test_figures_are_shown_where_there_are_some() -> None:
    repair = list_techniques()["repair"]
    without = technique_page(repair, FOLDER)
    assert FIGURES not in without
    shown = [("repair_paper.png", "repair: paper"), ("a b.png", "on [one] set")]
    text = technique_page(repair, FOLDER, figures=shown)
    assert (
        FIGURES
        + r"""![repair: paper](repair_paper.png)

![on \[one\] set](a%20b.png)

"""
        in text
    )
    assert technique_pages(FOLDER, figures={"repair": shown})["repair.md"] == text
    assert technique_pages(FOLDER)["repair.md"] == without


@pytest.fixture(scope="module")
def runs() -> tuple[ShownRun, ...]:
    return shown_runs(ROOT)


def test_committed_results_are_drawn_of_the_techniques_that_were_tried(runs: tuple[ShownRun, ...]) -> None:
    assert [run.run.manifest.name for run in runs] == list(EXPERIMENTS)
    paper, techniques = (set(run.methods) for run in runs)
    assert {"massaging", "repair", "zafar_2015"} <= paper < {t.name for t in OURS}
    assert "lfr" in techniques - paper
    drawn = list(technique_figures(runs, "lfr"))
    assert [(file, text) for file, text, _ in drawn] == [
        ("lfr_techniques.png", "lfr: discrimination against accuracy, techniques")
    ]
    assert drawn[0][2].startswith(b"\x89PNG")
    assert list(technique_figures(runs, "unheard_of")) == []


def test_a_figure_has_a_panel_for_each_parametrisation_on_each_dataset(runs: tuple[ShownRun, ...]) -> None:
    figure = draw_technique(runs[0], "repair")
    assert figure is not None
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes[:-1]]
    assert titles == [
        f"Repair {level}, {dataset}"
        for level in ("0.25", "0.50", "0.75")
        for dataset in ("adult", "compas_leaky", "dutch")
    ]
    means = (
        runs[0]
        .run.results.query("dataset == 'dutch' and technique == 'repair_0.25' and metric == 'accuracy'")
        .groupby("level")["value"]
    )
    path = next(
        line for line in figure.axes[2].lines if line.get_gid() is None and len(line.get_xdata()) == 5
    )
    assert path.get_ydata() == pytest.approx(means.mean().to_numpy())
    reference = next(line for line in figure.axes[2].lines if line.get_gid() == "baseline")
    baseline = runs[0].run.results.query(
        f"dataset == 'dutch' and technique == '{runs[0].places[-1].baseline}' and metric == 'accuracy'"
    )
    assert reference.get_ydata() == pytest.approx(baseline.groupby("level")["value"].mean().to_numpy())


def test_the_index_names_every_technique_under_its_stage() -> None:
    text = technique_pages(FOLDER)["README.md"]
    stages = dict(re.findall(r"(?s)## (\w+)-processing\n(.*?)(?=\n## |\Z)", text))
    for technique in OURS:
        assert f"({technique.name}.md)" in stages[technique.stage.capitalize()]
