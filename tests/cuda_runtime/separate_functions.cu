#include "separate.hpp"

__device__ int calls;

__device__ int twice(int value) {
  atomicAdd(&calls, 1);
  return 2 * value;
}
