"""``betabench alternation``: how predictions depend on one value of an attribute."""

import argparse
from pathlib import Path

from benchmark.cli.common import Options, sources_of

HELP = "exchange two values of an attribute and measure how predictions move (Alelyani 2021)"
EXAMPLE = "betabench alternation"


def add_options(option: Options) -> None:
    experiment = "shipped experiment or a TOML file of kind alternation; default: %(default)s"
    option("experiment EXPERIMENT", experiment, nargs="?", default="alternation")
    output = "folder of the results; default: results/EXPERIMENT, or the next of _2, _3, ... without results"
    option("--output DIR", output, type=Path)
    option.figures("draw no figures, or draw them")
    option.data()


def execute(options: argparse.Namespace) -> None:
    from benchmark.audit.alternation import load_alternation, run_alternation
    from benchmark.columns import MANIFEST_NAME
    from benchmark.experiment.versions import package_versions
    from benchmark.runs.comparison import first_folder
    from benchmark.text.writing import (
        csv_text,
        figure_formats,
        require_writable,
        write_atomically,
        write_json,
    )

    formats = figure_formats(options.formats)
    experiment = load_alternation(options.experiment)
    output: Path = options.output or first_folder(
        Path("results") / experiment.name, lambda folder: not (folder / MANIFEST_NAME).exists()
    )
    require_writable(output)
    outcome = run_alternation(experiment, sources_of(options))
    manifest = {
        "experiment": experiment.model_dump(mode="json"),
        "data_sha256": outcome.digest,
        "rows": outcome.rows,
        "versions": package_versions(),
    }
    written = [
        write_atomically(output / "results.csv", csv_text(outcome.results)),
        write_atomically(output / "summary.csv", csv_text(outcome.summary)),
        write_json(output / MANIFEST_NAME, manifest),
    ]
    if options.figures != "none":
        from benchmark.figures.alternation import alternation_figures
        from benchmark.figures.style import write_figures

        written += write_figures(output / "figures", alternation_figures(experiment, outcome), formats)
    print(experiment.title)
    for row in outcome.summary.to_dict("records"):
        other = row["second"] if row["group"] == row["first"] else row["first"]
        print(
            f"{row['case']}, {row['variant']}: {row['group']} -> {other}: mean {row['mean']:.1f} -> "
            f"{row['mean_alternated']:.1f}, up in {row['folds_up']} of {row['folds']} folds, "
            f"divergence {row['kl']:.3f}"
        )
    print(f"{len(written)} files written to {output}")
