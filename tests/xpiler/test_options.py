from pathlib import Path

import pytest

from synth.errors import UsageError
from synth.evidence.levels import Level
from synth.source import LaunchShape
from xpiler.options import dialect_name, evidence_level, launch_shape, load_source, read_options


def test_c_reads_as_vnni_and_unknown_dialects_are_refused() -> None:
    assert dialect_name("c", "--from") == "vnni"
    with pytest.raises(UsageError, match="--to metal: no such dialect"):
        dialect_name("metal", "--to")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("grid=4,block=256", LaunchShape((4, 1, 1), (256, 1, 1))),
        ("grid=4,2,block=16,16", LaunchShape((4, 2, 1), (16, 16, 1))),
        ("block=8,8,8,grid=1,2,3", LaunchShape((1, 2, 3), (8, 8, 8))),
        ("grid=4,block=32,shared=1024", LaunchShape((4, 1, 1), (32, 1, 1), 1024)),
    ],
)
def test_launch_shapes(text: str, shape: LaunchShape) -> None:
    assert launch_shape(text) == shape


@pytest.mark.parametrize(
    "text", ["", "grid=4", "grid=0,block=1", "grid=a,block=1", "grid=1,2,3,4,block=1", "grid=1,block=1,grid=2", "4,block=2"]
)
def test_bad_launch_shapes_show_the_right_form(text: str) -> None:
    with pytest.raises(UsageError, match=r"grid=X\[,Y,Z\],block=X\[,Y,Z\]"):
        launch_shape(text)


def test_defines_binds_and_extents() -> None:
    options = read_options(["N=4", "FAST"], "k", ["n=0x10", "alpha=0.5"], ["A=n*k"], None)
    assert options.defines == {"N": "4", "FAST": "1"}
    assert options.binds == {"n": 16, "alpha": 0.5}
    assert options.extents == {"A": "n*k"}


@pytest.mark.parametrize(("binds", "message"), [(["n"], "a value is missing"), (["n=x"], "not a number"), (["1n=2"], "not an identifier")])
def test_bad_binds_are_refused(binds: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_options([], None, binds, [], None)


def test_levels_beyond_this_version_are_refused() -> None:
    assert evidence_level("l0") is Level.L0
    with pytest.raises(UsageError, match="L0 and L1 only"):
        evidence_level("L4")
    with pytest.raises(UsageError, match="no such level"):
        evidence_level("L9")


def test_sources_are_recognised_by_suffix(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("int x;")
    assert load_source(path, None).dialect == "cuda"
    assert load_source(path, "hip").dialect == "hip"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("k.xyz", b"", "give it with --from"), ("k.cu", b"\xff\xfe", "not UTF-8"), ("k.cu", b"a\0b", "a binary file")],
)
def test_unreadable_sources(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        load_source(tmp_path / name, None)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent.cu: No such file"):
        load_source(tmp_path / "absent.cu", None)


def test_headers_beside_the_source_come_with_it(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('#include "a.h"\n#include <cuda_runtime.h>\n#include "absent.h"\nint x;')
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text("#define N 4\n")
    assert load_source(tmp_path / "k.cu", None).headers == {"a.h": '#include "b.h"\n', "b.h": "#define N 4\n"}


def test_include_folders_are_searched_for_both_kinds_of_includes(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('#include <own.h>\n#include "other.h"\n#include <cmath>\n')
    common = tmp_path / "common"
    common.mkdir()
    (common / "own.h").write_text("")
    (common / "other.h").write_text("int y;")
    assert load_source(tmp_path / "k.cu", None, [common]).headers == {"own.h": "", "other.h": "int y;"}


def test_values_are_lists_of_integers() -> None:
    assert read_options([], None, [], [], None, values=["shapes=4,0x10,-1"]).values == {"shapes": (4, 16, -1)}
    with pytest.raises(UsageError, match="not integers"):
        read_options([], None, [], [], None, values=["shapes=1,,2"])


def test_headers_of_parent_folders_and_beside_headers_come_along(tmp_path: Path) -> None:
    for name, text in (
        ("a/b/k.cu", '#include "../../common/x.h"\nint x;'),
        ("common/x.h", '#include "y.h"\n#include "../a/z.h"\n'),
        ("common/y.h", "#define Y 1\n"),
        ("a/z.h", ""),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    source = load_source(tmp_path / "a/b/k.cu", None)
    common = "xp_parent/xp_parent/common"
    assert source.text == f'#include "{common}/x.h"\nint x;'
    assert source.headers == {
        f"{common}/x.h": '#include "y.h"\n#include "xp_parent/a/z.h"\n',
        f"{common}/y.h": "#define Y 1\n",
        f"{common}/xp_parent/a/z.h": "",
    }
