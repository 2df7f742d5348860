"""Cards of made-up data."""

from collections.abc import Mapping

YEARS = '{ kind = "numeric", numbers = true, bins = [0, 5, inf], states = ["few", "many"] }'
POINTS = '{ kind = "numeric", numbers = true, bins = [0, 40, 60, 100], states = ["low", "middle", "high"] }'


def card_of(name: str, label: str, group: str, columns: Mapping[str, str], more: str = "") -> str:
    """Return the card of ``NAME.csv``; ``label`` and ``group`` are columns, each with a state.

    Columns have their states in a text, or a table in braces.
    """
    lines = [f'name = "{name}"', f'title = "{name.title()}"']
    keys = ("label", "favorable_label", "sensitive_feature", "deprived_group")
    lines += [f'{key} = "{own}"' for key, own in zip(keys, f"{label}={group}".split("="), strict=True)]
    lines += [f'source = {{ format = "csv", files = [{{ path = "{name}.csv" }}] }}', more, "[columns]"]
    for column, states in columns.items():
        listed = ", ".join(f'"{state}"' for state in states.split())
        table = states if "{" in states else f'{{ kind = "categorical", states = [{listed}] }}'
        lines.append(f"{column} = {table}")
    return "\n".join(lines) + "\n"


LOANS = """
name = "loans"
title = "Loans"
label = "repaid"
favorable_label = "yes"
sensitive_feature = "gender"
deprived_group = "f"
required_edges = [["gender", "repaid"]]
[source]
format = "csv"
files = [{ path = "loans.csv" }]
[columns.gender]
kind = "categorical"
states = ["f", "m"]
[columns.income]
kind = "numeric"
bins = [0, 10, 20, 30]
states = ["low", "middle", "high"]
[columns.repaid]
kind = "categorical"
states = ["no", "yes"]
"""
