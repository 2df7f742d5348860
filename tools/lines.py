"""The size of the package: ``python -m tools.lines``.

All lines of ``benchmark/`` count, empty ones and comments as well. The first table has lines by kind of file,
of the whole package and of the folders that say results. Docstrings and imports are lines of Python too. Data
are TOML, JSON and CSV. The second table has the number of Python files where an option's name is a word.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "benchmark"
SAYING = {
    *("facts", "figures", "pages", "report", "runs", "statistics", "tables", "wording"),
}
"""Folders of the package that say results, as far as there are such."""

KINDS = {
    "Python": {".py"},
    "templates": {".j2", ".html", ".svg"},
    "CSS": {".css"},
    "JavaScript": {".js"},
    "data": {".toml", ".json", ".csv"},
}
"""Endings of the counted files. Only lines of data are not part of the sum."""

OPTIONS = ("doses", "hidden", "folds", "knows")


def files(kind: str, folder: Path = PACKAGE) -> Iterator[Path]:
    """Yield the files of a kind below a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in KINDS[kind])


def parts(source: str) -> Counter[str]:
    """Return the lines of a Python file that are docstrings, imports, and others."""
    tree = ast.parse(source)
    counted: Counter[str] = Counter()
    for node in ast.walk(tree):
        name = {ast.Import: "imports", ast.ImportFrom: "imports"}.get(type(node))
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            name = "docstrings"
        if name is not None:
            assert isinstance(node, ast.stmt)
            counted[name] += (node.end_lineno or node.lineno) - node.lineno + 1
    counted["other lines"] = len(source.splitlines()) - counted.total()
    return counted


def main() -> None:
    """Print the tables."""
    whole: Counter[str] = Counter()
    saying: Counter[str] = Counter()
    for kind in KINDS:
        for path in files(kind):
            text = path.read_text(encoding="utf-8")
            counted = Counter({kind: len(text.splitlines())})
            if kind == "Python":
                counted += Counter({f"  {name}": n for name, n in parts(text).items()})
            whole += counted
            if path.relative_to(PACKAGE).parts[0] in SAYING:
                saying += counted
    for counted in (whole, saying):
        counted["sum without data"] = sum(counted[kind] for kind in KINDS if kind != "data")
    print(f"{'lines':20}{'package':>9}{'says results':>14}")
    for name in whole:
        print(f"{name:20}{whole[name]:9,}{saying[name]:14,}")
    print(f"\n{'files that name it':20}{'package':>9}")
    for option in OPTIONS:
        n = sum(bool(re.search(rf"\b{option}\b", p.read_text(encoding="utf-8"))) for p in files("Python"))
        print(f"{option:20}{n:9,}")


if __name__ == "__main__":
    main()
