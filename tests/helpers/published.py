"""A made-up run beside published numbers."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.columns import FAILURE_COLUMNS
from benchmark.runs.finished import SUMMARY_COLUMNS
from tests.helpers.made_up_runs import facts_of_run

PUBLISHED = """\
table,dataset,technique,beta,metric,value
1,a,none,0.00,accuracy,0.800
1,a,none,0.50,accuracy,0.700
1,b,none,0.00,accuracy,0.900
1,b,none,0.50,accuracy,0.900
2,a,massaging,0.00,accuracy,0.210
2,a,massaging,0.50,accuracy,0.650
2,a,rw,0.00,accuracy,0.750
2,a,rw,0.50,accuracy,0.640
2,b,massaging,0.00,accuracy,0.500
2,b,rw,0.00,accuracy,0.400
"""
MEANS = {
    ("a", 0.0, "drop"): 0.81,
    ("a", 0.5, "drop"): 0.67,
    ("b_leaky", 0.0, "none"): 0.9,
    ("b_leaky", 0.5, "none"): 0.98,
    ("a", 0.0, "massaging"): 0.26,
    ("a", 0.5, "massaging"): 0.655,
    ("a", 0.0, "reweighing"): 0.76,
    ("a", 0.5, "reweighing"): 0.64,
    ("b_leaky", 0.0, "massaging"): math.nan,
    ("b_leaky", 0.0, "reweighing"): 0.44,
}
ENTRY = {
    "title": "Doe (2020)",
    "file": "doe.csv",
    "baseline": "none",
    "techniques": {"rw": "reweighing"},
    "datasets": [{"name": "b", "entry": "b_leaky"}],
    "groups": {"Both tables": [1, 2]},
}


def manifest(*, embedded: Sequence[str] = (), published: Mapping[str, Any] | None = ENTRY) -> dict[str, Any]:
    titles = {"none": "None", "drop": "Dropped", "massaging": "Massaging", "reweighing": "Re|weighing"}
    datasets: dict[str, dict[str, Any]] = {"a": {}, "b_leaky": {"warning": "b_leaky leaks."}}
    experiment = {"title": "Made up", "repetitions": 3, "betas": [0.0, 0.5], "metrics": ["accuracy"]}
    return facts_of_run(
        {name + ":embedded" * (name in embedded): {"embedded": name in embedded, **facts}
         for name, facts in datasets.items()},
        titles,
        {"a": "drop"},
        {**experiment, "seed": 7, "published": published},
        versions={"betabench": "0.1.0", "python": "3.11.7", "numpy": "2.4.6"},
        finished="not to be shown",
    )  # fmt: skip


def write_run(
    folder: Path, facts: dict[str, Any], means: Mapping[tuple[str, float, str], float] = MEANS
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "doe.csv").write_text(PUBLISHED)
    if facts["experiment"]["published"]:
        published = {**facts["experiment"]["published"], "file": str(folder / "doe.csv")}
        facts["experiment"]["published"] = published
    (folder / "manifest.json").write_text(json.dumps(facts))
    names = {name.removesuffix(":embedded"): name for name in facts["datasets"]}
    rows = []
    for (dataset, beta, technique), mean in means.items():
        where = (names[dataset], "cpt", beta, technique, "c45", "original", "accuracy")
        rows.append((*where, mean, 0.01, mean - 0.02, mean + 0.02, 0 if math.isnan(mean) else 3))
    pd.DataFrame(rows, columns=list(SUMMARY_COLUMNS)).to_csv(folder / "summary.csv", index=False)
    failures = [
        (
            names["b_leaky"],
            "cpt",
            0.0,
            "massaging",
            "c45",
            r,
            "",
            "",
            "skipped",
            math.nan,
            f"{r} rows of <none>",
        )
        for r in range(3)
    ]
    pd.DataFrame(failures, columns=list(FAILURE_COLUMNS)).to_csv(folder / "failures.csv", index=False)
    return folder
