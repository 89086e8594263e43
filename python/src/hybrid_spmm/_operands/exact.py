"""Products of integers and bools, computed in float64 without rounding.

A sum of integers in float64 is exact if the sum of the magnitudes of its terms stays below
2^53. Rounding never makes a sum smaller than 2^53 again, so the same product of magnitudes
tells, by its largest entry, whether every sum stayed below. Most products need not be made
twice: the largest magnitudes and the longest row already bound every sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import ExactnessError

LIMIT = 2.0**53


def peak(values: Any) -> float:
    """Return the largest magnitude, 0.0 for an empty array; raise if float64 cannot hold it."""
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest >= LIMIT:
        raise ExactnessError(f"an operand holds {largest:.0f}, which is not below 2^53")
    return largest


def longest_row(indptr: Any) -> int:
    """Return the number of entries of the longest row."""
    return int(np.diff(indptr).max()) if indptr.size > 1 else 0


def demand_exact(bound: float, magnitudes: Callable[[], Any]) -> None:
    """Raise unless every sum is exact; call `magnitudes` if the bound leaves that open."""
    if bound < LIMIT:
        return
    sums = magnitudes()
    if sums.size and float(sums.max()) >= LIMIT:
        raise ExactnessError("a sum of products may exceed 2^53, so that float64 would round it")


def narrow(values: Any, dtype: Any) -> Any:
    """Return exact values of float64 in an integer dtype, or as truth values."""
    if dtype.kind == "b":
        return values != 0
    if values.size:
        limits = np.iinfo(dtype)
        low, high = float(values.min()), float(values.max())
        if low < limits.min or high > limits.max:
            worst = low if low < limits.min else high
            raise ExactnessError(f"an entry of the product is {worst:.0f}, beyond {dtype}")
    return values.astype(dtype)
