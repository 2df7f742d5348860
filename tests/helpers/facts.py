"""Small facts that are made by hand: one dataset, two techniques, and a part of each kind."""

from pathlib import Path
from typing import Any

from benchmark.facts import facts_of, model
from benchmark.pages import run_page
from benchmark.runs.analysis import RunStatistics
from benchmark.wording import render

CRITERIA = model.Criteria(
    margin=0.01,
    least_group_share=0.5,
    least_overall_share=0.8,
    accuracy_slack=0.01,
    least_repetitions=5,
    nearly_all=0.99,
    alpha=0.05,
)


def estimate(mean: float) -> model.Estimate:
    """Return a mean with an interval of one hundredth on either side."""
    return model.Estimate(mean=mean, low=mean - 0.01, high=mean + 0.01)


def standing(technique: str, value: float, **more: Any) -> model.Standing:
    """Return a technique at a level of bias, with an accuracy of .8."""
    numbers = {"change": estimate(value - 0.3), "gain": estimate(0.3 - value), "accuracy": estimate(0.8)}
    numbers |= {
        "accuracy_change": estimate(-0.02),
        "accepted": model.Shares(all=0.4, deprived=0.35, favored=0.45),
    }
    return model.Standing(
        **{"technique": technique, "role": "technique", "value": estimate(value), **numbers, **more}
    )


def answers(**level: Any) -> model.Answers:
    """Return answers to equalize at one level of bias, where ``one`` helps and ``two`` is not usable."""
    constant = model.Reason(code="constant", args={"kind": "refuses_all", "samples": 2, "of": 10})
    techniques = (
        standing("none", 0.3, role="baseline"),
        standing("one", 0.05, verdict="helps", best=("least", "cheap")),
        standing("two", 0.01, verdict="not_usable", reason=constant),
    )
    given = {"level": 0.5, "detectable": 0.06, "bias_effect": estimate(0.2), "techniques": techniques}
    at = model.Level(**{**given, **level})
    return model.Answers(goal="equalize", metric="discrimination", highest=0.5, levels=(at,))


def small_facts(**parts: Any) -> model.Facts:
    """Return facts without optional parts but the given ones."""
    run = model.Run(
        name="small",
        title="A small run",
        level_name="beta",
        levels=(0.5,),
        protocol=model.Protocol(
            train="data",
            holdout=0.3,
            repetitions=10,
            seed=1,
            overlaps=True,
            tests=("original",),
        ),
        criteria=CRITERIA,
        cells=30,
        cells_missing=0,
        commands=("betabench run", "betabench report small"),
    )
    scenario = model.Scenario(
        dataset="data",
        bias="label",
        classifier="c45",
        test="original",
        heading="Data",
        file="data",
        baseline="none",
        inert=False,
        techniques=("none", "one", "two"),
        levels=(0.5,),
        answers=(answers(),),
    )
    techniques = tuple(
        model.Technique(name=name, title=title, method=name, source=f"{title} (2020)")
        for name, title in {"none": "No technique", "one": "First one", "two": "Second one"}.items()
    )
    given: dict[str, Any] = {
        "run": run,
        "techniques": techniques,
        "metrics": (model.Metric(name="discrimination", title="Discrimination", ideal=0.0),),
        "datasets": (
            model.Dataset(
                name="data",
                title="Data",
                embedded=False,
                rows=100,
                train_rows=70,
                sensitive="sex",
                deprived_group="F",
                label="income",
                favorable_label="high",
                bias=(model.Bias(name="label", kind="label", description="labels are turned"),),
            ),
        ),
        "scenarios": (scenario,),
    }
    return model.Facts(**{**given, **parts})


def whole_facts() -> model.Facts:
    """Return facts with a part for each question."""
    small = small_facts()
    shares = ("given_back", "given_back_deprived", "given_back_favored", "paid", "in_their_place")
    values = {name: estimate(0.25) for name in ("restoration_distance", *shares)}
    refits: dict[str, Any] = {"refit_biased": dict.fromkeys(shares, 0.1)}
    scenario = small.scenarios[0].model_copy(
        update={
            "frontier": (model.Frontier(level=0.5, discrimination=(0.0,), accuracy=(0.7,), inside=("two",)),),
            "decisions": (
                model.Decisions(
                    level=0.5, technique="none", role="baseline", restores=False, values=values, **refits
                ),
                model.Decisions(
                    level=0.5, technique="one", role="technique", restores=True, values=values, **refits
                ),
            ),
            "unanswered": model.Reason(code="levels_not_paired"),
        }
    )
    dataset = small.datasets[0].model_copy(
        update={
            "description": "Some people.",
            "bibtex": "@misc{data}",
            "known_problems": ("It is old",),
            "deprived": model.GroupRows(rows=50, favorable=20),
            "favored": model.GroupRows(rows=50, favorable=30),
        }
    )
    where: dict[str, Any] = {"bias": "label", "classifier": "c45"}
    rank = model.Rank(technique="one", mean_rank=1.0)
    return small.model_copy(
        update={
            "datasets": (dataset, dataset.model_copy(update={"name": "more", "title": "More data"})),
            "scenarios": (scenario,),
            "ranks": (
                model.Ranks(
                    metric="discrimination",
                    datasets=("data", "more"),
                    asked=2,
                    test="original",
                    p=0.04,
                    needed=8,
                    techniques=(rank,),
                    **where,
                ),
            ),
            "gaps": (
                model.Gap(
                    scenario=0,
                    level=0.5,
                    metric="selection_rate",
                    attribute="race",
                    technique="one",
                    gap=0.2,
                    change=estimate(0.05),
                    wider=0.9,
                ),
            ),
            "regrets": (
                model.Regret(
                    level=0.5,
                    chosen_on="biased",
                    regret=estimate(0.03),
                    beyond=0.1,
                    beyond_oracle=0.0,
                    **where,
                ),
            ),
            "missing": (
                model.Missing(
                    status="failed",
                    reason="no rows | at all",
                    count=3,
                    techniques=("two",),
                    datasets=("data",),
                    levels=(0.5,),
                    metrics=(),
                ),
            ),
            "hidden": model.Hidden(
                reason=model.Reason(code="hidden_known", args={"hidden": 0.04}),
                recorded_gap=0.1,
                true_gap=0.06,
                classifier="c45",
                others=("knn",),
                rows=(
                    model.HiddenRow(
                        goal="equalize",
                        hidden=0.05,
                        dose=0.1,
                        datasets=8,
                        agreement=estimate(0.6),
                        by_chance=0.8,
                        regret=estimate(0.02),
                        drop_regret=0.1,
                        nothing_regret=0.2,
                    ),
                ),
            ),
            "use": model.Use(scenario=0, goal="equalize", level=0.5, technique="one", code="model = fit()\n"),
        }
    )


def report_text(statistics: RunStatistics) -> str:
    """Return both pages of the report of a run, one after the other."""
    facts = facts_of(statistics)
    return render("readme", facts, pictures=[]) + render("details", facts)


def write_page(folder: Path, statistics: RunStatistics) -> Path:
    """Write the page of a run's statistics to a folder, and return its path."""
    return run_page.write_page(facts_of(statistics), folder)
