"""What the tables of an atlas hold, for readers and for programs: meanings of columns, and Croissant."""

import hashlib
import lzma
from collections.abc import Mapping
from pathlib import Path

from benchmark.atlas.features import FEATURE_COLUMNS
from benchmark.atlas.file import Atlas
from benchmark.atlas.means import MEAN_COLUMNS
from benchmark.atlas.recommenders import REGRET_COLUMNS
from benchmark.atlas.tables import CLAIM_COLUMNS, CLAIMS, FEATURES, MEANS, RECOMMENDERS, TEXTS
from benchmark.declarations import package_toml
from benchmark.release import RELEASED
from benchmark.text.croissant import SUFFIX, DescribedTable, croissant
from benchmark.text.writing import PACKED, plain_or_packed, write_json
from studies.atlas.comparison import (
    CHOICE_COLUMNS,
    CHOICES,
    VARIANCE,
    VARIANCE_COLUMNS,
)
from studies.atlas.tables import CELL_TABLE, CELLS

TABLES: Mapping[str, tuple[str, ...]] = {
    RECOMMENDERS: REGRET_COLUMNS,
    CHOICES: CHOICE_COLUMNS,
    VARIANCE: VARIANCE_COLUMNS,
    CLAIMS: CLAIM_COLUMNS,
    MEANS: MEAN_COLUMNS,
    FEATURES: FEATURE_COLUMNS,
    CELLS: CELL_TABLE,
}
"""Columns of the tables by their files."""

MEANINGS: Mapping[str, str] = package_toml(__package__, "columns.toml")
"""Meanings of columns by their names."""


def write_description(folder: Path, atlas: Atlas) -> Path:
    """Write the Croissant description of the tables that a folder has, and return its path."""
    tables = [
        DescribedTable(
            path,
            {name: MEANINGS[name] for name in columns},
            {name: _kind(name) for name in columns},
            Path(file).stem,
        )
        for file, columns in TABLES.items()
        if (path := plain_or_packed(folder / file)).is_file()
    ]
    description = croissant(
        tables,
        {
            "dataCollection": "Computed by betabench from public datasets with planted bias; see atlas.json.",
            "dataBiases": [
                "Bias was planted on purpose. What bias the sources had before is unknown.",
                "The datasets are the usual ones of fairness research, most of them from the United States.",
            ],
            "personalSensitiveInformation": ["No rows of persons: means over groups of persons alone."],
            "dataUseCases": "To compare fairness techniques and advice on data that advice has not seen.",
            "dataLimitations": "Few independent groups of datasets. People's bias may be of another kind.",
        },
        name=f"betabench_{atlas.name}",
        description=f"{atlas.title} Tables of the betabench atlas, version {atlas.version}.",
        license="https://spdx.org/licenses/MIT.html",
        citeAs=f"The betabench developers ({RELEASED[:4]}). The betabench atlas, version {atlas.version}.",
        version=atlas.version,
        datePublished=RELEASED,
    )
    return write_json(folder / f"{atlas.name}{SUFFIX}", description)


def tables_digest(folder: Path) -> str:
    """Return the SHA-256 of the tables in a folder, as 64 hexadecimal digits; packing does not count."""
    digest = hashlib.sha256()
    for file in TABLES:
        path = plain_or_packed(folder / file)
        content = path.read_bytes()
        digest.update(file.encode() + (lzma.decompress(content) if path.suffix == PACKED else content))
    return digest.hexdigest()


def _kind(name: str) -> str:
    if name in TEXTS:
        return "sc:Text"
    return "sc:Integer" if name in _COUNTS else "sc:Float"


_COUNTS = frozenset(
    {"pooled", "repetition", "n", "missing"} | {"n_clusters", "n_scenarios", "n_levels", "n_cells"}
)
