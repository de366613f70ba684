rule likelihoods:
    """The likelihood of every read under every haplotype, bgzipped and indexed."""
    input:
        reference=rules.simulate.output.reference,
        bam=rules.simulate.output.bam,
        bam_index=rules.simulate.output.bam_index,
    output:
        table="likelihoods/{sample}.tsv.gz",
        table_index="likelihoods/{sample}.tsv.gz.tbi",
        haplotypes="likelihoods/{sample}.haplotypes.tsv.gz",
    log:
        "logs/likelihoods/{sample}.log",
    threads: config["threads"]
    params:
        backend=config["backend"],
    shell:
        "pairhmm likelihoods -f {input.reference:q} --backend {params.backend} -@ {threads}"
        " -o {output.table:q} {input.bam:q} 2> {log:q}"


rule call:
    """Genotypes, with candidates found in the reads."""
    input:
        reference=rules.simulate.output.reference,
        bam=rules.simulate.output.bam,
        bam_index=rules.simulate.output.bam_index,
    output:
        calls="calls/{sample}.vcf.gz",
    log:
        "logs/call/{sample}.log",
    threads: config["threads"]
    params:
        backend=config["backend"],
    shell:
        "pairhmm call -f {input.reference:q} --backend {params.backend} -@ {threads}"
        " -o {output.calls:q} {input.bam:q} 2> {log:q}"
