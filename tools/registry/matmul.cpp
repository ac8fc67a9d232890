// The kernels of ops::matmul, which are compiled in the library: there are none in a build without it.
#if KAIO_BUILD_OPS
#include <kaio/ops/matmul/variant.hpp>
#endif

#include "tools/registry.hpp"

namespace kaio::tools {

image_list matmul_kernels() {
#if KAIO_BUILD_OPS
  return ops::matmul_kernels();
#else
  return {};
#endif
}

}  // namespace kaio::tools
