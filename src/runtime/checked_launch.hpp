#pragma once
// A launch on its way to the device: the checks, the kernel's code and the addresses of the arguments. Streams and
// graphs share it.

#include <kaio/ptx/kernel_image.hpp>

#include <cstddef>
#include <cstdint>

#include "runtime/context.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime::detail {

// Checks a launch and calls use(code, launch). `load` is called for a kernel that is not loaded, and returns it.
// Empty grids launch nothing. The context is in use: context::use was called.
template <class Load, class Use>
inline void with_checked_launch(context& on, const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                                const ptx::argument* arguments, std::size_t count, Load load, Use use) {
  check_count(kernel, arguments, count);
  if (is_empty(grid)) return;
  const loaded_kernel* code = on.find(kernel);
  if (!code) [[unlikely]]
    code = &load();
  const ptx::dim3 blocks = checked_grid(kernel, grid, on.properties(), on.description());
  const std::uint32_t shared = checked_shared(kernel, grid.shared_bytes, on.properties(), on.description());
  void* values[max_parameters];
  for (std::size_t i = 0; i < count; ++i) {
    check_argument(kernel, i, arguments[i], &on, on.description());
    const void* const value = arguments[i].data != nullptr ? arguments[i].data : &arguments[i].bits;
    values[i] = const_cast<void*>(value);  // the driver only reads
  }
  check_overlaps(kernel, arguments);
  if (has_attributes(kernel, grid)) check_attributes(kernel, grid, on.properties(), on.description());
  checked_launch launch{kernel, blocks, shared, values, arguments, grid.cluster, grid.programmatic};
  use(*code, launch);
}

}  // namespace kaio::runtime::detail
