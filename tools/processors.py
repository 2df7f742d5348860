"""Run the numeric tests as on other people's processors: ``python -m tools.processors [NAME ...]``.

``--quick`` runs all quick tests instead.

Libraries choose their code by the processor that they find: OpenBLAS sums in another order, NumPy and the C
library round exponentials and logarithms otherwise, numba has other instructions. Each of them can be asked
to act as on another processor, of the same or of an older kind than the one at hand.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

# Where results pass through linear algebra, exponentials or compiled sums.
NUMERIC = [
    "tests/golden",
    "tests/techniques/test_zafar_2015.py",
    "tests/techniques/test_zafar_2017.py",
    "tests/techniques/test_gerry_fair.py",
    "tests/techniques/test_lfr.py",
    "tests/techniques/test_prejudice_remover.py",
    "tests/techniques/test_pfr.py",
    "tests/techniques/test_smote.py",
    "tests/techniques/test_meta_fair.py",
    "tests/techniques/test_optimized_preprocessing.py",
    "tests/techniques/test_correlation_remover.py",
    "tests/statistics",
    "tests/metrics/test_scores.py",
    "tests/network/test_sampling.py",
]

# What is compared with another library or with committed files, what is counted in simulations, and what
# concerns the contract, is so once.
KEPT = "not conform and not aif360 and not scipy and not committed and not holds_its_level"


def processors() -> dict[str, dict[str, str]]:
    """Return the processors that this one can act as: by name, the environment variables that make it so.

    What the libraries choose by themselves is left out.
    """
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])  # beyond what NumPy requires
    widest = [name for name in found if "512" in name or name == "X86_V4"]
    oldest = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
    }
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return {"oldest": oldest}
    # The C library's functions use fused multiplication where there is one.
    unfused = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable"
    acted = {
        "Haswell": {
            "OPENBLAS_CORETYPE": "Haswell",
            "NPY_DISABLE_CPU_FEATURES": " ".join(widest),
            "NUMBA_CPU_NAME": "haswell",
        },
        "Sandybridge": {
            "OPENBLAS_CORETYPE": "Sandybridge",
            "GLIBC_TUNABLES": unfused,
            **oldest,
            "NUMBA_CPU_NAME": "sandybridge",
        },
        "oldest": {"OPENBLAS_CORETYPE": "Prescott", "GLIBC_TUNABLES": unfused, **oldest},
    }
    cores = {library.get("architecture") for library in threadpool_info()}
    if widest and "SkylakeX" not in cores:
        acted["SkylakeX"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
    return acted


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests as on each processor, or on some by name, all at a time; return 0 if they pass."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only as on these processors")
    parser.add_argument("--quick", action="store_true", help="run all quick tests, not only the numeric ones")
    chosen = parser.parse_args(arguments)
    tests = [] if chosen.quick else ["-m", "", "-k", KEPT, *NUMERIC]

    def run(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *tests],
            env={**os.environ, **variables},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
        )

    acted, failed = processors(), []
    if unknown := {*chosen.names} - {*acted}:
        raise SystemExit(f"Unknown processors: {', '.join(sorted(unknown))}; known: {', '.join(acted)}")
    acted = {name: acted[name] for name in chosen.names or acted}
    with ThreadPoolExecutor(len(acted)) as pool:
        for (name, variables), done in zip(acted.items(), pool.map(run, acted.values()), strict=True):
            print(f"{name}: {' '.join(f'{key}={value!r}' for key, value in variables.items())}")
            print(done.stdout + done.stderr, flush=True)
            if done.returncode:
                failed.append(name)
    if failed:
        print(f"failed as on {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
