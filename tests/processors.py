"""Run the numeric tests as on other people's processors: ``python -m tests.processors``.

Libraries choose their code by the processor that they find: OpenBLAS sums in another order, NumPy and the C
library round exponentials and logarithms otherwise, numba has other instructions. Each of them can be asked
to act as on another processor, of the same or of an older kind than the one at hand.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

# Where results pass through linear algebra, exponentials or compiled sums.
NUMERIC = [
    "tests/techniques/test_zafar_2015.py",
    "tests/techniques/test_zafar_2017.py",
    "tests/techniques/test_gerry_fair.py",
    "tests/techniques/test_learned_fair_representations.py",
    "tests/techniques/test_prejudice_remover.py",
    "tests/techniques/test_prejudice_free_representations.py",
    "tests/techniques/test_smote.py",
    "tests/techniques/test_meta_fair.py",
    "tests/techniques/test_optimised_preprocessing.py",
    "tests/techniques/test_correlation_remover.py",
    "tests/statistics",
    "tests/metrics/test_scores.py",
    "tests/network/test_sample.py",
]


def processors() -> dict[str, dict[str, str]]:
    """Return the processors that this one can act as: by name, the environment variables that make it so."""
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
        "haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(widest)},
        "zen": {"OPENBLAS_CORETYPE": "Zen", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
        "prescott": {"OPENBLAS_CORETYPE": "Prescott", "GLIBC_TUNABLES": unfused, **oldest},
    }
    if widest:
        acted["skylakex"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
    return acted


def main() -> int:
    """Run the tests on each processor; return 0 if all pass."""
    failed = []
    for name, variables in processors().items():
        print(f"{name}: {' '.join(f'{key}={value!r}' for key, value in variables.items())}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *NUMERIC]
        if subprocess.run(command, env={**os.environ, **variables}, cwd=Path(__file__).parents[1]).returncode:
            failed.append(name)
    if failed:
        print(f"failed as on {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
