"""Modules with launches whose printed CUDA and HIP are kept in golden files."""

import re


def nest(body: str, grid: str = "4u32", block: str = "64u32", shared: str = "") -> str:
    """The loops of a launch in one dimension around the body of a thread."""
    return f"""    for.block.z bz: u32 in 0u32..1u32 step 1u32 {{ for.block.y by: u32 in 0u32..1u32 step 1u32 {{
      for.block.x bx: u32 in 0u32..{grid} step 1u32 {{
        {shared}
        for.thread.z tz: u32 in 0u32..1u32 step 1u32 {{ for.thread.y ty: u32 in 0u32..1u32 step 1u32 {{
          for.thread.x tx: u32 in 0u32..{block} step 1u32 {{
            {body}
          }} }} }}
      }} }} }}"""


def module(name: str, params: str, host: str, warp: int = 32) -> str:
    dialect = "hip" if warp == 64 else "cuda"
    return f"module {name}({params}) dialect={dialect}{' warp=64' if warp == 64 else ''} {{\n{host}\n}}\n"


def launched(body: str, params: str, buffers: str, before: str = "", after: str = "", **shape: str) -> str:
    """A module of one launch: ``buffers`` are its device arrays, ``before`` and ``after`` the host's copies."""
    return module("f", params, f"{buffers}\n{before}\n  launch k {{\n{nest(body, **shape)}\n  }}\n{after}")


# a block's sum: shared memory, a barrier, a shuffle, a guard of the tail, and the size as a parameter
SUM = launched(
    body="""let i = ((bx:u32 * 64u32) + tx:u32)
            alloc v: f32[] local
            v[] = select((i:u32 < cast<u32>(n:i32)), d_x[cast<i64>(i:u32)]:f32, 0.0f32)
            alloc d: i32[] local
            d[] = 16i32
            while (d[]:i32 > 0i32) {
              alloc t: f32[] local
              call warp.shfl_down(&t[]; 4294967295u32, v[]:f32, cast<u32>(d[]:i32), 32i32)
              v[] = (v[]:f32 + t[]:f32)
              d[] = (d[]:i32 / 2i32)
            }
            if ((tx:u32 % 32u32) == 0u32) { part[(tx:u32 / 32u32)] = v[]:f32 }
            sync block
            if (tx:u32 == 0u32) { d_y[cast<i64>(bx:u32)] = (part[0i32]:f32 + part[1i32]:f32) }""",
    params="x: f32[cast<i64>(n:i32)] host in const, y: f32[4i64] host out, n: i32",
    buffers="  alloc d_x: f32[cast<i64>(n:i32)] global\n  alloc d_y: f32[4i64] global",
    before="  call host.copy(&d_x[0i64] of [cast<i64>(n:i32)]; &x[0i64] of [cast<i64>(n:i32)])",
    after="  call host.copy(&y[0i64] of [4i64]; &d_y[0i64] of [4i64])",
    shared="alloc part: f32[2i32] shared",
)

# votes, an active mask, narrow types moved between lanes, a mask that is computed
VOTES = launched(
    body="""alloc a: bool[] local
            call warp.any(&a[]; 4294967295u32, (d_x[tx:u32]:i32 > 90i32))
            alloc e: bool[] local
            call warp.all(&e[]; 4294967295u32, (d_x[tx:u32]:i32 > -1i32))
            alloc b: u32[] local
            call warp.ballot(&b[]; 4294967295u32, (d_x[tx:u32]:i32 > 50i32))
            alloc c: u8[] local
            call warp.shfl_xor(&c[]; 4294967295u32, cast<u8>(d_x[tx:u32]:i32), 1i32, 16i32)
            let small = (select(e[]:bool, 1i64, 2i64) + cast<i64>(c[]:u8))
            d_y[tx:u32] = (cast<i64>(b[]:u32) + (select(a[]:bool, 1000i64, 2000i64) + small:i64))""",
    params="x: i32[64i64] host in const, y: i64[64i64] host out",
    buffers="  alloc d_x: i32[64i64] global\n  alloc d_y: i64[64i64] global",
    before="  call host.copy(&d_x[0i64] of [64i64]; &x[0i64] of [64i64])",
    after="  call host.copy(&y[0i64] of [64i64]; &d_y[0i64] of [64i64])",
    grid="1u32",
)


