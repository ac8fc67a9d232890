// Warp intrinsics: votes, matches, reductions and shuffles, in lanes that have gone different ways too.

extern "C" __global__ void votes(const int* x, unsigned* y) {
  const unsigned tid = threadIdx.x;
  const int value = x[tid];
  unsigned* const to = y + tid * 8;
  to[0] = __ballot_sync(0xffffffffu, value > 0);
  to[1] = __all_sync(0xffffffffu, value > -100);
  to[2] = __any_sync(0xffffffffu, value == 3);
  to[3] = __match_any_sync(0xffffffffu, value);
  int same = 0;
  to[4] = __match_all_sync(0xffffffffu, value & 0, &same);
  to[5] = same;
  if (tid % 2 == 0) {
    to[6] = __activemask() == 0x55555555u;
    to[7] = __ballot_sync(0x55555555u, value > 2);
  } else {
    to[6] = __shfl_sync(0xaaaaaaaau, value, 5);
    to[7] = __popc(__ballot_sync(0xaaaaaaaau, value < 0));
  }
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(const int* x, int* y) {
  const int value = x[threadIdx.x];
  const unsigned bits = static_cast<unsigned>(value);
  int* const to = y + threadIdx.x * 6;
  to[0] = __reduce_add_sync(0xffffffffu, value);
  to[1] = __reduce_min_sync(0xffffffffu, value);
  to[2] = __reduce_max_sync(0xffffffffu, bits);
  to[3] = __reduce_and_sync(0xffffffffu, bits);
  to[4] = __reduce_or_sync(0xffffffffu, bits);
  to[5] = __reduce_xor_sync(0xffffffffu, bits);
}
#endif

// A bitonic sort of the 32 values of a warp.
extern "C" __global__ void sort_warp(const int* x, int* y) {
  const unsigned lane = threadIdx.x % 32;
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned k = 2; k <= 32; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const int other = __shfl_xor_sync(0xffffffffu, value, j);
      const bool up = (lane & k) == 0, lower = (lane & j) == 0;
      value = (up == lower) ? min(value, other) : max(value, other);
    }
  y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Lanes take a lock one after another: each makes progress only because the others do.
extern "C" __global__ void locked_counter(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      volatile int* const c = counter;
      *c = *c + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
