#pragma once
// A random program as a kernel: the language's own functions and operators are called for the nodes of the
// data, so that the kernel is recorded as if written by hand.

#include <kaio/kaio.hpp>

#include "images/native_kernel.hpp"
#include "tests/random/native/program.hpp"

namespace kaio::tests::random {

// Whether the kernel has at most the instructions that a kernel may have. Few programs have more.
bool fits(const program& p);
images::native_kernel trace(const program& p);
contents run_on_device(const program& p, const images::native_kernel& kernel, device& gpu,
                       const contents& inputs);

}  // namespace kaio::tests::random
