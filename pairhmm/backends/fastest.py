"""What "auto" takes of the backends that can do a kind of work, other than the forward, which `pairhmm.engine` does."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pairhmm import backends

log = logging.getLogger(__name__)


def fastest(names: Sequence[str], device: int | None, is_worth_a_device: bool) -> str:
    """The first backend that runs here: on a device if that is worth its start, else on the CPU.

    What a device backend lacks is told by a message, and that only the oracle is left by a warning.

    Parameters
    ----------
    names : sequence of str
        Those that can do the work, the oracle among them.
    device : int or None
        A device that was named, for which a device backend is wanted.
    is_worth_a_device : bool
    """
    for name in backends.on_devices() if device is not None or is_worth_a_device else ():
        if name not in names:
            continue
        found = backends.status(name)
        if not found.available:
            log.info("not %s: %s; %s", name, found.reason, found.cure)
        elif (device or 0) in found.software:
            log.info("not %s: %s is software", name, found.devices[device or 0])
        else:
            return name
    return fastest_on_the_cpu(names)


def fastest_on_the_cpu(names: Sequence[str]) -> str:
    """The first backend on the CPU that runs here. If only the oracle does, a warning says so."""
    known = [name for name in backends.on_the_cpu() if name in names]
    lacking = {name: found for name in known if not (found := backends.status(name)).available}
    taken = next(name for name in known if name not in lacking)
    if backends.is_oracle(taken):
        lacks = "; ".join(f"{name}: {found.reason}; {found.cure}" for name, found in lacking.items())
        log.warning("backend %s, which is slow%s", taken, f" ({lacks})" if lacks else "")
    return taken
