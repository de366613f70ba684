"""The relations of two samples that are told apart, and the numbers by which arrays name them."""

from __future__ import annotations

import numpy as np

RELATIONS = ("unrelated", "related", "siblings", "parent-child", "identical")
"""Names, by number. Related is of the second degree, such as half-siblings."""
UNRELATED, RELATED, SIBLINGS, PARENT_CHILD, IDENTICAL = range(len(RELATIONS))
UNKNOWN = -1
"""The number of a relation that is not known."""

IBD = np.array(
    [
        [1.0, 0.0, 0.0],
        [0.5, 0.5, 0.0],
        [0.25, 0.5, 0.25],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ]
)
"""Probability that two samples of a relation have 0, 1 and 2 alleles from a common ancestor, (relations, 3).

Thompson (1975), "The estimation of pairwise relationships", table 1.
"""
