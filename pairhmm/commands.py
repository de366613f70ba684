"""The registry of subcommands: `pairhmm/__init__.pyi`, beside it, registers the public functions."""

COMMANDS = {
    "call": "pairhmm.calling.cli",
    "likelihoods": "pairhmm.calling.cli_likelihoods",
    "explain": "pairhmm.explain.cli",
    "scatter": "pairhmm.calling.cli:scatter_command",
    "gather": "pairhmm.calling.gather",
    "consensus": "pairhmm.consensus.cli",
    "scan": "pairhmm.scan.cli",
    "align": "pairhmm.align.cli",
    "warp": "pairhmm.warp.cli",
    "map": "pairhmm.map.cli",
    "fit": "pairhmm.fit.cli",
    "calibrate-str": "pairhmm.fit.cli_calibrate_str",
    "profiles": "pairhmm.calling.cli_likelihoods:profiles_command",
    "forward": "pairhmm.forward.cli",
    "workflow": "pairhmm.cli.workflow",
    "report": "pairhmm.report.cli",
    "page": "pairhmm.report.cli_page",
    "validate": "pairhmm.forward.cli_validate",
    "simulate": "pairhmm.simulate.cli",
    "bench": "pairhmm.bench.cli",
    "devices": "pairhmm.bench.cli_devices",
}
"""The module of each subcommand, in the order of the help page; its function is `command`, or what a colon names.

It is imported when its subcommand runs.
"""
