"""Commands to a wgpu device that several modules share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_WORKGROUPS = 65535
"""Most workgroups of a dispatch in one dimension: the default limit of WebGPU."""


def make_pipeline(device: Any, text: str, entry: str) -> Any:
    """The pipeline of an entry point. Its layout has the bindings that its text uses."""
    module = device.create_shader_module(code=text)
    return device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})


def record(device: Any, compute: Any, pipeline: Any, buffers: Mapping[int, Any], size: tuple[int, int]) -> None:
    """Record a dispatch of `size` workgroups on whole buffers, by binding. The pipeline comes from `make_pipeline`."""
    entries = [
        {"binding": binding, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for binding, buffer in buffers.items()
    ]
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    compute.dispatch_workgroups(*size)


def grid(workgroups: int) -> tuple[int, int]:
    """Two dimensions with at least `workgroups` workgroups, and hardly more."""
    rows = -(-workgroups // MOST_WORKGROUPS)
    return -(-workgroups // rows), rows


def wait(device: Any, buffer: Any) -> None:
    """Block until everything that was submitted is done. The buffer must have the usage COPY_SRC."""
    # on_submitted_work_done_async raises a TypeError in wgpu 0.32.
    device.queue.read_buffer(buffer, 0, 4)


def mapped(buffer: Any) -> NDArray[np.uint8]:
    """The memory of a mapped buffer, for writing, until the buffer is unmapped."""
    return np.frombuffer(buffer._experimental_get_mapped_range(0, buffer.size), dtype=np.uint8)
