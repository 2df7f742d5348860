"""SLURM on one machine, to try ``betabench run --cluster`` under a real batch scheduler.

``python -m tools.slurm COMMAND ...`` starts the controller, one node and the authentication service of SLURM
(``slurmctld``, ``slurmd``, ``munged``) on the loopback interface, runs the command with ``SLURM_CONF`` set,
and ends them. Nothing of it needs a set-up or stays behind; Debian's package ``slurm-wlm`` has the programs.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd")

# Jobs share the cores, so that two of them run on any machine; what they start is found by process group,
# for which SLURM needs no rights on control groups.
CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={mebibytes}
PartitionName=short Nodes={host} Default=YES MaxTime=60 OverSubscribe=FORCE:4
"""

CLUSTER = """
cluster = "SLURMCluster"
jobs = 2

[arguments]
queue = "short"
cores = 1
processes = 1
memory = "4GiB"
walltime = "01:00:00"
interface = "{loopback}"
log_directory = "{folder}/jobs"
"""


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


@contextlib.contextmanager
def slurm() -> Iterator[Path]:
    """Start SLURM, point ``SLURM_CONF`` to it, and yield a file for ``--cluster``; end it with the context.

    Raises
    ------
    RuntimeError
        If a program is missing, or the node is not ready within 30 seconds; it quotes the daemons' messages.
    """
    if names := missing():
        raise RuntimeError(f"{', '.join(names)} not found; Debian's package slurm-wlm has them")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder = Path(name)
        for part in ("state", "spool", "jobs"):
            (folder / part).mkdir()
        (folder / "munge.key").write_bytes(secrets.token_bytes(128))
        (folder / "munge.key").chmod(0o400)
        configuration = folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                ports=_free_ports(2),
                user=psutil.Process().username(),
                folder=folder,
                cores=os.cpu_count(),
                mebibytes=psutil.virtual_memory().total // 2**20,
            )
        )
        loopback = next(
            name for name, found in psutil.net_if_addrs().items() if "127.0.0.1" in {a.address for a in found}
        )
        cluster = folder / "cluster.toml"
        cluster.write_text(CLUSTER.format(folder=folder, loopback=loopback))
        before = os.environ.get("SLURM_CONF")
        os.environ["SLURM_CONF"] = str(configuration)
        try:
            files = {f"--{kind}-file": folder / f"munge.{kind}" for kind in ("key", "pid", "log", "seed")}
            named = [f"{option}={path}" for option, path in files.items()]
            running.enter_context(
                _daemon(
                    folder, "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *named
                )
            )
            _wait_until((folder / "munge.socket").exists, folder)
            running.enter_context(_daemon(folder, "slurmctld", "-D", "-c"))
            running.enter_context(_daemon(folder, "slurmd", "-D"))
            _wait_until(lambda: "idle" in _said("sinfo", "--noheader", "--format=%T"), folder)
            yield cluster
        finally:
            running.close()
            if before is None:
                del os.environ["SLURM_CONF"]
            else:
                os.environ["SLURM_CONF"] = before


def running_jobs() -> list[str]:
    """Return the numbers of the jobs that run now."""
    return _said("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()


def cancel(job: str) -> None:
    """End a job as its owner does."""
    subprocess.run(["scancel", job], check=True)


@contextlib.contextmanager
def _daemon(folder: Path, *command: str) -> Iterator[None]:
    program = shutil.which(command[0], path=_path())
    assert program is not None
    with (folder / f"{command[0]}.log").open("w") as log:
        process = subprocess.Popen([program, *command[1:]], stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_until(ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + 30
    while not ready():
        if time.monotonic() > deadline:
            said = "\n".join(path.read_text() for path in sorted(folder.glob("*.log")))
            raise RuntimeError(f"SLURM is not ready after 30 seconds:\n{said}")
        time.sleep(0.1)


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def main() -> int:
    """Run a command with SLURM beside it; ``CLUSTER`` in it stands for the file of ``--cluster``."""
    if len(sys.argv) < 2:
        print("usage: python -m tools.slurm COMMAND ..., in which CLUSTER is the file for --cluster")
        return 2
    with slurm() as cluster:
        words = [str(cluster) if word == "CLUSTER" else word for word in sys.argv[1:]]
        return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
