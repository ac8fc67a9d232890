// mma.cpp's kernel by hand in CUDA C++. Elements of f16 are only moved, in pieces of 16 bytes.
__device__ unsigned tile_at(unsigned row, unsigned column) {  // bytes; rows of 64 f16, swizzled by 128 bytes
  return row * 128 + (column * 2 ^ row % 8 * 16);
}

__device__ void copy(unsigned to, const unsigned short* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ void load(unsigned (&r)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
}

__device__ void load_transposed(unsigned (&r)[2], unsigned (&s)[2], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(s[0]), "=r"(s[1])
               : "r"(from));
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(128)
    mma(const unsigned short* __restrict__ a, const unsigned short* __restrict__ b, float* __restrict__ c,
        unsigned n) {
  constexpr unsigned depth = 64 * ROUNDS;
  __shared__ alignas(1024) unsigned char memory[(128 + 64) * 128];
  const unsigned a_tile = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned b_tile = a_tile + 128 * 128;
  const unsigned row = blockIdx.y * 128, column = blockIdx.x * 64;
  const unsigned line = threadIdx.x / 8, piece = threadIdx.x % 8 * 8;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned warp_row = warp / 2 * 64, warp_column = warp % 2 * 32;

  unsigned of_a[4][4], of_b[4][2];
  float sums[16][4] = {};
#pragma unroll
  for (unsigned k = 0; k < depth; k += 64) {
#pragma unroll
    for (unsigned i = 0; i < 128; i += 16)
      copy(a_tile + tile_at(line + i, piece), a + (row + line + i) * depth + k + piece);
#pragma unroll
    for (unsigned i = 0; i < 64; i += 16)
      copy(b_tile + tile_at(line + i, piece), b + (k + line + i) * n + column + piece);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
#pragma unroll
    for (unsigned s = 0; s < 64; s += 16) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        load(of_a[i], a_tile + tile_at(warp_row + 16 * i + lane % 16, s + lane / 16 * 8));
#pragma unroll
      for (unsigned j = 0; j < 4; j += 2)
        load_transposed(of_b[j], of_b[j + 1],
                        b_tile + tile_at(s + lane % 16, warp_column + 8 * j + lane / 16 * 8));
#pragma unroll
      for (unsigned i = 0; i < 16; ++i) multiply_add(sums[i], of_a[i / 4], of_b[i % 4]);
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 16; ++i)
#pragma unroll
    for (unsigned e = 0; e < 4; ++e)
      c[(row + warp_row + 16 * (i / 4) + lane / 4 + 8 * (e / 2)) * n + column + warp_column + 8 * (i % 4) +
        lane % 4 * 2 + e % 2] = sums[i][e];
}
