// The kernels of kernels.hpp in CUDA C++, as one would write them by hand: the same algorithm, the same types,
// the same block sizes. Compiled with nvcc for the comparison alone.

#define entry extern "C" __global__ void

entry __launch_bounds__(256) saxpy(float a, const float* __restrict__ x, float* y, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

entry __launch_bounds__(256) silu(const float* __restrict__ x, const float* __restrict__ gate,
                                  float* __restrict__ y, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] / (1.0f + expf(-x[i])) * gate[i];
}

entry __launch_bounds__(256) gelu(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.707106781f));
}

template <class Op>
__device__ float block_reduce(float x, Op op) {
  __shared__ float partial[8];
  for (int mask = 16; mask != 0; mask /= 2) x = op(x, __shfl_xor_sync(0xffffffffu, x, mask));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = partial[threadIdx.x % 8];
  for (int mask = 4; mask != 0; mask /= 2) x = op(x, __shfl_xor_sync(0xffffffffu, x, mask));
  return x;
}
struct plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

entry __launch_bounds__(256) softmax_row(const float* __restrict__ x, float* __restrict__ y, unsigned columns) {
  const float* const row = x + static_cast<size_t>(blockIdx.x) * columns;
  float* const result = y + static_cast<size_t>(blockIdx.x) * columns;
  float largest = -__int_as_float(0x7f800000);
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) largest = fmaxf(largest, row[k]);
  largest = block_reduce(largest, maximum());
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) sum += expf(row[k] - largest);
  sum = block_reduce(sum, plus());
  const float scale = 1.0f / sum;
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) result[k] = expf(row[k] - largest) * scale;
}

entry __launch_bounds__(256) rms_norm_row(const float* __restrict__ x, const float* __restrict__ weight,
                                          float* __restrict__ y, unsigned columns, float epsilon) {
  const float* const row = x + static_cast<size_t>(blockIdx.x) * columns;
  float* const result = y + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0;
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) sum += row[k] * row[k];
  sum = block_reduce(sum, plus());
  const float scale = rsqrtf(sum / static_cast<float>(columns) + epsilon);
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) result[k] = row[k] * scale * weight[k];
}

entry __launch_bounds__(256) transpose(const float* __restrict__ x, float* __restrict__ y, unsigned rows,
                                       unsigned columns) {
  __shared__ float tile[32][33];
  const unsigned column = blockIdx.x * 32 + threadIdx.x;
  const unsigned row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < 32; k += 8)
    if (row + k < rows && column < columns)
      tile[threadIdx.y + k][threadIdx.x] = x[static_cast<size_t>(row + k) * columns + column];
  __syncthreads();
  const unsigned to_column = blockIdx.y * 32 + threadIdx.x;
  const unsigned to_row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < 32; k += 8)
    if (to_row + k < columns && to_column < rows)
      y[static_cast<size_t>(to_row + k) * rows + to_column] = tile[threadIdx.x][threadIdx.y + k];
}

entry __launch_bounds__(256) histogram(const unsigned char* __restrict__ x, unsigned* counts, unsigned n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

entry __launch_bounds__(256) scan(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
  __shared__ float partial[8];
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  float sum = i < n ? x[i] : 0.0f;
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, sum, delta);
    if (lane >= delta) sum += below;
  }
  if (lane == 31) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float before = partial[lane % 8];
#pragma unroll
  for (unsigned delta = 1; delta < 8; delta *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, before, delta);
    if (lane % 8 >= delta) before += below;
  }
  const unsigned warp = threadIdx.x / 32;
  before = __shfl_sync(0xffffffffu, before, warp == 0 ? 0 : warp - 1);
  if (warp != 0) sum += before;
  if (i < n) y[i] = sum;
}

entry __launch_bounds__(256) stencil(const float* __restrict__ x, float* __restrict__ y, int width, int height,
                                     int depth, float center, float side) {
  const int i = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int j = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  const int k = static_cast<int>(blockIdx.z);
  if (i > 0 && i < width - 1 && j > 0 && j < height - 1 && k > 0 && k < depth - 1) {
    const int plane = width * height;
    const int at = k * plane + j * width + i;
    y[at] = center * x[at] + side * (x[at - 1] + x[at + 1] + x[at - width] + x[at + width] + x[at - plane] +
                                     x[at + plane]);
  }
}

entry __launch_bounds__(256) tiled_matmul(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, unsigned n) {
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  const unsigned row = blockIdx.y * 16 + threadIdx.y;
  const unsigned column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

struct moments {
  float count, mean, m2;
};
__device__ moments combine(moments a, moments b) {
  const float count = a.count + b.count;
  const float delta = b.mean - a.mean;
  const float share = count > 0.0f ? b.count / count : 0.0f;
  return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

entry __launch_bounds__(256) welford(const float* __restrict__ x, float* __restrict__ mean,
                                     float* __restrict__ variance, unsigned columns) {
  __shared__ moments partial[8];
  const float* const row = x + static_cast<size_t>(blockIdx.x) * columns;
  moments m = {0, 0, 0};
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < columns; k += 256) {
    m.count += 1.0f;
    const float delta = row[k] - m.mean;
    m.mean += delta / m.count;
    m.m2 += delta * (row[k] - m.mean);
  }
#pragma unroll
  for (int mask = 16; mask != 0; mask /= 2)
    m = combine(m, {__shfl_xor_sync(0xffffffffu, m.count, mask), __shfl_xor_sync(0xffffffffu, m.mean, mask),
                    __shfl_xor_sync(0xffffffffu, m.m2, mask)});
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = m;
  __syncthreads();
  m = partial[threadIdx.x % 8];
#pragma unroll
  for (int mask = 4; mask != 0; mask /= 2)
    m = combine(m, {__shfl_xor_sync(0xffffffffu, m.count, mask), __shfl_xor_sync(0xffffffffu, m.mean, mask),
                    __shfl_xor_sync(0xffffffffu, m.m2, mask)});
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m.mean;
    variance[blockIdx.x] = m.m2 / m.count;
  }
}

entry __launch_bounds__(128) rope(const float* __restrict__ x, const float* __restrict__ frequency,
                                  float* __restrict__ y, unsigned heads, unsigned pairs) {
  const unsigned position = blockIdx.x;
  const unsigned pair = threadIdx.x;
  const unsigned head = blockIdx.y;
  if (pair < pairs) {
    float sine, cosine;
    sincosf(static_cast<float>(position) * frequency[pair], &sine, &cosine);
    const size_t at = (static_cast<size_t>(position) * heads + head) * (2 * pairs) + pair;
    const float a = x[at];
    const float b = x[at + pairs];
    y[at] = a * cosine - b * sine;
    y[at + pairs] = a * sine + b * cosine;
  }
}
