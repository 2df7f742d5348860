"""The command line.

Modules that compute are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark import __version__
from benchmark.errors import BetabenchError, ExperimentError

if TYPE_CHECKING:
    from rich.console import Console

    from benchmark.experiment.run import Progress
    from benchmark.network.bias import BiasEdit
    from benchmark.network.model import Network

__all__ = ["main"]

EXIT_OK, EXIT_FAILED_CELLS, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of the process unless given.

    Returns
    -------
    int
        0 when all went well, 1 when cells of a run failed, 2 when the input was at fault, 130 when
        interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows another
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except BetabenchError as error:
        print(f"betabench: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader of a pipe has left ("betabench list ... | head"); nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except (OSError, MemoryError, sqlite3.Error) as error:
        print(
            f"betabench: The machine refused: {type(error).__name__}: {error}. What to do: check the path, "
            "its permissions, and the room on disk and in memory; what was finished is stored.",
            file=sys.stderr,
        )
        return EXIT_USAGE
    except KeyboardInterrupt:
        print(
            "\nbetabench: interrupted; a run's finished blocks are stored, and the same command goes on",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="betabench",
        description="Which fairness technique survives which amount of planted bias.",
        epilog="example: betabench run --experiment smoke",
    )
    parser.add_argument("--version", action="version", version=f"betabench {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_list(commands)
    _add_learn(commands)
    _add_sample(commands)
    _add_compare(commands)
    return parser


def _command(commands: Any, name: str, run: Any, text: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=f"example: {example}",
    )
    parser.set_defaults(command=run)
    return parser


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="look for source files here (or set BETABENCH_DATA)",
    )
    parser.add_argument("--offline", action="store_true", help="never download")


# ------------------------------------------------------------------------------------------------- run


def _add_run(commands: Any) -> None:
    parser = _command(
        commands,
        "run",
        _run,
        "run an experiment, or go on with one, and write its results",
        "betabench run --experiment paper --datasets adult --techniques none massaging --betas 0 0.5 1",
    )
    add = parser.add_argument
    add(
        "--experiment",
        default="paper",
        metavar="NAME|FILE",
        help="shipped experiment or a TOML file; default: paper",
    )
    add("--datasets", nargs="+", metavar="NAME", help="only these of its datasets")
    add("--techniques", nargs="+", metavar="NAME", help="only these, or others with their defaults")
    add("--betas", nargs="+", type=float, metavar="BETA", help="these levels of bias, each from 0 to 1")
    add("--repetitions", type=int, metavar="N", help="this many samples of each kind")
    add(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes; default: one per core",
    )
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the results; default: results/EXPERIMENT, "
        "or results/EXPERIMENT_embedded where embedded networks stand in for real data",
    )
    add("--plugin", action="append", default=[], metavar="FILE", help="Python file that registers techniques")
    add("--fresh", action="store_true", help="start a new store; the old one is renamed, not lost")
    add("--retry-failed", action="store_true", help="compute failed, crashed and timed-out cells again")
    add("--require-real-data", action="store_true", help="stop rather than use embedded networks")
    add("--no-figures", action="store_true", help="write no figures")
    _add_data_options(parser)


def _run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.experiment.plan import load_experiment, narrow
    from benchmark.experiment.run import STORE_NAME, check_experiment, compute
    from benchmark.experiment.store import Store
    from benchmark.experiment.world import build_world
    from benchmark.report.console import print_report
    from benchmark.report.folder import write_run_folder
    from benchmark.techniques import list_techniques, load_plugin

    started = time.perf_counter()
    console = Console()
    if options.workers < 1:
        raise ExperimentError("Too few workers", expected="--workers 1 or more", got=str(options.workers))
    plugins = tuple(str(Path(plugin).expanduser().resolve()) for plugin in options.plugin)
    for plugin in plugins:
        load_plugin(plugin)
    experiment = narrow(
        load_experiment(options.experiment),
        datasets=options.datasets,
        techniques=options.techniques,
        betas=options.betas,
        repetitions=options.repetitions,
        known_techniques=tuple(list_techniques()),
    )
    check_experiment(experiment)
    world = build_world(
        experiment,
        data_dir=options.data_dir,
        offline=options.offline,
        require_real_data=options.require_real_data,
        plugins=plugins,
        say=lambda line: console.print(line, highlight=False, markup=False, soft_wrap=True),
    )
    # Numbers of real data are never replaced by numbers of a network unless the user names their folder.
    suffix = "_embedded" if any(scene.embedded for scene in world.scenes.values()) else ""
    output: Path = options.output or Path("results") / (experiment.name + suffix)
    # Everything that can be wrong with the input is known by now: only then is a store made or set aside.
    with Store(output / STORE_NAME, fresh=options.fresh) as store:
        if store.aside:
            console.print(f"The old store is kept as {store.aside}", highlight=False, soft_wrap=True)
        with _progress(console) as progress:
            outcome = compute(
                world,
                store,
                workers=options.workers,
                retry_failed=options.retry_failed,
                progress=progress,
            )
        folder = write_run_folder(output, world, outcome, figures=not options.no_figures)
    print_report(
        console,
        folder.results,
        folder.failures,
        folder.description,
        output_dir=output,
        written=[store.path, *folder.written],
    )
    console.print(
        f"{len(outcome.cells):,} cells, {outcome.computed:,} of them computed now in {outcome.seconds:.1f} s "
        f"on {outcome.workers} worker(s); {time.perf_counter() - started:.1f} s in all",
        highlight=False,
    )
    return EXIT_OK if outcome.ok else EXIT_FAILED_CELLS


@contextlib.contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """Show a bar with rate and remaining time in a terminal, and a line now and then elsewhere."""
    if not console.is_terminal:
        yield _progress_lines(console)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("cells"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console) as bar:

        def show(done: int, planned: int) -> None:
            if not bar.tasks:
                # What was stored before is where the bar starts, not part of this run's rate.
                bar.add_task("cells", completed=done, total=planned, rate="")
                return
            task = bar.tasks[0]
            rate = f"{task.speed:.1f}/s" if task.speed else ""
            bar.update(task.id, completed=done, total=planned, rate=rate)

        yield show


def _progress_lines(console: Console) -> Progress:
    shown = -1

    def show(done: int, planned: int) -> None:
        nonlocal shown
        tenth = 10 * done // planned
        if tenth > shown:
            shown = tenth
            console.print(f"{done:,} of {planned:,} cells", highlight=False)

    return show


# ------------------------------------------------------------------------------------------------ list


def _add_list(commands: Any) -> None:
    parser = _command(
        commands,
        "list",
        _list,
        "list what can be named in experiments and on the command line",
        "betabench list techniques",
    )
    kinds = ("datasets", "techniques", "metrics", "classifiers", "experiments")
    parser.add_argument("kind", choices=kinds, help="what to list")
    parser.add_argument("--json", action="store_true", help="machine-readable, with more detail")


def _list(options: argparse.Namespace) -> int:
    rows = _LISTINGS[options.kind]()
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return EXIT_OK
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(f"{row['name']:{width}}  {row['summary']}")
    return EXIT_OK


def _list_datasets() -> list[dict[str, Any]]:
    from benchmark.data import list_cards

    return [
        {
            "name": card.name,
            "summary": card.title + (f" ({card.rows:,} rows)" if card.rows else ""),
            "sensitive_feature": card.sensitive_feature,
            "deprived_group": card.deprived_group,
            "label": card.label,
            "favorable_label": card.favorable_label,
            "licence": card.licence,
            "known_problems": list(card.known_problems),
            "warning": card.warning,
        }
        for card in list_cards()
    ]


def _list_techniques() -> list[dict[str, Any]]:
    from benchmark.techniques import list_techniques

    return [
        {
            "name": name,
            "summary": technique.summary,
            "stage": technique.stage,
            "reference": technique.reference,
            "parameters": technique().parameters,
        }
        for name, technique in list_techniques().items()
    ]


def _list_metrics() -> list[dict[str, Any]]:
    from benchmark.metrics import list_metrics

    return [
        {
            "name": metric.name,
            "summary": f"{metric.title}: {metric.formula}",
            "range": list(metric.range),
            "ideal": metric.ideal,
            "source": metric.source,
        }
        for metric in list_metrics().values()
    ]


def _list_classifiers() -> list[dict[str, Any]]:
    from benchmark.classifiers import list_classifiers

    return [{"name": name, "summary": entry.summary} for name, entry in list_classifiers().items()]


def _list_experiments() -> list[dict[str, Any]]:
    from benchmark.declarations import list_declarations
    from benchmark.experiment.plan import load_experiment

    return [
        {"name": name, "summary": load_experiment(name).title, "file": path.name}
        for name, path in list_declarations("experiments").items()
    ]


_LISTINGS = {
    "datasets": _list_datasets,
    "techniques": _list_techniques,
    "metrics": _list_metrics,
    "classifiers": _list_classifiers,
    "experiments": _list_experiments,
}


# ----------------------------------------------------------------------------------------------- learn


def _add_learn(commands: Any) -> None:
    parser = _command(
        commands,
        "learn",
        _learn,
        "learn a dataset's Bayesian network and write it as a BIF file",
        "betabench learn --dataset adult --algorithm exact --out adult.bif",
    )
    add = parser.add_argument
    add("--dataset", required=True, metavar="NAME|FILE", help="shipped card, or a card of your own")
    add("--algorithm", choices=("hill_climbing", "tabu", "exact"), help="search; default: the card's")
    add("--score", choices=("bic", "bdeu"), help="score; default: the card's")
    add("--max-indegree", type=int, metavar="N", help="most parents per column")
    add("--restarts", type=int, metavar="N", help="random restarts")
    add("--pseudo-count", type=float, metavar="X", help="added to each count; 0 is maximum likelihood")
    add(
        "--require", nargs=2, action="append", default=[], metavar=("PARENT", "CHILD"), help="require an edge"
    )
    add("--forbid", nargs=2, action="append", default=[], metavar=("PARENT", "CHILD"), help="forbid an edge")
    add("--out", type=Path, metavar="FILE", help="file to write; default: NAME.bif")
    _add_data_options(parser)


def _learn(options: argparse.Namespace) -> int:
    from benchmark.data import load_card, load_dataset
    from benchmark.network.bif import write_bif
    from benchmark.network.inference import discrimination
    from benchmark.network.learn import learn_network, merge_settings

    card = load_card(options.dataset)
    table = load_dataset(card, data_dir=options.data_dir, offline=options.offline).table
    asked = {name: getattr(options, name) for name in ("algorithm", "score", "max_indegree", "restarts")}
    asked["pseudo_count"] = options.pseudo_count
    network = learn_network(
        table,
        merge_settings(card.network, asked),
        required_edges=(*card.required_edges, *map(tuple, options.require)),
        forbidden_edges=(*card.forbidden_edges, *map(tuple, options.forbid)),
    )
    out: Path = options.out or Path(f"{card.name}.bif")
    write_bif(network, out, name=card.name)
    for parent, child in network.edges:
        print(f"{parent} -> {child}")
    print(
        f"{len(network.edges)} edges, {network.n_parameters} free parameters, "
        f"discrimination {discrimination(network):.4f}; written to {out}"
    )
    return EXIT_OK


# ---------------------------------------------------------------------------------------------- sample


def _add_sample(commands: Any) -> None:
    parser = _command(
        commands,
        "sample",
        _sample,
        "write a biased sample of a dataset's network for a pipeline of your own",
        "betabench sample --dataset adult --beta 0.5 --rows 50000 --seed 1 --out biased.csv",
    )
    add = parser.add_argument
    add("--dataset", required=True, metavar="NAME|FILE", help="shipped card, or a card of your own")
    add("--beta", type=float, default=0.0, metavar="BETA", help="planted bias, from 0 (default) to 1")
    add("--rows", type=int, metavar="N", help="number of rows; default: as the real data")
    add("--seed", type=int, default=0, metavar="N", help="seed of the sample; default: 0")
    add("--out", type=Path, required=True, metavar="FILE", help="file to write: .csv, .parquet or .arff")
    add("--experiment", metavar="NAME|FILE", help="whose bias edits to use; default: paper")
    add(
        "--edit",
        action="append",
        default=[],
        metavar="ATTRIBUTE=GROUP[:deprive|:favor]",
        help="a bias edit of your own, in place of the experiment's; may be repeated",
    )
    _add_data_options(parser)


def _sample(options: argparse.Namespace) -> int:
    from benchmark.data import load_card
    from benchmark.experiment.sampling import default_edits, parse_edit, write_sample
    from benchmark.experiment.world import learned_network

    card = load_card(options.dataset)
    edits: tuple[BiasEdit, ...] = tuple(map(parse_edit, options.edit))
    if not edits:
        edits = default_edits(card, options.experiment)
    network: Network
    network, real_rows, source = learned_network(card, data_dir=options.data_dir, offline=options.offline)
    facts = write_sample(
        options.out,
        card,
        network,
        edits=edits,
        beta=options.beta,
        rows=options.rows if options.rows is not None else real_rows or 0,
        seed=options.seed,
        network_source=source,
    )
    print(f"{facts['rows']:,} rows written to {options.out}, how they were made to {facts['sidecar']}")
    print(
        f"discrimination of the network {facts['network_discrimination']:.4f}, "
        f"of the sample {facts['sample_discrimination']:.4f}"
    )
    if not facts["acting_edits"] and options.beta > 0:
        print("no bias was planted: no edited attribute is a parent of the label in this network")
    return EXIT_OK


# --------------------------------------------------------------------------------------------- compare


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        _compare,
        "put the numbers of a run beside the published ones that it repeats",
        "betabench compare results/paper",
    )
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        type=Path,
        default=Path("results") / "paper",
        metavar="FOLDER",
        help="folder of a finished run, where the comparison goes as well; default: results/paper",
    )
    add(
        "--experiment",
        metavar="NAME|FILE",
        help="take the published numbers and their counterparts from this experiment, not from the run's own",
    )
    add(
        "--allow-embedded",
        action="store_true",
        help="compare a run on embedded networks, though the published numbers are of real data",
    )
    add("--no-figures", action="store_true", help="write no figures")


def _compare(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.experiment.plan import load_experiment
    from benchmark.report.compare import compare_folder, print_comparison, write_comparison

    comparison = compare_folder(
        options.folder,
        experiment=load_experiment(options.experiment) if options.experiment else None,
        allow_embedded=options.allow_embedded,
    )
    written = write_comparison(options.folder, comparison, figures=not options.no_figures)
    print_comparison(Console(), comparison, output_dir=options.folder, written=written)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
