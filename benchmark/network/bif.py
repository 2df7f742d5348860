"""Networks as BIF files, the interchange format that pgmpy, bnlearn and pyAgrum read.

BIF has no roles and allows few signs, so a file holds tokens: letters and digits of all scripts. Its meaning
comes from the schema that it is read with: names and states are matched to the schema's, or to their tokens.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema
from benchmark.errors import NetworkError
from benchmark.network.model import Network

_SPELLED = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))
_COMMENT = re.compile(r'("[^"]*")|/\*.*?\*/|//[^\n]*', re.DOTALL)
_LEXEME = re.compile(r'"(?P<quoted>[^"]*)"|(?P<mark>[{}()\[\]|;,])|(?P<word>[^\s{}()\[\]|;,"]+)')

_Lexemes = list[tuple[str, bool]]  # texts, and whether each is a mark: a bracket, a comma and the like


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
    """Return the network of a BIF file, written by :func:`write_bif` or another program of BIF 0.3.

    The schema gives meaning to the file's variables and states. Variables may come in any order, and so may
    the states of a variable and the parents of a table. Names are matched as they are, or by their tokens. A
    NetworkError means that the file is not BIF, or that its variables, states or tables do not fit the
    schema.
    """
    source = Path(path)
    try:
        text = _COMMENT.sub(lambda found: found[1] or " ", source.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise NetworkError(
            f"Cannot read the network file {source}",
            expected="a BIF file in UTF-8",
            got=str(error),
            remedy="correct the path, or learn the network again with 'betabench learn'",
        ) from error
    blocks = list(_blocks(text, source))
    states = {
        (name := " ".join(_words(head[1:]))): _states(statements, source, name)
        for head, statements in blocks
        if head[0] == ("variable", False)
    }
    tables: dict[str, tuple[list[str], list[_Lexemes]]] = {}
    for head, statements in blocks:
        if head[0] in (("network", False), ("variable", False)):
            continue
        child, *given = [" ".join(part) for part in _parts(head[1:], "()|,")] or [""]
        if child not in states and ("|", True) not in head:  # as older programs write it
            child, *given = _words(head[1:]) or [""]
        if head[0] != ("probability", False) or child in tables:
            raise _misfit(
                source, "it has an unknown block, or two tables of a variable", f"{head[0][0]} {child}"
            )
        tables[child] = given, statements
    position = _matched(list(states), schema.names)
    if position is None:
        known = {*schema.names, *_distinct_tokens(schema.names)}
        if extra := [name for name in states if name not in known and _token(name) not in known]:
            raise _misfit(source, "it has a variable that the schema lacks", ", ".join(extra))
        raise _misfit(source, "variables are missing", f"only {', '.join(states) or 'none'}")
    codes: dict[str, dict[str, int]] = {}
    for name, listed in states.items():
        matched = _matched(listed, schema.columns[position[name]].states)
        if matched is None:
            raise _misfit(source, f"the states of {name} are not the schema's", ", ".join(listed))
        codes[name] = matched
    found: dict[int, tuple[tuple[int, ...], NDArray[np.float64]]] = {}
    for child, (given, statements) in tables.items():
        if unknown := [name for name in (child, *given) if name not in position]:
            raise _misfit(source, "a table names unknown variables", ", ".join(unknown))
        cpt = _table(statements, [codes[name] for name in (*given, child)], source, child)
        axes = [position[name] for name in given]
        ascending = np.argsort(axes, kind="stable")
        ordered = np.ascontiguousarray(cpt.transpose([*ascending, len(axes)]))
        found[position[child]] = tuple(sorted(axes)), ordered.reshape(-1, cpt.shape[-1])
    if missing := [column.name for i, column in enumerate(schema.columns) if i not in found]:
        raise _misfit(source, "tables are missing", ", ".join(missing))
    parents, cpts = zip(*(found[i] for i in range(len(schema.columns))), strict=True)
    return Network(schema, parents, cpts)


def _blocks(text: str, source: Path) -> Iterator[tuple[_Lexemes, list[_Lexemes]]]:
    """Yield what stands before the braces of each block, and the block's statements."""
    head: _Lexemes = []
    statements: list[_Lexemes] = []
    depth = 0
    for found in _LEXEME.finditer(text):
        kind = found.lastgroup or "word"
        lexeme = found[kind], kind == "mark"
        depth += {("{", True): 1, ("}", True): -1}.get(lexeme, 0)
        if lexeme == ("{", True) and depth == 1:
            statements = [[]]
        elif lexeme == ("}", True) and depth <= 0:
            if depth < 0 or not head:
                raise _misfit(source, "it has a brace too many", "}")
            yield head, [statement for statement in statements if statement]
            head = []
        elif not depth:
            head.append(lexeme)
        elif lexeme == (";", True) and depth == 1:
            statements.append([])
        else:
            statements[-1].append(lexeme)
    if head or depth:
        raise _misfit(source, "it ends within a block", " ".join(word for word, _ in head))


