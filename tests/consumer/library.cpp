// The kernel of this project for programs in other languages.
#include "kernels.hpp"

#include <kaio/tool/kernel_library.hpp>

KAIO_KERNEL_LIBRARY(fused_silu_gate);
