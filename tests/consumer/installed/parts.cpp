// Calls each library of kaio that its install has.

#include <kaio/runtime/runtime.hpp>

#include <cstdio>
#include <vector>

#ifdef HAS_OPS
#include <kaio/ops/matmul.hpp>
#endif
#ifdef HAS_C
#include <kaio/c/kaio.h>
#endif
#ifdef HAS_WEIGHTS
#include <kaio/weights/weights.hpp>
#endif

int main() {
  kaio::device gpu = kaio::device::open();
  const std::vector<float> numbers(64, 2.0f);
  auto x = gpu.upload(numbers);
  if (x.download() != numbers) return 1;
#ifdef HAS_OPS
  auto c = gpu.allocate<kaio::f32>(64);
  const kaio::tensor_view a(x, 8, 8), result(c, 8, 8);
  kaio::matmul(gpu.stream(), a, a, result);
  if (c.download() != std::vector<float>(64, 32.0f)) return 2;
#endif
#ifdef HAS_WEIGHTS
  try {
    kaio::gguf_file::open("no such file");
    return 3;
  } catch (const kaio::error&) {
  }
#endif
#ifdef HAS_C
  if (kaio_abi_version() != KAIO_ABI_VERSION) return 4;
#endif
  std::puts("right");
}
