"""Products of operands in host memory: at once, planned, by rows, and behind SciPy's operators."""
