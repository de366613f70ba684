"""The profile model: a read is a matrix of probabilities of A C G T, and every constant is a parameter."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.errors import InputError
from pairhmm.models import gatk
from pairhmm.models.batch import ROW_SIZE, PairBatch, Profiles, Start
from pairhmm.models.gatk import ERROR, LONGEST_REPEAT_UNIT, MOST_REPEATS
from pairhmm.models.parameter_file import BY_COPIES, KEYS, check_keys, is_number_within, read_table
from pairhmm.native import native
from pairhmm.objects import short_repr
from pairhmm.sequences.letters import HIGHEST_QUALITY, READ_LETTERS, encode_sets

if TYPE_CHECKING:
    from pairhmm._cpu import ProfileRows

log = logging.getLogger(__name__)

LETTERS = "ACGT"
"""Letters of a read, in the order of a profile's columns."""

HAPLOTYPE_LETTERS = "ACGTN"
"""Letters of a haplotype, in the order of the codes."""

TRANSITIONS = ("MM", "MI", "MD", "IM", "II", "DM", "DD")
"""Names of the transition probabilities in a parameter file: the state before, then the state after."""

LEAVING = {"M": ("MM", "MI", "MD"), "I": ("IM", "II"), "D": ("DM", "DD")}
"""The transitions out of each state, which share a distribution."""

OPENING = ("MI", "MD")
"""The transitions that a parameter file may give by the copies of a tandem repeat."""

_COPIES = range(1, MOST_REPEATS + 1)

STARTS = {"match": Start(match=1.0, deletion=0.0), "anywhere": Start(match=0.0, deletion=1.0)}
"""Row 0 by name. "match" has M[0,0] = 1 and D[0,0] = 0; "anywhere" has M[0,0] = 0 and D[0,0] = 1/n."""

PRESETS = ("normalised", "published", "copies")
"""Names of the built-in parameter sets (docs/model.md)."""

SUM_TOLERANCE = 1e-5
"""How far the sum of a row's probabilities may be from 1: text files round their numbers."""


