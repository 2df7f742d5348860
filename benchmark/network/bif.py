"""Networks as BIF files, the interchange format that pgmpy, bnlearn and pyAgrum read.

BIF has no roles and allows few signs, so a file holds tokens: letters and digits of all scripts. Its meaning
comes from the schema that it is read with: names and states are matched to the schema's, or to their tokens.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema
from benchmark.errors import NetworkError
from benchmark.network.model import Network

_SPELLED = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))
_VARIABLE = re.compile(r"variable (.+?) \{\s*type discrete \[ \d+ \] \{ (.+?) \};\s*\}")
_TABLE = re.compile(r"probability \( (.+?)(?: \| (.+?))? \) \{(.*?)\}", re.DOTALL)
_ROW = re.compile(r"(?:table|\((.*?)\)) ([^;]+);")


def _token(text: str, *, named: bool = False) -> str:
    """Return a text as letters, digits and underscores; with ``named``, signs become their names."""
    for symbol, spelled in _SPELLED:
        text = text.replace(symbol, spelled)

    def plain(sign: str) -> str:
        if sign.isalnum() or sign == "_" or unicodedata.category(sign).startswith("M"):
            return sign
        name = unicodedata.name(sign, f"U{ord(sign):04X}") if named else ""
        return f"_{name.lower().replace(' ', '_').replace('-', '_')}_" if name else "_"

    token = "".join(map(plain, text))
    token = (named and token.strip("_")) or token
    # Some readers refuse a name that starts with a digit.
    return token if token[:1].isalpha() or token[:1] == "_" else f"v{token}"


def _distinct_tokens(texts: Sequence[str]) -> tuple[str, ...]:
    plain, tokens = list(map(_token, texts)), list[str]()
    for text, token in zip(texts, plain, strict=True):
        if plain.count(token) > 1 and text != token:
            token = _token(text, named=True)
        while token in tokens:
            token += "_"
        tokens.append(token)
    return tuple(tokens)


def state_tokens(column: Column) -> tuple[str, ...]:
    """Return the BIF token of each state of a column: letters, digits and underscores, all distinct."""
    return _distinct_tokens(column.states)


def write_bif(network: Network, path: Path | str, *, name: str = "network") -> None:
    """Write a network as a BIF file, in place of an existing file; ``name`` stands inside the file.

    Columns keep the schema's order. Probabilities are written so that reading them gives the same
    floating-point numbers.
    """
    lines = [f"network {_token(name)} {{", "}"]
    columns = network.schema.columns
    tokens = [state_tokens(column) for column in columns]
    names = _distinct_tokens(network.schema.names)
    for i, column in enumerate(columns):
        states = ", ".join(tokens[i])
        lines += [f"variable {names[i]} {{", f"  type discrete [ {column.cardinality} ] {{ {states} }};", "}"]
    for i, parents in enumerate(network.parents):
        rows = [", ".join(repr(float(p)) for p in row) for row in network.cpts[i]]
        if not parents:
            lines += [f"probability ( {names[i]} ) {{", f"  table {rows[0]};", "}"]
            continue
        lines.append(f"probability ( {names[i]} | {', '.join(names[p] for p in parents)} ) {{")
        configurations = itertools.product(*(tokens[p] for p in parents))
        lines += [f"  ({', '.join(c)}) {row};" for c, row in zip(configurations, rows, strict=True)]
        lines.append("}")
    Path(path).write_bytes(("\n".join(lines) + "\n").encode())


def read_bif(path: Path | str, schema: Schema) -> Network:
    """Return the network of a BIF file in the layout of :func:`write_bif`, which is bnlearn's as well.

    Variables may come in any order, and so may the states of a variable and the parents of a table. Names are
    matched as they are, or by their tokens. A NetworkError means that the file's variables, states or tables
    do not fit the schema.
    """
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NetworkError(
            f"Cannot read the network file {source}",
            expected="a BIF file in UTF-8",
            got=str(error),
            remedy="correct the path, or learn the network again with 'betabench learn'",
        ) from error
    states = {name: listed.split(", ") for name, listed in _VARIABLE.findall(text)}
    position = _matched(source, list(states), schema.names)
    codes = {
        name: _matched(source, listed, schema.columns[position[name]].states)
        for name, listed in states.items()
    }
    found: dict[int, tuple[tuple[int, ...], NDArray[np.float64]]] = {}
    for child, given, rows in _TABLE.findall(text):
        names = [*(given.split(", ") if given else ()), child]
        try:
            axes = [position[name] for name in names]
            cpt = np.full([len(codes[name]) for name in names], np.nan)
            order = list(codes[child].values())
            for configuration, numbers in _ROW.findall(rows):
                listed = configuration.split(", ") if given else []
                place = [codes[name][state] for name, state in zip(names[:-1], listed, strict=True)]
                cpt[tuple(place)][order] = np.reshape(list(map(float, numbers.split(", "))), len(order))
        except (KeyError, ValueError) as error:
            raise _misfit(source, f"the table of {child} does not fit", str(error)) from error
        if np.isnan(cpt).any() or axes[-1] in found:
            raise _misfit(source, f"the table of {child} is incomplete, or there twice", "")
        ascending = [*np.argsort(axes[:-1]), len(axes) - 1]
        ordered = np.ascontiguousarray(cpt.transpose(ascending)).reshape(-1, cpt.shape[-1])
        found[axes[-1]] = tuple(sorted(axes[:-1])), ordered
    if missing := [column.name for i, column in enumerate(schema.columns) if i not in found]:
        raise _misfit(source, "tables are missing", ", ".join(missing))
    parents, cpts = zip(*(found[i] for i in range(len(schema.columns))), strict=True)
    return Network(schema, parents, cpts)


def _matched(source: Path, found: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return the position among the names of each text that was found: a name, or its token."""
    plain = list(map(_token, found)), list(map(_token, names))  # bnlearn writes 10th, which we do not
    for texts, keys in ((found, names), (found, _distinct_tokens(names)), plain):
        position = {key: i for i, key in enumerate(keys)}
        if len(position) == len(keys) and sorted(texts) == sorted(keys):
            return {text: position[key] for text, key in zip(found, texts, strict=True)}
    raise _misfit(source, "variables or states are not the schema's", ", ".join(found) or "none")


def _misfit(source: Path, flaw: str, got: str) -> NetworkError:
    return NetworkError(
        f"The network file {source} does not fit: {flaw}",
        expected="the schema's variables and states, one complete table each",
        got=got,
        remedy="learn the network again with 'betabench learn'",
    )
