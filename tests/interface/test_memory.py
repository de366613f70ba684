"""Freed memory serves the next arrays, and new memory comes in huge pages."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_ARRAYS = """
import resource, sys
from pairhmm.interface.memory import prepare_memory
if sys.argv[1] == "kept":
    prepare_memory()
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


_HEAP = """
import sys
from pathlib import Path
from pairhmm.interface.memory import prepare_memory
if sys.argv[1] == "huge":
    prepare_memory()
parts, flags = 0, []
for line in open("/proc/self/smaps"):
    if "-" in line.split()[0] and ":" not in line.split()[0]:
        is_heap = line.endswith("[heap]\\n")
        begin, end = (int(one, 16) for one in line.split()[0].split("-"))
    elif is_heap and line.startswith("VmFlags:") and "hg" in line.split():
        parts += end - begin
print(parts >> 20)
"""


def _megabytes_of_huge_pages(how, prefix=""):
    """How much of the heap was asked to have huge pages."""
    line = f'{prefix}exec "$0" "$@"'
    done = subprocess.run(["bash", "-c", line, sys.executable, "-c", _HEAP, how], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's heap")
@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="Linux without huge pages")
def test_the_heap_gets_huge_pages():
    assert 120 <= _megabytes_of_huge_pages("huge") <= 130
    assert _megabytes_of_huge_pages("small") == 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's heap")
def test_a_limit_on_addresses_leaves_the_heap_as_it_is():
    assert _megabytes_of_huge_pages("huge", "ulimit -v 120000; ") == 0
