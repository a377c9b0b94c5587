"""Builders, runners, sandbox, emulators, probes, cost models, and the evaluator that earns evidence by running programs."""
