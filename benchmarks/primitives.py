"""Map, reduce and scan of 32-bit integers by the benchmark page's WGSL, through wgpu.

Milliseconds from a host array to the host's result, median of 20. `--json FILE` writes them all.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict
from pathlib import Path

from pairhmm.backends.webgpu import setup
from pairhmm.bench.primitives import PRIMITIVES, PUBLISHED_SECONDS, SIZES, measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    adapter = setup.adapters()[options.device]
    speeds = list(measure(adapter))
    milliseconds = {(speed.name, speed.size): 1e3 * statistics.median(speed.seconds) for speed in speeds}
    print(f"{adapter}; published: {1e3 * PUBLISHED_SECONDS} ms whatever the size (GTX 1660 Ti)")
    print("integers  " + "".join(f"{name:>10}" for name in PRIMITIVES))
    for size in SIZES:
        print(f"{size:>10,}" + "".join(f"{milliseconds[name, size]:>10.3f}" for name in PRIMITIVES))
    if options.json:
        options.json.write_text(json.dumps({"adapter": str(adapter), "runs": [asdict(speed) for speed in speeds]}))


if __name__ == "__main__":
    main()
