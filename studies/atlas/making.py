"""The making of an atlas: its runs, one after another, and its tables."""

from __future__ import annotations

import inspect
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.api import run
from benchmark.atlas.file import digest_of, load_atlas
from benchmark.atlas.tables import has_tables
from benchmark.columns import STORE_NAME
from benchmark.data.source import Sources
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.experiment.expand import load_for_run, narrow
from benchmark.experiment.plan import load_plugins
from benchmark.experiment.prepare import prepare_experiment
from benchmark.report.estimate import Estimate
from benchmark.runs.comparison import first_folder
from benchmark.runs.finished import read_frames
from benchmark.text.terminal import Steps, output_console
from studies.atlas.comparison import write_comparison
from studies.atlas.description import write_description
from studies.atlas.tables import is_finished, is_piece, piece_place, write_piece, write_tables


def run_atlas(
    atlas: str | Path = "atlas",
    *,
    parts: Sequence[str] = (),
    datasets: Sequence[str] | None = None,
    output: str | Path | None = None,
    lite: bool = False,
    **parameters: Any,
) -> AtlasRun:
    """Return the runs of an atlas's experiments, after writing its tables.

    Each experiment is run by :func:`run` dataset by dataset, each into the folder ``PART/DATASET``. What is
    finished there is neither computed nor read again, so that an interrupted run continues.

    Parameters
    ----------
    atlas : str or Path, default "atlas"
        A shipped atlas's name or a TOML file of kind "atlas".
    parts : sequence of str, default ()
        Only these of its experiments. Rows of others stay in the tables.
    datasets : sequence of str, optional
        Only these datasets of the experiments, by their names. Rows of others stay in the tables.
    output : str or Path, optional
        Folder of the results; by default ``results/ATLAS``, or ``results/ATLAS_lite`` with ``lite``. Where
        that has tables without their cells, as in a clone, it is ``results/ATLAS_2`` and so on.
    lite : bool, default False
        Run the experiment that the file declares for a trial.
    **parameters
        Others of :func:`run`, for each experiment, but for ``shard``. Rows of a narrowed experiment, such as
        of some techniques, are not joined with later runs of other parts.

    Raises
    ------
    BetabenchError
        If the atlas or one of its experiments is at fault.
    KeyboardInterrupt
        If interrupted; its text says how many cells are stored.
    """
    declared = load_atlas(atlas)
    folder = Path("results", declared.name + "_lite" * lite) if output is None else Path(output)
    if output is None:
        folder = first_folder(folder, lambda own: not has_tables(own) or any(own.rglob(STORE_NAME)))
    if parameters.get("shard") is not None:
        raise ExperimentError(
            "An atlas has no shards",
            expected="a part or a dataset at a time: --part, --datasets",
            got=f"--shard {parameters['shard']}",
            remedy="run some datasets on each machine, and copy their folders into one",
        )
    chosen = declared.chosen(tuple(parts), lite=lite)
    known = dict.fromkeys(entry.name for experiment in chosen.values() for entry in experiment.datasets)
    for name in datasets or ():
        if name not in known:
            raise UnknownNameError("dataset", name, known)
    plugins = tuple(map(str, parameters.pop("plugins", ())))
    narrowing = {n: parameters.pop(n) for n in inspect.signature(narrow).parameters if n in parameters}
    steps = Steps(parameters.get("console") or output_console(quiet=True))
    estimates: dict[str, Estimate] = {}
    ran: dict[tuple[str, str], Counter[str]] = {}
    for part, experiment in chosen.items():
        load_plugins(experiment, plugins)
        names = [entry.name for entry in experiment.datasets if entry.name in (datasets or known)]
        if names and parameters.get("dry_run"):
            own = narrow(experiment, datasets=names, plugins=plugins, **narrowing)
            with tempfile.TemporaryDirectory() as trial:
                found = run(own, output=trial, plugins=plugins, **parameters)
            assert found.estimate is not None
            estimates[part] = found.estimate
            continue
        for name in names:
            own = narrow(experiment, datasets=[name], plugins=plugins, **narrowing)
            place, digest = piece_place(folder, part, name), digest_of(own)
            again = parameters.get("fresh") or parameters.get("retry_failed")
            ran[part, name] = Counter()
            if not again and is_piece(place, digest):
                continue
            steps.note(f"{part}, {name} ...")
            plan = load_for_run(own, plugins)
            if not again and is_finished(place, plan.experiment):
                sources = Sources(parameters.get("data_dir"), parameters.get("offline", False))
                frames, prepared = read_frames(place), prepare_experiment(plan, sources)
            else:
                files = run(own, output=place, plugins=plugins, **parameters).run_folder
                assert files is not None
                frames, prepared = files.run, files.prepared
                ran[part, name] = Counter(frames.manifest.cells)
            write_piece(place, declared, part, frames, prepared, digest)
    written: tuple[Path, ...] = ()
    if ran:
        with steps:
            steps.step("comparing recommenders on clusters that they have not seen")
            written = write_tables(folder, declared, ran)
            written += (*write_comparison(folder, steps.note), write_description(folder, declared))
    return AtlasRun(folder, ran, estimates, written)


@dataclass(frozen=True, eq=False)
class AtlasRun:
    """The runs of an atlas."""

    folder: Path
    # By part and dataset the numbers of planned and computed cells, and by status those without a result;
    # empty where the part was finished before.
    ran: Mapping[tuple[str, str], Mapping[str, int]]
    estimates: Mapping[str, Estimate]  # by part, if it was only estimated
    written: tuple[Path, ...] = ()  # its tables
