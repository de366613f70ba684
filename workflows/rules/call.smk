rule call:
    """Genotypes of a shard: of the candidates that were given, or of those that the reads of all samples show."""
    input:
        reference=named("reference"),
        reference_index=reference_index(),
        alignments=alignments_of,
        indexes=indexes_of,
        candidates=named("candidates"),
        parameters=parameters_file(),
        ploidy=named("ploidy_file"),
        shard="shards/{group}/{scatteritem}.bed",
    output:
        calls=temp("calls/{group}/{scatteritem}.vcf"),
    log:
        "logs/call/{group}/{scatteritem}.log",
    benchmark:
        "benchmarks/call/{group}/{scatteritem}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=0,
    params:
        candidates=lambda wildcards, input: optional("-v", input.candidates),
        ploidy=lambda wildcards, input: optional("--ploidy-file", input.ploidy),
        samples=ploidy_options,
        compute=compute_options,
        model=model_options(),
        parameters=lambda wildcards, input: optional("--parameters", input.parameters),
        options=config["options"],
        call_options=config["call_options"],
    shell:
        "pairhmm call -f {input.reference:q} -R {input.shard:q} {params.candidates} {params.ploidy} {params.samples}"
        " {params.compute} -@ {threads} {params.model} {params.parameters} {params.options} {params.call_options}"
        " -o {output.calls:q} {input.alignments:q} 2> {log:q}"


rule gather_calls:
    """Genotypes of all shards, in one file with its index."""
    input:
        calls=gather.shard("calls/{{group}}/{scatteritem}.vcf"),
    output:
        calls=report(
            "calls/{group}.vcf.gz",
            caption="../report/calls.rst",
            category="Calls",
            labels={"samples": "{group}"},
        ),
        index=f"calls/{{group}}.vcf.gz{calls_index()}",
    log:
        "logs/gather_calls/{group}.log",
    benchmark:
        "benchmarks/gather_calls/{group}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    shell:
        "pairhmm gather -o {output.calls:q} {input.calls:q} 2> {log:q}"
