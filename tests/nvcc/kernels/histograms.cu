// Histograms with atomics in global and in shared memory, and one with votes and matches of a warp.

extern "C" __global__ void histogram_global(const unsigned char* x, unsigned* bins, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i]], 1u);
}

extern "C" __global__ void histogram_shared(const uchar4* x, unsigned* bins, unsigned quads) {
  __shared__ unsigned own[256];
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 four = x[i];
    atomicAdd(&own[four.x], 1u);
    atomicAdd(&own[four.y], 1u);
    atomicAdd(&own[four.z], 1u);
    atomicAdd(&own[four.w], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
    if (own[b] != 0) atomicAdd(&bins[b], own[b]);
}

// One addition for all lanes of a warp that have the same value.
extern "C" __global__ void histogram_matched(const unsigned char* x, unsigned* bins, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned inside = __ballot_sync(0xffffffffu, i < n);
  if (i < n) {
    const unsigned equal = __match_any_sync(inside, x[i]);
    if (__ffs(equal) - 1 == static_cast<int>(threadIdx.x % 32)) atomicAdd(&bins[x[i]], __popc(equal));
  }
}
