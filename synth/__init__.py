"""The program-synthesis core: IR, frontends, code generation, analyses, passes, repair and evidence.

Runs no program and opens no network connection; its one helper process is the solver worker.
"""
