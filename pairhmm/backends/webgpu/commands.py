"""What several users of a wgpu device say to it in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_WORKGROUPS = 65535
"""Of a dispatch in one dimension: WebGPU's limit."""


def make_pipeline(device: Any, text: str, entry: str) -> Any:
    """The pipeline of an entry point, whose layout is what its text uses."""
    module = device.create_shader_module(code=text)
    return device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})


def record(device: Any, compute: Any, pipeline: Any, buffers: Mapping[int, Any], size: tuple[int, int]) -> None:
    """Record a dispatch of so many workgroups, with whole buffers by binding; the pipeline is of `make_pipeline`."""
    entries = [
        {"binding": binding, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for binding, buffer in buffers.items()
    ]
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    compute.dispatch_workgroups(*size)


def grid(workgroups: int) -> tuple[int, int]:
    """Two dimensions that have at least so many workgroups, and hardly more."""
    rows = -(-workgroups // MOST_WORKGROUPS)
    return -(-workgroups // rows), rows


def wait(device: Any, buffer: Any) -> None:
    """Until everything that was submitted is done; the buffer may be copied from."""
    # on_submitted_work_done_async raises a TypeError in wgpu 0.32.
    device.queue.read_buffer(buffer, 0, 4)


def mapped(buffer: Any) -> NDArray[np.uint8]:
    """The memory of a buffer that is mapped, to be written, until it is unmapped."""
    return np.frombuffer(buffer._experimental_get_mapped_range(0, buffer.size), dtype=np.uint8)
