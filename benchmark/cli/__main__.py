"""The program ``python -m benchmark.cli``."""

import sys

from benchmark.cli import main

if __name__ == "__main__":
    sys.exit(main())
