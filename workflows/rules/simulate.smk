rule simulate:
    """A genome with known variants, and true alignments of reads of it."""
    output:
        reference="data/{sample}/reference.fa",
        reference_index="data/{sample}/reference.fa.fai",
        truth="data/{sample}/truth.vcf.gz",
        truth_index="data/{sample}/truth.vcf.gz.tbi",
        bam="data/{sample}/reads.bam",
        bam_index="data/{sample}/reads.bam.bai",
        fastq_1="data/{sample}/reads_1.fastq.gz",
        fastq_2="data/{sample}/reads_2.fastq.gz",
    log:
        "logs/simulate/{sample}.log",
    params:
        folder=subpath(output.bam, parent=True),
        size=SIZE,
        seed=lambda wildcards: config["samples"][wildcards.sample]["seed"],
    shell:
        "pairhmm simulate -o {params.folder:q} --sample {wildcards.sample} --seed {params.seed}"
        " --length {params.size[length]} --coverage {params.size[coverage]} 2> {log:q}"
