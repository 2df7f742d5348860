"""SLURM on this machine, where it is installed; the campaign `cancel_job_on_slurm` cancels jobs there."""

import os
import subprocess

import pytest

from tools.slurm import missing, running_jobs, slurm

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(missing()), reason="needs SLURM's programs (slurm-wlm)"),
]


def test_a_job_runs_and_nothing_stays_behind() -> None:
    with slurm() as cluster:
        assert cluster.read_text(encoding="utf-8").count("SLURMCluster") == 1
        done = subprocess.run(["srun", "echo", "here"], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["here"]
        assert running_jobs() == []
    assert not cluster.exists()
    assert "SLURM_CONF" not in os.environ
