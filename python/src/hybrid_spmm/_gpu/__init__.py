"""Operands and products in GPU memory: arrays of CuPy and PyTorch."""
