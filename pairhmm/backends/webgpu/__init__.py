"""The WebGPU backend, with wgpu: WGSL kernels for what Vulkan, Metal or Direct3D 12 reach."""

from pairhmm.backends.webgpu.backend import make
from pairhmm.backends.webgpu.setup import require_installed, status

__all__ = ["make", "require_installed", "status"]
