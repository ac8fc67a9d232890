// Textures and surfaces as programs use them: a resize with linear filtering, look-ups in linear memory, layers, a
// volume, and a filter from one surface to another.

extern "C" __global__ void resize(cudaTextureObject_t from, float* to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  to[y * width + x] = tex2D<float>(from, (x + 0.5f) / width, (y + 0.5f) / height);
}

extern "C" __global__ void look_up(cudaTextureObject_t table, const int* at, int2* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const short2 found = tex1Dfetch<short2>(table, at[i]);
  to[i] = make_int2(found.x, found.y);
}

extern "C" __global__ void add_layers(cudaTextureObject_t from, float* to, int layers) {
  float sum = 0;
  for (int layer = 0; layer < layers; ++layer)
    sum += tex2DLayered<float>(from, threadIdx.x + 0.5f, threadIdx.y + 0.5f, layer);
  to[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void shrink_volume(cudaTextureObject_t from, float* to) {
  const int place = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  to[place] = tex3D<float>(from, 2 * threadIdx.x + 1, 2 * threadIdx.y + 1, 2 * threadIdx.z + 1);
}

extern "C" __global__ void spread(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const auto at = [&](int column, int row) {
    return surf2Dread<uchar4>(from, column * 4, row, cudaBoundaryModeZero);
  };
  const uchar4 left = at(x - 1, y), right = at(x + 1, y), up = at(x, y - 1), down = at(x, y + 1);
  surf2Dwrite(make_uchar4(left.x, right.y, up.z, down.w), to, x * 4, y);
}
