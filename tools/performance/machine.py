"""What the times were measured on, without a word about whose machine it is."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tools.performance.prepared_inputs import prepared

__all__ = ["describe_machine"]

_PACKAGES = (
    "betabench",
    "numpy",
    "numba",
    "pandas",
    "scikit-learn",
    "pgmpy",
    "pyagrum",
    "fairlearn",
    "aif360",
    "BlackBoxAuditing",
)


def describe_machine(quick: bool) -> dict[str, Any]:
    """Return processor, memory, system, versions of the contestants, data, and how busy the machine is."""
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name") or platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "memory": _field(Path("/proc/meminfo"), "MemTotal") or "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "data": {name: data.test_data for name, data in prepared(quick).datasets.items()},
        "load": " ".join(f"{average:.2f}" for average in os.getloadavg())
        if hasattr(os, "getloadavg")
        else "",
        "quick": quick,
    }


def _field(file: Path, name: str) -> str:
    if not file.is_file():
        return ""
    lines = (line.partition(":") for line in file.read_text(encoding="utf-8").splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
