"""The commands, settings, seeds, versions and digests that give the same numbers again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from benchmark.declarations import list_declarations
from benchmark.experiment.plan import load_experiment
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.across import ALPHA
from benchmark.statistics.bayes import ROPE

_COMPUTED_NOW = "computed_in_this_run"  # other cells were stored before


def section(statistics: RunStatistics) -> Section:
    """Return the commands, and everything that the numbers depend on."""
    run = statistics.run
    settings = json.dumps(run.experiment.settings, indent=2, ensure_ascii=False)
    return Section(
        "regenerate",
        "How to get the same numbers again",
        (
            "The same experiment, data and versions give the same numbers, for any number of workers. "
            "Statistics and this page are made from the folder of the run.",
        ),
        [
            Block("Command", code=_command(run)),
            Block("Command of the report", code=_report_command(statistics)),
            Block(facts=_facts(run)),
            Block("Versions", table=TextTable(["package", "version"], [*run.versions.items()])),
            Block("Digests", table=TextTable(["of", "part", "SHA-256"], [*_digests(run)])),
            Block("Settings", code=settings, fold="All settings of the experiment"),
        ],
    )


def _facts(run: Manifest) -> dict[str, str]:
    cells = [f"{kind.replace('_', ' ')}: {n:,}" for kind, n in run.cells.items() if kind != _COMPUTED_NOW]
    seconds = run.durations_in_seconds["all_cells"]
    return {
        "root seed": str(run.experiment.seed),
        "repetitions": str(run.repetitions),
        "cells": ", ".join(cells),
        "time of all cells": f"{seconds / 60:,.1f} minutes, one after the other",
        "finished": run.finished,
        "system": f"{run.platform['system']}, {run.platform['cores']} cores",
        # Other facts on processor and libraries that numbers depend on.
        **{
            name.replace("_", " "): _listed(value)
            for name, value in run.platform.items()
            if name not in ("system", "cores") and value
        },
    }


def _digests(run: Manifest) -> Iterator[tuple[str, str, str]]:
    for dataset in run.datasets:
        yield dataset.name, "card", dataset.card_digest
        yield dataset.name, "test data", dataset.test_digest
        if dataset.network.digest:
            yield dataset.name, "network", dataset.network.digest
    yield "program", "all code that a prediction passes through", run.code.harness


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_listed(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        nested = any(isinstance(part, Mapping) for part in value)
        return ("; " if nested else ", ").join(map(_listed, value))
    return str(value)


def _report_command(statistics: RunStatistics) -> str:
    run = statistics.run
    parts = ["betabench", "report", _again(run), "--metrics", *statistics.metrics]
    declared = run.baselines(statistics.results).by
    named = {where: name for where, name in statistics.baselines.by.items() if isinstance(name, str)}
    if any(declared[where] != name for where, name in named.items()) and len({*named.values()}) == 1:
        parts += ["--baseline", *{*named.values()}]
    for option, value, usual in (("--rope", statistics.rope, ROPE), ("--alpha", statistics.alpha, ALPHA)):
        if value != usual:
            parts += [option, f"{value:g}"]
    return shlex.join([*parts, *_plugins(run)])


def _plugins(run: Manifest) -> list[str]:
    return [part for plugin in run.code.plugins for part in ("--plugin", PurePath(plugin).name)]


def _command(run: Manifest) -> str:
    parts = ["betabench", "run", "--experiment", run.name]
    if run.name in list_declarations("experiments", variants=True):
        shipped = load_experiment(run.name)
        techniques = [entry.name for entry in shipped.techniques]
        chosen = {
            "--datasets": (
                [dataset.entry.name for dataset in run.datasets],
                [e.name for e in shipped.datasets],
            ),
            # The run itself adds tuned entries and the learners of techniques.
            "--techniques": ([name for name in run.titles if name in techniques], techniques),
            "--betas": tuple([f"{beta:g}" for beta in one.betas] for one in (run.experiment, shipped)),
            "--doses": tuple([f"{dose:g}" for dose in one.doses] for one in (run.experiment, shipped)),
            "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
            "--seed": ([f"{run.experiment.seed}"], [f"{shipped.seed}"]),
        }
        for option, (values, defaults) in chosen.items():
            if values and values != defaults:
                parts += [option, *values]
    else:
        parts[3] = f"{run.name}.toml"
    parts += _plugins(run)
    embedded = [dataset.embedded for dataset in run.datasets]
    if all(embedded):
        parts.append("--offline")
    elif not any(embedded):
        parts.append("--require-real-data")
    return shlex.join([*parts, "--output", _again(run)])


def _again(run: Manifest) -> str:
    """Return a folder for the same numbers, in which they meet no others."""
    return f"{run.name}_again"
