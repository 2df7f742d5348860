"""Techniques are found by name, wherever they come from."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest

from benchmark import registry
from benchmark.bias import list_bias_kinds
from benchmark.conformance import example_table
from benchmark.errors import PluginError, TechniqueError, UnknownNameError
from benchmark.metrics import get_metric, list_metrics
from benchmark.registry import Registry
from benchmark.registry import load_plugin as load_any_plugin
from benchmark.techniques import (
    Interval,
    PreProcessing,
    Technique,
    Tools,
    get_technique,
    list_techniques,
    load_plugin,
    register,
)

ROOT = Path(__file__).resolve().parents[2]


def declared_names() -> list[str]:
    """Return the names of the classes with ``@register`` in the package's files, which are not imported."""
    return sorted(
        ast.literal_eval(line.value)
        for file in (ROOT / "benchmark" / "techniques").glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and "register" in map(ast.unparse, node.decorator_list)
        for line in node.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "name"
    )


PLUGIN = '''
from typing import Annotated
from benchmark.techniques import Interval, PreProcessing, Prepared, register

@register
class FirstRows(PreProcessing):
    """Keep the first rows."""
    name = "first_rows"
    reference = "none"
    summary = "Keep the first rows"
    version = "1"
    rows: Annotated[int, Interval(10, 1000)] = 100

    def _prepare(self, train, tools):
        import numpy as np
        return Prepared(train.take(np.arange(self.rows)))
'''


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test add to copies of the registries."""
    for known in (list_techniques, list_metrics, list_bias_kinds):
        known()
    for each in registry._REGISTRIES:
        monkeypatch.setattr(each, "_items", dict(each._items))
    monkeypatch.setattr(registry, "_REGISTRIES", list(registry._REGISTRIES))
    monkeypatch.setattr(registry, "_PLUGINS", {})


def declared(**attributes: object) -> type[Technique]:
    complete = {"name": "mine", "reference": "r", "summary": "s", "version": "1"}
    body = {**complete, **attributes, "_prepare": lambda self, train, tools: None}
    return type("Mine", (PreProcessing,), body)


def test_built_in_techniques_are_listed_in_order_and_fully_declared() -> None:
    ours = [n for n, t in list_techniques().items() if t.__module__.startswith("benchmark.techniques.")]
    assert ours == declared_names()
    assert {"none", "massaging", "zafar_2017"} < set(ours)
    for name, technique in list_techniques().items():
        assert technique.name == name
        assert technique.__doc__
        assert technique().parameters is not None


def test_unknown_names_and_parameters_suggest_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'massaging'"):
        get_technique("masaging")
    with pytest.raises(TechniqueError, match="did you mean 'level'"):
        get_technique("repair", levle=0.5)
    with pytest.raises(TechniqueError, match="no parameters at all"):
        get_technique("none", strength=1)


def test_the_same_name_twice_is_refused_and_the_same_class_twice_is_not() -> None:
    first = register(declared())
    assert register(first) is first
    with pytest.raises(TechniqueError, match="Two techniques want the name 'mine'"):
        register(declared())
    assert list_techniques()["mine"] is first


def test_defaults_and_forgotten_annotations_are_found_at_registration() -> None:
    outside = {"level": 2.0, "__annotations__": {"level": Annotated[float, Interval(0, 1)]}}
    with pytest.raises(TechniqueError, match=r"with its defaults it cannot be made.*'level'.*Got 2\.0"):
        register(declared(**outside))
    with pytest.raises(TechniqueError, match="'level' has no annotation, so it is no parameter"):
        register(declared(level=0.5))


def test_an_incomplete_declaration_is_refused() -> None:
    for attribute in ("reference", "summary", "version"):
        with pytest.raises(TechniqueError, match=f"{attribute!r} is not a text"):
            register(declared(**{attribute: " "}))
    with pytest.raises(TechniqueError, match="its stage is none of pre, in, post"):
        register(declared(stage="before"))
    with pytest.raises(TechniqueError, match="'may_lose_to_constant' is no reason in words"):
        register(declared(may_lose_to_constant=True))


@pytest.mark.parametrize("name", [None, "", "Mine", "my-technique", "2nd"])
def test_a_malformed_name_is_refused(name: object) -> None:
    with pytest.raises(TechniqueError, match="has no usable name"):
        register(declared(name=name))


def test_a_subclass_does_not_inherit_its_name() -> None:
    parent = register(declared())
    with pytest.raises(TechniqueError, match="has no usable name"):
        register(type("Child", (parent,), {}))


def test_a_plugin_file_is_loaded_once_and_runs(tmp_path: Path) -> None:
    file = tmp_path / "first rows.py"
    file.write_text(PLUGIN)
    assert load_plugin(file) == ("first_rows",)
    loaded = list_techniques()["first_rows"]
    assert load_plugin(str(file)) == ("first_rows",)
    assert list_techniques()["first_rows"] is loaded
    technique = get_technique("first_rows", rows=20)
    unused = Tools(lambda c: None, lambda t: None, None)  # type: ignore[arg-type,return-value]
    assert len(technique.prepare(example_table(), unused).table) == 20
    with pytest.raises(TechniqueError, match=r"must be an integer in \[10, 1000\]\. Got 5 instead"):
        get_technique("first_rows", rows=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLUGIN + "\nraise ValueError('spoiled')", "fails on import.*ValueError: spoiled"),
        (PLUGIN.replace("first_rows", "none"), "Two techniques want the name 'none'"),
        ("x = 1", "registers nothing.*What to do: put @register above each class"),
        ("def", "fails on import.*SyntaxError"),
    ],
)
def test_a_bad_plugin_says_why_and_leaves_nothing_behind(tmp_path: Path, text: str, message: str) -> None:
    before = list_techniques()
    file = tmp_path / "bad.py"
    file.write_text(text)
    with pytest.raises((PluginError, TechniqueError), match=message):
        load_plugin(file)
    assert list_techniques() == before


@pytest.mark.parametrize("where", ["at_the_top", "in_a_method"])
def test_a_plugin_imports_modules_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """From any working folder, as 'python FILE' does; a file beside it replaces no installed module."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / f"sizes_{where}.py").write_text("ROWS = 12\n")
    (tmp_path / "numpy.py").write_text("raise RuntimeError('not numpy')\n")
    line = f"import sizes_{where}"
    text = PLUGIN.replace("arange(self.rows)", f"arange(sizes_{where}.ROWS)")
    if where == "at_the_top":
        text = f"{line}\n{text}"
    else:
        text = text.replace("        import numpy as np", f"        {line}\n        import numpy as np")
    file = tmp_path / "own.py"
    file.write_text(text)
    assert load_plugin(file) == ("first_rows",)
    unused = Tools(lambda c: None, lambda t: None, None)  # type: ignore[arg-type,return-value]
    assert len(get_technique("first_rows").prepare(example_table(), unused).table) == 12
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "bad.py").write_text("import no_such_module_anywhere")
    with pytest.raises(PluginError, match="No module named 'no_such_module_anywhere'"):
        load_plugin(tmp_path / "bad" / "bad.py")
    assert str(tmp_path / "bad") not in sys.path


