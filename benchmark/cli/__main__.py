"""``python -m benchmark.cli``."""

from __future__ import annotations

import sys

from benchmark.cli import main

if __name__ == "__main__":
    sys.exit(main())
