"""The main job: run the paper's experiment. The same as ``betabench run``."""

import sys

from benchmark.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
