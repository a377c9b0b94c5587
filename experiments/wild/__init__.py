"""Kernels that nobody wrote for this project: drawn by a seed from collections of public code, called by one fixed rule."""
