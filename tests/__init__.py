"""All tests; compiled libraries use one thread each where these run, as tests run side by side already."""

import os

# They read it when they are loaded. Where two threads are the matter, a test asks for two.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pandas as pd  # noqa: E402

# As where pyarrow, an extra, is missing; small frames take a quarter less time. Commands have what there is.
pd.set_option("mode.string_storage", "python")
