// The kernels of the operations, for the program that precompiles them: cmake/kaio_ops.cmake.

#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/tool/ptx_tool.hpp>

namespace {
const kaio::tool::family ops("ops", [] { return kaio::ops::matmul_kernels(); });
}

int main(int argc, char** argv) { return kaio::tool::run(argc, argv, {}); }
