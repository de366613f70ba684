"""Writes the result of a fit as TOML, with figures in comments, and its rounds as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pairhmm.fit import gatk_model, profile_model
from pairhmm.fit.by_copies import CLASSES
from pairhmm.fit.fit import Fitted
from pairhmm.fit.gatk_model import GatkFit
from pairhmm.fit.maximisation import Round
from pairhmm.fit.profile_model import ProfileFit
from pairhmm.models.gatk import MOST_REPEATS, GatkOptions
from pairhmm.models.parameter_file import BY_COPIES
from pairhmm.models.profile import LEAVING, LETTERS, OPENING, STARTS
from pairhmm.sequences.letters import HIGHEST_QUALITY

_CLASSES = f"in a tandem repeat of 1 (no repeat), 2, ... {MOST_REPEATS} copies"

ROUNDS_HEADER = "#pairs\tround\treads\tlog10_likelihood\tlog10_likelihood_per_read\tlog10_with_prior\n"


def rounds_table(rounds: Iterable[Round]) -> Iterator[str]:
    """Lines of the table of rounds."""
    yield ROUNDS_HEADER
    for state in rounds:
        likelihood = f"{state.log10:.6f}\t{state.log10 / state.reads:.9f}\t{state.objective:.6f}"
        yield f"{state.pairs}\t{state.number}\t{state.reads}\t{likelihood}\n"


def profile_toml(fitted: Fitted[ProfileFit], source: str) -> str:
    """The parameters as TOML for `--parameters`. `source` says what they were fitted to."""
    model = fitted.model.model
    start = next(name for name, start in STARTS.items() if start == model.start)
    lines = [*_head("profile", fitted, source), f'start = "{start}"', "", "[match]  # eps_M(a, h) for h = A C G T N"]
    for a, letter in enumerate(LETTERS):
        lines.append(f"{letter} = [{', '.join(map(_number, model.match[a]))}]")
    lines += ["", "[insertion]  # eps_I(a, -)"]
    lines += [f"{letter} = {_number(model.insertion[a])}" for a, letter in enumerate(LETTERS)]
    lines += ["", f"[transitions]  # {' '.join(OPENING)} are means over all bases: {BY_COPIES} replaces them"]
    lines += [f"{name} = {_number(model.transitions[name])}" for names in LEAVING.values() for name in names]
    lines += ["", f"[{BY_COPIES}]  # {_CLASSES}"]
    rates = zip(OPENING, fitted.model.rates, strict=True)
    lines += [f"{name} = [{', '.join(map(_number, of_copies))}]" for name, of_copies in rates]
    return "\n".join([*lines, "", *_estimates(fitted, profile_model.parameter_names)]) + "\n"


def gatk_toml(fitted: Fitted[GatkFit], options: GatkOptions, log10: float, source: str) -> str:
    """The fitted rates as TOML for `--parameters`: qualities by copies, and the options that come nearest to them."""
    values = {
        "insertion_quality": options.insertion_quality,
        "deletion_quality": options.deletion_quality,
        "gap_quality": options.gap_quality,
        "pcr_indel_model": f'"{options.pcr_indel_model}"',
    }
    model = fitted.model
    words = " ".join(f"--{name.replace('_', '-')} {str(value).strip(chr(34))}" for name, value in values.items())
    lines = [
        *_head("gatk", fitted, source),
        f"# log10 likelihood with the options below: {log10:.3f}",
        f"# As options: {words}",
        *(f"{name} = {value}" for name, value in values.items()),
        "",
        f"[{BY_COPIES}]  # Phred, {_CLASSES}",
        *(
            f"{name} = [{', '.join(map(_quality, rates))}]"
            for name, rates in (("insertion", model.insertion), ("deletion", model.deletion))
        ),
    ]
    return "\n".join([*lines, "", *_estimates(fitted, gatk_model.parameter_names, phred=True)]) + "\n"


def _head(name: str, fitted: Fitted[ProfileFit] | Fitted[GatkFit], source: str) -> list[str]:
    return [
        f"# pairhmm fit --model {name}: {source}",
        f"# {fitted.reads} reads; log10 likelihood {fitted.log10:.3f}, before the fit {fitted.first_log10:.3f}",
    ]


def _estimates(fitted: Fitted[ProfileFit] | Fitted[GatkFit], names_of: object, phred: bool = False) -> list[str]:
    basis = "the observed information" if fitted.observed else "the expected counts: too few reads for more"
    lines = [f"# Standard errors are of {basis}.", "# parameter | estimate | standard error | expected count"]
    for key, estimates in fitted.model.probabilities().items():
        rows = zip(names_of(key), estimates, fitted.errors[key], fitted.counts[key], strict=True)  # type: ignore[operator]
        for name, estimate, error, count in rows:
            if (phred or key in CLASSES) and (fitted.counts[key].sum() == 0 or name.startswith(("no gap", "MM"))):
                continue
            lines.append(f"# {name} | {estimate:.4g}{_phred(estimate) if phred else ''} | {error:.2g} | {count:.1f}")
    return lines


def _phred(probability: float) -> str:
    return f" (Phred {-10 * np.log10(probability):.1f})" if probability > 0 else ""


def _quality(rate: float) -> str:
    return f"{min(-10 * np.log10(rate), HIGHEST_QUALITY):.1f}" if rate > 0 else str(HIGHEST_QUALITY)


def _number(value: float) -> str:
    return f"{float(value):.12g}"
