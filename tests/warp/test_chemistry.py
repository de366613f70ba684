"""What runs say of their molecules and pores."""

import pytest

from pairhmm.warp.chemistry import direct_rna, pore_of_run


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"experiment_type": "rna"}, "experiment_type rna"),
        ({"experiment_type": "internal_rna"}, "experiment_type internal_rna"),
        ({"experiment_type": "genomic_dna", "sequencing_kit": "sqk-rna004"}, "sequencing_kit sqk-rna004"),
        ({"sequencing_kit": "SQK-RNA002"}, "sequencing_kit SQK-RNA002"),
        ({"flow_cell_product_code": "FLO-PRO004RA"}, "flow_cell_product_code FLO-PRO004RA"),
        (
            {"protocol_name": "sequencing/sequencing_MIN106_RNA:FLO-MIN106:SQK-RNA002"},
            "protocol_name sequencing/sequencing_MIN106_RNA:FLO-MIN106:SQK-RNA002",
        ),
        ({"experiment_type": "genomic_dna", "sequencing_kit": "sqk-lsk109"}, ""),
        ({"experiment_type": "cdna", "sequencing_kit": "sqk-pcs109"}, ""),
        ({"sample_id": "rna_virus"}, ""),
        ({}, ""),
    ],
)
def test_direct_rna(run, told):
    assert direct_rna(run) == told


@pytest.mark.parametrize(
    ("run", "pore"),
    [
        ({"exp_script_name": "sequencing\\sequencing_MIN106_DNA:FLO-MIN106:SQK-LSK109:False"}, "R9"),
        ({"flow_cell_product_code": "FLO-PRO114M", "sequencing_kit": "SQK-LSK114"}, "R10"),
        ({"sequencing_kit": "sqk-rbk114-24"}, "R10"),
        ({"flow_cell_product_code": "FLO-MIN106", "sequencing_kit": "SQK-LSK114"}, ""),
        ({"sequencing_kit": "sqk-lsk109"}, ""),
        ({}, ""),
    ],
)
def test_pores(run, pore):
    assert pore_of_run(run) == pore
