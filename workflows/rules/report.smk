rule report:
    """One HTML file that opens from disk: calls, the likelihoods behind them, hits and timings."""
    input:
        unpack(report_inputs),
        timings=report_timings,
    output:
        html=report(
            "report/{group}.html",
            caption="../report/report.rst",
            category="Report",
            labels={"samples": "{group}"},
        ),
        multiqc=directory("report/{group}_multiqc"),
    log:
        "logs/report/{group}.log",
    benchmark:
        "benchmarks/report/{group}.tsv"
    conda:
        "../envs/pairhmm.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=0,
    params:
        options=report_options,
        title=config["title"],
    shell:
        "pairhmm report -o {output.html:q} --mqc {output.multiqc:q} --title {params.title:q} {params.options}"
        " 2> {log:q}"
