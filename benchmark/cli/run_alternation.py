"""``betabench run`` of an experiment of kind "alternation"."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.cli.common import EXIT_OK, sources_of
from benchmark.errors import ExperimentError

if TYPE_CHECKING:
    from benchmark.audit.alternation_experiment import AlternationExperiment, AlternationOutcome

__all__ = ["run_alternation_file"]

_NOT_HERE = (
    *("datasets", "techniques", "classifiers", "betas", "repetitions", "plugin", "fresh", "retry_failed"),
    *("scheduler", "cluster", "shard"),
)
"""Options of ``betabench run`` that mean nothing to an alternation test."""


def run_alternation_file(options: argparse.Namespace) -> int:
    """Run the experiment, write its folder, and print the summary; return the exit code."""
    from benchmark.audit.alternation_experiment import load_alternation, run_alternation
    from benchmark.report.files import require_writable

    if wrong := [f"--{name.replace('_', '-')}" for name in _NOT_HERE if getattr(options, name)]:
        raise ExperimentError(
            "An alternation experiment has no " + ", ".join(wrong),
            expected="--experiment, --output, --no-figures, --data-dir and --offline only",
            remedy="change the experiment file",
        )
    experiment = load_alternation(options.experiment)
    output: Path = options.output or Path("results") / experiment.name
    require_writable(output)
    outcome = run_alternation(experiment, sources_of(options))
    written = _write(output, experiment, outcome, figures=not options.no_figures)
    print(experiment.title)
    for row in outcome.summary.to_dict("records"):
        other = row["second"] if row["group"] == row["first"] else row["first"]
        print(
            f"{row['case']}, {row['variant']}: {row['group']} -> {other}: mean {row['mean']:.1f} -> "
            f"{row['mean_alternated']:.1f}, up in {row['folds_up']} of {row['folds']} folds, "
            f"divergence {row['kl']:.3f}"
        )
    print(f"{len(written)} files written to {output}")
    return EXIT_OK


def _write(
    output: Path, experiment: AlternationExperiment, outcome: AlternationOutcome, *, figures: bool
) -> list[Path]:
    """Write results, summary, figures and manifest: same outcome, same bytes."""
    from benchmark.experiment.versions import package_versions
    from benchmark.report.files import write_atomically
    from benchmark.report.summary import csv_text

    facts = {
        "experiment": experiment.model_dump(mode="json"),
        "data_sha256": outcome.digest,
        "rows": outcome.rows,
        "versions": package_versions(),
    }
    written = [
        write_atomically(output / "results.csv", csv_text(outcome.results)),
        write_atomically(output / "summary.csv", csv_text(outcome.summary)),
        write_atomically(output / "manifest.json", json.dumps(facts, indent=2, ensure_ascii=False) + "\n"),
    ]
    if figures:
        from benchmark.report.alternation_figures import draw_figures
        from benchmark.report.figure_files import write_figures

        written += write_figures(output / "figures", draw_figures(experiment, outcome))
    return written