def _parts(lexemes: _Lexemes, marks: str) -> list[list[str]]:
    """Return the words between marks, without empty parts."""
    parts: list[list[str]] = [[]]
    for text, is_mark in lexemes:
        if is_mark and text in marks:
            parts.append([])
        else:
            parts[-1].append(text)
    return [part for part in parts if part]


def _words(lexemes: _Lexemes) -> list[str]:
    return [text for text, is_mark in lexemes if not is_mark]


def _states(statements: list[_Lexemes], source: Path, name: str) -> list[str]:
    """Return the states of a variable, in the file's order."""
    for statement in statements:
        if statement[:2] == [("type", False), ("discrete", False)]:
            size, *parts = _parts(statement[2:], "[]{},") or [[]]
            for listed in ([" ".join(part) for part in parts], _words(statement)[3:]):
                if [str(len(listed))] == size:
                    return listed
    raise _misfit(source, f"the variable {name} has no list of states of the declared length", "none")


def _matched(found: Sequence[str], names: Sequence[str]) -> dict[str, int] | None:
    """Return the position among the names of each text that was found, or None if they do not fit.

    Texts are the names themselves, or the tokens that :func:`write_bif` writes, or another program's form of
    the names, if that is clear.
    """
    forms = (
        (found, names),
        (found, _distinct_tokens(names)),
        (list(map(_token, found)), list(map(_token, names))),
    )
    for texts, keys in forms:
        position = {key: i for i, key in enumerate(keys)}
        if len(position) == len(keys) and sorted(texts) == sorted(keys):
            return {text: position[key] for text, key in zip(found, texts, strict=True)}
    return None


def _table(
    statements: list[_Lexemes], codes: list[dict[str, int]], source: Path, child: str
) -> NDArray[np.float64]:
    """Return a probability table, with an axis for each parent as in the file, and one for the child."""
    # In the file's order of states until the end.
    shape = [len(states) for states in codes]
    cpt, default = np.full(shape, np.nan), None
    texts = [list(states) for states in codes]
    for statement in statements:
        keyword, is_mark = statement[0]
        try:
            if keyword == "property" and not is_mark:
                continue
            if keyword in ("table", "default") and not is_mark:
                numbers = np.array(list(map(float, _words(statement[1:]))))
                if keyword == "default":
                    default = numbers.reshape(shape[-1])
                else:  # the child's states are the slowest, the last parent's the fastest
                    cpt[:] = np.moveaxis(numbers.reshape([shape[-1], *shape[:-1]]), 0, -1)
                continue
            end = statement.index((")", True))
            listed = [" ".join(part) for part in _parts(statement[:end], "(,")]
            row = tuple(own.index(state) for own, state in zip(texts[:-1], listed, strict=True))
            cpt[row] = np.reshape(list(map(float, _words(statement[end + 1 :]))), shape[-1])
        except ValueError as error:
            shown = " ".join(text for text, _ in statement)
            raise _misfit(source, f"a row of the table of {child} does not fit", shown) from error
    if default is not None:
        cpt = np.where(np.isnan(cpt), default, cpt)
    if np.isnan(cpt).any():
        raise _misfit(source, f"the table of {child} is incomplete", f"{int(np.isnan(cpt).sum())} gaps")
    by_schema = np.empty(shape)
    by_schema[np.ix_(*(list(states.values()) for states in codes))] = cpt
    return by_schema


def _misfit(source: Path, flaw: str, got: str) -> NetworkError:
    return NetworkError(
        f"The network file {source} does not fit: {flaw}",
        expected="the schema's variables and states, one complete table each",
        got=got,
        remedy="learn the network again with 'betabench learn'",
    )
