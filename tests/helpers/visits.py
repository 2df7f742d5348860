"""Made-up people with several rows each, whose features say nothing of their label."""

from pathlib import Path

import numpy as np
import pandas as pd


def visits(column: str = "patient_nbr", people: int = 200, seed: int = 2) -> pd.DataFrame:
    """Return three to seven rows of each person, in any order; ``column`` names the person."""
    rng = np.random.default_rng(seed)
    man = rng.random(people) < 0.5
    of_person = pd.DataFrame(
        {
            column: rng.choice(900_000, people, replace=False) + 100_000,
            "sex": np.where(man, "M", "F"),
            "age": rng.integers(20, 80, people),
            "pressure": rng.integers(90, 190, people),
            "weight": rng.integers(45, 130, people),
            "treated": np.where(rng.random(people) < np.where(man, 0.58, 0.42), "yes", "no"),
        }
    )
    rows = of_person.loc[np.repeat(np.arange(people), rng.integers(3, 8, people))]
    rows = rows.sample(frac=1, random_state=seed).reset_index(drop=True)
    return rows.assign(ward=rng.integers(1, 9, len(rows)))


def write_card(folder: Path, person: str = 'person = "patient_nbr"', people: int = 200) -> Path:
    """Write visits.csv and its card to a folder, and return the card."""
    visits(people=people).to_csv(folder / "visits.csv", index=False)
    edges = "[0, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 1000]"
    numeric = "".join(
        f'{name} = {{ kind = "numeric", bins = {edges}, states = {[f"s{i}" for i in range(18)]} }}\n'
        for name in ("age", "pressure", "weight")
    ).replace("'", '"')
    path = folder / "visits.toml"
    path.write_text(f"""
name = "visits"
title = "Visits"
label = "treated"
favorable_label = "yes"
sensitive_feature = "sex"
deprived_group = "F"
{person}
source = {{ format = "csv", files = [{{ path = "visits.csv" }}] }}
[columns]
sex = {{ kind = "categorical", states = ["F", "M"] }}
{numeric}treated = {{ kind = "categorical", states = ["no", "yes"] }}
""")
    return path
