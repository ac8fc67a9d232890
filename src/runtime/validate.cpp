#include "runtime/validate.hpp"

#include <kaio/runtime/error.hpp>

#include "runtime/text.hpp"

namespace kaio::runtime {

namespace {

std::string extents(std::uint64_t x, std::uint64_t y, std::uint64_t z) { return text(x, " x ", y, " x ", z); }
std::string extents(const ptx::dim3& d) { return extents(d.x, d.y, d.z); }
std::string sm(const ptx::target& target) { return text("sm_", target.sm, target.arch_specific ? "a" : ""); }
std::string version(const ptx::isa_version& v) { return text(unsigned{v.major}, ".", unsigned{v.minor}); }

bool is_entry_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  };
  if (name.empty() || !letter(name.front())) return false;
  for (const char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

std::string driver_release(const device_properties& device) {
  return device.is_emulator()
             ? std::string("the emulator")
             : text("driver ", device.driver_version / 1000, ".", device.driver_version % 1000 / 10);
}

}  // namespace

void check_kernel(const ptx::kernel_image& kernel, const device_properties& device,
                  std::string_view description) {
  if (!is_entry_name(kernel.name)) {
    throw invalid_argument(
        text("kaio: '", kernel.name,
             "' cannot be a kernel's name; write letters, digits and '_', not a digit first"));
  }
  if (kernel.parameter_count > max_parameters) {
    throw invalid_argument(text("kaio: kernel ", kernel.name, " has ", kernel.parameter_count,
                                " parameters, and at most ", max_parameters,
                                " can be passed; put values into a buffer"));
  }
  const ptx::dim3& block = kernel.block;
  if (block.count() == 0) {
    throw invalid_argument(text("kaio: kernel ", kernel.name, " has a block of ", extents(block),
                                " threads; each extent must be at least 1"));
  }
  if (block.count() > device.max_threads_per_block || block.x > device.max_block.x ||
      block.y > device.max_block.y || block.z > device.max_block.z) {
    throw invalid_argument(text("kaio: kernel ", kernel.name, " has a block of ", extents(block),
                                " threads; ", description, " takes at most ", device.max_threads_per_block,
                                " threads, and ", extents(device.max_block),
                                " in each extent: use a smaller block"));
  }
  const ptx::needs& needs = kernel.needs;
  const bool sm_fits = needs.target.arch_specific
                           ? device.target.arch_specific && needs.target.sm == device.target.sm
                           : needs.target.sm <= device.target.sm;
  if (!sm_fits) {
    throw unsupported_device(
        text("kaio: kernel ", kernel.name, " needs ", needs.target.arch_specific ? "exactly " : "",
             sm(needs.target), needs.target.arch_specific ? "" : " or newer", ", and ", description,
             " is sm_", device.target.sm, device.is_emulator() && device.target.arch_specific ? "a" : "",
             device.is_emulator() ? "; set KAIO_EMULATOR_ARCH, or instantiate the kernel for an older target"
                                  : "; use another device, or instantiate the kernel for an older target"));
  }
  if (device.ptx_version < needs.version) {
    throw unsupported_device(
        text("kaio: kernel ", kernel.name, " is written in PTX ISA ", version(needs.version), ", and ",
             driver_release(device), " of ", description, " takes PTX ISA ", version(device.ptx_version),
             " at most; install a newer NVIDIA driver, or instantiate the kernel for an older target"));
  }
  if (needs.shared_bytes > device.shared_per_block) {
    throw unsupported_device(text("kaio: kernel ", kernel.name, " uses ", needs.shared_bytes,
                                  " bytes of static shared memory, and a block on ", description, " has ",
                                  device.shared_per_block, "; use smaller shared arrays"));
  }
}

void throw_wrong_count(const ptx::kernel_image& kernel, std::size_t count) {
  throw invalid_argument(text("kaio: kernel ", kernel.name, " takes ", kernel.parameter_count,
                              " arguments, and ", count, " were given; pass one for each parameter"));
}

void throw_bad_argument(const ptx::kernel_image& kernel, std::size_t position, const ptx::argument& argument,
                        std::string_view description) {
  const std::string which = text("kaio: argument ", position + 1, " of kernel ", kernel.name);
  if (argument.device != nullptr && argument.bits != 0) {
    throw invalid_argument(text(
        which, " is a buffer of ", argument.bytes, " bytes of another device than the stream's, which is ",
        description, "; download it and upload it to that device, or launch on a stream of its device"));
  }
  if (argument.device != nullptr) {
    throw invalid_argument(text(which, " is an empty buffer of another device than the stream's, which is ",
                                description, "; make it on that device"));
  }
  throw invalid_argument(text(
      which,
      " is a null buffer; it was never allocated, was released, or was moved from: allocate or upload one"));
}

void throw_bad_struct(const ptx::kernel_image& kernel, std::size_t position, const ptx::argument& argument) {
  const std::string which = text("kaio: argument ", position + 1, " of kernel ", kernel.name,
                                 " is a struct of ", kernel.parameters[position].bytes, " bytes, and ");
  if (argument.data == nullptr)
    throw invalid_argument(text(which, "none was given; pass its address and size"));
  throw invalid_argument(
      text(which, argument.bytes, " bytes were given; pass the type that the kernel declares"));
}

void throw_too_much_shared(const ptx::kernel_image& kernel, std::uint64_t dynamic,
                           const device_properties& device, std::string_view description) {
  throw unsupported_device(text("kaio: kernel ", kernel.name, " needs ", kernel.needs.shared_bytes + dynamic,
                                " bytes of shared memory for a block (", kernel.needs.shared_bytes,
                                " static, ", dynamic, " dynamic), and a block on ", description,
                                " has at most ", device.shared_per_block_optin,
                                "; use smaller tiles, or fewer stages"));
}

void throw_bad_grid(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                    const device_properties& device, std::string_view description) {
  throw invalid_argument(text("kaio: kernel ", kernel.name, " was given a grid of ",
                              extents(grid.x, grid.y, grid.z), " blocks, and ", description,
                              " takes at most ", extents(device.max_grid),
                              "; let each thread do more, or launch in parts"));
}

}  // namespace kaio::runtime
