"""The IR: grammar, types, verifier, textual form, traversal and the reference interpreter that defines its meaning."""