@dataclass(frozen=True, slots=True)
class ProfileModel:
    """Parameters of the profile model (docs/model.md).

    Attributes
    ----------
    match : float64[4, 5]
        eps_M(a, h): read letter a emitted beside haplotype letter h.
    insertion : float64[4]
        eps_I(a, -).
    transitions : dict
        Probabilities by name: MM MI MD IM II DM DD.
    start : Start
    name : str
        Where the parameters are from: a preset's name, or a file.
    by_copies : float64[2, 20] or None
        MI and MD at a base in a tandem repeat of 1 (no repeat), 2, ... 20 copies. They replace those of `transitions`,
        and MM is 1 - MI - MD.
    """

    match: NDArray[np.float64]
    insertion: NDArray[np.float64]
    transitions: Mapping[str, float]
    start: Start
    name: str = ""
    by_copies: NDArray[np.float64] | None = None

    __repr__ = short_repr

    def unlike_one(self) -> str:
        """Names a distribution that does not sum to 1, as a phrase; empty if all do. The column of N is not checked."""
        sums = {f"eps_M(., {letter})": self.match[:, h].sum() for h, letter in enumerate(LETTERS)}
        sums["eps_I"] = self.insertion.sum()
        for names in LEAVING.values():
            sums[" + ".join(names)] = sum(self.transitions[name] for name in names)
        wrong = (f"{name} sums to {total:.6g}" for name, total in sums.items() if not abs(total - 1) <= SUM_TOLERANCE)
        return next(wrong, "")

    def profiles(self, probabilities: NDArray[np.float64], kinds: NDArray[np.uint16] | None = None) -> Profiles:
        """The reads of a batch, any number of them end to end.

        Parameters
        ----------
        probabilities : float64[k, 4]
            Letter probabilities: one row a position, or with `kinds` each distinct row once.
        kinds : uint16[m], optional
            The row of `probabilities` at each position.

        Raises
        ------
        ValueError
            Where a row has a value outside 0..1 or does not sum to 1.
        """
        check_profile(probabilities)
        return Profiles(probabilities, self.match, self.insertion, self._transitions(), kinds)

    def base_calls(self, bases: NDArray[np.uint8], base_quality: NDArray[np.uint8]) -> Profiles:
        """The called reads of a batch, end to end: `bases` and their Phred qualities, uint8[m] each.

        Rows are not checked, because those of base calls are distributions.
        """
        return Profiles(CALL_PROBABILITIES, self.match, self.insertion, self._transitions(), calls(bases, base_quality))

    def with_repeats(self, profiles: Profiles, read_offset: NDArray[np.int64]) -> Profiles:
        """Reads with the transitions that their tandem repeats give. Without `by_copies`, reads stay as they are.

        The copies are those of each read's likeliest letters, as `pairhmm.models.gatk.copies_of` counts them. Distinct
        rows stay distinct rows, unless there are too many of them.

        Parameters
        ----------
        profiles : Profiles
            Those of `profiles` or `base_calls`.
        read_offset : int64[reads + 1]
            Where each read begins.
        """
        if self.by_copies is None:
            return profiles
        rows = native.ProfileRows(np.ascontiguousarray(profiles.probabilities).ravel(), profiles.kinds)
        rows.add_repeats(read_offset, self.transitions_of_rows().ravel(), LONGEST_REPEAT_UNIT)
        return self.profiles_of(rows)

    def profiles_of(self, rows: ProfileRows) -> Profiles:
        """Rows that native code made."""
        transitions = rows.transitions
        return Profiles(
            rows.probabilities.reshape(-1, len(LETTERS)),
            self.match,
            self.insertion,
            transitions if self.by_copies is None else transitions.reshape(-1, len(TRANSITIONS)),
            rows.kinds,
        )

    def transitions_of_rows(self) -> NDArray[np.float64]:
        """float64[7]: mm im dm mi ii md dd, or float64[20, 7] by the copies at a base, of a model with `by_copies`."""
        if self.by_copies is None:
            return self._transitions()
        insertion, deletion = self.by_copies
        transitions = np.tile(self._transitions(), (MOST_REPEATS, 1))
        # A fit's rates may sum to a bit more than 1.
        transitions[:, 0] = 1 - np.minimum(1.0, insertion + deletion)
        transitions[:, 3], transitions[:, 5] = insertion, deletion
        return transitions

    def _transitions(self) -> NDArray[np.float64]:
        return np.array([self.transitions[name] for name in ("MM", "IM", "DM", "MI", "II", "MD", "DD")])

    def rows(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Row parameters float64[m, 12] from a read's letter probabilities float64[m, 4]; errors as in `profiles`."""
        return rows(self.profiles(probabilities))


def rows(profiles: Profiles) -> NDArray[np.float64]:
    """Row parameters float64[m, 12] of `profiles`, one a position."""
    result = distinct_rows(profiles)
    return result if profiles.kinds is None else result[profiles.kinds]


def distinct_rows(profiles: Profiles) -> NDArray[np.float64]:
    """Row parameters float64[k, 12], one for each row of `profiles.probabilities`.

    E_i[h] = sum_a p[i,a] eps_M(a,h); e_I = sum_a p[i,a] eps_I(a,-) is folded into mi and ii.
    """
    result = np.empty((len(profiles.probabilities), ROW_SIZE))
    # Sums letter by letter, not BLAS: its results depend on a row's place, and its threads spin after a small product.
    letters = list(zip(profiles.probabilities.T, profiles.match, profiles.insertion, strict=True))
    result[:, :5] = sum(match[:, None] * p for p, match, _ in letters).T
    inserted = sum(insertion * p for p, _, insertion in letters)
    result[:, 5:] = profiles.transitions
    result[:, 8] *= inserted
    result[:, 9] *= inserted
    return result


def rows_of(batch: PairBatch) -> NDArray[np.float64]:
    """Row parameters float64[bases, 12] of a batch's reads, from its qualities, profiles or rows."""
    if batch.qualities is not None:
        return gatk.rows(batch.qualities)
    if batch.profiles is not None:
        return rows(batch.profiles)
    assert batch.rows is not None
    return batch.rows


def with_one_gap_model(batch: PairBatch) -> PairBatch:
    """The batch with rows in place of profiles that have probabilities and transitions for each base.

    Other batches stay as they are. The kernels of GPUs that take probabilities for each base take the transitions as
    constants. Distinct rows may have transitions of their own.
    """
    if batch.profiles is None or batch.profiles.kinds is not None or not batch.profiles.have_repeats:
        return batch
    _log_rows_once()
    return replace(batch, profiles=None, rows=rows(batch.profiles))


@cache
def _log_rows_once() -> None:
    log.info(
        "MI and MD by copies, and too many distinct rows: a GPU is sent %d bytes a base in place of 32",
        ROW_SIZE * np.dtype(float).itemsize,
    )


def preset(name: str) -> ProfileModel:
    """A built-in parameter set: "normalised", "published" or "copies"."""
    path = files("pairhmm.models") / "presets" / f"{name}.toml"
    return _parse(read_table(str(path), "profile"), name)


def parameters_of(name: str) -> ProfileModel:
    """The parameters that a user names: a preset, or a TOML file. Errors are those of `read_parameters`."""
    return preset(name) if name in PRESETS else read_parameters(name)


def read_parameters(path: str | Path) -> ProfileModel:
    """Parameters from a TOML file. InputError for wrong files and keys, and for values that are not probabilities."""
    return _parse(read_table(path, "profile"), str(path))


def check_profile(probabilities: NDArray[np.float64]) -> None:
    """Raise ValueError, naming the row (1-based), unless each row of float64[m, 4] is a distribution."""
    if probabilities.ndim != 2 or probabilities.shape[1] != len(LETTERS):
        raise ValueError(f"a profile has {len(LETTERS)} columns (A C G T)")
    in_range = ((probabilities >= 0) & (probabilities <= 1)).all(axis=1)
    # Numbers of a file may be too large for a sum.
    with np.errstate(over="ignore", invalid="ignore"):
        sums = probabilities.sum(axis=1)
        wrong = np.flatnonzero(~(in_range & (np.abs(sums - 1) <= SUM_TOLERANCE)))
    if len(wrong):
        row = int(wrong[0])
        if not abs(sums[row] - 1) <= SUM_TOLERANCE:
            raise ValueError(f"row {row + 1} sums to {sums[row]:.6g} instead of 1")
        value = next(p for p in probabilities[row].tolist() if not 0 <= p <= 1)
        raise ValueError(f"row {row + 1} has {value:g}, which is not a probability")


_SETS = encode_sets(READ_LETTERS)[:, None] >> np.arange(len(LETTERS)) & 1
_SHARES = _SETS / _SETS.sum(axis=1, keepdims=True)
"""float64[codes, 4]: the probability of each base behind each letter of a read, if calls had no errors."""


def one_hot(bases: NDArray[np.uint8], error: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[m, 4]: the rows of called bases, codes of `READ_LETTERS` with their error probabilities.

    A letter that stands for k bases is one of these, each with probability 1/k, and then has the error of a call, e/3
    to each other base: (1 - e) / k + (1 - 1/k) e / 3 for one of the k, e / 3 for another base. N is uniform.
    """
    share, error = _SHARES[bases], error[:, None]
    probabilities: NDArray[np.float64] = share * (1 - error) + (1 - share) * error / 3
    return probabilities


_QUALITIES = HIGHEST_QUALITY + 1

CALL_PROBABILITIES = one_hot(
    np.repeat(np.arange(len(READ_LETTERS), dtype=np.uint8), _QUALITIES), np.tile(ERROR[:_QUALITIES], len(READ_LETTERS))
)
"""float64[calls, 4]: the row of each call (`calls`)."""
CALL_PROBABILITIES.flags.writeable = False


def calls(bases: NDArray[np.uint8], base_quality: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """uint16[m]: each base and its quality as one number, which is its row of `CALL_PROBABILITIES`."""
    return bases * np.uint16(_QUALITIES) + base_quality


def _parse(table: Mapping[str, Any], source: str) -> ProfileModel:
    check_keys(table, KEYS["profile"], "", source, optional=(BY_COPIES,))
    if table["start"] not in list(STARTS):
        raise InputError(source, "start", f"{table['start']!r} is not a start", f"use one of {', '.join(STARTS)}")
    check_keys(table["match"], tuple(LETTERS), "match.", source)
    check_keys(table["insertion"], tuple(LETTERS), "insertion.", source)
    check_keys(table["transitions"], TRANSITIONS, "transitions.", source)
    match = np.array([_probabilities(table["match"][a], f"match.{a}", source, HAPLOTYPE_LETTERS) for a in LETTERS])
    insertion = np.array([_probabilities([table["insertion"][a]], f"insertion.{a}", source, a)[0] for a in LETTERS])
    rates = table["transitions"]
    transitions = {
        name: _probabilities([rates[name]], f"transitions.{name}", source, [name])[0] for name in TRANSITIONS
    }
    by_copies = _by_copies(table[BY_COPIES], source) if BY_COPIES in table else None
    return ProfileModel(match, insertion, transitions, STARTS[table["start"]], source, by_copies)


def _by_copies(table: object, source: str) -> NDArray[np.float64]:
    known = check_keys(table, OPENING, f"{BY_COPIES}.", source)
    rates = np.array([_probabilities(known[name], f"{BY_COPIES}.{name}", source, _COPIES) for name in OPENING])
    wrong = np.flatnonzero(rates.sum(axis=0) > 1)
    if len(wrong):
        problem = f"MI + MD of value {wrong[0] + 1} is {rates[:, wrong[0]].sum():.6g}"
        raise InputError(source, BY_COPIES, problem, "give rates whose sum is at most 1")
    return rates


def _probabilities(values: Any, key: str, source: str, each: Sequence[object]) -> list[float]:
    if not isinstance(values, list) or len(values) != len(each):
        cure = f"one for each of {' '.join(map(str, each))}"
        raise InputError(source, key, f"must have {len(each)} values", cure)
    for value in values:
        if not is_number_within(value, 0, 1):
            raise InputError(source, key, f"{value!r} is not a probability", "use numbers from 0 to 1")
    return [float(value) for value in values]
