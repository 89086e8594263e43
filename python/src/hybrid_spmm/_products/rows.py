"""Products whose rows are handed out in panels and never stored as a whole."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import CancelledError, StateError
from .._native import capi
from .._native.finalizers import Owner, in_turn
from .._native.handle import BEGIN, MEMORY, Handle, Taker
from .._native.library import lib
from .._operands.arrays import CODES, DTYPES, common
from .._operands.exact import demand_exact, longest_row, narrow, peak
from .._operands.scipy_classes import assemble, relative
from .._operands.sparse import Bound, Operand, absolute, check, transposed
from .plan import Plan, read_options
from .plans import operand
from .product import F64, demand_shapes

if TYPE_CHECKING:
    from .._engine import Engine

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
        self.first, _, _, *self._kept = rows_of(self._handle, a, dtype)
        self.second, _, _, *kept = rows_of(self._handle, b, dtype)
        self._kept += kept
        read = read_options(**options)
        self._make(lib.hybrid_spgemm_plan, self.first, self.second, read)

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
                self.first,
                self.second,
                capi.EACH_FN(hand_out),
                None,
            )
        except CancelledError:
            if errors:
                raise errors.pop() from None


def rows_of(handle: Handle, a: Operand, dtype: Any) -> Bound:
    """Return the struct of an operand by rows, whatever its format."""
    return transposed(handle, a, dtype) if a.turned else check(handle, a, dtype)


def copies(rows: capi.Csr) -> tuple[Any, Any, Any]:
    """Return copies of the arrays of a panel, with 32-bit indices where these suffice."""

    def view(address: int | None, count: int, dtype: Any) -> Any:
        if not address or not count:
            return np.zeros(count, dtype)
        return np.ndarray((count,), dtype, MEMORY, address - BEGIN)

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

    return Panels(plan, panel)


def magnitudes(engine: Engine, a: Operand, b: Operand, options: dict[str, Any]) -> Any:
    """Return the largest entry of each panel of the product of magnitudes."""
    found: list[float] = []

    def use(panel: Panel) -> bool:
        found.append(float(panel[3].max(initial=0.0)))
        return True

    RowsPlan(engine, absolute(a), absolute(b), F64, **options).each(use)
    return np.array(found)


class Computation:
    """A thread that computes panels into a bounded queue.

    It holds no reference to the iterator that takes them, whose finalizer ends it.
    """

    def __init__(self, plan: RowsPlan) -> None:
        self.plan = plan
        self.ready: queue.SimpleQueue[Panel | BaseException | None] = queue.SimpleQueue()
        self.room: queue.SimpleQueue[None] = queue.SimpleQueue()  # an entry for each panel that fits
        self.thread = threading.Thread(target=self.run, name="hybrid_spmm rows", daemon=True)
        self.taker = Taker(self.thread)
        for _ in range(WAITING):
            self.room.put(None)

    def run(self) -> None:
        """Compute all panels, and put the error that ended it, or None, after the last one.

        The engine is given back when the iterator wants no more.
        """
        try:
            self.plan.each(self.put)
        except BaseException as error:
            self.ready.put(error)
        else:
            self.ready.put(None)
        while not self.taker.leaving:
            self.room.get()
        self.plan._handle.give_back(self.taker)

    def put(self, panel: Panel) -> bool:
        """Add a panel when there is room; return whether more are wanted."""
        self.room.get()
        self.ready.put(panel)
        return not self.taker.leaving


class Panels(Owner, Generator[tuple[int, Any], None, None]):
    """The generator of the panels of a product; see :func:`hybrid_spmm.matmul_rows`.

    A generator in Python code would run that code, and lose interrupts, when it is collected.
    """

    def __init__(self, plan: RowsPlan, make: Callable[[Panel], tuple[int, Any]]) -> None:
        self._make = make
        self._computation: Computation | None = Computation(plan)
        taker, room = self._computation.taker, self._computation.room
        self._end = in_turn((partial(taker.leaving.append, True), partial(room.put, None)))

    def send(self, value: None) -> tuple[int, Any]:
        """Return the next panel."""
        computation = self._computation
        if computation is None:
            raise StopIteration
        try:
            if computation.thread.ident is None:
                computation.plan._handle.take(computation.taker, BUSY)
                computation.thread.start()
            handle = computation.plan._handle
            if handle.taker is not computation.taker:  # in the child of a fork, where the
                raise StateError(handle.busy)  # thread does not run
            found = computation.ready.get()
            if found is None:
                raise StopIteration
            if isinstance(found, BaseException):
                try:
                    raise found
                finally:  # as in Handle.heard()
                    del found
            computation.room.put(None)
            return self._make(found)
        except BaseException:
            self.close()
            raise

    def throw(self, error: Any, value: Any = None, traceback: Any = None) -> tuple[int, Any]:
        """Stop computing and raise an error."""
        self.close()
        raise error

    def close(self) -> None:
        """Stop computing; other calls on the engine wait until the current panel is done."""
        self._end()
        computation, self._computation = self._computation, None
        if computation is not None and computation.thread.ident is None:
            computation.plan._handle.give_back(computation.taker)
