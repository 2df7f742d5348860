import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmark.experiment import evaluate, versions  # evaluate loads what its numbers pass through
from benchmark.techniques import get_technique, list_techniques


def digest(folder: Path, text: str) -> str:
    path = folder / f"{abs(hash(text))}.py"
    path.write_text(text)
    return versions._parsed(path)[0]


CODE = '"""Words."""\n\ndef f(x):\n    """Say."""\n    return x + 1  # add\n'


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("Words", "Other words"),
        CODE.replace('    """Say."""\n', ""),
        CODE.replace("# add", "# one more"),
        CODE.replace("x + 1", "(x+1)"),
    ],
)
def test_words_and_layout_do_not_count(tmp_path: Path, same: str) -> None:
    assert digest(tmp_path, CODE) == digest(tmp_path, same)


@pytest.mark.parametrize("other", [CODE.replace("+ 1", "+ 2"), CODE.replace("def f", "def g")])
def test_what_the_code_does_counts(tmp_path: Path, other: str) -> None:
    assert digest(tmp_path, CODE) != digest(tmp_path, other)


# What a cell passes through by import and yet cannot change its numbers, or is in its key by other means.
NOT_HARNESS = {
    "errors.py": "messages only",
    "columns.py": "names of columns and tests",
    "declarations.py": "finds files; their content is in the keys",
    "file_options.py": "says how a file without a card is read; keys have the digest of what is read",
    "models.py": "what declared files may hold; their content is in the keys",
    "registry.py": "finds classes; their code is in the keys",
    "bias": "each kind's own closure is in its cells' keys",
    "classifiers": "each classifier's own closure is in its cells' keys; classifiers/factories.py is harness",
    "data": "loads the test table, whose digest is in the keys; table.py and row_facts.py are harness",
    "network": "learns and biases the network, whose digest is in the keys; the rest is harness",
    "techniques": "each technique's own closure is in its cells' keys",
    "experiment/entries.py": "the entries of plan.py",
    "experiment/plan.py": "says which cells there are; what a cell depends on is in its key",
    "experiment/tuning_rule.py": "says what tuned cells choose by; its digest is in their keys",
    "experiment/prepared.py": "holds what the keys have digests of",
    "experiment/pool.py": "says in which processes cells are computed",
    "experiment/store.py": "keeps numbers as they are",
    "experiment/scoring.py": "computes metrics from predictions; its digest is stored with them",
    "experiment/unprocessing.py": "its digest is in the keys of the cells to which it adds numbers",
    "experiment/telling.py": "the same, of the cells whose techniques are told something",
    "metrics": "the same",
    "text": "words of messages; the suffix of an embedded dataset is in the keys, as its name",
    "experiment/versions.py": "makes the keys",
}


def test_everything_that_evaluation_imports_is_harness_or_excused() -> None:
    found, pending = set(), [versions.PACKAGE / "experiment" / "evaluate.py"]
    while pending:
        file = pending.pop()
        if file not in found and file.is_relative_to(versions.PACKAGE):
            found.add(file)
            pending += versions._imported_files(file)

    def covered(file: Path, parts: Iterable[str]) -> bool:
        return any(file.is_relative_to(versions.PACKAGE / part) for part in parts)

    assert len(found) > 20
    stray = {f for f in found if f.name != "__init__.py"}
    stray = {f for f in stray if not covered(f, versions.HARNESS) and not covered(f, NOT_HARNESS)}
    assert not stray
    for part in (*versions.HARNESS, *NOT_HARNESS):
        assert (versions.PACKAGE / part).exists(), part
    assert len(versions.harness_digest()) == 64


def test_a_techniques_digest_covers_the_modules_that_it_imports() -> None:
    told = inspect.getfile(get_technique("gap_weights").__class__)
    names = {path.name for path in versions._imported_files(Path(told))}
    assert {"base.py", "restoring.py"} <= names


