"""Croissant: descriptions of tables that programs read (MLCommons, version 1.0, with responsible AI).

``croissant.json`` is the context that version 1.0 prescribes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmark.text.writing import PACKED

CROISSANT = "http://mlcommons.org/croissant/1.0"
RESPONSIBLE_AI = "http://mlcommons.org/croissant/RAI/1.0"
SUFFIX = ".croissant.json"
"""Ending of the description's name, behind the table's."""

_ENCODINGS = {
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".arff": "text/plain",
    PACKED: "application/x-xz",
}
_READ_BY_COLUMN = (".csv", ".parquet")


@dataclass(frozen=True)
class DescribedTable:
    """A file with a table. Only columns of CSV and Parquet files are described, which programs read by it."""

    path: Path
    columns: Mapping[str, str]  # the meaning of each by its name
    kinds: Mapping[str, str] = field(default_factory=dict)  # sc:Integer, sc:Float of schema.org; else text
    name: str = "rows"  # of its records

    def file(self) -> dict[str, Any]:
        """Return the description of the file; its content is read for its checksum."""
        return {
            "@type": "cr:FileObject",
            "@id": self.path.name,
            "name": self.path.name,
            "contentUrl": self.path.name,
            "encodingFormat": _ENCODINGS.get(self.path.suffix.lower(), "application/octet-stream"),
            "sha256": hashlib.sha256(self.path.read_bytes()).hexdigest(),
        }

    def records(self) -> dict[str, Any]:
        """Return the description of the columns."""
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{self.name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": self.kinds.get(column, "sc:Text"),
                "source": {"fileObject": {"@id": self.path.name}, "extract": {"column": column}},
            }
            for column, meaning in self.columns.items()
        ]
        return {"@type": "cr:RecordSet", "@id": self.name, "name": self.name, "field": fields}


def croissant(
    tables: Sequence[DescribedTable], responsible: Mapping[str, str | Sequence[str]], **properties: str
) -> dict[str, Any]:
    """Return the description of tables that were written to files of one folder.

    ``properties`` are those of schema.org, such as ``license``, and ``responsible`` those of the
    responsible-AI part, such as ``dataBiases``. Empty ones are left out.
    """
    return {
        "@context": json.loads(files(__package__).joinpath("croissant.json").read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RESPONSIBLE_AI],
        **{name: value for name, value in properties.items() if value},
        "distribution": [table.file() for table in tables],
        "recordSet": [table.records() for table in tables if table.path.suffix.lower() in _READ_BY_COLUMN],
        **{f"rai:{name}": value for name, value in responsible.items() if value},
    }