PLUGIN_OF_EVERY_KIND = """
from benchmark.bias import register as register_bias
from benchmark.bias.label import LabelBias
from benchmark.metrics import metric


@register_bias
class Rumour(LabelBias):
    name = "rumour"


@metric(title="Hit rate", formula="P(y+ | ŷ+)", range=(0, 1), ideal=1, direction="higher", source="none",
        needs=("y_true", "y_pred"))
def hit_rate(everybody):
    return everybody.share(everybody.tp, everybody.predicted_positives, "that is predicted favorable")
"""


def test_a_plugin_may_register_items_of_any_kind(tmp_path: Path) -> None:
    file = tmp_path / "every_kind.py"
    file.write_text(PLUGIN_OF_EVERY_KIND)
    assert load_plugin(file) == ()
    assert load_any_plugin(file) == {"bias kind": ("rumour",), "metric": ("hit_rate",)}
    assert "rumour" in list_bias_kinds()
    assert get_metric("hit_rate").title == "Hit rate"


def test_a_missing_plugin_says_so(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"no such file.*What to do: correct the path"):
        load_plugin(tmp_path / "none.py")
    with pytest.raises(PluginError, match="cannot be loaded"):
        load_plugin(tmp_path)


def install(folder: Path, name: str, module_text: str) -> None:
    """Lay out an installed package that announces one entry point."""
    (folder / f"{name}_plugin.py").write_text(module_text)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[betabench.techniques]\nfirst_rows = {name}_plugin:FirstRows\n")


def test_an_installed_package_adds_techniques_and_a_broken_one_is_left_out_with_a_warning(
    tmp_path: Path,
) -> None:
    install(tmp_path, "announced", PLUGIN.replace("@register", ""))
    install(tmp_path, "broken", "raise OSError('broken')")
    code = "from benchmark.techniques import list_techniques; print(','.join(list_techniques()))"
    answer = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(tmp_path), str(ROOT)]!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip().split(",") == sorted([*declared_names(), "first_rows"])
    assert "The technique 'first_rows' of broken is left out: OSError: broken" in answer.stderr


def test_a_broken_built_in_module_is_an_error_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "halfway"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "broken.py").write_text("raise OSError('no disk')")
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[int] = Registry("number", TechniqueError, package="halfway")
    for _ in range(2):
        with pytest.raises(OSError, match="no disk"):
            registry.items()
