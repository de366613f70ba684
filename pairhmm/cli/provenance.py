"""What the headers of outputs say of the run that wrote them."""

from __future__ import annotations

import shlex
import sys

from pairhmm.interface.release import version


def call_provenance() -> dict[str, str]:
    """Lines ``##key=value`` of VCF: date, version and command."""
    from datetime import date

    number = version()
    return {
        "fileDate": f"{date.today():%Y%m%d}",
        "source": f"pairhmm {number}",
        "pairhmmVersion": number,
        "pairhmmCommand": shlex.join(sys.argv[1:]),
    }
