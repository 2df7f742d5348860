"""The file that declares a Dask cluster, to be started through a batch scheduler."""

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

    # A class of dask-jobqueue, one for each batch scheduler, or Dask's ``LocalCluster`` for a trial.
    cluster: Literal["SLURMCluster", "PBSCluster", "SGECluster", "LSFCluster", "LocalCluster"]
    jobs: StrictInt = Field(ge=1)  # number of jobs to submit; for ``LocalCluster``, of workers to start
    # The class's own arguments.
    arguments: dict[str, Scalar | list[Scalar] | dict[str, Scalar]] = {}

    @property
    def module(self) -> str:
        """The package of the class."""
        return "distributed" if self.cluster == "LocalCluster" else "dask_jobqueue"

    @property
    def scale(self) -> dict[str, int]:
        """The arguments of the cluster's method ``scale``."""
        return {"n" if self.cluster == "LocalCluster" else "jobs": self.jobs}


def load_cluster(path: Path) -> Cluster:
    """Return the checked content of a cluster file in TOML; an ExperimentError says what is wrong with it."""
    content = read_toml(path, "cluster file", ExperimentError, "docs/cluster.md has an example")
    try:
        return Cluster.model_validate(content)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in error.errors(include_url=False)]
        raise ExperimentError(
            f"The cluster file {path} breaks a rule",
            got="; ".join(problems),
            remedy="correct the named fields; docs/cluster.md has an example",
        ) from error
