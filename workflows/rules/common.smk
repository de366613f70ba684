"""Functions that the rules share: the configuration and the sample sheet, checked, and what follows from them."""

import os
import re
import shlex
import sys

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

# What is called or scanned together goes by this name.
COHORT = "cohort"


def stop(message):
    """End before any job starts, with one line that says why."""
    sys.exit(f"pairhmm: error: {message}")


def check_config(config):
    """Validate the configuration; defaults fill in what it leaves out."""
    complain = check(config, "config")
    if complain:
        stop(f"config: {complain}; config/README.md explains every key")
    if not config["check_files"]:
        return
    for key in (
        "reference",
        "signatures",
        "candidates",
        "regions",
        "ploidy_file",
        "viruses",
        "primers",
    ):
        if config[key] and not os.path.isfile(config[key]):
            stop(f"config: {key}: no such file: {config[key]}; check the path")


# The commands that take each key of options, with what they can't do without.
OPTIONS = {
    "options": {
        "scatter": ["-f", "reference", "-n", "1", "-o", "shards"],
        "likelihoods": ["-f", "reference"],
        "call": ["-f", "reference"],
    },
    "call_options": {"call": ["-f", "reference"]},
    "scan_options": {"scan": ["--signatures", "signatures"]},
    "mixture_options": {"call": ["-f", "reference", "--mixture"]},
    "consensus_options": {"consensus": ["-f", "reference", "-b", "alignments"]},
    "sketch_options": {"map sketch": ["-o", "sketches"]},
    "draw_options": {"map draw": ["-o", "positions"]},
}


def check_options(config):
    """Require options that the commands take, before any job gives them."""
    from pairhmm.cli.workflow import why_wrong
    from pairhmm.errors import InputError

    if not workflow.is_main_process:
        return
    for key, commands in OPTIONS.items():
        for command, required in commands.items() if config[key] else ():
            try:
                wrong = why_wrong(command, config[key], required)
            except InputError as error:
                wrong = str(error) if config["check_files"] else ""
            if wrong:
                stop(
                    f"config: {key}: {wrong}; pairhmm {command} --help lists what it takes"
                )


def check(instance, schema):
    """What a validation has found, and where; empty where all is well."""
    try:
        validate(instance, workflow.source_path(f"../schemas/{schema}.schema.yaml"))
    except WorkflowError as error:
        found = re.search(r"ValidationError: (.*)", str(error))
        place = re.search(r"On instance((?:\[.*?\])+):", str(error))
        key = ".".join(re.findall(r"\['?(.*?)'?\]", place[1])) + ": " if place else ""
        return key + (found[1] if found else " ".join(str(error).split()))
    return ""


def read_samples(config):
    """The sample sheet's rows by name; the process that starts the jobs opens their files too."""
    try:
        from pairhmm.errors import InputError
        from pairhmm.files.sample_sheet import read_sheet
        from pairhmm.cli.workflow import check_files
    except ModuleNotFoundError as error:
        stop(
            f"{error}: Snakemake needs it beside itself; pip install 'pairhmm[workflow]'"
        )
    try:
        rows = read_sheet(config["samples"])
        for row in rows:
            check_row(row, config)
        if config["check_files"] and workflow.is_main_process:
            check_files(config["samples"], rows, config["reference"])
    except InputError as error:
        stop(error)
    return {row.sample: row for row in rows}


def check_row(row, config):
    """A row of the sheet by its schema, and with the configuration."""
    cells = {
        "sample": row.sample,
        "alignments": list(row.alignments),
        "reads": list(row.reads),
        "sex": row.sex,
        "ploidy": row.ploidy,
    }
    complain = check(cells, "samples")
    if not row.alignments and not row.reads:
        complain = "has neither alignments nor reads; name a file, or remove the line"
    elif row.alignments and not config["reference"]:
        complain = "has alignments, and the config names no reference; add it"
    elif row.reads and not config["signatures"] and not config["viruses"]:
        complain = "has reads, and the config names neither signatures nor viruses; add them, or empty the cell"
    if complain:
        stop(f"{config['samples']}: {row.place} ({row.sample}): {complain}")


