"""The file that says how to start a Dask cluster through a batch scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from benchmark.declarations import read_toml
from benchmark.errors import ExperimentError
from benchmark.models import STRICT

Scalar: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr


class Cluster(BaseModel):
    """The content of a cluster file."""

    model_config = STRICT

    # Class of dask-jobqueue, by the batch scheduler, or Dask's own ``LocalCluster`` for trying out.
    cluster: Literal["SLURMCluster", "PBSCluster", "SGECluster", "LSFCluster", "LocalCluster"]
    jobs: StrictInt = Field(ge=1)  # how many to submit; of a ``LocalCluster``, how many workers to start
    # What the class is called with, in its own words.
    arguments: dict[str, Scalar | list[Scalar] | dict[str, Scalar]] = {}

    @property
    def module(self) -> str:
        """The package that the class is in."""
        return "distributed" if self.cluster == "LocalCluster" else "dask_jobqueue"

    @property
    def scale(self) -> dict[str, int]:
        """What the cluster's ``scale`` is called with."""
        return {"n" if self.cluster == "LocalCluster" else "jobs": self.jobs}


def load_cluster(path: Path) -> Cluster:
    """Read and check a cluster file in TOML; an ExperimentError says why that cannot be done."""
    content = read_toml(path, "cluster file", ExperimentError, "docs/cluster.md has an example")
    try:
        return Cluster.model_validate(content)
    except ValidationError as error:
        found = error.errors(include_url=False)
        problems = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in found)
        remedy = "correct the named fields; docs/cluster.md has an example"
        raise ExperimentError(
            f"The cluster file {path} breaks a rule", got=problems, remedy=remedy
        ) from error
