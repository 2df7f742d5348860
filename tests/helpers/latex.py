"""Tables of LaTeX, read again."""

import re
from collections.abc import Sequence

from benchmark.tables.layout import Row, Table
from benchmark.tables.techniques import Numbers, techniques_table
from tests.helpers.made_up_runs import (
    Run,
)


def table_of(run: Run) -> Table:
    return techniques_table(Numbers.of_run(run.frames))


def rows_of(table: Table, block: int) -> Sequence[Row]:
    return [*table.blocks.values()][block]


def check_latex(text: str) -> None:
    """Fail on what would stop LaTeX: unbalanced structure, bare special characters, rows of other widths."""
    assert all(ord(character) < 0x180 for character in text)
    body = text.split("\n", 1)[1]
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    bare = re.sub(r"\\[\\{}$&#_%]", "", body)
    assert not re.search(r"[%#~^_](?!\\)", re.sub(r"\}~", "", bare))
    assert bare.count("$") % 2 == 0
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    for columns, tabular in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        rows = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        assert len(rows) > 2
        for row in rows:
            assert not row.lstrip().startswith(("[", "*"))
            entries = re.split(r"(?<!\\)&", row)
            spans = [re.match(r"\s*\\multicolumn\{(\d+)\}", entry) for entry in entries]
            assert sum(int(span[1]) if span else 1 for span in spans) == len(columns)