def test_a_plugins_digest_does_not_depend_on_the_name_that_it_imports_the_package_by(tmp_path: Path) -> None:
    imported = []
    for number, name in enumerate(("benchmark", "betabench")):
        (path := tmp_path / f"mine_{number}.py").write_text(
            f"from {name}.techniques.kamiran_calders import Massaging\n"
        )
        imported.append(versions._imported_files(path))
    assert imported[0] == imported[1]
    assert versions.PACKAGE / "techniques" / "kamiran_calders.py" in imported[1]


PLUGIN = """
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "common"))
import shared_common
import beside_it
importlib.import_module("named_helper")
SETTINGS = (HERE / "settings" / "conf.json").read_text()

class Mine:
    def fit(self):
        import inside.inner
        from family.deep.child import SHARE
        return open("table.csv")
"""
REACHED = (
    *("mine/beside_it.py", "mine/named_helper.py", "mine/inside/inner.py", "common/shared_common.py"),
    *("common/of_common.py", "mine/settings/conf.json", "table.csv"),
    *("mine/family/__init__.py", "mine/family/deep/__init__.py", "mine/family/deep/child.py"),
    *("mine/family/uncle.py", "mine/family/deep/sister.py", "mine/family/absolute.py"),
)


@pytest.mark.parametrize("changed", REACHED)
def test_a_plugins_digest_covers_what_it_imports_and_names(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "mine"), *sys.path])
    for name in (*REACHED, "mine/other.py", "mine/other.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "common" / "shared_common.py").write_text("import of_common\n")
    child = "from . import sister\nfrom ..uncle import SHARE\ndef late():\n    import family.absolute\n"
    (tmp_path / "mine" / "family" / "deep" / "child.py").write_text(child)
    (tmp_path / "mine" / "plugin_of_mine.py").write_text(PLUGIN)
    monkeypatch.setattr(versions, "CHECKOUT", False)  # a plugin's code counts beside a release as well
    loaded = {*sys.modules}
    item = importlib.import_module("plugin_of_mine").Mine
    before = versions.source_digest(item)

    for name in ("mine/other.py", "mine/other.csv"):
        (tmp_path / name).write_text("2\n")
    assert versions.source_digest(item) == before
    (tmp_path / changed).write_text("import of_common; SHARE = 2\n")
    changed_once = versions.source_digest(item)
    assert changed_once != before
    other = tmp_path / ("table.csv" if changed == REACHED[0] else REACHED[0])
    own, others = (tmp_path / changed).read_text(), other.read_text()
    (tmp_path / changed).write_text(others)
    other.write_text(own)  # files that change places
    assert versions.source_digest(item) not in (before, changed_once)
    for name in {*sys.modules} - loaded:
        del sys.modules[name]


def test_what_a_function_imports_counts_before_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = "benchmark.techniques._lfr_kernels"
    monkeypatch.delitem(sys.modules, kernels, raising=False)
    before = versions.source_digest(type(get_technique("lfr")))
    importlib.import_module(kernels)
    assert versions.source_digest(type(get_technique("lfr"))) == before


DIGESTS = """
import json
from benchmark.bias import list_bias_kinds, make_bias
from benchmark.classifiers import list_classifiers, make_classifier
from benchmark.experiment import versions
from benchmark.experiment.evaluate import describe_classifier, describe_technique
from benchmark.experiment.entries import ClassifierEntry
from benchmark.experiment.prepared import describe_bias
from benchmark.techniques import get_technique, list_techniques

print(json.dumps({
    "harness": versions.harness_digest(),
    **{name: describe_technique(get_technique(name)) for name in list_techniques()},
    **{name: describe_classifier(ClassifierEntry(classifier=name))
       for name, entry in list_classifiers().items() if not entry.extra},
    **{name: describe_bias(make_bias(name)) for name in list_bias_kinds()},
}))
"""

NEW_KIND = """
from benchmark.bias import BiasKind, register


@register
class Quiet(BiasKind):
    name, summary, reference, version = "quiet", "nothing", "none", "1"

    def chances(self, rows, beta):
        raise NotImplementedError
"""

NEW_TECHNIQUE = """
from benchmark.techniques.base import PreProcessing, Prepared
from benchmark.techniques.registry import register


@register
class Quiet(PreProcessing):
    name, summary, reference, version = "quiet_technique", "nothing", "none", "1"

    def _prepare(self, train, tools):
        return Prepared(train)
"""


def digests(root: Path) -> dict[str, object]:
    """Return all that keys hold of code, as a copy of the package computes it."""
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("checkout", [True, False])
def test_keys_outlive_new_files_and_change_with_their_own_code_in_a_checkout(
    checkout: bool, tmp_path: Path
) -> None:
    package = tmp_path / "benchmark"
    shutil.copytree(versions.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if checkout:
        (tmp_path / "pyproject.toml").touch()
    before = digests(tmp_path)
    assert {"lfr", "c45", "naive_bayes", "label", "harness"} <= before.keys()

    (package / "bias" / "quiet.py").write_text(NEW_KIND, encoding="utf-8")
    (package / "techniques" / "quiet.py").write_text(NEW_TECHNIQUE, encoding="utf-8")
    (package / "classifiers" / "quiet.py").write_text("X = 1\n", encoding="utf-8")
    declared = package / "classifiers" / "built_in.py"
    entry = (
        '    ClassifierDeclaration("quiet_tree", "sklearn.tree.ExtraTreeClassifier", "Another tree"),\n)\n'
    )
    declared.write_text(
        declared.read_text(encoding="utf-8").replace("\n)\n", f"\n{entry}", 1), encoding="utf-8"
    )
    after = digests(tmp_path)
    assert after.keys() - before.keys() == {"quiet", "quiet_technique", "quiet_tree"}
    assert {name: after[name] for name in before} == before

    for name, old, new in (
        ("bias/borderline.py", "self.rate.at(beta)", "1 * self.rate.at(beta)"),
        ("classifiers/_c45_kernels.py", "math.log2(", "1 * math.log2("),
        ("techniques/_lfr_kernels.py", "return ", "return 1 * "),
    ):
        text = (package / name).read_text(encoding="utf-8")
        assert old in text, name
        (package / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    edited = digests(tmp_path)
    changed = {name for name in before if edited[name] != before[name]}
    assert changed == ({"borderline", "c45", "lfr"} if checkout else set())
    text = (package / "__init__.py").read_text(encoding="utf-8")
    (package / "__init__.py").write_text(f"{text}\n__version__ = 'another'\n", encoding="utf-8")
    released = digests(tmp_path)
    assert {name for name in before if released[name] != edited[name]} == {"harness"}


def test_only_techniques_that_call_a_package_depend_on_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def computed_with(changed: str) -> dict[str, object]:
        newer = {changed: "99.0"}
        monkeypatch.setattr(versions, "_version", lambda name: newer.get(name, "1.0"))
        versions.harness_digest.cache_clear()
        techniques = {name: evaluate.describe_technique(get_technique(name)) for name in list_techniques()}
        return {"harness": versions.harness_digest(), **techniques}

    before = computed_with("nothing")
    affected = {
        package: {name for name, what in computed_with(package).items() if what != before[name]}
        for package in ("aif360", "fairlearn", "numpy")
    }
    monkeypatch.undo()
    versions.harness_digest.cache_clear()
    assert affected == {
        "aif360": set(),
        "fairlearn": {"exponentiated_gradient", "grid_search", "threshold_optimizer"},
        "numpy": {"harness"},
    }
    importing = {
        name
        for name, technique in list_techniques().items()
        if re.search(
            r"^\s+from fairlearn", Path(inspect.getfile(technique)).read_text(encoding="utf-8"), re.M
        )
    }
    assert importing == affected["fairlearn"]
