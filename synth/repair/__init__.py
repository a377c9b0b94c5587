"""Fault localisation, sketches, counterexample-guided synthesis."""
