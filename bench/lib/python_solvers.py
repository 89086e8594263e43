"""bench/lib/python_solvers.py - eigsh() and svds() of a 27-point stencil that stays resident.

SciPy's solvers take hybrid_spmm.aslinearoperator(A), or A itself; CuPy's take A on the GPU. All
search the same eigenvalues, the largest, with the same tolerance.
"""
import functools
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

import hybrid_spmm as hs

LATER = 3         # number of timed calls after the first
VALUES = 4        # number of eigenvalues or singular values to find
TOLERANCE = 1e-3  # relative tolerance that the solvers are asked for


def stencil27(n):
    """Return the 27-point stencil of a grid: 26 and -1, float64.

    The grid has n, n + 1 and n + 2 points per side. A cube would have repeated eigenvalues, and a
    solver may find any number of these."""
    lines = [sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(side, side))
             for side in (n, n + 1, n + 2)]
    grid = sp.kron(sp.kron(*lines[:2]), lines[2], format="csr")
    A = sp.csr_array(27 * sp.eye(grid.shape[0]) - grid)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    A.sort_indices()
    return A


def host_values(solver, A):
    """Return the values of SciPy's solver for a matrix or an operator, in ascending order."""
    if solver == "eigsh":
        return np.sort(scipy.sparse.linalg.eigsh(A, k=VALUES, which="LM", tol=TOLERANCE)[0])
    # SciPy squares the tolerance to that of the eigenvalues of A^T A, which CuPy uses, too.
    return np.sort(scipy.sparse.linalg.svds(A, k=VALUES, tol=TOLERANCE**0.5)[1])


def device_values(solver, A):
    """Return the values of CuPy's solver, in ascending order."""
    import cupyx.scipy.sparse.linalg as linalg
    if solver == "eigsh":
        return np.sort(linalg.eigsh(A, k=VALUES, which="LM", tol=TOLERANCE)[0].get())
    return np.sort(linalg.svds(A, k=VALUES, tol=TOLERANCE)[1].get())


def solvers_of(programs, A):
    """Yield (program, function of a solver's name that returns its values)."""
    for program in programs:
        if program.name is None and program.arrays == "numpy":
            op = hs.aslinearoperator(A)
            yield program, lambda solver, op=op: host_values(solver, op)
        elif program.name == "scipy":
            yield program, lambda solver: host_values(solver, A)
        elif program.name == "cupy" and program.arrays == "cupy":
            D = program.csr(A.data, A.indices, A.indptr, A.shape)
            yield program, lambda solver, D=D: device_values(solver, D)


def solver_lines(programs, n, seconds):
    """Yield a line for each solver and program: the first call, and the fastest of later ones.

    Each takes about `seconds`. Values must agree with those of the first program."""
    A = stencil27(n)
    runs = list(solvers_of(programs, A))
    share = seconds / max(2 * len(runs), 1)
    for solver in ("eigsh", "svds"):
        reference = None
        for program, run in runs:
            line = {"mode": "solver", "problem": f"stencil27:{n}", "op": solver, "type": "f64",
                    "rows": A.shape[0], "nnz": A.nnz, "arrays": program.arrays,
                    "peer": program.name, "version": program.version, "device": program.device,
                    "threads": program.threads, "values": VALUES, "tolerance": TOLERANCE,
                    "first_s": None, "later_s": None, "verified": None, "error": None}
            try:
                values = measure(line, functools.partial(run, solver), share)
                if reference is not None:
                    line["verified"] = bool(np.allclose(values, reference, rtol=5 * TOLERANCE))
                reference = values if reference is None else reference
            except Exception as error:  # a failure is recorded
                line["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:400]
            if line["verified"] is False:
                line["error"] = f"wrong: {values}, not {reference}"
            yield line


def measure(line, call, seconds):
    """Time a first call, and up to LATER more within `seconds`; return the values of the first."""
    begin = start = time.perf_counter()
    values = call()
    line["first_s"] = spent = time.perf_counter() - start
    for _ in range(LATER):
        if time.perf_counter() - begin + spent > seconds:
            break
        start = time.perf_counter()
        call()
        spent = time.perf_counter() - start
        line["later_s"] = min(spent, line["later_s"] or spent)
    return values


def solver_text(line):
    """Return a line as text."""
    head = f"{line['op']} {line['problem']} {line['peer'] or 'hybrid_spmm'}"
    if line["error"]:
        return f"{head}: {line['error']}"
    later = "-" if line["later_s"] is None else f"{line['later_s']:.3f} s"
    return f"{head}: first {line['first_s']:.3f} s, later {later}"
