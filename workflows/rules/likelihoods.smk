rule likelihoods:
    """The likelihood of every read under every haplotype of a shard."""
    input:
        reference=named("reference"),
        reference_index=reference_index(),
        alignments=alignments_of,
        indexes=indexes_of,
        candidates=named("candidates"),
        parameters=parameters_file(),
        shard="shards/{group}/{scatteritem}.bed",
    output:
        table=temp("likelihoods/{group}/{scatteritem}.parquet"),
        haplotypes=temp("likelihoods/{group}/{scatteritem}.haplotypes.parquet"),
    log:
        "logs/likelihoods/{group}/{scatteritem}.log",
    benchmark:
        "benchmarks/likelihoods/{group}/{scatteritem}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=0,
    params:
        candidates=lambda wildcards, input: optional("-v", input.candidates),
        compute=compute_options,
        model=model_options(),
        parameters=lambda wildcards, input: optional("--parameters", input.parameters),
        options=config["options"],
    shell:
        "pairhmm likelihoods -f {input.reference:q} -R {input.shard:q} {params.candidates} {params.compute}"
        " -@ {threads} {params.model} {params.parameters} {params.options} -o {output.table:q}"
        " {input.alignments:q} 2> {log:q}"


rule gather_likelihoods:
    """Likelihoods of all shards in one table, and the table of their haplotypes."""
    input:
        tables=gather.shard("likelihoods/{{group}}/{scatteritem}.parquet"),
        haplotypes=gather.shard(
            "likelihoods/{{group}}/{scatteritem}.haplotypes.parquet"
        ),
    output:
        table="likelihoods/{group}.parquet",
        haplotypes="likelihoods/{group}.haplotypes.parquet",
    log:
        "logs/gather_likelihoods/{group}.log",
    benchmark:
        "benchmarks/gather_likelihoods/{group}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    shell:
        "(pairhmm gather -o {output.table:q} {input.tables:q}"
        " && pairhmm gather -o {output.haplotypes:q} {input.haplotypes:q}) 2> {log:q}"
