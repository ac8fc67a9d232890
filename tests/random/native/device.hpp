#pragma once
// A random program as a kernel: the language's own functions and operators are called for the nodes of the
// data, so that the kernel is recorded as if written by hand.

#include <kaio/kaio.hpp>

#include "images/native_kernel.hpp"
#include "tests/random/native/program.hpp"

namespace kaio::tests::random {

images::native_kernel trace(const program& p);
contents run_on_device(const program& p, const images::native_kernel& kernel, device& gpu,
                       const contents& inputs);

}  // namespace kaio::tests::random
