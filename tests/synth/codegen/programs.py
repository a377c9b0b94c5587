"""IR programs whose printed C is kept in golden files."""

GEMM = """\
module gemm(A: f32[] host in const, B: f32[] host in const, C: f32[] host out, M: i32, N: i32, K: i32) dialect=vnni {
  for.omp i: i32 in 0i32..M:i32 step 1i32 {
    for.omp j.outer: i32 in 0i32..N:i32 step 16i32 {
      let lane = vec(0i32, 1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 7i32, 8i32, 9i32, 10i32, 11i32, 12i32, 13i32, 14i32, 15i32)
      let m = (lane:i32x16 < broadcast<16>((N:i32 - j.outer:i32)))
      alloc acc: f32x16[] local
      acc[] = broadcast<16>(0.0f32)
      for k: i32 in 0i32..K:i32 step 1i32 {
        let a = broadcast<16>(A[((i:i32 * K:i32) + k:i32)]:f32)
        acc[] = math.fma<f32x16>(a:f32x16, B[((k:i32 * N:i32) + j.outer:i32)]:f32x16@m:boolx16, acc[]:f32x16)
      }
      C[((i:i32 * N:i32) + j.outer:i32)]@m:boolx16 = acc[]:f32x16
    }
  }
}
"""

SOFTMAX = """\
module softmax(x: f32[] host in const, y: f32[] host out, rows: i32) dialect=vnni result=0i32 {
  for.omp r: i32 in 0i32..rows:i32 step 1i32 {
    alloc peak: f32x16[] local
    peak[] = broadcast<16>(f32(-inf))
    for c: i32 in 0i32..64i32 step 16i32 {
      let v = x[((r:i32 * 64i32) + c:i32)]:f32x16
      peak[] = select((v:f32x16 > peak[]:f32x16), v:f32x16, peak[]:f32x16)
    }
    let top = reduce.max(peak[]:f32x16)
    alloc e: f32[64i32] local
    alloc total: f32[] local
    total[] = 0.0f32
    for c~2: i32 in 0i32..64i32 step 16i32 {
      let v~2 = math.exp<f32x16>((x[((r:i32 * 64i32) + c~2:i32)]:f32x16 - broadcast<16>(top:f32)))
      e[c~2:i32] = v~2:f32x16
      total[] = (total[]:f32 + reduce.add(v~2:f32x16))
    }
    for.simd c~3: i32 in 0i32..64i32 step 1i32 {
      y[((r:i32 * 64i32) + c~3:i32)] = (e[c~3:i32]:f32 / max(total[]:f32, 1e-20f32))
    }
  }
}
"""

SCALAR = """\
module mixed(a: i32[] host in const, b: u8[] host inout, for: f64[] host out, n: i64, int: u32) dialect=c {
  alloc table: i32[2i32, 3i32] const = [1i32, 2i32, 3i32, 4i32, 5i32, -2147483648i32]
  alloc big: f64[65536i32] local
  let i.outer = cast<i32>(n:i64)
  let i_outer = ((i.outer:i32 - (a[0i32]:i32 - 3i32)) * (4i32 / i.outer:i32))
  if (((int:u32 & 7u32) == 3u32) && (!((i_outer:i32 < 4i32)) || (a[1i32]:i32 >= 0i32))) {
    b[0i64] = (b[0i64]:u8 + 200u8)
  } else {
    if (n:i64 > 9223372036854775807i64) {
      for[0i32] = 0.1f64
      return
    } else {
      b[1i64] = cast<u8>((table[1i32, 2i32]:i32 >> 3i32))
    }
  }
  alloc k: i32[] local
  k[] = 0i32
  while (k[]:i32 < 10i32) {
    alloc scratch: f32[n:i64] local
    scratch[0i32] = cast<f32>(k[]:i32)
    if (scratch[0i32]:f32 > 4.5f32) {
      break
    }
    k[] = (k[]:i32 + 1i32)
  }
  for i: i32 in 0i32..k[]:i32 step 2i32 {
    k[] = (k[]:i32 - 1i32)
    big[i:i32] = math.fmod<f64>(-(cast<f64>(min(i:i32, k[]:i32))), 1.5f64)
    for[i:i32] = select((bitcast<i64>(big[i:i32]:f64) < 0i64), math.rsqrt<f64>(4.0f64), (big[i:i32]:f64 + f64(inf)))
  }
  call host.fill(&for[8i32] of [4i32]; 2.5f64)
  call host.copy(&for[12i32] of [4i32]; &for[8i32] of [4i32])
}
"""

LANES = """\
module lanes(x: f32[] host in const, y: f32[] host out, h: i32[] host inout) dialect=vnni {
  alloc v: f32x2[] local
  v[] = x[0i32]:f32x2
  y[0i32] = ((v[]:f32x2 * broadcast<2>(3.0f32)) + vec(1.0f32, lane<0>(v[]:f32x2)))
  let m = (v[]:f32x2 < broadcast<2>(0.5f32))
  y[2i32]@m:boolx2 = -(v[]:f32x2)
  y[4i32] = reduce.add(select(m:boolx2, v[]:f32x2, broadcast<2>(0.0f32)))
  h[0i32] = (h[0i32]:i32x16 / broadcast<16>(3i32))
  h[0i32] = cast<i32x4>(x[0i32]:f32x4)
  h[4i32] = cast<i32x2>(x[2i32]:f32x2)
  y[5i32] = min(x[0i32]:f32x3, x[1i32]:f32x3)
  h[8i32] = bitcast<i32>(cast<f32>((reduce.or((v[]:f32x2 == x[1i32]:f32x2)) == true)))
}
"""
