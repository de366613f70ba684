"""What the benchmark page needs beside `pairhmm.backends.webgpu.browser`: a model and workloads, as JSON.

python -m pairhmm.bench.browser build/web/benchmark.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pairhmm.bench.workloads import GAP_QUALITY, INDEL_QUALITY, WORKLOADS
from pairhmm.models import profile


def data() -> dict[str, Any]:
    """Everything, in types that JSON has."""
    model = profile.preset("normalised")
    return {
        "model": {
            "match": model.match.tolist(),
            "insertion": model.insertion.tolist(),
            "transitions": [model.transitions[name] for name in ("MM", "IM", "DM", "MI", "II", "MD", "DD")],
            "start": [model.start.match, model.start.deletion],
        },
        "workloads": {name: asdict(WORKLOADS[name]) for name in ("s150", "s250")},
        "indelQuality": INDEL_QUALITY,
        "gapQuality": GAP_QUALITY,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(data(), separators=(",", ":")))
