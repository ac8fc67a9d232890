#pragma once
// The checks before a kernel runs, on every device alike. Each check throws an error that names the
// kernel, the argument or extent, the value and what is allowed.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/detail/reaches.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstddef>
#include <string_view>

namespace kaio::runtime {

// The most parameters that a kernel may have: .param space holds 4 KiB of 4-byte values before PTX ISA 8.1.
inline constexpr std::size_t max_parameters = 1024;

// Checks an image before its kernel is first used on a device: its name, counts without data, unknown types,
// and the hash of its text.
void check_image(const ptx::kernel_image& kernel);
// Checks a kernel when it is loaded: its block, shared memory, SM and PTX ISA version.
void check_kernel(const ptx::kernel_image& kernel, const device_properties& device,
                  std::string_view description);

[[noreturn]] void throw_wrong_count(const ptx::kernel_image& kernel, std::size_t count);
[[noreturn]] void throw_no_arguments(const ptx::kernel_image& kernel);
[[noreturn]] void throw_bad_argument(const ptx::kernel_image& kernel, std::size_t position,
                                     const ptx::argument& argument, std::string_view description);
[[noreturn]] void throw_bad_scalar(const ptx::kernel_image& kernel, std::size_t position,
                                   const ptx::argument& argument);
[[noreturn]] void throw_bad_struct(const ptx::kernel_image& kernel, std::size_t position,
                                   const ptx::argument& argument, std::string_view description);
[[noreturn]] void throw_overlap(const ptx::kernel_image& kernel, const ptx::argument* arguments,
                                std::size_t input, std::size_t output);
[[noreturn]] void throw_too_much_shared(const ptx::kernel_image& kernel, std::uint64_t dynamic,
                                        const device_properties& device, std::string_view description);
[[noreturn]] void throw_bad_grid(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                                 const device_properties& device, std::string_view description);

// Checks clusters and programmatic launches. The clusters of the launch or of the kernel must divide the grid
// and fit the device. A kernel that begins early must wait for the work before it.
void check_attributes(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                      const device_properties& device, std::string_view description);
// Returns the cluster that a kernel runs in: `asked` by the launch, or fixed by the kernel; 1 x 1 x 1: none.
// Throws as check_attributes does.
ptx::dim3 checked_cluster(const ptx::kernel_image& kernel, const ptx::dim3& asked,
                          const device_properties& device, std::string_view description);

// The checks of every launch, on the launch path: they compare, and the functions above build the text.
inline void check_count(const ptx::kernel_image& kernel, const ptx::argument* arguments, std::size_t count) {
  if (count != kernel.parameter_count) [[unlikely]]
    throw_wrong_count(kernel, count);
  if (arguments == nullptr && count != 0) [[unlikely]]
    throw_no_arguments(kernel);
}

inline bool is_empty(const ptx::launch_grid& grid) noexcept {
  return grid.x == 0 || grid.y == 0 || grid.z == 0;
}

inline bool has_attributes(const ptx::kernel_image& kernel, const ptx::launch_grid& grid) noexcept {
  const ptx::dim3 &fixed = kernel.needs.cluster, &asked = grid.cluster;
  return (fixed.x | asked.x | asked.y | asked.z) != 0 || grid.programmatic;
}

inline ptx::dim3 checked_grid(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                              const device_properties& device, std::string_view description) {
  if (grid.x > device.max_grid.x || grid.y > device.max_grid.y || grid.z > device.max_grid.z) [[unlikely]] {
    throw_bad_grid(kernel, grid, device, description);
  }
  return {static_cast<std::uint32_t>(grid.x), static_cast<std::uint32_t>(grid.y),
          static_cast<std::uint32_t>(grid.z)};
}

// The dynamic shared memory of a block: the kernel's own need and the addition of this launch.
inline std::uint32_t checked_shared(const ptx::kernel_image& kernel, std::uint32_t more,
                                    const device_properties& device, std::string_view description) {
  const std::uint64_t dynamic = std::uint64_t{kernel.needs.dynamic_shared_bytes} + more;
  if (dynamic != 0 && kernel.needs.shared_bytes + dynamic > device.shared_per_block_optin) [[unlikely]]
    throw_too_much_shared(kernel, dynamic, device, description);
  return static_cast<std::uint32_t>(dynamic);
}

// A scalar is neither a buffer nor a struct. A pointer must be of this device or of one that it accesses, as must a
// struct that knows its device (a tensor map). An empty buffer has no memory, but unlike a null one it has a device. Memory without
// a device is a raw address, which only must not be null.
inline void check_argument(const ptx::kernel_image& kernel, std::size_t position,
                           const ptx::argument& argument, const void* device, std::string_view description) {
  const ptx::parameter& parameter = kernel.parameters[position];
  if (parameter.access == ptx::access::scalar) {
    if (!parameter.is_struct()) {
      if (argument.device != nullptr || argument.data != nullptr) [[unlikely]]
        throw_bad_scalar(kernel, position, argument);
      return;
    }
    const bool bad = argument.data == nullptr || argument.bytes != parameter.bytes ||
                     (argument.device != nullptr && argument.device != device &&
                      !detail::reaches(device, argument.device));
    if (bad) [[unlikely]]
      throw_bad_struct(kernel, position, argument, description);
    return;
  }
  const bool empty = argument.device != nullptr && argument.bytes == 0;
  const bool foreign =
      argument.device != nullptr && argument.device != device && !detail::reaches(device, argument.device);
  if (foreign || argument.data != nullptr || (argument.bits == 0 && !empty)) [[unlikely]] {
    throw_bad_argument(kernel, position, argument, description);
  }
}

// Whether two buffers certainly share bytes. In a scattered buffer only the first byte is known to be used;
// two scattered buffers may be columns of one matrix.
inline bool overlap(const ptx::argument& a, const ptx::argument& b) noexcept {
  if (a.bytes == 0 || b.bytes == 0 || (a.scattered && b.scattered)) return false;
  const std::uint64_t of_a = a.scattered ? 1 : a.bytes, of_b = b.scattered ? 1 : b.bytes;
  return a.bits <= b.bits ? b.bits - a.bits < of_a : a.bits - b.bits < of_b;
}

// A kernel must not write memory that it reads as `in`: ld.global.nc need not see the write. Structs, and the
// pointers and tensor maps in them, are not compared.
inline void check_overlaps(const ptx::kernel_image& kernel, const ptx::argument* arguments) {
  for (std::size_t input = 0; input < kernel.parameter_count; ++input) {
    if (kernel.parameters[input].access != ptx::access::in) continue;
    for (std::size_t output = 0; output < kernel.parameter_count; ++output) {
      const ptx::access of_output = kernel.parameters[output].access;
      if (of_output == ptx::access::scalar || of_output == ptx::access::in) continue;
      if (overlap(arguments[input], arguments[output])) [[unlikely]]
        throw_overlap(kernel, arguments, input, output);
    }
  }
}

}  // namespace kaio::runtime
