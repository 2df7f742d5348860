"""``python -m studies [NAME ...]``: write the pages and figures of studies anew from the committed values."""

import argparse
from importlib import import_module
from pathlib import Path

from studies.pages import write_all

STUDIES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/findings.py")))


def main() -> None:
    """Write what the named studies say; without names, what all of them say."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("names", nargs="*", choices=(*STUDIES, []), metavar="NAME", help=", ".join(STUDIES))
    for name in parser.parse_args().names or STUDIES:
        write_all(import_module(f"studies.{name}.findings").FILES)


if __name__ == "__main__":
    main()
