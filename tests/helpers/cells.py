"""A finished cell."""

import dataclasses

from benchmark.experiment.store import CellResult, MetricValue


def cell(key: str, **changes: object) -> CellResult:
    made = CellResult(
        key,
        "adult",
        "cpt",
        0.0,
        0.25,
        0.25,
        3,
        "massaging",
        "c45",
        "ok",
        metrics=(
            MetricValue("accuracy", 0.1 + 0.2),
            MetricValue("discrimination", None, "nobody is deprived"),
        ),
        counts={"original": [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]},
        seconds=0.5,
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]
