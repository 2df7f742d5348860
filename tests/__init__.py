"""All tests; compiled libraries use one thread each where these run, as tests run side by side already."""

import os

# They read it when they are loaded. Where two threads are the matter, a test asks for two.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
