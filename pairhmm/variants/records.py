"""Which records calls have, and which filters these get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pairhmm.errors import OptionError
from pairhmm.options import Within, check_fields
from pairhmm.variants.genotypes import MAX_GQ
from pairhmm.variants.reference_confidence import GQ_BANDS

MANY_UNFIT = 0.2
"""The share of reads that fit no haplotype from which on it is said, of a run and of a site.

Among paralogs, one in six real short reads fits none.
"""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Which records calls have, and which filters these get.

    Attributes
    ----------
    gvcf : bool
        Whether the file is a gVCF: blocks of the reference lie between the records.
    gq_bands : tuple of int
        GQ from which on each further band of blocks begins, ascending, from 1 to 99.
    mnv : bool
        Whether neighbouring SNVs that all samples have on the same chromosomes are one record.
    min_qd : float or None
        QD below which a record gets the filter LowQD.
    max_fs : float or None
        FS above which a record gets the filter StrandBias.
    max_sor : float or None
        SOR above which a record gets the filter StrandBias.
    min_mq : float or None
        MQ below which a record gets the filter LowMQ.
    """

    gvcf: bool = False
    gq_bands: tuple[int, ...] = GQ_BANDS
    mnv: bool = False
    min_qd: Annotated[float | None, Within(0)] = None
    max_fs: Annotated[float | None, Within(0)] = None
    max_sor: Annotated[float | None, Within(0)] = None
    min_mq: Annotated[float | None, Within(0)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        bands = self.gq_bands
        if list(bands) != sorted(set(bands)) or not all(1 <= limit <= MAX_GQ for limit in bands):
            raise OptionError("gq_bands", bands, f"are not ascending numbers from 1 to {MAX_GQ}")
