"""Operands in host memory: NumPy's arrays and SciPy's matrices as the C library reads them."""
