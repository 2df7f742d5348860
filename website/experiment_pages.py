"""One Markdown page for each shipped experiment, from its file and its committed results, and an index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmark.atlas.file import KIND as ATLAS
from benchmark.atlas.file import load_atlas
from benchmark.audit.alternation import KIND as ALTERNATION
from benchmark.audit.alternation import load_alternation
from benchmark.bias import Bias, BiasKind
from benchmark.columns import ORIGINAL
from benchmark.data.card import load_card
from benchmark.declarations import kind_of, list_declarations
from benchmark.experiment.entries import BiasEntry, DatasetEntry
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.plan import Experiment, load_experiment, plan_blocks
from benchmark.text.markdown import code, plain, table
from website.links import link_to

__all__ = ["ATLAS_PAGE", "EXPERIMENTS_PAGE", "experiment_page", "experiment_pages"]

EXPERIMENTS_PAGE = "README.md"
ATLAS_PAGE = "atlas_page.html"


def experiment_pages(folder: Path, root: Path) -> dict[str, str]:
    """Return the pages of all shipped experiments, and the index, by file name.

    Parameters
    ----------
    folder : Path
        Where they are to lie, beside the folders of the pages on techniques and datasets: links start there.
    root : Path
        Source tree, whose ``results/`` are shown.
    """
    names = list(list_declarations("experiments"))
    pages = {f"{name}.md": experiment_page(name, folder, root) for name in names}
    return {EXPERIMENTS_PAGE: _index_page(names), **pages}


def experiment_page(name: str, folder: Path, root: Path) -> str:
    """Return the page of one experiment as Markdown; further parameters as for :func:`experiment_pages`."""
    kind = kind_of(name)
    command = f"betabench run --experiment {name}"
    if kind == ALTERNATION:
        title, description, body = _alternation(name)
        command = f"betabench alternation {name}"
    elif kind == ATLAS:
        title, description, body = _atlas(name)
    else:
        experiment = load_experiment(name)
        title, description, body = experiment.title, experiment.description, list(_crossed(name, experiment))
    path = list_declarations("experiments")[name]
    blocks = [
        f"# {plain(title)}",
        plain(description),
        f"```\n{command}\n```",
        *body,
        *_results(name, folder, root),
        "## The file",
        f"`experiments/{path.name}`",
        f"```toml\n{path.read_text(encoding='utf-8').strip()}\n```",
        f"[All experiments]({EXPERIMENTS_PAGE})",
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _index_page(names: list[str]) -> str:
    rows = []
    for name in names:
        kind = kind_of(name)
        if kind == ALTERNATION:
            alternation = load_alternation(name)
            title, size = alternation.title, f"{len(alternation.cases)} cases, {alternation.folds} folds"
        elif kind == ATLAS:
            atlas = load_atlas(name)
            parts = atlas.chosen().values()
            title, size = atlas.title, f"{sum(map(_n_cells, parts)):,} in {len(parts)} parts"
        else:
            title, size = load_experiment(name).title, f"{_n_cells(name):,}"
        rows.append((f"[{plain(title)}]({name}.md)", code(name), size))
    intro = (
        "Each is one TOML file in `experiments/`; `betabench run --experiment NAME` runs it, and takes the "
        "path of a file of your own as well. A cell is one technique with one classifier on one sample."
    )
    return "\n\n".join(["# Experiments", intro, table(("experiment", "name", "cells"), rows)]) + "\n"


def _n_cells(experiment: str | Experiment) -> int:
    return sum(len(block.cells) for block in plan_blocks(load_for_run(experiment).experiment))


def _crossed(name: str, experiment: Experiment) -> Iterator[str]:
    """Say what an experiment crosses."""
    rows = experiment.train_rows
    yield table(
        ("property", "value"),
        [
            ("cells", f"{_n_cells(name):,}"),
            (
                {"beta": "levels of bias β", "dose": "doses"}[experiment.unit],
                ", ".join(f"{level:g}" for level in experiment.levels),
            ),
            ("repetitions", str(experiment.repetitions)),
            ("rows of a training sample", "as many as the data" if rows == "data" else f"{rows:,}"),
            *_protocol(experiment),
            ("classifiers", ", ".join(code(entry.name) for entry in experiment.classifiers)),
            ("metrics", ", ".join(map(code, experiment.metrics))),
            ("limit for one cell", f"{experiment.time_limit:g} s, {experiment.memory_limit:,.0f} MiB"),
            ("seed", str(experiment.seed)),
        ],
    )
    yield "## Datasets"
    head = ("dataset", "card", "planted bias", "baseline", "techniques")
    yield table(head, [_dataset(entry) for entry in experiment.datasets])
    yield "## Techniques"
    yield table(
        ("name", "technique", "parameters"),
        [
            (
                code(entry.name),
                _declared("techniques", entry.technique),
                ", ".join(code(f"{name} = {json.dumps(value)}") for name, value in entry.parameters.items()),
            )
            for entry in experiment.techniques
        ],
    )


def _protocol(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Say how training and test rows are had, where it is not as in the paper."""
    if experiment.splits or experiment.tests != (ORIGINAL,):
        kept = "all" if not experiment.splits else f"{experiment.folds} folds"
        if experiment.holdout is not None:
            kept = f"{experiment.holdout:.0%} of the rows, held out"
        yield "trained on", "rows of the data" if experiment.train == "data" else "samples of the network"
        yield "tested on", f"{kept}: {', '.join(experiment.tests)}"


