"""Croissant: descriptions of tables that programs read (MLCommons, version 1.0, with responsible AI)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CROISSANT = "http://mlcommons.org/croissant/1.0"
RESPONSIBLE_AI = "http://mlcommons.org/croissant/RAI/1.0"
SUFFIX = ".croissant.json"
"""Ending of the description's name, behind the table's."""

_OF_CROISSANT = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
    *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *(
        "references",
        "regex",
        "repeated",
        "replace",
        "samplingRate",
        "separator",
        "source",
        "subField",
        "transform",
    ),
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}
_ENCODINGS = {".csv": "text/csv", ".parquet": "application/x-parquet", ".arff": "text/plain"}


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a described table."""

    name: str
    meaning: str
    kind: str = "sc:Text"  # a type of schema.org: sc:Text, sc:Integer, sc:Float


def croissant(
    path: Path,
    *,
    name: str,
    description: str,
    columns: Sequence[DescribedColumn],
    license_text: str,
    citation: str,
    version: str,
    published: str,
    url: str,
    responsible: Mapping[str, str | Sequence[str]],
) -> dict[str, Any]:
    """Return the description of a table that was written to a file.

    ``responsible`` has properties of the responsible-AI part by their names, such as ``dataBiases``. The
    file's content is read for its checksum. Only columns of CSV and Parquet files are described.
    """
    file = {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": _ENCODINGS.get(path.suffix.lower(), "application/octet-stream"),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{column.name}",
            "name": column.name,
            "description": column.meaning,
            "dataType": column.kind,
            "source": {"fileObject": {"@id": path.name}, "extract": {"column": column.name}},
        }
        for column in columns
    ]
    described = path.suffix.lower() in (".csv", ".parquet")
    records = [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}] if described else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RESPONSIBLE_AI],
        "name": name,
        "description": description,
        "license": license_text,
        "citeAs": citation,
        "version": version,
        "datePublished": published,
        **({"url": url} if url else {}),
        "distribution": [file],
        "recordSet": records,
        **{f"rai:{key}": value for key, value in responsible.items() if value},
    }
