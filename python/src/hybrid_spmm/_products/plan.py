"""Plans: the patterns are inspected once, and products computed many times."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any

from .._errors import ArgumentError
from .._native import capi
from .._native.finalizers import Address, Owner
from .._native.library import lib
from .._native.listen import Show
from .._operands.dense import factor
from .._reports.html import text
from .._reports.progress import Progress, showing
from .._reports.report import Report, fetch

if TYPE_CHECKING:
    from .._engine import Engine

SPLITS = {
    "default": capi.SPLIT_DEFAULT,
    "auto": capi.SPLIT_AUTO,
    "gpu": capi.SPLIT_GPU,
    "host": capi.SPLIT_HOST,
}


def read_options(
    *,
    flags: int = 0,
    deterministic: bool = False,
    resident: bool = False,
    explain: bool = False,
    allow_tf32: bool = False,
    variant: str | None = None,
    split: str | float = "default",
    depth: int = 0,
    chunk_rows: int = 0,
) -> capi.PlanOptions:
    """Return the library's options for the keywords of :func:`hybrid_spmm.plan`."""
    options = capi.PlanOptions(ctypes.sizeof(capi.PlanOptions))
    options.flags = (
        flags
        | (capi.DETERMINISTIC if deterministic else 0)
        | (capi.RESIDENT if resident else 0)
        | (capi.EXPLAIN if explain else 0)
        | (capi.ALLOW_TF32 if allow_tf32 else 0)
    )
    options.depth, options.chunk_rows = depth, chunk_rows
    options.variant = variant.encode() if variant else None
    options.order = capi.ROW_MAJOR
    if isinstance(split, str):
        if split not in SPLITS:
            raise ArgumentError(f"split is {split!r}; it is a share or one of {', '.join(SPLITS)}")
        options.split = SPLITS[split]
    else:
        options.split, options.host_share = capi.SPLIT_SHARE, split
    return options


class Plan(Owner):
    """A product whose patterns have been inspected; made by :func:`hybrid_spmm.plan`.

    Call it with operands of the same patterns and other values.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine  # an engine lives as long as its plans
        self._handle = engine._alive()
        self._pointer = Address()
        self._pointer.keep = self._handle.pointer  # the C engine lives until it is destroyed
        destroy = partial(lib.hybrid_plan_destroy, self._pointer)
        self._end = self._handle.when_idle(destroy)

    def _make(self, function: Any, *arguments: Any) -> None:
        """Let the library make the plan."""
        self._handle.call(function, self._handle.pointer, *arguments, ctypes.byref(self._pointer))

    def explain(self) -> str:
        """Return the plan in words: the size of the result, the algorithm, predicted times.

        Examples
        --------
        >>> import hybrid_spmm as hs, scipy.sparse as sp
        >>> A = sp.eye_array(100, format="csr")
        >>> len(hs.plan(A, A).explain()) > 100
        True
        """

        return self._written(lib.hybrid_plan_explain)

    def details(self) -> str:
        """Return the numbers behind the plan: features, candidates, chunks and estimates."""
        return self._written(lib.hybrid_plan_details)

    def _written(self, function: Any) -> str:
        """Return the text that a function of the library writes about the plan."""

        def ask() -> str:
            length = function(self._pointer, None, 0)
            buffer = ctypes.create_string_buffer(length + 1)
            function(self._pointer, buffer, length + 1)
            return buffer.value.decode(errors="replace")

        return str(self._handle.tell(ask))

    def report(self) -> Report:
        """Return what the plan will do, or after a run where its time went."""
        return fetch(self._handle.call, lib.hybrid_plan_report, self._pointer)

    def _repr_html_(self) -> str:
        return text(repr(self), self.explain())


class SparseProduct(Plan):
    """A plan of sparse times sparse; subclasses compute."""

    def __call__(self, A: Any, B: Any, *, progress: Progress = False) -> Any:
        """Return A @ B, whose patterns are those that were planned for.

        Raises
        ------
        StateError
            If a pattern, a shape, a format or the type is another one.
        """
        if progress is False:
            return self._compute(A, B, None)
        with showing(progress) as show:
            return self._compute(A, B, show)

    def _compute(self, A: Any, B: Any, show: Show | None) -> Any:
        raise NotImplementedError


class DenseProduct(Plan):
    """A plan of sparse times dense; subclasses compute."""

    def __call__(
        self,
        A: Any,
        X: Any,
        *,
        out: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        progress: Progress = False,
    ) -> Any:
        """Return alpha A X + beta out; A has the pattern that was planned for.

        Raises
        ------
        StateError
            If the pattern of A, the number of columns of X or the type is another one.
        """
        if type(alpha) is not float or type(beta) is not float:
            alpha, beta = factor("alpha", alpha), factor("beta", beta)
        if progress is False:
            return self._compute(A, X, out, alpha, beta, None)
        with showing(progress) as show:
            return self._compute(A, X, out, alpha, beta, show)

    def _compute(
        self, A: Any, X: Any, out: Any, alpha: float, beta: float, show: Show | None
    ) -> Any:
        raise NotImplementedError
