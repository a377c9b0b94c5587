"""Levels and their data; test-vector synthesis, comparison and tolerances (pure)."""
