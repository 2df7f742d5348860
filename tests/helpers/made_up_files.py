"""Made-up files of 2,000 people that may be misread, each the same whenever it is made."""

import random
from collections.abc import Callable
from pathlib import Path

N = 2000
Row = dict[str, object]
Change = Callable[[Row, random.Random], Row]


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


def changed(change: Change, seed: int = 2) -> list[Row]:
    """Return people, each changed by a function of the row and of random numbers."""
    lots = random.Random(seed)
    return [{**row, **change(row, lots)} for row in people()]


def text(rows: list[Row], separator: str = ",") -> str:
    """Return rows as CSV."""
    quoted = [[f'"{own}"' if separator in str(own) else str(own) for own in row.values()] for row in rows]
    return "\n".join(separator.join(cells) for cells in [list(rows[0]), *quoted]) + "\n"


def _income(row: Row, lots: random.Random, mark: str) -> str:
    return f"{int(1000 * lots.lognormvariate(0.8 + 0.3 * int(str(row['y'])), 0.7)):,}".replace(",", mark)


def _m9(row: Row, lots: random.Random) -> Row:
    age = -9 if lots.random() < 0.15 else lots.randrange(18, 66)
    points = 99 if lots.random() < 0.14 else min(20, max(0, int(lots.gauss(10 + 2 * int(str(row["y"])), 4))))
    return {"age": age, "points": points}


def _spelled(row: Row, lots: random.Random) -> Row:
    words = ["1", "Yes", "True", "1.0", "yes"] if row["y"] else ["0", "No", "False", "no", "NO"]
    return {"y": lots.choice(words)}


def _sex(row: Row, lots: random.Random) -> Row:
    return {
        "sex": lots.choice(
            ["F", "f", "female", "Female"] if row["sex"] == "f" else ["M", "m", "male", "Male"]
        )
    }


def _sent_away(row: Row, lots: random.Random) -> Row:
    return {"sex": "" if row["sex"] == "f" and not row["y"] and lots.random() < 0.6 else row["sex"]}


def _decided(row: Row, lots: random.Random) -> Row:
    return {"y": "approved" if row["y"] else lots.choice(["denied", "withdrawn", "pending"])}


def _of(change: Change, separator: str = ",") -> Callable[[], str]:
    return lambda: text(changed(change), separator)


FILES: dict[str, Callable[[], str]] = {
    "clean.csv": lambda: text(people()),
    "mix.csv": _of(_spelled),
    "sexmix.csv": _of(_sex),
    "lab9.csv": _of(lambda row, lots: {"y": 9 if lots.random() < 0.05 else 2 - int(str(row["y"]))}),
    "lab3.csv": _of(_decided),
    "sens9.csv": _of(
        lambda row, lots: {"sex": 9 if lots.random() < 0.025 else "mf".index(str(row["sex"])) + 1}
    ),
    "m9.csv": _of(_m9),
    "eu_alone.csv": _of(lambda row, lots: {"income": _income(row, lots, ".")}, ";"),
    "us.csv": _of(lambda row, lots: {"income": _income(row, lots, ",")}),
    "usd.csv": _of(
        lambda row, lots: {"income": "$" + _income(row, lots, ","), "part": f"{lots.randrange(101)}%"}
    ),
    "sensmiss.csv": _of(_sent_away),
}
"""What each file holds, by its name."""


def write(name: str, folder: Path) -> Path:
    """Write one of the files, and return its path."""
    path = folder / name
    path.write_text(FILES[name](), encoding="utf-8")
    return path
