"""The CUDA backend, with CuPy: kernels are compiled on first use, for the GPU of the machine."""

from pairhmm.backends.cuda.backend import make
from pairhmm.backends.cuda.setup import status

__all__ = ["make", "status"]
