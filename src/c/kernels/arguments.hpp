#pragma once
// The arguments of a launch through the C interface, checked against the C++ types of the kernel's parameters.

#include <kaio/c/kernels.h>
#include <kaio/ptx/kernel_image.hpp>

#include <array>
#include <cstddef>
#include <vector>

#include "c/call/call.hpp"
#include "c/kernels/library.hpp"

namespace kaio::c {

class kernel_arguments {
 public:
  // Throws invalid_argument, which names the kernel and the argument. The given memory stays alive while this is used.
  kernel_arguments(call& in, const kaio_kernel& kernel, const kaio_kernel_argument* given, std::size_t count);
  kernel_arguments(const kernel_arguments&) = delete;
  kernel_arguments& operator=(const kernel_arguments&) = delete;

  const ptx::argument* data() const noexcept { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<ptx::argument, 16> few_;
  std::vector<ptx::argument> many_;  // if they are more
};

}  // namespace kaio::c
