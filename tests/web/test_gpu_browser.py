"""The page's WebGPU host in Chromium, whose software adapter has subgroups: scores, the choice, and what it says."""

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pairhmm.backends.webgpu import browser

pytestmark = pytest.mark.nightly

PROJECT = Path(__file__).parents[2]
WASM = PROJECT / "build/web/pairhmm.wasm"
FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
BUNDLE = """
import { bundled } from "./build.mjs";
process.stdout.write(await bundled("tests/gpu_page.js", { format: "iife" }));
"""
CALL = """
const done = arguments[arguments.length - 1];
const [name, ...given] = Array.from(arguments).slice(0, -1);
window[name](...given).then((value) => done({ value }), (error) => done({ error: `${error.name}: ${error.message}` }));
"""


@pytest.fixture(scope="module")
def page(node, tmp_path_factory):
    """A page that holds the engine, for file://."""
    command = [node, "--input-type=module", "-e", BUNDLE]
    bundle = subprocess.run(command, cwd=PROJECT / "web", capture_output=True, text=True, check=True).stdout
    data = json.dumps(browser.data()).replace("</", "<\\/")
    wasm = base64.b64encode(WASM.read_bytes()).decode()
    path = tmp_path_factory.mktemp("gpu") / "page.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>GPU</title>"
        f'<script type="text/plain" id="wasm">{wasm}</script>'
        f'<script type="application/json" id="kernels">{data}</script>'
        f"<script>{bundle}</script>"
    )
    return path.as_uri()


@pytest.fixture(scope="module")
def call(start_chromium, page):
    """``call(name, ...)``: what a function of the page (web/tests/gpu_page.js) returns."""
    driver = start_chromium(*FLAGS)
    driver.set_script_timeout(240)
    driver.get(page)

    def called(name, *given):
        answer = driver.execute_async_script(CALL, name, *given)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    return called


@pytest.fixture(scope="module")
def reference(shared_data):
    """The reference pairs as the page takes them, and GATK's likelihoods."""
    lines = (shared_data / "gatk-pairhmm-testdata.txt").read_text().splitlines()
    fields = [line.split() for line in lines if line and not line.startswith("#")]
    phred = [[[ord(letter) - 33 for letter in text] for text in own[2:6]] for own in fields]
    pairs = [
        {
            "haplotype": own[0],
            "bases": own[1],
            "quality": [max(6, value) for value in of[0]],
            "insertion": of[1],
            "deletion": of[2],
            "gap": of[3],
        }
        for own, of in zip(fields, phred, strict=True)
    ]
    return pairs, np.array([float(own[6]) for own in fields])


def close(found, expected):
    return bool((np.abs(np.array(found) - expected) <= 1e-5 * np.maximum(1, np.abs(expected))).all())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("shuffles", [True, False])
def test_reference_likelihoods(call, reference, shuffles):
    pairs, expected = reference
    answer = call("ofGpu", pairs, shuffles)
    scored = [value is not None for value in answer["log10"]]  # JSON has no NaN
    assert np.mean(scored) > 0.9
    found = np.array([np.nan if value is None else value for value in answer["log10"]])
    assert close(found[scored], expected[scored])
    assert answer["description"].endswith("shuffles" if shuffles else "workgroup memory")


@pytest.mark.timeout(300)
def test_a_call_without_room_is_made_again_in_smaller_parts(call, reference):
    pairs, expected = reference
    answer = call("ofSmallGpu", pairs[:4])
    assert close(answer["log10"], expected[:4])
    assert answer["said"] == ["the GPU lacks memory: it gets calls of 5.0e+7 cells"]


@pytest.mark.timeout(300)
def test_an_engine_completes_what_the_gpu_leaves(call, reference):
    pairs, expected = reference
    answer = call("ofEngine", pairs[:4], "only", False)
    assert close(answer["log10"], expected[:4])
    assert answer["description"].startswith("WebGPU (")
    assert answer["description"].endswith("; WebAssembly SIMD, 1 worker")


@pytest.mark.timeout(300)
def test_a_lost_device_is_announced_and_webassembly_takes_over(call, reference):
    pairs, expected = reference
    answer = call("ofEngine", pairs[:4], "only", True)
    assert close(answer["log10"], expected[:4])
    assert [message.endswith("; WebAssembly takes over") for message in answer["said"]] == [True]
    assert answer["after"] == "WebAssembly SIMD, 1 worker"


def test_a_program_that_stands_for_a_gpu_is_not_chosen(call, reference):
    pairs, expected = reference
    answer = call("ofEngine", pairs[:4], "auto", False)
    assert close(answer["log10"], expected[:4])
    assert answer["said"] == ["no GPU is used: a program stands for the GPU, and WebAssembly is faster"]
    assert answer["description"] == "WebAssembly SIMD, 1 worker"


def test_without_an_adapter_the_reason_is_said(start_chromium, page):
    driver = start_chromium("--disable-gpu", "--disable-features=WebGPUService", "--disable-software-rasterizer")
    driver.set_script_timeout(60)
    driver.get(page)
    answer = driver.execute_async_script(CALL, "ofEngine", [], "only", False)
    assert answer["error"].startswith("Unavailable: ")
