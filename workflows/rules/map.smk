rule sketch:
    """A MinHash sketch of a sample: of its reads, or else of its alignments."""
    input:
        files=sketched_of,
        reference=named("reference"),
        reference_index=reference_index(),
    output:
        sketches="map/{sample}.sketches",
    log:
        "logs/sketch/{sample}.log",
    benchmark:
        "benchmarks/sketch/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=0,
    params:
        reference=lambda wildcards, input: optional("-f", input.reference),
        options=config["sketch_options"],
    shell:
        "pairhmm map sketch -o {output.sketches:q} --sample {wildcards.sample:q} {params.reference} -@ {threads}"
        " {params.options} {input.files:q} 2> {log:q}"


rule distances:
    """How alike each two samples are, by their sketches."""
    input:
        sketches=expand("map/{sample}.sketches", sample=MAPPED),
    output:
        distances=report(
            "map/distances.tsv",
            caption="../report/distances.rst",
            category="Map",
            labels={"table": "distances"},
        ),
    log:
        "logs/distances.log",
    benchmark:
        "benchmarks/distances.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        compute=compute_options,
    shell:
        "pairhmm map distances {params.compute} -@ {threads} -o {output.distances:q} {input.sketches:q} 2> {log:q}"


rule relate:
    """Which samples are related, exchanged or contaminated, held against the sheet."""
    input:
        tables=expand("likelihoods/{group}.parquet", group=GROUPS),
        haplotypes=expand("likelihoods/{group}.haplotypes.parquet", group=GROUPS),
        sheet=named("samples"),
    output:
        pairs=report(
            "map/pairs.tsv",
            caption="../report/pairs.rst",
            category="Map",
            labels={"table": "pairs"},
        ),
        samples=report(
            "map/samples.tsv",
            caption="../report/checks.rst",
            category="Map",
            labels={"table": "samples"},
        ),
    log:
        "logs/relate.log",
    benchmark:
        "benchmarks/relate.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    shell:
        "pairhmm map relate --sheet {input.sheet:q} -o {output.pairs:q} --sample-table {output.samples:q}"
        " {input.tables:q} 2> {log:q}"


rule map:
    """The samples on a plane: alike samples lie close together."""
    input:
        sketches=expand("map/{sample}.sketches", sample=MAPPED),
        calls=expand("calls/{group}.vcf.gz", group=GROUPS),
        sheet=named("samples"),
    output:
        positions="map/positions.tsv",
        picture=report(
            "map/map.svg",
            caption="../report/map.rst",
            category="Map",
            labels={"table": "map"},
        ),
    log:
        "logs/map.log",
    benchmark:
        "benchmarks/map.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        sketches=lambda wildcards, input: repeated("--kmers", input.sketches),
        calls=lambda wildcards, input: repeated("--genotypes", input.calls),
        compute=compute_options,
        options=config["draw_options"],
    shell:
        "pairhmm map draw {params.sketches} {params.calls} --sheet {input.sheet:q} {params.compute} -@ {threads}"
        " {params.options} -o {output.positions:q} --svg {output.picture:q} 2> {log:q}"
