"""What the benchmark page needs beside `pairhmm.backends.webgpu.browser`: the published designs' WGSL, as JSON.

python -m pairhmm.bench.browser build/web/benchmark.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pairhmm.backends.webgpu.browser import stripped
from pairhmm.bench import primitives
from pairhmm.bench.published import webgpu_wavefront as wavefront
from pairhmm.bench.workloads import GAP_QUALITY, INDEL_QUALITY, WORKLOADS
from pairhmm.models import profile


def data() -> dict[str, Any]:
    """Everything, in types that JSON has."""
    model = profile.preset("normalised")
    return {
        "wavefront": {
            "texts": [stripped(wavefront.source(cached)) for cached in (False, True)],
            "width": wavefront.WIDTH,
            "stride": wavefront.STRIDE,
            "logZero": wavefront.LOG_ZERO,
            "fields": [field.name for field in wavefront.DIAGONAL.fields],
            "kinds": list(wavefront.KINDS),
            "ladder": [asdict(rung) for rung in wavefront.LADDER],
        },
        "model": {
            "match": model.match.tolist(),
            "insertion": model.insertion.tolist(),
            "transitions": [model.transitions[name] for name in ("MM", "IM", "DM", "MI", "II", "MD", "DD")],
            "start": [model.start.match, model.start.deletion],
        },
        "primitives": {
            "text": stripped(primitives.source()),
            "tile": primitives.TILE,
            "kinds": list(primitives.KINDS),
            "entries": {name: list(entries) for name, entries in primitives.PRIMITIVES.items()},
            "sizes": list(primitives.SIZES),
            "publishedSeconds": primitives.PUBLISHED_SECONDS,
        },
        "workloads": {name: asdict(WORKLOADS[name]) for name in ("s150", "s250")},
        "indelQuality": INDEL_QUALITY,
        "gapQuality": GAP_QUALITY,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(data(), separators=(",", ":")))
