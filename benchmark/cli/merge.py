"""``betabench merge``: the stores of shards, or of several machines, become one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "merge",
        _merge,
        "join the stores of shards, which stay as they are",
        "betabench merge results/paper_shard_*_of_10 --output results/paper",
    )
    option("shards SHARD", "folder of a run, or the store in it", nargs="+", type=Path)
    option(
        "--output DIR",
        "folder of the joint store; what one that is there holds is kept",
        type=Path,
        required=True,
    )


def _merge(options: argparse.Namespace) -> int:
    from benchmark.columns import STORE_NAME
    from benchmark.experiment.store import Store
    from benchmark.experiment.store.merge import require_store
    from benchmark.runs.folder_notes import unlike_shards

    paths = [path / STORE_NAME if path.is_dir() else path for path in options.shards]
    for path in paths:  # before a store is made for them
        require_store(path)
    with Store(options.output / STORE_NAME) as store:
        if store.recovery_message:
            print(f"{store.recovery_message}. The old one is kept as {store.backup_path}")
        new = store.merge(paths)
        print(f"{store.path} has {len(store):,} cells, {new:,} of them new")
    for warning in unlike_shards([path.parent for path in paths]):
        print(warning)
    print("'betabench run' with this folder as --output and the options of the shards writes the tables")
    return EXIT_OK
