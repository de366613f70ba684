"""The CUDA backend, with CuPy: kernels are compiled on first use, for the GPU of the machine."""

from pairhmm.backends.cuda.backend import make
from pairhmm.backends.cuda.setup import require_installed, status

__all__ = ["make", "require_installed", "status"]
