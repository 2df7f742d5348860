"""Made-up files of 2,000 people that may be misread, each the same whenever it is made."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

N = 2000
Row = dict[str, object]


def people(n: int = N, seed: int = 1) -> list[Row]:
    """Return people, of whom women have the favorable label .18 less often."""
    lots = random.Random(seed)
    rows = []
    for _ in range(n):
        sex = lots.choice("fm")
        y = int(lots.random() < (0.35 if sex == "f" else 0.53))
        rows.append(
            {
                "sex": sex,
                "job": lots.choice(["clerk", "cook", "smith"]),
                "years": min(40, int(lots.expovariate(0.1)) + 3 * y),
                "town": lots.choice(["north", "south"]),
                "y": y,
            }
        )
    return rows


def changed(change: Callable[[Row, random.Random], Row], seed: int = 2) -> list[Row]:
    """Return people, each changed by a function of the row and of random numbers."""
    lots = random.Random(seed)
    return [{**row, **change(row, lots)} for row in people()]


def text(rows: list[Row], separator: str = ",") -> str:
    """Return rows as CSV."""
    quoted = [[f'"{own}"' if separator in str(own) else str(own) for own in row.values()] for row in rows]
    return "\n".join(separator.join(cells) for cells in [list(rows[0]), *quoted]) + "\n"


def _income(lots: random.Random, y: int) -> int:
    return int(1000 * lots.lognormvariate(0.8 + 0.3 * y, 0.7))


def _grouped(number: int, mark: str) -> str:
    return f"{number:,}".replace(",", mark)


def _m9(row: Row, lots: random.Random) -> Row:
    age = -9 if lots.random() < 0.15 else lots.randrange(18, 66)
    points = 99 if lots.random() < 0.14 else min(20, max(0, int(lots.gauss(10 + 2 * int(str(row["y"])), 4))))
    return {"age": age, "points": points}


def _spelled(row: Row, lots: random.Random) -> Row:
    words = ["1", "Yes", "True", "1.0", "yes"] if row["y"] else ["0", "No", "False", "no", "NO"]
    return {"y": lots.choice(words)}


FILES: dict[str, Callable[[], str]] = {
    "clean.csv": lambda: text(people()),
    "mix.csv": lambda: text(changed(_spelled)),
    "sexmix.csv": lambda: text(
        changed(
            lambda row, lots: {
                "sex": lots.choice(
                    ["F", "f", "female", "Female"] if row["sex"] == "f" else ["M", "m", "male", "Male"]
                )
            }
        )
    ),
    "lab9.csv": lambda: text(
        changed(lambda row, lots: {"y": 9 if lots.random() < 0.05 else 2 - int(str(row["y"]))})
    ),
    "lab3.csv": lambda: text(
        changed(
            lambda row, lots: {
                "y": "approved" if row["y"] else lots.choice(["denied", "withdrawn", "pending"])
            }
        )
    ),
    "sens9.csv": lambda: text(
        changed(lambda row, lots: {"sex": 9 if lots.random() < 0.025 else "mf".index(str(row["sex"])) + 1})
    ),
    "m9.csv": lambda: text(changed(_m9)),
    "eu_alone.csv": lambda: text(
        changed(lambda row, lots: {"income": _grouped(_income(lots, int(str(row["y"]))), ".")}), ";"
    ),
    "us.csv": lambda: text(
        changed(lambda row, lots: {"income": _grouped(_income(lots, int(str(row["y"]))), ",")})
    ),
    "usd.csv": lambda: text(
        changed(
            lambda row, lots: {
                "income": "$" + _grouped(_income(lots, int(str(row["y"]))), ","),
                "part": f"{lots.randrange(101)}%",
            }
        )
    ),
    "sensmiss.csv": lambda: text(
        changed(
            lambda row, lots: {
                "sex": "" if row["sex"] == "f" and not row["y"] and lots.random() < 0.6 else row["sex"]
            }
        )
    ),
}
"""What each file holds, by its name."""


def write(name: str, folder: Path) -> Path:
    """Write one of the files, and return its path."""
    path = folder / name
    path.write_text(FILES[name](), encoding="utf-8")
    return path
