"""``betabench new-technique``: a working technique, to be changed into a new one."""

import argparse
from pathlib import Path

from benchmark.cli.common import EXIT_OK, Options

HELP = "write a working technique and its test, to be changed into your own"
EXAMPLE = "betabench new-technique my_idea --stage pre --folder ideas"


def add_options(option: Options) -> None:
    option("name NAME", "its name: lower-case letters, digits and underscores")
    stage = "whether it changes the training data (default), the training, or the predictions"
    option("--stage", stage, choices=("pre", "in", "post"), default="pre")
    option("--folder DIR", "where to write; default: here", type=Path, default=Path())


def execute(options: argparse.Namespace) -> int:
    from benchmark.techniques.new import write_skeleton

    technique, test = write_skeleton(options.name, options.stage, options.folder)
    print(f"written: {technique}, {test}")
    print(f"test it: pytest {test}")
    print(
        f"run it:  betabench run --experiment smoke --plugin {technique} --techniques none {options.name} "
        f"--output results/{options.name}"
    )
    print(f"beside others on real rows: betabench run --experiment real_rows --plugin {technique}")
    return EXIT_OK
