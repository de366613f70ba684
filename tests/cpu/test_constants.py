"""Numbers that Python and C++ both have are the same: Python needs its own where nothing is compiled."""

import numpy as np
import pytest

from pairhmm import native as compiled
from pairhmm.models.batch import ROW_SIZE
from pairhmm.models.scaling import LEAST_SUM
from pairhmm.scan.base import HIT_FIELDS, RUN_FIELDS
from pairhmm.sequences.letters import ANY, PHRED_OFFSET, encode
from pairhmm.variants.genotypes import INFORMATIVE, MANY_UNFIT, MAX_GQ, MAX_QUAL


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANY", ANY),
        ("CODE_OF_N", encode("N")[0]),
        ("LEAST_SUM", np.float32(LEAST_SUM)),
        ("PHRED_OFFSET", PHRED_OFFSET),
        ("ROW_SIZE", ROW_SIZE),
        ("HIT_WORDS", len(HIT_FIELDS)),
        ("RUN_WORDS", len(RUN_FIELDS)),
        ("INFORMATIVE", INFORMATIVE),
        ("MANY_UNFIT", MANY_UNFIT),
        ("MAX_GQ", MAX_GQ),
        ("MAX_QUAL", MAX_QUAL),
    ],
)
def test_cpp_and_python_agree(require, name, value):
    require("cpu", compiled.is_compiled(), "the compiled part is not installed")
    assert getattr(compiled.native, name) == value
