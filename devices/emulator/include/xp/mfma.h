// Matrix fused multiply-add of CDNA on wavefronts of 64 lanes. Sources: AMD Instinct MI200 Instruction Set Architecture Reference Guide, "Matrix
// Arithmetic Instructions" (V_MFMA_*); AMD Matrix Instruction Calculator (register layouts); LLVM, BuiltinsAMDGPU.def (types). The map from
// elements to lanes is the machine's: element (i, k) of A is in lane i + M * (k / packed), element k % packed of that lane's operand; B likewise
// with its column; rows of the result come in groups of four registers, which go round over the 64 / N groups of lanes.
#pragma once
#include "simt.h"

namespace xp {
inline float mfma_element(float v, int) { return v; }
inline long mfma_element(int v, int byte) { return static_cast<signed char>(static_cast<unsigned>(v) >> 8 * byte); }
inline float mfma_sum(float c, double sum) { return static_cast<float>(static_cast<double>(c) + sum); }
inline int mfma_sum(int c, long sum) { return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(sum)); }

template <int n, int k, int packed, class Wide, class V, class T>
inline V mfma(T a, T b, V c, int modes, int line) {
  if (modes) unsupported("an MFMA with broadcast or negation (cbsz, abid, blgp)", line);
  if (XP_WARP_SIZE != 64) unsupported("an MFMA on a wavefront that has not 64 lanes", line);
  if (together_value(warp_ballot, 1ull, 0, 0, line) != ~0ull) unsupported("an MFMA that not all lanes of the wavefront run", line);
  struct Operands { T a[64], b[64]; } mine;
  // the first lane's copy is everybody's: the lanes of a block share an address space
  auto* all = reinterpret_cast<Operands*>(together_value(warp_shfl, reinterpret_cast<unsigned long>(&mine), 0, 64, line));
  const int lane = static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 64);
  all->a[lane] = a;
  all->b[lane] = b;
  together_value(warp_sync, 0, 0, 0, line);
  V d = c;
  const int groups = 64 / n, column = lane % n;
  for (int r = 0; r < n * n / 64; ++r) {
    const int row = r / 4 * 4 * groups + lane / n * 4 + r % 4;
    Wide sum = 0;
    for (int i = 0; i < k; ++i)
      sum += static_cast<Wide>(mfma_element(all->a[row + n * (i / packed)], i % packed)) *
             static_cast<Wide>(mfma_element(all->b[column + n * (i / packed)], i % packed));
    d[r] = mfma_sum(c[r], sum);
  }
  together_value(warp_sync, 0, 0, 0, line);
  return d;
}
}  // namespace xp

#define __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, cbsz, abid, blgp) \
  xp::mfma<16, 4, 1, double>(static_cast<float>(a), static_cast<float>(b), c, (cbsz) | (abid) | (blgp), __LINE__)
#define __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, cbsz, abid, blgp) \
  xp::mfma<32, 2, 1, double>(static_cast<float>(a), static_cast<float>(b), c, (cbsz) | (abid) | (blgp), __LINE__)
#define __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, c, cbsz, abid, blgp) \
  xp::mfma<16, 16, 4, long>(static_cast<int>(a), static_cast<int>(b), c, (cbsz) | (abid) | (blgp), __LINE__)
