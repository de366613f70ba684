rule scan:
    """Signatures in a sample's reads: every hit, and sums over reads and over signatures."""
    input:
        signatures=named("signatures"),
        reads=reads_of,
        reference=named("reference"),
    output:
        hits="scan/{sample}.hits.tsv",
        samples="scan/{sample}.samples.tsv",
        signatures="scan/{sample}.signatures.tsv",
        multiqc="scan/{sample}_mqc.json",
    log:
        "logs/scan/{sample}.log",
    benchmark:
        "benchmarks/scan/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=0,
    params:
        prefix=lambda wildcards, output: output.samples.removesuffix(".samples.tsv"),
        reference=lambda wildcards, input: optional("-f", input.reference),
        compute=compute_options,
        options=config["scan_options"],
    shell:
        "pairhmm scan --signatures {input.signatures:q} {params.reference} {params.compute} -@ {threads} {params.options}"
        " -o {output.hits:q} --summary {params.prefix:q} --multiqc {output.multiqc:q} --multiqc-sample {wildcards.sample:q}"
        " {input.reads:q} 2> {log:q}"


rule gather_scans:
    """The hits of all samples in one table, and one row a sample and signature in another."""
    input:
        hits=expand("scan/{sample}.hits.tsv", sample=SCANNED),
        signatures=expand("scan/{sample}.signatures.tsv", sample=SCANNED),
    output:
        hits=report(
            "scan/cohort.hits.tsv",
            caption="../report/hits.rst",
            category="Scan",
            labels={"table": "hits"},
        ),
        signatures=report(
            "scan/cohort.signatures.tsv",
            caption="../report/signatures.rst",
            category="Scan",
            labels={"table": "signatures"},
        ),
    log:
        "logs/gather_scans.log",
    benchmark:
        "benchmarks/gather_scans.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpu=0,
    params:
        samples=repeated("--sample", SCANNED),
    shell:
        "(pairhmm gather -o {output.hits:q} {params.samples} {input.hits:q}"
        " && pairhmm gather -o {output.signatures:q} {params.samples} {input.signatures:q}) 2> {log:q}"
