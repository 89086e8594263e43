"""Products whose rows are handed out in panels and never stored as a whole."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi
from ._arrays import CODES, DTYPES, common
from ._errors import CancelledError
from ._exact import demand_exact, longest_row, narrow, peak
from ._handle import Handle, Window
from ._library import lib
from ._plan import Plan, read_options
from ._plans import operand
from ._product import F64, demand_shapes
from ._scipy import assemble, relative
from ._sparse import Operand, absolute, check, transposed

if TYPE_CHECKING:
    from ._engine import Engine

BUSY = (
    "the engine computes rows for matmul_rows(): exhaust or close that generator first, "
    "or use another Engine()"
)
WAITING = 2  # panels that are computed ahead, beside those in flight inside the library

Panel = tuple[int, Any, Any, Any]  # first row, indptr, indices and data, all copies


class RowsPlan(Plan):
    """The library's plan of a product that is handed out in panels of rows."""

    def __init__(self, engine: Engine, a: Operand, b: Operand, dtype: Any, **options: Any) -> None:
        super().__init__(engine)
        self.first = rows_of(self._handle, a, dtype)
        self.second = self.first if b is a else rows_of(self._handle, b, dtype)
        read = byref(read_options(**options))
        self._make(lib.hybrid_spgemm_plan, byref(self.first), byref(self.second), read)

    def each(self, use: Callable[[Panel], bool]) -> None:
        """Compute, and hand every panel to `use` until it returns False."""
        errors: list[BaseException] = []

        def hand_out(_user: object, first_row: int, rows: Any) -> int:
            try:
                return 0 if use((first_row, *copies(rows.contents))) else 1
            except BaseException as error:
                errors.append(error)
                return 1

        try:
            self._handle.call(
                lib.hybrid_spgemm_each,
                self._pointer,
                byref(self.first),
                byref(self.second),
                _capi.EACH_FN(hand_out),
                None,
            )
        except CancelledError:
            if errors:
                raise errors[0] from None


def rows_of(handle: Handle, a: Operand, dtype: Any) -> _capi.Csr:
    """Return the struct of an operand by rows, whatever its format."""
    return transposed(handle, a, dtype) if a.turned else check(handle, a, dtype)


def copies(rows: _capi.Csr) -> tuple[Any, Any, Any]:
    """Return copies of the arrays of a panel, with 32-bit indices where these suffice."""

    def view(address: int | None, count: int, dtype: Any) -> Any:
        if not address or not count:
            return np.zeros(count, dtype)
        return np.ndarray((count,), dtype, Window.from_address(address))

    index = np.int32 if rows.nnz < 2**31 else np.int64
    return (
        view(rows.row_ptr, rows.rows + 1, np.int64).astype(index),
        view(rows.col, rows.nnz, np.int32).astype(index),
        view(rows.val, rows.nnz, DTYPES[rows.type]).copy(),
    )


def multiply_rows(engine: Engine, A: Any, B: Any, **options: Any) -> Iterator[tuple[int, Any]]:
    """Check the operands, plan the product, and return the generator of its panels."""
    a = operand(A)
    b = a if B is A else operand(B)
    demand_shapes(a.shape, b.shape)
    dtype = common(a.dtype, b.dtype)
    values = dtype if dtype in CODES else F64
    if dtype not in CODES:
        terms = a.shape[1] if a.turned else longest_row(a.matrix.indptr)
        bound = peak(a.matrix.data) * peak(b.matrix.data) * terms
        demand_exact(bound, lambda: magnitudes(engine, a, b, options))
    plan = RowsPlan(engine, a, b, values, **options)
    cls, columns = relative(A, "csr"), b.shape[1]

    def panel(found: Panel) -> tuple[int, Any]:
        first, indptr, indices, data = found
        data = data if dtype in CODES else narrow(data, dtype)
        return first, assemble(cls, (len(indptr) - 1, columns), data, indices, indptr)

    return panels(plan, panel)


def magnitudes(engine: Engine, a: Operand, b: Operand, options: dict[str, Any]) -> Any:
    """Return the largest entry of each panel of the product of magnitudes."""
    found: list[float] = []

    def use(panel: Panel) -> bool:
        found.append(float(panel[3].max(initial=0.0)))
        return True

    RowsPlan(engine, absolute(a), absolute(b), F64, **options).each(use)
    return np.array(found)


def panels(plan: RowsPlan, make: Callable[[Panel], tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield panels while a thread computes later ones; closing ends that thread."""
    ready: queue.Queue[Panel | BaseException | None] = queue.Queue(WAITING)
    closed = threading.Event()

    def put(panel: Panel) -> bool:
        if not closed.is_set():
            ready.put(panel)
        return not closed.is_set()

    def compute() -> None:
        end: BaseException | None = None
        try:
            plan.each(put)
        except BaseException as error:
            end = error
        if not closed.is_set():
            ready.put(end)

    thread = threading.Thread(target=compute, name="hybrid_spmm rows", daemon=True)
    with plan._handle.taken_by(thread, BUSY):
        thread.start()
        try:
            while (found := ready.get()) is not None:
                if isinstance(found, BaseException):
                    raise found
                yield make(found)
        finally:
            closed.set()
            if threading.current_thread() is not thread:  # else its collector closes this
                make_room(ready, thread)


def make_room(ready: queue.Queue[Any], thread: threading.Thread) -> None:
    """Wait for a thread that may wait for room in the queue."""
    while thread.is_alive():
        with contextlib.suppress(queue.Empty):
            ready.get(timeout=0.01)
