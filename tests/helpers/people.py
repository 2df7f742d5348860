"""Made-up people in a CSV file, with what files have: numbers, gaps, rare values, an identifier."""

from pathlib import Path

import numpy as np
import pandas as pd


def people(n: int = 600, seed: int = 3) -> pd.DataFrame:
    """Return made-up people, of whom women are hired less often than their skill says."""
    rng = np.random.default_rng(seed)
    woman, skill = rng.random(n) < 0.4, rng.normal(0, 1, n)
    hired = rng.random(n) < 1 / (1 + np.exp(0.3 + 1.2 * woman - 1.5 * skill))
    city = rng.choice(["Ulm", "Bonn", "Kiel", "Rare"], n, p=[0.5, 0.3, 0.195, 0.005]).astype(object)
    city[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "sex": np.where(woman, "f", "m"),
            "skill": np.round(skill, 2),
            "children": rng.integers(0, 4, n),
            "city": city,
            "hired": np.where(hired, "yes", "no"),
        }
    )


def write_people(folder: Path, n: int = 600) -> Path:
    """Write people.csv to a folder."""
    path = folder / "people.csv"
    people(n).to_csv(path, index=False)
    return path