def half(type_: str) -> str:
    """A half type: computed in float and rounded once, moved between lanes, as bits."""
    return launched(
        body=f"""let i = tx:u32
            let h = ((d_x[i:u32]:{type_} * d_x[i:u32]:{type_}) + 0.5{type_})
            alloc t: {type_}[] local
            call warp.shfl_xor(&t[]; 4294967295u32, h:{type_}, 1i32, 32i32)
            let m = max((t[]:{type_} - 1.0{type_}), -(h:{type_}))
            let bits = cast<i32>(bitcast<u16>(h:{type_}))
            d_y[i:u32] = ((cast<f32>(t[]:{type_}) + cast<f32>(m:{type_})) + cast<f32>((bits:i32 & 7i32)))""",
        params=f"x: {type_}[64i64] host in const, y: f32[64i64] host out",
        buffers=f"  alloc d_x: {type_}[64i64] global\n  alloc d_y: f32[64i64] global",
        before="  call host.copy(&d_x[0i64] of [64i64]; &x[0i64] of [64i64])",
        after="  call host.copy(&y[0i64] of [64i64]; &d_y[0i64] of [64i64])",
        grid="1u32",
    )


# vectors, a constant array, a table of a thread, bits of floats, minima of integers, a status
MIXED = module(
    "mixed",
    "x: f32[256i64] host in const, w: f32[4i64] host in const, y: f32[256i64] host out",
    """  alloc weights: f32[4i64] const = [0.0f32, 0.0f32, 0.0f32, 0.0f32]
  alloc a: f32[256i64] global
  alloc b: f32[256i64] global
  call host.copy(&weights[0i64] of [4i64]; &w[0i64] of [4i64])
  call host.copy(&a[0i64] of [256i64]; &x[0i64] of [256i64])
  call host.fill(&b[0i64] of [256i64]; 1.5f32)
  launch scale {
"""
    + nest(
        """let i = (4u32 * ((bx:u32 * 16u32) + tx:u32))
            let v = a[i:u32]:f32x4
            alloc t: i32[4i32] local = [3i32, 1i32, 0i32, 2i32]
            let k = t[(tx:u32 % 4u32)]:i32
            let bits = (bitcast<i32>(lane<0>(v:f32x4)) & 2147483647i32)
            b[i:u32] = vec((lane<0>(v:f32x4) * weights[cast<i64>(k:i32)]:f32), bitcast<f32>(bits:i32),
              cast<f32>(min(k:i32, 2i32)), (b[(i:u32 + 3u32)]:f32 + math.rsqrt<f32>(4.0f32)))""",
        block="16u32",
    )
    + """
  }
  call host.copy(&y[0i64] of [256i64]; &b[0i64] of [256i64])""",
).replace("dialect=cuda {", "dialect=cuda result=0i32 {")


def _reverse(source: str, target: str) -> str:
    """A launch that reverses each block's part of ``source``, plus one, in ``target``."""
    body = f"""s[tx:u32] = {source}[((bx:u32 * threads:u32) + tx:u32)]:i32
            r[tx:u32] = (s[tx:u32]:i32 + 1i32)
            sync block
            {target}[((bx:u32 * threads:u32) + tx:u32)] = r[((threads:u32 - 1u32) - tx:u32)]:i32"""
    shared = "alloc s: i32[threads:u32] shared alloc r: i32[threads:u32] shared"
    return f"  launch reverse {{\n{nest(body, grid='2u32', block='threads:u32', shared=shared)}\n  }}\n"


# dynamic shared memory: two arrays whose size is a parameter, and one kernel launched twice
DYNAMIC = module(
    "twice",
    "x: i32[cast<i64>((2i32 * n:i32))] host in const, y: i32[cast<i64>((2i32 * n:i32))] host out, n: i32",
    """  alloc a: i32[cast<i64>((2i32 * n:i32))] global
  alloc b: i32[cast<i64>((2i32 * n:i32))] global
  call host.copy(&a[0i64] of [cast<i64>((2i32 * n:i32))]; &x[0i64] of [cast<i64>((2i32 * n:i32))])
  let threads = cast<u32>(n:i32)
"""
    + _reverse("a", "b")
    + re.sub(r"\b(b[xyz]|t[xyz]|s|r)\b", r"\1~2", _reverse("b", "a"))
    + "  call host.copy(&y[0i64] of [cast<i64>((2i32 * n:i32))]; &a[0i64] of [cast<i64>((2i32 * n:i32))])",
)
