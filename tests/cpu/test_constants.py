"""Numbers that Python and C++ both have are the same: Python needs its own where nothing is compiled."""

import numpy as np
import pytest

from pairhmm.alignments.blocks import NO_INDEL_QUALITY
from pairhmm.models.batch import ROW_SIZE
from pairhmm.models.scaling import LEAST_SUM
from pairhmm.native import is_compiled, native
from pairhmm.scan.base import HIT_FIELDS, RUN_FIELDS
from pairhmm.sequences.letters import ANY, HIGHEST_QUALITY, PHRED_OFFSET, READ_LETTERS, encode
from pairhmm.variants.genotypes import INFORMATIVE, MANY_UNFIT, MAX_GENOTYPES, MAX_GQ
from pairhmm.variants.regions import REPEAT_REACH
from pairhmm.variants.variant import MAX_SHIFT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANY", ANY),
        ("CODE_OF_N", encode("N")[0]),
        ("NO_INDEL_QUALITY", NO_INDEL_QUALITY),
        ("READ_CODES", len(READ_LETTERS)),
        ("PHREDS", HIGHEST_QUALITY + 1),
        ("LEAST_SUM", np.float32(LEAST_SUM)),
        ("PHRED_OFFSET", PHRED_OFFSET),
        ("ROW_SIZE", ROW_SIZE),
        ("HIT_WORDS", len(HIT_FIELDS)),
        ("RUN_WORDS", len(RUN_FIELDS)),
        ("INFORMATIVE", INFORMATIVE),
        ("MANY_UNFIT", MANY_UNFIT),
        ("MAX_GENOTYPES", MAX_GENOTYPES),
        ("MAX_GQ", MAX_GQ),
        ("MAX_SHIFT", MAX_SHIFT),
        ("REPEAT_REACH", REPEAT_REACH),
    ],
)
def test_cpp_and_python_agree(require, name, value):
    require("cpu", is_compiled(), "the compiled part is not installed")
    assert getattr(native, name) == value