def check_model(config):
    """Require a model that takes the keys of the profile model, and parameters that it can read."""
    from pairhmm.errors import InputError
    from pairhmm.models.profile import read_parameters

    if config["model"] != "profile":
        defaults = {"parameters": "normalised", "join_mates": False, "families": "none"}
        for key, default in defaults.items():
            if config[key] != default:
                stop(f"config: {key}: is for the profile model; add model: profile")
    if config["check_files"] and workflow.is_main_process:
        try:
            for path in parameters_file():
                read_parameters(path)
        except InputError as error:
            stop(f"config: parameters: {error}")


def groups_of(samples, joint):
    """The samples whose alignments are called together, by the name of their outputs."""
    aligned = [name for name, row in samples.items() if row.alignments]
    return (
        {COHORT: aligned} if joint and aligned else {name: [name] for name in aligned}
    )


def reports_of(groups, scanned, joint, has_map):
    """Of each report its group of calls, if any, and its scanned samples. What compares samples is in the cohort's."""
    if joint:
        has_any = groups or scanned or has_map
        return {COHORT: (COHORT if groups else None, scanned)} if has_any else {}
    names = [*groups, *(name for name in scanned if name not in groups)]
    reports = {
        name: (
            name if name in groups else None,
            [one for one in scanned if one == name],
        )
        for name in names
    }
    return reports | ({COHORT: (None, [])} if has_map else {})


def one_of(names):
    """A wildcard's pattern."""
    return "|".join(map(re.escape, names)) or "none"


def given(paths):
    """Files that the configuration names, which stay as they are where a module's outputs get a prefix."""
    if workflow.storage_settings.default_storage_provider is not None:
        return paths
    return local(paths)


def named(key):
    """The file that a key of the configuration names; none where it is empty."""
    return given([config[key]] if config[key] else [])


def parameters_file():
    """The file of the profile model's parameters; none where they are built in."""
    from pairhmm.models.profile import PRESETS

    return given([] if config["parameters"] in PRESETS else [config["parameters"]])


def index_of(path):
    """The index of a file of alignments: the one that is there, or the usual one."""
    endings = (".crai",) if path.endswith(".cram") else (".bai", ".csi")
    stem = os.path.splitext(path)[0]
    found = [f"{name}{ending}" for name in (path, stem) for ending in endings]
    return next(filter(os.path.exists, found), found[0])


def reference_index():
    """The reference's index; none where its folder can't be written, and each job makes its own."""
    index = f"{config['reference']}.fai"
    made = os.path.exists(index) or not config["check_files"]
    return given([index] if config["reference"] and made else [])


def calls_index():
    """The ending of an index of calls: a .tbi holds no position beyond 2^29."""
    index = f"{config['reference']}.fai"
    if not os.path.exists(index):
        return ".tbi"
    with open(index) as lines:
        longest = max(int(line.split("\t")[1]) for line in lines)
    return ".csi" if longest > 2**29 else ".tbi"


def alignments_of(wildcards):
    """The alignments of a group."""
    group = GROUPS[wildcards.group]
    return given([path for name in group for path in SAMPLES[name].alignments])


def indexes_of(wildcards):
    """Their indexes."""
    return given([index_of(path) for path in alignments_of(wildcards)])


def reads_of(wildcards):
    """What is scanned of a sample."""
    return given(list(SAMPLES[wildcards.sample].reads))


def sketched_of(wildcards):
    """What is sketched of a sample: its reads, or else its alignments."""
    row = SAMPLES[wildcards.sample]
    return given(list(row.reads or row.alignments))


def map_tables():
    """The tables that compare samples, by the option of the report that takes them."""
    tables = {}
    if RELATED:
        tables |= {"pairs": "map/pairs.tsv", "sample_checks": "map/samples.tsv"}
    if MAPPED:
        tables |= {"distances": "map/distances.tsv", "map": "map/positions.tsv"}
    return tables


