"""The WebGPU backend, with wgpu: WGSL kernels for what Vulkan, Metal or Direct3D 12 reach."""

from pairhmm.backends.webgpu.backend import make
from pairhmm.backends.webgpu.setup import status

__all__ = ["make", "status"]
