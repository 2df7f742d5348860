"""The rules of the house that a machine can hold."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "benchmark"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Each layer may import itself and the layers before it; those of one row never import each other.
LAYERS = (
    ("errors",),
    ("seeding", "compiling", "declarations", "registry", "columns", "models", "file_options", "release"),
    ("text",),
    ("data",),
    ("network",),
    ("bias",),
    ("classifiers", "techniques", "metrics"),
    ("statistics", "estimator"),
    ("experiment", "audit"),
    ("runs", "conformance"),
    ("facts",),
    ("wording",),
    ("atlas",),
    ("tables",),
    ("figures",),
    ("pages",),
    ("report",),
    ("api",),
    ("known_bias",),
    ("first_look", "recommending", "entrants"),
    ("cli",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> list[str]:
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module or "")
    return found


def test_imports_run_one_way() -> None:
    upward = []
    for path in MODULES:
        if path == PACKAGE / "__init__.py":  # the face, above all, imports when it is asked
            continue
        here = layer(path)
        for module in imported_modules(path):
            parts = module.split(".")
            if parts[0] == "benchmark" and len(parts) > 1:
                there = parts[1]
                if there != here and RANK[there] >= RANK[here]:
                    upward.append(f"{path.relative_to(PACKAGE)} must not import {module}")
    assert not upward


def imports_when_loaded(path: Path) -> set[str]:
    """Return the package's modules that a module imports when it is loaded, not when a function is called."""
    found = set()
    pending: list[ast.AST] = [parsed(path)]
    while pending:
        node = pending.pop()
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchmark"):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending += ast.iter_child_nodes(node)
    return found


def test_no_modules_import_each_other() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }
    graph = {name: (imports_when_loaded(path) & set(names)) - {name} for name, path in names.items()}
    # A package's __init__ re-exports its modules, which is no cycle: they import their siblings directly.
    for name, path in names.items():
        if path.name == "__init__.py":
            graph[name] = set()
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError, which names the cycle


def test_no_folder_holds_a_sixth_of_the_code() -> None:
    lines = Counter[str]()
    for path in MODULES:
        lines[layer(path)] += len(path.read_text(encoding="utf-8").splitlines())
    assert {name: n for name, n in lines.items() if n > 0.17 * lines.total()} == {}


def test_every_module_belongs_to_a_layer() -> None:
    assert {layer(path) for path in MODULES} - {"__init__"} == set(RANK)


@pytest.mark.filterwarnings("default")
def test_a_long_module_is_warned_of() -> None:
    # Cohesion decides about a module's length, so this fails for no number of lines.
    for path in MODULES:
        length = len(path.read_text(encoding="utf-8").splitlines())
        if length > 600:
            warnings.warn(
                f"{path.relative_to(ROOT)} has {length} lines: is it still one topic?", stacklevel=1
            )


def test_the_package_needs_no_study() -> None:
    """The wheel lacks them: commands find them by :func:`benchmark.cli.common.study`, which says so."""
    needed = {(path.name, module) for path in MODULES for module in imported_modules(path)}
    assert [pair for pair in needed if pair[1].partition(".")[0] in ("studies", "tools", "tests")] == []


def test_private_names_stay_in_their_modules() -> None:
    taken = [
        f"{path.relative_to(ROOT)} takes {alias.name} of {node.module}"
        for path in (
            *MODULES,
            *(path for folder in ("studies", "tools") for path in (ROOT / folder).rglob("*.py")),
        )
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchmark")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert taken == []


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
        ("list bias-kinds", {"numpy", "pydantic"}),
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


def test_a_report_loads_nothing_that_computes_cells() -> None:
    modules = (
        "runs.comparison",
        "runs.analysis",
        "report.statistics_files",
        "pages.run_page",
    )
    script = (
        f"import sys, {', '.join(f'benchmark.{module}' for module in modules)}\n"
        "print([m for m in ('numba', 'sklearn') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout == "[]\n"


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
    # The conformance checks set that state on purpose, to see whether a technique touches it; what runs other
    # libraries' techniques sets it for them, and brings the old one back.
    for path in (p for p in MODULES if p.parent.name != "conformance" and p.name != "_foreign.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                owner = node.value
                if isinstance(owner.value, ast.Name) and (owner.value.id, owner.attr) == ("np", "random"):
                    allowed = {"Generator", "PCG64", "default_rng", "SeedSequence"}
                    assert node.attr in allowed, f"{path}:{node.lineno} uses np.random.{node.attr}"
        assert "random" not in imported_modules(path), f"{path} imports the random module"


def test_tests_share_their_setup_in_helpers() -> None:
    """Nothing is imported from a module of tests: one file can be read, moved and run without another."""
    shared = ("tests.helpers", "tests.golden")  # the latter records golden values, and is a tool
    paths = (
        path for folder in ("studies", "tests", "tools") for path in sorted((ROOT / folder).rglob("*.py"))
    )
    taken = [
        f"{path.relative_to(ROOT)} takes {module}"
        for path in paths
        for module in imported_modules(path)
        if module.startswith("tests.") and (not module.startswith(shared) or ".test_" in module)
    ]
    assert taken == []


LONG = 6  # words


def test_a_sentence_is_asserted_in_one_place() -> None:
    """Who words it anew changes one file of tests: others ask for a part of it, or for its constant."""
    asserted: dict[str, set[str]] = {}
    for path in sorted(p for folder in ("studies", "tests") for p in (ROOT / folder).rglob("test_*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Assert) or (isinstance(node, ast.keyword) and node.arg == "match"):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        words = part.value.split()
                        if len(words) >= LONG:
                            asserted.setdefault(" ".join(words), set()).add(path.name)
    assert {sentence: files for sentence, files in asserted.items() if len(files) > 1} == {}