def optional(option, path):
    """An option and its file; nothing without a file."""
    return shlex.join([option, str(path)]) if path else ""


def model_options():
    """`--model`, with parameters that are built in, and what joins reads; nothing for the default model."""
    if config["model"] == "gatk":
        return ""
    built_in = [] if parameters_file() else ["--parameters", config["parameters"]]
    joined = ["--join-mates"] if config["join_mates"] else []
    families = (
        [] if config["families"] == "none" else ["--families", config["families"]]
    )
    return shlex.join(["--model", config["model"], *built_in, *joined, *families])


def ploidy_options(wildcards):
    """`--sample-ploidy` and `--sample-sex` for what the sheet says of a group's samples, and the rules of sexes."""
    words = []
    for name in GROUPS[wildcards.group]:
        row = SAMPLES[name]
        words += ["--sample-ploidy", f"{name}={row.ploidy}"] if row.ploidy else []
        has_rules = row.sex and config["ploidy_file"]
        words += ["--sample-sex", f"{name}={row.sex}"] if has_rules else []
    return shlex.join(words)


def compute_options(wildcards, resources):
    """What computes: the GPUs that the job was given, each free of other jobs, or else the CPU's backend."""
    gpus = int(resources.get("gpu", 0))
    if not gpus:
        return f"--backend {config['backend']}"
    return f"--backend {config['gpu_backend']} --device {','.join(['free'] * gpus)}"


def repeated(option, paths):
    """An option before each of some paths."""
    return shlex.join([word for path in paths for word in (option, str(path))])


def report_inputs(wildcards):
    """What a report is made from."""
    group, scanned = REPORTS[wildcards.group]
    inputs = {"reference": named("reference"), "sheet": named("samples")}
    if group:
        inputs |= {
            "calls": f"calls/{group}.vcf.gz",
            "likelihoods": f"likelihoods/{group}.parquet",
            "haplotypes": f"likelihoods/{group}.haplotypes.parquet",
            "alignments": alignments_of(wildcards),
            "indexes": indexes_of(wildcards),
        }
    if scanned:
        inputs |= {
            "hits": [f"scan/{sample}.hits.tsv" for sample in scanned],
            "scan_summary": [f"scan/{sample}.signatures.tsv" for sample in scanned],
            "signatures": named("signatures"),
        }
    if wildcards.group == COHORT:
        inputs |= map_tables()
    return inputs


def report_timings(wildcards):
    """The benchmark files of the jobs behind a report."""
    group, scanned = REPORTS[wildcards.group]
    shards = [
        f"{number + 1}-of-{config['pieces']}" for number in range(config["pieces"])
    ]
    jobs = [f"scan/{sample}" for sample in scanned]
    if group:
        jobs += [
            f"{verb}/{group}"
            for verb in ("scatter_regions", "gather_likelihoods", "gather_calls")
        ]
        jobs += [
            f"{verb}/{group}/{shard}"
            for verb in ("likelihoods", "call")
            for shard in shards
        ]
    if wildcards.group == COHORT:
        jobs += ["relate"] if RELATED else []
        jobs += [f"sketch/{sample}" for sample in MAPPED]
        jobs += ["distances", "map"] if MAPPED else []
    return [f"benchmarks/{job}.tsv" for job in jobs]


def report_options(wildcards, input):
    """The inputs of a report as options."""
    names = (
        "calls",
        "likelihoods",
        "alignments",
        "hits",
        "scan_summary",
        "signatures",
        "timings",
        *map_tables(),
        *(("sheet",) if wildcards.group == COHORT else ()),
    )
    files = {name: input.get(name) or [] for name in names}
    one_each = [
        repeated(
            f"--{name.replace('_', '-')}", [paths] if isinstance(paths, str) else paths
        )
        for name, paths in files.items()
    ]
    scanned = repeated("--hits-sample", REPORTS[wildcards.group][1])
    return " ".join([optional("-f", input.reference), *filter(None, one_each), scanned])
