"""Every shader text as a browser compiles it: Chromium's compiler accepts less than wgpu's, and warns of more."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pairhmm.align import webgpu_kernels as align_webgpu
from pairhmm.align.webgpu_kernels import AlignVariant, PlaneSteps
from pairhmm.backends.webgpu import kernels as webgpu_kernels
from pairhmm.backends.webgpu.kernels import KernelVariant, subgroups_source
from pairhmm.backends.webgpu.runtime import WIDTH
from pairhmm.scan import webgpu as scan_webgpu
from pairhmm.warp import webgpu as warp_webgpu
from pairhmm.warp.webgpu import WarpVariant

pytestmark = pytest.mark.nightly

FLAGS = (
    "--enable-unsafe-webgpu",  # on Linux, and with a software adapter
    "--use-webgpu-adapter=swiftshader",
)

BATCH = 100
"""Texts of a script call: a handful of calls, each far from the driver's limits of time and size."""

OPEN = """
const done = arguments[arguments.length - 1];
(async () => {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) return "no WebGPU adapter";
    // The limits of every device: what a text needs beyond them is an error.
    window.device = await adapter.requestDevice({requiredFeatures: ["subgroups"]});
    return null;
})().then(done, error => done(String(error)));
"""

COMPILE = """
const [texts, done] = arguments;
Promise.all(texts.map(async code => {
    const {messages} = await window.device.createShaderModule({code}).getCompilationInfo();
    return messages.map(({type, lineNum, message}) => `${type}, line ${lineNum}: ${message}`);
})).then(done, error => done(String(error)));
"""

MAKE_PIPELINE = """
const [code, entryPoint, done] = arguments;
const module = window.device.createShaderModule({code});
window.device.createComputePipelineAsync({layout: "auto", compute: {module, entryPoint}})
    .then(() => done(null), error => done(String(error)));
"""


@pytest.fixture(scope="module")
def browser(require, start_chromium, tmp_path_factory) -> object:
    """A page of headless Chromium that holds a device with default limits and subgroups."""
    # A page of its own: about:blank is no secure context, without which there is no WebGPU.
    page = tmp_path_factory.mktemp("browser") / "page.html"
    page.write_text("<!doctype html><title>WebGPU</title>")
    driver = start_chromium(*FLAGS)
    driver.set_script_timeout(120)
    driver.get(page.as_uri())
    problem = driver.execute_async_script(OPEN)
    require("browser", problem is None, f"Chromium: {problem}")
    return driver


class Text(NamedTuple):
    """WGSL for a browser, and its entry point."""

    code: str
    entry: str


def text_of(variant: KernelVariant, code: str) -> Text:
    directive = webgpu_kernels.SUBGROUPS if variant.shuffles else ""
    return Text(directive + code, variant.kernel)


MEASURE = Text(webgpu_kernels.SUBGROUPS + subgroups_source(WIDTH), "measure")

SCAN = [Text(*scan_webgpu.source((entry, bases))) for entry in scan_webgpu.FILES for bases in (9, 10)]

ALIGN = [
    Text(*align_webgpu.source(variant))
    for unknown in (False, True)
    for variant in (
        *(AlignVariant("edit", rows, unknown) for rows in (32, align_webgpu.TALLEST["edit"])),
        *(
            AlignVariant(form, align_webgpu.TALLEST[form], unknown, skewed, wide)
            for form in ("linear", "affine")
            for skewed, wide in ((False, False), (True, False), (True, True))
        ),
        *(
            AlignVariant("linear", 32, unknown, steps=PlaneSteps(*steps))
            for steps in ((3, 1, 0, 0, 1), (63, 7, 31, 0, 2))
        ),
        *(
            AlignVariant("affine", 32, unknown, steps=PlaneSteps(*steps))
            for steps in ((13, 8, 5, 5, 1), (63, 31, 40, 30, 1))
        ),
    )
]

WARP = [
    Text(*warp_webgpu.source(WarpVariant(rows, wide, banded)))
    for rows in warp_webgpu.ROWS
    for wide in (False, True)
    for banded in (False, True)
]


def compiled(browser, texts: list[str]) -> list[list[str]]:
    """What the compiler has to say of each text."""
    messages = []
    for first in range(0, len(texts), BATCH):
        part = browser.execute_async_script(COMPILE, texts[first : first + BATCH])
        assert isinstance(part, list), part
        messages += part
    return messages


def test_every_text_compiles_without_messages(browser, shader_texts):
    texts = {str(variant): text_of(variant, code).code for variant, code in shader_texts.items()}
    texts |= {"subgroups": MEASURE.code}
    texts |= {f"scan, {number}: {text.entry}": text.code for number, text in enumerate(SCAN)}
    texts |= {f"align, {number}: {text.entry}": text.code for number, text in enumerate(ALIGN)}
    texts |= {f"warp, {number}": text.code for number, text in enumerate(WARP)}
    messages = compiled(browser, list(texts.values()))
    assert {name: said for name, said in zip(texts, messages, strict=True) if said} == {}


def test_messages_are_seen(browser):
    """A text that the compiler does not accept, one that it warns of, and subgroups without their directive."""
    texts = ["fn f() { let x = 1u + 1.0f; }", "fn f() { return; _ = 1; }", subgroups_source(WIDTH)]
    errors, warnings, undirected = compiled(browser, texts)
    assert errors[0].startswith("error, line 1: ")
    assert warnings[0].startswith("warning, line 1: ")
    assert undirected[0].startswith("error, line ")


def test_pipelines(browser, shader_texts):
    """Within the limits that every device has: the largest shape, which comes last, of each kernel, with shuffles.

    Not forward/long.wgsl, nor what has a barrier a column: the software adapter takes a minute for each of these.
    """
    largest = {variant.kernel: text_of(variant, code) for variant, code in shader_texts.items() if variant.shuffles}
    del largest["forward_long"]
    for text in (*largest.values(), MEASURE, *SCAN, *ALIGN, *WARP):
        assert browser.execute_async_script(MAKE_PIPELINE, *text) is None, text.entry
