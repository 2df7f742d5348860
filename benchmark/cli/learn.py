"""``betabench learn``: a dataset's network, as a BIF file."""

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import Options, sources_of

HELP = "learn a dataset's Bayesian network and write it as a BIF file"
EXAMPLE = "betabench learn --dataset adult --algorithm exact --out adult.bif"


def add_options(option: Options) -> None:
    option.dataset()
    option("--algorithm", "search algorithm; default: the card's", choices=("hill_climbing", "tabu", "exact"))
    option("--score", "score of a network; default: the card's", choices=("bic", "bdeu"))
    option("--max-indegree N", "most parents per column", type=int)
    option("--restarts N", "number of random restarts", type=int)
    option("--pseudo-count X", "number added to each count; 0 is maximum likelihood", type=float)
    least = "fewest rows for a separate probability; smaller groups of rows are pooled; 1 pools nothing"
    option("--min-count N", least, type=int)
    edge: Any = {"nargs": 2, "action": "append", "default": [], "metavar": ("PARENT", "CHILD")}
    option("--require", "require an edge", **edge)
    option("--forbid", "forbid an edge", **edge)
    option("--out FILE", "file to write; default: NAME.bif", type=Path)
    option.data()


def execute(options: argparse.Namespace) -> None:
    from benchmark.data.card import load_card
    from benchmark.data.load import load_dataset
    from benchmark.network.bif import write_bif
    from benchmark.network.learn import announcement, learn_network, merge_settings
    from benchmark.network.model import discrimination

    card = load_card(options.dataset)
    dataset = load_dataset(card, sources_of(options))
    for note in dataset.notes:
        print(f"Note: {note}")
    print(f"{announcement(dataset.table)} ...", flush=True)
    names = ("algorithm", "score", "max_indegree", "restarts", "pseudo_count", "min_count")
    network = learn_network(
        dataset.table,
        merge_settings(card.network, {name: getattr(options, name) for name in names}),
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
