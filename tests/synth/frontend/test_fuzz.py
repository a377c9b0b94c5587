"""Truncated and mutated sources end in a module or in a typed error that names a place; nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.errors import InternalError, UsageError, XpilerError
from synth.frontend import read
from synth.source import LaunchShape, ReadOptions, Source

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
DIALECTS = {".cu": "cuda", ".hip": "hip"}
LAUNCH = LaunchShape((2, 1, 1), (32, 1, 1), 256)
PIECES = [
    *["<<<", ">>>", "{", "}", "(", ")", ";", "*", "&", "__global__", "0", "-1", "n", "x", "1.5f", "/", "%", "template <class T>", "#if 0"],
    *["\n#endif\n", "goto a;", "return", "static", "0x7fffffffffffffff", "\\", "'", '"', "/*", "//", "float4", "sizeof", "void", "\x00"],
    *["hipLaunchKernelGGL(", "HIP_KERNEL_NAME(", "__ballot(1)", "__attribute__((ext_vector_type(4)))", "v.xy", "__builtin_amdgcn_"],
    *["\u00e9", "...", "[", "]", "::"],
]


def attempt(text: str, name: str) -> None:
    dialect = DIALECTS.get(Path(name).suffix, "vnni")
    for options in (ReadOptions(), ReadOptions(launch=LAUNCH)) if dialect != "vnni" else (ReadOptions(),):
        try:
            read(Source(text, dialect, name), options)
        except InternalError:
            raise
        except XpilerError as error:
            assert error.message
            assert isinstance(error, UsageError) or error.location is not None, error


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.name)
def test_samples_read_as_they_are(path):
    text = path.read_text()
    if path.suffix in DIALECTS and path.stem != "everything_in_main":
        assert read(Source(text, DIALECTS[path.suffix], path.name), ReadOptions()).module.body
    attempt(text, path.name)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.sampled_from(SAMPLES), st.floats(0, 1))
def test_truncated(path, share):
    text = path.read_text()
    attempt(text[: int(len(text) * share)], path.name)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.sampled_from(SAMPLES), st.integers(0, 2**32))
def test_mutated(path, seed):
    source = random.Random(seed)
    text = path.read_text()
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text))
        match source.randrange(4):
            case 0:
                text = text[:at] + source.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + source.randint(1, 12) :]
            case 2:
                other = source.randrange(len(text))
                text = text[:at] + text[other : other + 20] + text[at:]
            case _:
                words = text.split(" ")
                i, j = source.randrange(len(words)), source.randrange(len(words))
                words[i], words[j] = words[j], words[i]
                text = " ".join(words)
    attempt(text, path.name)
