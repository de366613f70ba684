rule find_viruses:
    """What tiles of viruses say of a sample's reads: which virus is present."""
    input:
        viruses=named("viruses"),
        reads=reads_of,
    output:
        hits="viral/{sample}/hits.tsv",
        samples=temp("viral/{sample}/scan.samples.tsv"),
        signatures="viral/{sample}/scan.signatures.tsv",
    log:
        "logs/find_viruses/{sample}.log",
    benchmark:
        "benchmarks/find_viruses/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        prefix=lambda wildcards, output: output.samples.removesuffix(".samples.tsv"),
    shell:
        "(cat {input.reads:q} | pairhmm scan --signatures {input.viruses:q} --tile 21 --step 3 --max-mismatches 1"
        " -@ {threads} -o {output.hits:q} --summary {params.prefix:q} -) 2> {log:q}"


rule name_virus:
    """The reference that a sample's reads are aligned to: the virus that is present."""
    input:
        viruses=named("viruses"),
        signatures="viral/{sample}/scan.signatures.tsv",
    output:
        reference="viral/{sample}/reference.fa",
        index="viral/{sample}/reference.fa.fai",
        circular=temp("viral/{sample}/circular.txt"),
    log:
        "logs/name_virus/{sample}.log",
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
        gpu=0,
    params:
        circular=config["circular"].split(),
    script:
        "../scripts/name_virus.py"


rule align_viral_reads:
    """A sample's reads on its virus, sorted and indexed."""
    input:
        reference="viral/{sample}/reference.fa",
        reads=reads_of,
    output:
        alignments="viral/{sample}/reads.bam",
        index="viral/{sample}/reads.bam.bai",
    log:
        "logs/align_viral_reads/{sample}.log",
    benchmark:
        "benchmarks/align_viral_reads/{sample}.tsv"
    conda:
        "../envs/minimap2.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        group=r"@RG\tID:{sample}\tSM:{sample}",
        options=config["align_options"],
    shell:
        "(minimap2 -a -t {threads} {params.options} -R {params.group:q} {input.reference:q} {input.reads:q}"
        " | samtools sort --write-index -o {output.alignments:q}##idx##{output.index:q} -) 2> {log:q}"


rule call_mixture:
    """The alleles of a sample, each with its fraction."""
    input:
        reference="viral/{sample}/reference.fa",
        reference_index="viral/{sample}/reference.fa.fai",
        circular="viral/{sample}/circular.txt",
        alignments="viral/{sample}/reads.bam",
        index="viral/{sample}/reads.bam.bai",
        primers=named("primers"),
    output:
        calls="viral/{sample}/calls.vcf.gz",
        index="viral/{sample}/calls.vcf.gz.tbi",
        haplotypes="viral/{sample}/haplotypes.tsv",
    log:
        "logs/call_mixture/{sample}.log",
    benchmark:
        "benchmarks/call_mixture/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=0,
    params:
        primers=lambda wildcards, input: optional("--primers", input.primers),
        options=config["mixture_options"],
    shell:
        "pairhmm call --mixture -f {input.reference:q} $(cat {input.circular:q}) {params.primers} -@ {threads}"
        " {params.options} --haplotype-table {output.haplotypes:q} -o {output.calls:q} {input.alignments:q} 2> {log:q}"


rule consensus:
    """The sequence of a sample's virus."""
    input:
        reference="viral/{sample}/reference.fa",
        reference_index="viral/{sample}/reference.fa.fai",
        circular="viral/{sample}/circular.txt",
        alignments="viral/{sample}/reads.bam",
        index="viral/{sample}/reads.bam.bai",
        calls="viral/{sample}/calls.vcf.gz",
        primers=named("primers"),
    output:
        consensus="viral/{sample}/consensus.fa",
    log:
        "logs/consensus/{sample}.log",
    benchmark:
        "benchmarks/consensus/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpu=0,
    params:
        primers=lambda wildcards, input: optional("--primers", input.primers),
        options=config["consensus_options"],
    shell:
        "pairhmm consensus -f {input.reference:q} -b {input.alignments:q} $(cat {input.circular:q}) {params.primers}"
        " {params.options} -o {output.consensus:q} {input.calls:q} 2> {log:q}"


rule gather_consensus:
    """The sequences of all samples."""
    input:
        consensus=expand("viral/{sample}/consensus.fa", sample=VIRAL),
    output:
        consensus=report(
            "viral/consensus.fa", caption="../report/consensus.rst", category="Viruses"
        ),
    log:
        "logs/gather_consensus.log",
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
        gpu=0,
    shell:
        "cat {input.consensus:q} > {output.consensus:q} 2> {log:q}"


rule report_viral_sample:
    """One HTML file: depth along the genome, fractions of alleles, dropouts of tiles, and what the scan says."""
    input:
        reference="viral/{sample}/reference.fa",
        reference_index="viral/{sample}/reference.fa.fai",
        circular="viral/{sample}/circular.txt",
        calls="viral/{sample}/calls.vcf.gz",
        alignments="viral/{sample}/reads.bam",
        index="viral/{sample}/reads.bam.bai",
        tiles=named("primers"),
        hits="viral/{sample}/hits.tsv",
        signatures="viral/{sample}/scan.signatures.tsv",
        timings=[
            f"benchmarks/{job}/{{sample}}.tsv"
            for job in (
                "find_viruses",
                "align_viral_reads",
                "call_mixture",
                "consensus",
            )
        ],
    output:
        html=report(
            "viral/{sample}/report.html",
            caption="../report/report.rst",
            category="Viruses",
            labels={"samples": "{sample}"},
        ),
        multiqc=directory("viral/{sample}/multiqc"),
    log:
        "logs/report_viral_sample/{sample}.log",
    benchmark:
        "benchmarks/report_viral_sample/{sample}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpu=0,
    params:
        tiles=lambda wildcards, input: optional("--tiles", input.tiles),
        timings=lambda wildcards, input: repeated("--timings", input.timings),
        title=config["title"],
    shell:
        "pairhmm report -o {output.html:q} --mqc {output.multiqc:q} --title {params.title:q} -f {input.reference:q}"
        " --calls {input.calls:q} --alignments {input.alignments:q} {params.tiles} {params.timings} --hits {input.hits:q}"
        " $(cat {input.circular:q}) --hits-sample {wildcards.sample:q} --scan-summary {input.signatures:q} 2> {log:q}"
