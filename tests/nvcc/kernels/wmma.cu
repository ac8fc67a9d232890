// Matrix products with the wmma interface: halves, and bytes.

#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_half(const half* a, const half* b, float* c, int n) {
  const int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::load_matrix_sync(left, a + row * n + k, n);
    wmma::load_matrix_sync(right, b + column * n + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, int* c, int n) {
  const int row = blockIdx.y * 8, column = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// Staged through shared memory.
extern "C" __global__ void wmma_staged(const half* a, const half* b, half* c, int n) {
  __shared__ __align__(32) half left_tile[16][24], right_tile[16][24];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16, lane = threadIdx.x;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
  wmma::fill_fragment(sum, __float2half(0.0f));
  for (int k = 0; k < n; k += 16) {
    for (int e = lane; e < 256; e += 32) {
      left_tile[e / 16][e % 16] = a[(row + e / 16) * n + k + e % 16];
      right_tile[e / 16][e % 16] = b[(k + e / 16) * n + column + e % 16];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, &left_tile[0][0], 24);
    wmma::load_matrix_sync(right, &right_tile[0][0], 24);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
