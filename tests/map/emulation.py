"""Modules beside the tests of the CUDA backend, for tests of the map's kernels."""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "backends" / "cuda"


def helper(name):
    """A module of that folder, loaded once."""
    full = f"pairhmm_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, FOLDER / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]
