"""Networks as BIF files, the interchange format that pgmpy, bnlearn and pyAgrum read.

BIF has no roles and allows few characters, so a file holds plain tokens. Its meaning comes from the schema
that it is read with: states are matched to the schema's states by their tokens.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema
from benchmark.errors import NetworkError
from benchmark.network.model import Network

_SPELLED = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"variable\s+(\S+)\s*\{[^}]*?discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}[^}]*\}")
_PROBABILITY = re.compile(r"probability\s*\(\s*([^)|]+?)\s*(?:\|\s*([^)]*?)\s*)?\)\s*\{([^}]*)\}")
_ROW = re.compile(r"(?:table|\(([^)]*)\))\s*([^;]*);")


def _token(text: str) -> str:
    for symbol, spelled in _SPELLED:
        text = text.replace(symbol, spelled)
    text = re.sub(r"[^A-Za-z0-9_]", "_", text)
    # Some readers refuse a name that starts with a digit.
    return text if _TOKEN.fullmatch(text) else f"v{text}"


def _distinct_tokens(texts: Iterable[str]) -> tuple[str, ...]:
    tokens: list[str] = []
    for text in texts:
        token = _token(text)
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
    """Return the network of a BIF file, written by :func:`write_bif` or another program of BIF 0.3.

    The schema gives meaning to the file's variables and states. Variables may come in any order, and so may
    the states of a variable and the parents of a table. A NetworkError means that the file is not BIF, or
    that its variables, states or tables do not fit the schema.
    """
    source = Path(path)
    try:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source.read_text(encoding="utf-8"), flags=re.DOTALL)
    except (OSError, UnicodeDecodeError) as error:
        raise NetworkError(
            f"Cannot read the network file {source}",
            expected="a BIF file in UTF-8",
            got=str(error),
            remedy="correct the path, or learn the network again with 'betabench learn'",
        ) from error
    position = {token: i for i, token in enumerate(_distinct_tokens(schema.names))}
    codes = _state_codes(text, schema, position, source)
    parents: dict[int, tuple[int, ...]] = {}
    cpts: dict[int, NDArray[np.float64]] = {}
    for child, given, body in _PROBABILITY.findall(text):
        evidence = [part.strip() for part in given.split(",")] if given else []
        unknown = [v for v in (child, *evidence) if v not in position]
        if unknown:
            raise _misfit(source, "a table names unknown variables", ", ".join(unknown))
        i = position[child]
        axes = [position[v] for v in evidence]
        cpt = np.full([schema.cardinalities[a] for a in (*axes, i)], np.nan)
        for configuration, values in _rows(body, [codes[a] for a in axes], source, child):
            if len(values) != cpt.shape[-1]:
                raise _misfit(source, f"a row of the table of {child}", f"{len(values)} numbers")
            cpt[configuration][list(codes[i].values())] = values  # basic indexing first: a view, not a copy
        if np.isnan(cpt).any():
            raise _misfit(source, f"the table of {child} is incomplete", f"{int(np.isnan(cpt).sum())} gaps")
        ascending = np.argsort(axes, kind="stable")
        parents[i] = tuple(sorted(axes))
        cpts[i] = np.ascontiguousarray(cpt.transpose([*ascending, len(axes)])).reshape(-1, cpt.shape[-1])
    missing = [column.name for i, column in enumerate(schema.columns) if i not in cpts]
    if missing:
        raise _misfit(source, "tables are missing", ", ".join(missing))
    n = len(schema.columns)
    return Network(schema, tuple(parents[i] for i in range(n)), tuple(cpts[i] for i in range(n)))


def _state_codes(
    text: str, schema: Schema, position: dict[str, int], source: Path
) -> dict[int, dict[str, int]]:
    """Return the schema's code of each token for each column, in the file's order of states."""
    codes = {}
    for variable, listed in _VARIABLE.findall(text):
        if variable not in position:
            raise _misfit(source, "it has a variable that the schema lacks", variable)
        column = schema.columns[position[variable]]
        code_of = {token: code for code, token in enumerate(state_tokens(column))}
        # Other programs' tokens are made plain first, so that "17-24" and "v17_24" both match.
        tokens = state_tokens(Column(variable, tuple(part.strip() for part in listed.split(","))))
        if sorted(tokens) != sorted(code_of):
            raise _misfit(source, f"the states of {variable} are not the schema's", listed.strip())
        codes[position[variable]] = {token: code_of[token] for token in tokens}
    missing = [column.name for i, column in enumerate(schema.columns) if i not in codes]
    if missing:
        raise _misfit(source, "variables are missing", ", ".join(missing))
    return codes


def _rows(
    body: str, parent_codes: list[dict[str, int]], source: Path, child: str
) -> Iterator[tuple[tuple[int, ...], list[float]]]:
    for states, values in _ROW.findall(body):
        tokens = [_token(part.strip()) for part in states.split(",")] if states else []
        try:
            configuration = tuple(codes[token] for codes, token in zip(parent_codes, tokens, strict=True))
            yield configuration, [float(value) for value in values.split(",")]
        except (KeyError, ValueError) as error:
            raise _misfit(source, f"a row of the table of {child} does not fit", f"({states})") from error


def _misfit(source: Path, flaw: str, got: str) -> NetworkError:
    return NetworkError(
        f"The network file {source} does not fit: {flaw}",
        expected="the schema's variables and states, one complete table each",
        got=got,
        remedy="learn the network again with 'betabench learn'",
    )
