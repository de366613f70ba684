rule scatter_regions:
    """Pieces of equal work, by the indexes' read counts, cut where no candidate can tell."""
    input:
        reference=named("reference"),
        reference_index=reference_index(),
        alignments=alignments_of,
        indexes=indexes_of,
        candidates=named("candidates"),
        regions=named("regions"),
    output:
        shards=scatter.shard("shards/{{group}}/{scatteritem}.bed"),
    log:
        "logs/scatter_regions/{group}.log",
    benchmark:
        "benchmarks/scatter_regions/{group}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        folder=lambda wildcards, output: os.path.dirname(output.shards[0]),
        pieces=config["pieces"],
        candidates=lambda wildcards, input: optional("-v", input.candidates),
        regions=lambda wildcards, input: optional("-R", input.regions),
        options=config["options"],
    shell:
        "pairhmm scatter -f {input.reference:q} -n {params.pieces} -o {params.folder:q} {params.candidates}"
        " {params.regions} {params.options} {input.alignments:q} 2> {log:q}"
