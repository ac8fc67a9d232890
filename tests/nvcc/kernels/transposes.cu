// A transpose through a tile of shared memory, padded against bank conflicts, and one with vectors.

constexpr int tile = 32, rows = 8;

extern "C" __global__ void transpose_tile(const float* x, float* y, int width, int height) {
  __shared__ float cells[tile][tile + 1];
  int column = blockIdx.x * tile + threadIdx.x;
  int row = blockIdx.y * tile + threadIdx.y;
  for (int j = 0; j < tile; j += rows)
    if (column < width && row + j < height) cells[threadIdx.y + j][threadIdx.x] = x[(row + j) * width + column];
  __syncthreads();
  column = blockIdx.y * tile + threadIdx.x;
  row = blockIdx.x * tile + threadIdx.y;
  for (int j = 0; j < tile; j += rows)
    if (column < height && row + j < width) y[(row + j) * height + column] = cells[threadIdx.x][threadIdx.y + j];
}

// Four by four elements a thread, in registers.
extern "C" __global__ void transpose_vectors(const float4* x, float4* y, int quads) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float4 in[4];
  for (int j = 0; j < 4; ++j) in[j] = x[(row * 4 + j) * quads + column];
  const float* const a = &in[0].x;
  for (int j = 0; j < 4; ++j)
    y[(column * 4 + j) * gridDim.y * blockDim.y + row] = make_float4(a[j], a[4 + j], a[8 + j], a[12 + j]);
}