def _dataset(entry: DatasetEntry) -> tuple[str, ...]:
    return (
        code(entry.name),
        _card(entry.card),
        "; ".join(f"{code(bias.name)}: {_bias(bias)}" for bias in entry.bias),
        code(entry.baseline),
        ", ".join(map(code, entry.techniques)) or "all",
    )


def _card(name: str) -> str:
    """Link a shipped card; one of an experiment's own, which has no page, is named by its title."""
    card = load_card(name)
    return _declared("datasets", card.name) if name in list_declarations("datasets") else plain(card.title)


def _bias(bias: BiasEntry) -> str:
    made = [Bias((step,)) for step in bias.to_bias().steps]
    return "; then ".join(plain(", ".join(map(str, own.edits))) or _step(own.steps[0]) for own in made)


def _step(step: BiasKind) -> str:
    """Return what a step plants: the kind's summary, which speaks of its defaults, or its parameters."""
    given = step.model_dump(mode="json", exclude_defaults=True)
    parameters = ", ".join(code(f"{name} = {json.dumps(value)}") for name, value in given.items())
    return f"{code(step.name)} with {parameters}" if parameters else plain(step.summary)


def _declared(kind: str, name: str) -> str:
    return f"[{code(name)}](../{kind}/{name}.md)"


def _alternation(name: str) -> tuple[str, str, list[str]]:
    experiment = load_alternation(name)
    facts = [
        ("dataset", _declared("datasets", load_card(experiment.card).name)),
        ("predicted", f"{code(experiment.target)} ({plain(experiment.unit)})"),
        ("exchanged", ", ".join(map(code, experiment.attributes))),
        ("folds", str(experiment.folds)),
        ("seed", str(experiment.seed)),
    ]
    cases = [
        (code(case.name), plain(case.title), ", ".join(case.variants), ", ".join(map(code, case.features)))
        for case in experiment.cases
    ]
    head = ("case", "rows and model", "variants", "features")
    body = [table(("property", "value"), facts), "## Cases", table(head, cases)]
    return experiment.title, experiment.description, body


def _atlas(name: str) -> tuple[str, str, list[str]]:
    atlas = load_atlas(name)
    head = ("part", "datasets", "levels", "classifiers", "techniques", "repetitions", "cells")
    parts = [
        (
            code(part),
            str(len(experiment.datasets)),
            ", ".join(f"{level:g}" for level in experiment.levels),
            ", ".join(code(entry.name) for entry in experiment.classifiers),
            str(len(experiment.techniques)),
            str(experiment.repetitions),
            f"{_n_cells(experiment):,}",
        )
        for part, experiment in atlas.experiments.items()
    ]
    claims = [f"- {plain(claim.text)}" for claim in atlas.claims]
    answer = f"[The answer, by what you want, fear and may change](../{ATLAS_PAGE})"
    body = [answer, "## Parts", table(head, parts), "## Claims before the run", "\n".join(claims)]
    return atlas.title, "", body


def _results(name: str, folder: Path, root: Path) -> Iterator[str]:
    """Link what is committed of an experiment's results; show its figures but those of single techniques."""
    home = root / "results" / name
    shown = ("*.md", "*/README.md", "tables/*.csv", "summary.csv*", "manifest.json")
    files = [path for pattern in shown for path in sorted(home.glob(pattern))]
    links = [
        f"- [{plain(path.relative_to(home).as_posix())}]({link})"
        for path in files
        if (link := link_to(path, folder, root))
    ]
    if links:
        yield "## Committed results"
        yield "\n".join(links)
    figures = [
        path for path in sorted(home.glob("figures/**/*.png")) if not path.stem.startswith("technique_")
    ]
    if links and figures:
        yield "## Figures"
    for path in figures:
        if link := link_to(path, folder, root):
            words = " ".join(path.relative_to(home / "figures").with_suffix("").parts).replace("_", " ")
            yield f"![{plain(f'{name}: {words}')}]({link})"
