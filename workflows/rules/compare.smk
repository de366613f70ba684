rule compare:
    """Precision, recall and genotype concordance of a sample, as JSON."""
    input:
        reference=rules.simulate.output.reference,
        truth=rules.simulate.output.truth,
        calls=rules.call.output.calls,
    output:
        "accuracy/{sample}.json",
    script:
        "../scripts/compare.py"


rule summary:
    """All samples in one table, and where the files are."""
    input:
        expand("accuracy/{sample}.json", sample=SAMPLES),
    output:
        "accuracy.txt",
    params:
        samples=SAMPLES,
    script:
        "../scripts/summary.py"
