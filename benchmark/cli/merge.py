"""``betabench merge``: one store from the stores of shards or of several machines."""

import argparse
from pathlib import Path

from benchmark.cli.common import Options

HELP = "join the stores of shards; the shards stay unchanged"
EXAMPLE = "betabench merge results/paper_shard_*_of_10 --output results/joined"


def add_options(option: Options) -> None:
    option("shards SHARD", "folder of a run, or the store in it", nargs="+", type=Path)
    output = "folder of the joint store; an existing store keeps its cells"
    option("--output DIR", output, type=Path, required=True)


def execute(options: argparse.Namespace) -> None:
    from benchmark.columns import STORE_NAME
    from benchmark.experiment.store import Store, require_store
    from benchmark.runs.comparison import unlike_shards

    paths = [path / STORE_NAME if path.is_dir() else path for path in options.shards]
    for path in paths:  # before the joint store is made
        require_store(path)
    with Store(options.output / STORE_NAME) as store:
        for message in store.opening_messages:
            print(message)
        new = store.merge(paths)
        print(f"{store.path} has {len(store):,} cells, {new:,} of them new")
    for warning in unlike_shards([path.parent for path in paths]):
        print(warning)
    print("To write the tables, type 'betabench run' with the shards' options and this folder as --output")
