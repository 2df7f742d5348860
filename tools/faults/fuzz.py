"""Damaged input: every reader either reads it, or says in words of ours what is wrong with it.

Each target takes a valid text, damages it in a random place, and gives it to the reader as a user would. What
is read must hold what it promises; what is refused must be refused with a :class:`BetabenchError`.

``python -m tools.faults.fuzz 100000`` runs that many inputs and prints a table, which ``--save`` keeps in
``results/faults``; the tests run some.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmark.audit import Columns, audit_predictions, read_predictions
from benchmark.audit.alternation import load_alternation
from benchmark.cli import main
from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.declarations import list_declarations
from benchmark.errors import BetabenchError
from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.network.bif import read_bif
from benchmark.registry import load_plugin
from tools.faults.table import save_rows

__all__ = ["TARGETS", "Report", "fuzz", "offline"]

CARD = """
name = "loans"
title = "Loans"
label = "repaid"
favorable_label = "yes"
sensitive_feature = "gender"
deprived_group = "f"
[source]
format = "csv"
files = [{ path = "loans.csv" }]
[columns.gender]
kind = "categorical"
states = ["f", "m"]
[columns.income]
kind = "numeric"
bins = [0, 1000, inf]
states = ["low", "high"]
[columns.repaid]
kind = "categorical"
states = ["no", "yes"]
values = { 0 = "no", 1 = "yes" }
"""
ROWS = "gender,income,repaid\n" + "f,1200,1\nm,2100.5,1\nf,800,0\nm,40,0\n" * 3
ARFF = (
    "% a comment\n@relation loans\n@attribute gender {f,m}\n@attribute income numeric\n"
    "@attribute repaid {0,1}\n@data\n" + "f,1200,1\nm,2100.5,1\nf,800,0\nm,40,0\n" * 3
)
PREDICTIONS = "y,yhat,p,sex,race\n" + "1,1,.9,f,a\n0,1,.6,m,b\n1,0,.4,f,b\n0,0,.1,m,a\n" * 5
PLUGIN = '''
from benchmark.techniques import PreProcessing, Prepared, register

@register
class FuzzedTechnique(PreProcessing):
    """Keep every row.

    Idea: nothing. Changes: nothing. Limits: everything.
    """

    name = "fuzzed_technique"
    reference = "Nobody (2020), Nothing"
    summary = "Keep every row"
    version = "1"

    def _prepare(self, train, tools):
        return Prepared(train)
'''
ODD = [
    "", "\0", "\n", '"', "'", "[", "]", "{", "}", "=", ",", ";", "#", "-", "-1", "0", "1e999", "nan", "inf",
    "NaN", "true", "9" * 30, "é", "\ufeff", "🙂", "\\", "<script>", "../", "a" * 300, "\t", "|", "?", ".5",
    "1.5", "[[", "name", "states", "two words", "\r",
]  # fmt: skip
WORDS = re.compile(r"[A-Za-z0-9_.+-]+|\s+|[^\w\s]")


def damaged(text: str, rng: np.random.Generator) -> str:
    """Return a text with one to four random changes: of words, lines or characters."""
    for _ in range(int(rng.integers(1, 5))):
        kind = int(rng.integers(7))
        if kind < 3:
            pieces = WORDS.findall(text)
            if not pieces:
                return text + str(rng.choice(ODD))
            i, j = rng.integers(len(pieces), size=2)
            pieces[i] = [str(rng.choice(ODD)), pieces[j], ""][kind]
            text = "".join(pieces)
        elif kind < 6:
            lines = text.splitlines(keepends=True) or [""]
            i, j = rng.integers(len(lines), size=2)
            if kind == 3:
                lines[i], lines[j] = lines[j], lines[i]
            elif kind == 4:
                lines.insert(int(i), lines[j])
            else:
                del lines[i]
            text = "".join(lines)
        else:
            at = int(rng.integers(len(text) + 1))
            text = text[:at] + str(rng.choice(ODD)) + text[at + int(rng.integers(3)) :]
    return text


@dataclass
class Report:
    """What came of the inputs of one target.

    Attributes
    ----------
    read, refused : int
        How many were read, and refused in words.
    escaped : list of str
        Inputs, with what escaped or was wrongly accepted.
    """

    read: int = 0
    refused: int = 0
    escaped: list[str] = field(default_factory=list)


def _fuzz_card(text: str, folder: Path) -> None:
    (folder / "loans.toml").write_text(text, encoding="utf-8", errors="replace")
    card = load_card(folder / "loans.toml")
    schema = card.schema()
    assert schema.columns[schema.label_index].cardinality == 2
    assert 0 <= schema.deprived_code < schema.columns[schema.sensitive_index].cardinality


def _fuzz_rows(text: str, folder: Path, card: str = CARD) -> None:
    name = "loans.arff" if card != CARD else "loans.csv"
    (folder / "rows.toml").write_text(card)
    (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
    table = load_dataset(folder / "rows.toml").table
    assert (table.codes >= 0).all()
    assert (table.codes < table.schema.cardinalities).all()
    assert 0 < table.y.sum() < len(table)


def _fuzz_arff(text: str, folder: Path) -> None:
    card = CARD.replace('format = "csv"', 'format = "arff"').replace("loans.csv", "loans.arff")
    _fuzz_rows(text, folder, card)


def _fuzz_experiment(text: str, folder: Path) -> None:
    (folder / "e.toml").write_text(text, encoding="utf-8", errors="replace")
    experiment = load_experiment(folder / "e.toml")
    assert all(0 <= beta <= 1 for beta in experiment.levels)
    assert next(iter(plan_blocks(experiment))).cells


def _fuzz_alternation(text: str, folder: Path) -> None:
    (folder / "a.toml").write_text(text, encoding="utf-8", errors="replace")
    load_alternation(folder / "a.toml")


def _fuzz_bif(text: str, folder: Path) -> None:
    (folder / "n.bif").write_text(text, encoding="utf-8", errors="replace")
    network = read_bif(folder / "n.bif", load_card("compas_zafar").schema())
    for cpt in network.cpts:
        assert np.isfinite(cpt).all()
        assert (cpt >= 0).all()
        np.testing.assert_allclose(cpt.sum(axis=-1), 1, atol=1e-6)


def _fuzz_audit(text: str, folder: Path) -> None:
    (folder / "p.csv").write_text(text, encoding="utf-8", errors="replace", newline="")
    frame = read_predictions(folder / "p.csv")
    columns = Columns(label="y", prediction="yhat", score="p", sensitive=["sex", "race"])
    found = audit_predictions(frame, columns, metrics=["paper", "auc"])
    rates = found.groups["selection_rate"].dropna()
    assert rates.between(0, 1).all()
    assert found.groups.groupby("attribute")["n"].sum().max() <= len(frame)


_plugins = iter(range(10**9))


def _fuzz_plugin(text: str, folder: Path) -> None:
    number = next(_plugins)
    path = folder / f"plugin_{number}.py"
    text = text.replace("fuzzed_technique", f"fuzzed_{number}").replace("FuzzedTechnique", f"Fuzzed{number}")
    path.write_text(text, encoding="utf-8", errors="replace")
    assert load_plugin(path)


_COMMANDS = (
    "list metrics",
    "list nothing",
    "run --experiment {} --betas {} --repetitions {}",
    "run --experiment smoke --datasets {} --techniques {} --betas {}",
    "run --plugin {} --experiment {}",
    "learn --dataset {} --out {}",
    "sample --dataset {} --beta {} --rows {} --out {}",
    "compare {}",
    "check {}",
    "docs {}",
    "influence --dataset {} --levels {}",
    "new-dataset {} --label {} --favorable {} --sensitive {} --out {}",
    "new-technique {} --folder {}",
    "audit {} --label y --prediction {} --sensitive {}",
    "audit {0} --label {1} --score p --threshold {2} --sensitive sex --tau {3}",
)
_NO_DATASET = (*list_declarations("datasets"), "paper", "smoke")


def _fuzz_command(text: str, folder: Path) -> None:
    """Give the command line odd words; none of them names data, so that nothing long begins."""
    words = [word for word in re.split(r"[\s,]+", text) if word and word not in _NO_DATASET] or ["x"]
    number = len(text) + sum(map(ord, text[:50]))
    template = _COMMANDS[number % len(_COMMANDS)]
    line = [
        part.format(*(words[(number + i) % len(words)][:60].replace("\0", "?") for i in range(9)))
        if "{" in part
        else part
        for part in template.split()
    ]
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = main(line)
        except SystemExit as leave:  # argparse
            code = int(str(leave.code or 0))
    assert "Traceback" not in out.getvalue(), line
    if code == 2:
        raise BetabenchError("refused")
    assert code in (0, 1), (line, code)


def _shipped(kind: str, *, alternation: bool = False) -> list[str]:
    texts = [path.read_text(encoding="utf-8") for path in list_declarations(kind).values()]
    return [text for text in texts if (tomllib.loads(text).get("kind") == "alternation") == alternation]


def _networks() -> list[str]:
    folder = next(iter(list_declarations("datasets").values())).parent / "networks"
    return [(folder / "compas_zafar.bif").read_text(encoding="utf-8")]


Target = tuple[Callable[[], list[str]], Callable[[str, Path], None]]
TARGETS: dict[str, Target] = {
    "dataset card": (lambda: [CARD, *_shipped("datasets")], _fuzz_card),
    "CSV of a dataset": (lambda: [ROWS], _fuzz_rows),
    "ARFF of a dataset": (lambda: [ARFF], _fuzz_arff),
    "experiment file": (lambda: _shipped("experiments"), _fuzz_experiment),
    "alternation file": (lambda: _shipped("experiments", alternation=True), _fuzz_alternation),
    "BIF file": (_networks, _fuzz_bif),
    "CSV of predictions": (lambda: [PREDICTIONS], _fuzz_audit),
    "plugin file": (lambda: [PLUGIN], _fuzz_plugin),
    "command line": (lambda: [ROWS, PREDICTIONS, *_shipped("experiments")], _fuzz_command),
}
"""Valid texts, and what reads them, by the kind of input."""


_SLOW = {"CSV of predictions": 0.1, "command line": 0.3}
"""Targets that get fewer inputs than the others, because each takes long."""


def fuzz(name: str, n_inputs: int, seed: int = 0) -> Report:
    """Give a target damaged inputs.

    Parameters
    ----------
    name : str
        One of :data:`TARGETS`.
    n_inputs : int
        How many.
    seed : int, default 0
        The same seed gives the same inputs.
    """
    texts, target = TARGETS[name]
    valid, report = texts(), Report()
    rng = np.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as folder, offline(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(n_inputs):
            text = damaged(valid[number % len(valid)], rng)
            try:
                target(text, Path(folder))
                report.read += 1
            except BetabenchError as refused:
                report.refused += 1
                if not str(refused).strip():
                    report.escaped.append(f"{text!r}: refused without a word")
            except Exception as problem:
                report.escaped.append(f"{text!r}: {type(problem).__name__}: {problem}")
    return report


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """Let nothing reach real data or a network."""
    before = dict(os.environ)
    os.environ |= {
        "BETABENCH_DATA": "",
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _report(n_inputs: int, save: bool) -> int:
    shares = {name: _SLOW.get(name, 1.0) for name in TARGETS}
    totals: Counter[str] = Counter()
    rows = {}
    print("| input | given | read | refused | escaped |\n|---|---:|---:|---:|---:|")
    for name in TARGETS:
        each = round(n_inputs * shares[name] / sum(shares.values()))
        found = fuzz(name, each)
        rows[name] = {
            "given": each,
            "read": found.read,
            "refused": found.refused,
            "escaped": len(found.escaped),
        }
        totals += Counter(rows[name])
        print(
            f"| {name} | {each:,} | {found.read:,} | {found.refused:,} | {len(found.escaped)} |", flush=True
        )
        for case in found.escaped[:5]:
            print(case[-600:], file=sys.stderr)
    print(f"| all | {totals['given']:,} | {totals['read']:,} | {totals['refused']:,} | {totals['escaped']} |")
    if save:
        save_rows("fuzz", rows)
    return 1 if totals["escaped"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.faults.fuzz", description="Give damaged input.")
    parser.add_argument("inputs", nargs="?", type=int, default=100_000, help="how many; default: 100000")
    parser.add_argument("--save", action="store_true", help="write the table in results/faults")
    options = parser.parse_args()
    sys.exit(_report(options.inputs, options.save))
