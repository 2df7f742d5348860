"""``betabench new-technique``: a working technique and its test, to be changed into a new one.

The templates, in the folder ``skeletons``, are programs that run; only names are changed in
them.
"""

import argparse
import importlib.util
import keyword
import re
from importlib.resources import files
from pathlib import Path

from benchmark.cli.common import Options
from benchmark.errors import TechniqueError

HELP = "write a working technique and its test, to be changed into your own"
EXAMPLE = "betabench new-technique my_idea --stage pre --folder ideas"


def add_options(option: Options) -> None:
    option("name NAME", "its name: lower-case letters, digits and underscores")
    stage = "whether it changes the training data (default), the training, or the predictions"
    option("--stage", stage, choices=("pre", "in", "post"), default="pre")
    option("--folder DIR", "where to write; default: here", type=Path, default=Path())


def execute(options: argparse.Namespace) -> None:
    technique, test = write_skeleton(options.name, options.stage, options.folder)
    print(f"written: {technique}, {test}")
    print(f"test it: pytest {test}")
    print(
        f"run it:  betabench run --experiment smoke --plugin {technique} --techniques none {options.name} "
        f"--output results/{options.name}"
    )
    print(f"beside others on real rows: betabench run --experiment real_rows --plugin {technique}")


def write_skeleton(name: str, stage: str = "pre", folder: Path = Path()) -> tuple[Path, Path]:
    """Write a technique that runs and its test, and return the paths ``name.py`` and ``test_name.py``.

    ``folder`` is made if missing. Raises :class:`TechniqueError` if the name is malformed or taken, or one of
    the files exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or name.startswith("test_"):
        raise TechniqueError(
            f"{name!r} cannot name a technique",
            expected="lower-case letters, digits and underscores, a letter first; no keyword of Python, and "
            "no name that begins with test_",
            got=repr(name),
            remedy="choose another name",
        )
    paths = folder / f"{name}.py", folder / f"test_{name}.py"
    present = [str(path) for path in paths if path.exists()]
    if present:
        raise TechniqueError(
            "Existing files are not overwritten",
            got=" and ".join(present),
            remedy="choose another name or folder, or move them away",
        )
    _check_free(name)
    folder.mkdir(parents=True, exist_ok=True)
    for path, template in zip(paths, (stage, "test"), strict=True):
        with path.open("x", encoding="utf-8", newline="\n") as file:  # "x" refuses to overwrite, too
            file.write(_filled(template, name))
    return paths


def _check_free(name: str) -> None:
    from benchmark.techniques import list_techniques

    if name in list_techniques():
        raise TechniqueError(
            f"There is a technique called {name!r} already",
            expected="a name that 'betabench list techniques' does not show",
            got=repr(name),
            remedy="choose another name",
        )
    module = importlib.util.find_spec(name)
    if module is not None and module.origin is not None:  # a mere folder has no origin
        raise TechniqueError(
            f"A file {name}.py would hide the module {name!r} from files in its folder",
            expected="a name that no installed module has",
            got=repr(name),
            remedy="choose another name",
        )


def _filled(template: str, name: str) -> str:
    text = files("benchmark.cli").joinpath(f"skeletons/{template}.py").read_text(encoding="utf-8")
    class_name = "".join(part.capitalize() for part in name.split("_"))
    # A technique called "table" must not be named like the imported class Table, nor "true" like True.
    if keyword.iskeyword(class_name) or re.search(rf"\b{class_name}\b", text):
        class_name += "Technique"
    return text.replace("MyTechnique", class_name).replace("my_technique", name)
