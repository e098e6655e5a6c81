"""Kernels, which are timed beside their peers on one thread."""

import os

# NumPy's BLAS reads these when it is loaded.
for library in ("OPENBLAS", "OMP", "MKL", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
