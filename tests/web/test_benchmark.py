"""The benchmark page in Chromium, whose software adapter stands for a GPU: figures, JSON, axe-core, small windows."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
AXE_CORE = "web/node_modules/axe-core/axe.min.js"
NEEDED = ("build/web/pairhmm.wasm", "build/web/gpu.json", "build/web/benchmark.json", AXE_CORE)
FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
SECONDS = 280
SHORTEST = """
document.getElementById("longest").append(new Option("100 bases", "100", false, true));
document.getElementById("measure").click();
"""
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(
    ({violations}) => done(violations.map(({id, nodes: [first]}) => `${id}: ${first.html}`)),
    (error) => done([String(error)]),
);
"""


@pytest.fixture(scope="module")
def measured(require, start_chromium):
    """The page after it has measured pairs of 100 bases, and regions."""
    require("node", shutil.which("node") is not None, "no Node: apt install nodejs")
    for path in NEEDED:
        require("node", (PROJECT / path).exists(), f"{path} is not there: make page")
    subprocess.run(["node", "build_benchmark.mjs"], cwd=PROJECT / "web", check=True, capture_output=True)
    driver = start_chromium(*FLAGS, goog__loggingPrefs={"browser": "ALL", "performance": "ALL"})
    driver.get((PROJECT / "pairhmm/web_page/benchmark.html").as_uri())
    end = time.monotonic() + SECONDS

    def state():
        return driver.find_element("id", "state").text

    while state() == "starting":
        assert time.monotonic() < end
    driver.execute_script(SHORTEST)
    while state() != "done":
        assert time.monotonic() < end and not state().startswith("stopped"), state()
        time.sleep(0.2)
    return driver


def figures(driver):
    return json.loads(driver.execute_script("return document.getElementById('json').value"))


@pytest.mark.timeout(300)
def test_everything_is_measured_and_right(measured):
    found = figures(measured)
    pairs = {one["way"]: one for one in found["figures"] if one["section"] == "pairs"}
    assert list(pairs) == ["WebAssembly, float64", "GPU"]
    assert all(one["value"] > 0 and one["difference"] <= 1e-5 for one in pairs.values())
    batches = {(one["way"], one["size"]) for one in found["figures"] if one["section"] == "batches"}
    ways = ("GPU, from arrays", "GPU, kernels alone", "WebAssembly, 1 worker")
    assert {(way, size) for way in ways for size in ("s150", "s250")} <= batches


def test_it_names_browser_adapter_and_limits(measured):
    found = figures(measured)
    assert "Chrome" in found["browser"]
    assert found["gpu"]["architecture"] == "swiftshader"
    assert found["limits"]["maxStorageBufferBindingSize"] > 0
    assert "a program that stands for a GPU" in measured.find_element("id", "about").text


def test_nothing_is_asked_for_and_nothing_is_wrong(measured):
    sent = (json.loads(one["message"])["message"] for one in measured.get_log("performance"))
    asked = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    # No browser knows `webrtc` in a policy yet.
    assert [line for line in measured.get_log("browser") if "directive 'webrtc'" not in line["message"]] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_it_fits_and_axe_finds_nothing(measured, width, scheme):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    measured.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    measured.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert measured.execute_script("return document.documentElement.scrollWidth") <= width
    measured.execute_script((PROJECT / AXE_CORE).read_text(encoding="utf-8"))
    measured.set_script_timeout(60)
    assert measured.execute_async_script(AXE) == []
