// Tensor copies (TMA): a tile to shared memory, changed there, and back; and a warp-specialised matrix product
// whose tiles arrive by tensor copies and are multiplied by wgmma.

#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_fp16.h>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

constexpr int tile_rows = 16, tile_columns = 32;

extern "C" __global__ void negate_tiles(const __grid_constant__ CUtensorMap from,
                                        const __grid_constant__ CUtensorMap to) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ alignas(128) int cells[tile_rows][tile_columns];
  __shared__ barrier arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  const int corner[2] = {static_cast<int>(blockIdx.x) * tile_columns, static_cast<int>(blockIdx.y) * tile_rows};
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &cells, &from, corner,
                              cuda::device::barrier_native_handle(arrived));
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof cells);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < tile_rows * tile_columns; i += blockDim.x)
    cells[i / tile_columns][i % tile_columns] = -cells[i / tile_columns][i % tile_columns] - 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, corner, &cells);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    (&arrived)->~barrier();
  }
}

#if __CUDA_ARCH_FEAT_SM90_ALL

// C = A * B for A [m, k] and B [n, k], both with k next to each other, of halves; tiles of 64 x 64 x 64.
namespace product {
constexpr int m = 64, n = 64, k = 64, stages = 3;

struct __align__(1024) ring {
  half a[stages][m * k], b[stages][n * k];
  unsigned long long full[stages], empty[stages];
};

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void wait(unsigned long long* bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(address_of(bar)),
      "r"(parity)
      : "memory");
}

__device__ void load(void* to, const CUtensorMap* map, int column, int row, unsigned long long* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(address_of(to)),
      "l"(map), "r"(column), "r"(row), "r"(address_of(bar))
      : "memory");
}

// The 128-byte swizzle, rows of 64 halves: 8 rows are 1024 bytes apart.
__device__ unsigned long long descriptor(const half* tile) {
  const unsigned long long start = address_of(tile) >> 4 & 0x3fff;
  return start | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
      "%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}
}  // namespace product

extern "C" __global__ void __launch_bounds__(256)
    hopper_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int columns,
                   int depth) {
  using namespace product;
  extern __shared__ char bytes[];
  ring& r = *reinterpret_cast<ring*>((reinterpret_cast<unsigned long long>(bytes) + 1023) & ~1023ull);
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&r.full[s])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(address_of(&r.empty[s])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async;");
  }
  __syncthreads();
  const int steps = depth / k;
  if (threadIdx.x >= 128) {  // the producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 128)
      for (int i = 0; i < steps; ++i) {
        const int s = i % stages;
        wait(&r.empty[s], (i / stages & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&r.full[s])),
                     "r"(static_cast<unsigned>((m + n) * k * sizeof(half)))
                     : "memory");
        load(r.a[s], &a, i * k, blockIdx.y * m, &r.full[s]);
        load(r.b[s], &b, i * k, blockIdx.x * n, &r.full[s]);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[32] = {};
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    wait(&r.full[s], i / stages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int kk = 0; kk < k / 16; ++kk)
      multiply(d, descriptor(r.a[s] + kk * 16), descriptor(r.b[s] + kk * 16));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&r.empty[s])) : "memory");
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int j = 0; j < 8; ++j)
    for (int half_row = 0; half_row < 2; ++half_row) {
      const int row = blockIdx.y * m + warp * 16 + half_row * 8 + lane / 4;
      const int column = blockIdx.x * n + j * 8 + lane % 4 * 2;
      c[row * columns + column] = d[j * 4 + half_row * 2];
      c[row * columns + column + 1] = d[j * 4 + half_row * 2 + 1];
    }
}
#endif
