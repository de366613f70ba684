"""Freed memory serves the next arrays."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_ARRAYS = """
import resource, sys
from pairhmm.interface.memory import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def faults():
    for size in (3, 9, 20):
        held = [bytearray(b"x" * (size << 20)) for _ in range(4)]
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's parameters")
def test_arrays_take_pages_that_were_freed():
    kept, returned = (
        int(subprocess.run([sys.executable, "-c", _ARRAYS, how], capture_output=True, check=True).stdout)
        for how in ("kept", "returned")
    )
    assert kept < 1000
    assert returned > 10 * kept
