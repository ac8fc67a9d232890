#pragma once
// What the programs of this folder share: they are ordinary programs of the CUDA runtime, and know nothing of kaio.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void expect(bool condition, const char* text, const char* file, int line) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, text);
  std::exit(1);
}
inline void check(cudaError_t result, cudaError_t wanted, const char* text, const char* file, int line) {
  if (result == wanted) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, text, cudaGetErrorString(result));
  std::exit(1);
}

#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK(...) check((__VA_ARGS__), cudaSuccess, #__VA_ARGS__, __FILE__, __LINE__)
#define FAILS(code, ...) check((__VA_ARGS__), code, #__VA_ARGS__, __FILE__, __LINE__)
