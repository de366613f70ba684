"""Choosing a backend and its devices, and scoring batches on them."""

from pairhmm.engine.choice import (
    WORTH_A_DEVICE,
    Choice,
    check_backend,
    check_devices,
    choose,
    forward,
    named_devices,
    names_devices,
    require_installed,
)

__all__ = [
    "WORTH_A_DEVICE",
    "Choice",
    "check_backend",
    "check_devices",
    "choose",
    "forward",
    "named_devices",
    "names_devices",
    "require_installed",
]
