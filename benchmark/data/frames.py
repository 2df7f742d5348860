"""Data frames as text: of a user, and of a Parquet file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from benchmark.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def as_csv(frame: pd.DataFrame, delimiter: str = ",") -> str:
    """Return a frame as CSV text; only missing values are empty. A DataError names a column that is twice."""
    names = [str(name).strip() for name in frame.columns]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(
            "Columns have the same name",
            expected="a different name for each column",
            got=", ".join(map(repr, repeated)) + " more than once",
            remedy="rename or drop columns",
        )
    text: str = frame.set_axis(names, axis=1).to_csv(index=False, sep=delimiter, lineterminator="\n")
    return text


def parquet_frame(content: bytes, location: str) -> pd.DataFrame:
    """Return the frame in a Parquet file; a DataError says that it cannot be read, or needs a package."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise DataError(
            "Parquet files need the package pyarrow, which is not installed",
            got=location,
            remedy="pip install 'betabench[parquet]', or save the table as CSV",
        ) from error
    except (ValueError, OSError) as error:  # pyarrow's own errors are among these
        raise DataError(
            f"{location} cannot be read",
            expected="a Parquet file",
            got=str(error).strip(),
            remedy="save it again, or as CSV",
        ) from error
    return frame.reset_index() if frame.index.name is not None else frame
