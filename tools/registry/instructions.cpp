// The kernels that bench/instructions compares with CUDA C++.
#include "bench/instructions/kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {

image_list instruction_kernels() { return images(bench::instruction_kernels); }

}  // namespace kaio::tools
