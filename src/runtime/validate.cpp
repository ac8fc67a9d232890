#include "runtime/validate.hpp"

#include <kaio/runtime/error.hpp>

#include <iterator>

#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"

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
  if (name.data() == nullptr || name.empty() || !letter(name.front())) return false;
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

void check_image(const ptx::kernel_image& kernel) {
  if (!is_entry_name(kernel.name)) {
    throw invalid_argument(
        text("kaio: '", kernel.name,
             "' cannot be a kernel's name; write letters, digits and '_', not a digit first"));
  }
  const auto check_list = [&](const void* list, std::size_t count, std::string_view what,
                              const char* member) {
    if (list == nullptr && count != 0)
      throw invalid_argument(text("kaio: the image of kernel ", kernel.name, " counts ", count, ' ', what,
                                  ", and has none; set kernel_image::", member));
  };
  check_list(kernel.segments, kernel.segment_count, "segments of text", "segments");
  for (std::size_t i = 0; i < kernel.segment_count; ++i)
    check_list(kernel.segments[i].data(), kernel.segments[i].size(), "characters of a segment", "segments");
  check_list(kernel.parameters, kernel.parameter_count, "parameters", "parameters");
  check_list(kernel.statements, kernel.statement_count, "statements", "statements");
  if (kernel.parameter_count > max_parameters) {
    throw invalid_argument(text("kaio: kernel ", display_name(kernel), " has ", kernel.parameter_count,
                                " parameters, and at most ", max_parameters,
                                " can be passed; put values into a buffer"));
  }
  for (std::size_t i = 0; i < kernel.parameter_count; ++i) {
    const ptx::parameter& p = kernel.parameters[i];
    const auto type = static_cast<unsigned>(p.type), access = static_cast<unsigned>(p.access);
    if (type >= std::size(ptx::detail::type_table) || access > static_cast<unsigned>(ptx::access::inout))
      throw invalid_argument(text("kaio: parameter ", i + 1, " of kernel ", display_name(kernel),
                                  " has type ", type, " and access ", access,
                                  ", and there are none such; take those of ptx::type and ptx::access"));
    if (p.size() == 0)
      throw invalid_argument(text("kaio: parameter ", i + 1, " of kernel ", display_name(kernel),
                                  " has no type and no bytes; set the size of the struct"));
  }
  if (!kernel.is_packed() &&
      !(ptx::hash_of_text(kernel) == ptx::hash_of(kernel.segments, kernel.segment_count)))
    throw invalid_argument(text("kaio: the text of kernel ", display_name(kernel),
                                " was changed after its image was made; call ptx::identified again"));
}

void check_kernel(const ptx::kernel_image& kernel, const device_properties& device,
                  std::string_view description) {
  const ptx::dim3& block = kernel.block;
  if (block.count() == 0) {
    throw invalid_argument(text("kaio: kernel ", display_name(kernel), " has a block of ", extents(block),
                                " threads; each extent must be at least 1"));
  }
  if (block.count() > device.max_threads_per_block || block.x > device.max_block.x ||
      block.y > device.max_block.y || block.z > device.max_block.z) {
    throw invalid_argument(text("kaio: kernel ", display_name(kernel), " has a block of ", extents(block),
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
        text("kaio: kernel ", display_name(kernel), " needs ", needs.target.arch_specific ? "exactly " : "",
             sm(needs.target), needs.target.arch_specific ? "" : " or newer", ", and ", description,
             " is sm_", device.target.sm, device.is_emulator() && device.target.arch_specific ? "a" : "",
             device.is_emulator() ? "; set KAIO_EMULATOR_ARCH, or instantiate the kernel for an older target"
                                  : "; use another device, or instantiate the kernel for an older target"));
  }
  if (device.ptx_version < needs.version) {
    throw unsupported_device(text(
        "kaio: kernel ", display_name(kernel), " is written in PTX ISA ", version(needs.version), ", and ",
        driver_release(device), " of ", description, " takes PTX ISA ", version(device.ptx_version),
        " at most; install a newer NVIDIA driver, or instantiate the kernel for an older target"));
  }
  if (needs.shared_bytes > device.shared_per_block) {
    throw unsupported_device(text("kaio: kernel ", display_name(kernel), " uses ", needs.shared_bytes,
                                  " bytes of static shared memory, and a block on ", description, " has ",
                                  device.shared_per_block, "; use smaller shared arrays"));
  }
}

ptx::dim3 checked_cluster(const ptx::kernel_image& kernel, const ptx::dim3& asked,
                          const device_properties& device, std::string_view description) {
  const ptx::dim3& fixed = kernel.needs.cluster;
  const bool asks = (asked.x | asked.y | asked.z) != 0;
  if (!asks && fixed.count() == 0) return {1, 1, 1};
  const ptx::dim3& cluster = asks ? asked : fixed;
  const std::string which =
      text("kaio: kernel ", display_name(kernel), asks ? " was given" : " is written for", " clusters of ",
           extents(cluster), " blocks");
  if (cluster.count() == 0) throw invalid_argument(text(which, "; each extent must be at least 1"));
  if (asks && fixed.count() != 0 && !(fixed == asked))
    throw invalid_argument(text(which, ", and it is written for clusters of ", extents(fixed),
                                "; launch it without, or with the same"));
  if (device.target.sm < 90)
    throw unsupported_device(text(which, ", and ", description, " is sm_", device.target.sm,
                                  "; clusters need sm_90 or newer: launch a variant without them"));
  const std::uint64_t most = device.max_blocks_per_cluster;
  if (cluster.x > most || cluster.y > most || cluster.z > most || cluster.count() > most)
    throw invalid_argument(
        text(which, ", and ", description, " takes at most ", most, " blocks in one; use a smaller cluster"));
  return cluster;
}

void check_attributes(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                      const device_properties& device, std::string_view description) {
  const ptx::dim3 cluster = checked_cluster(kernel, grid.cluster, device, description);
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw invalid_argument(text("kaio: kernel ", display_name(kernel), " was given a grid of ",
                                extents(grid.x, grid.y, grid.z), " blocks, and runs in clusters of ",
                                extents(cluster), "; launch whole clusters"));
  if (grid.programmatic && !kernel.needs.waits_for_grids)
    throw invalid_argument(text(
        "kaio: kernel ", display_name(kernel),
        " was launched programmatically, and never waits for the work before it; call grid_dependency_wait(t) before it touches what that work wrote, or launch it without .programmatic()"));
}

void throw_wrong_count(const ptx::kernel_image& kernel, std::size_t count) {
  throw invalid_argument(text("kaio: kernel ", display_name(kernel), " takes ", kernel.parameter_count,
                              " arguments, and ", count, " were given; pass one for each parameter"));
}

void throw_no_arguments(const ptx::kernel_image& kernel) {
  throw invalid_argument(text("kaio: kernel ", display_name(kernel), " takes ", kernel.parameter_count,
                              " arguments, and the pointer to them is null; pass one for each parameter"));
}

void throw_bad_argument(const ptx::kernel_image& kernel, std::size_t position, const ptx::argument& argument,
                        std::string_view description) {
  const std::string which = text("kaio: argument ", position + 1, " of kernel ", display_name(kernel));
  if (argument.data != nullptr)
    throw invalid_argument(text(which, " is a struct, and the parameter is a pointer; pass a buffer"));
  if (argument.device != nullptr && argument.bits != 0) {
    throw invalid_argument(
        text(which, " is a buffer of ", argument.bytes,
             " bytes of another device than the stream's, which is ", description,
             "; call device::enable_access, copy it to that device, or launch on a stream of its device"));
  }
  if (argument.device != nullptr) {
    throw invalid_argument(text(which, " is an empty buffer of another device than the stream's, which is ",
                                description, "; make it on that device"));
  }
  throw invalid_argument(text(
      which,
      " is a null buffer; it was never allocated, was released, or was moved from: allocate or upload one"));
}

void throw_bad_scalar(const ptx::kernel_image& kernel, std::size_t position, const ptx::argument& argument) {
  throw invalid_argument(
      text("kaio: argument ", position + 1, " of kernel ", display_name(kernel), " is a ",
           argument.data != nullptr ? "struct" : "buffer", ", and the parameter is a scalar (",
           ptx::suffix(kernel.parameters[position].type).substr(1), "); pass the value itself"));
}

void throw_bad_struct(const ptx::kernel_image& kernel, std::size_t position, const ptx::argument& argument,
                      std::string_view description) {
  const std::string which = text("kaio: argument ", position + 1, " of kernel ", display_name(kernel),
                                 " is a struct of ", kernel.parameters[position].bytes, " bytes, and ");
  if (argument.data == nullptr)
    throw invalid_argument(text(which, "none was given; pass its address and size"));
  if (argument.bytes != kernel.parameters[position].bytes)
    throw invalid_argument(
        text(which, argument.bytes, " bytes were given; pass the type that the kernel declares"));
  throw invalid_argument(text(which, "a tensor map of another device than the stream's was given, which is ",
                              description, "; encode one on a stream of that device"));
}

void throw_overlap(const ptx::kernel_image& kernel, const ptx::argument* arguments, std::size_t input,
                   std::size_t output) {
  const ptx::argument &in = arguments[input], &out = arguments[output];
  const bool is_same = in.bits == out.bits && in.bytes == out.bytes;
  throw invalid_argument(text(
      "kaio: argument ", input + 1, " of kernel ", display_name(kernel), " is ",
      is_same ? "the memory of argument " : "memory that overlaps argument ", output + 1, "; parameter ",
      input + 1,
      " is in<T>, which is not written while the kernel runs (it is read by ld.global.nc), and parameter ",
      output + 1, " is ", kernel.parameters[output].access == ptx::access::out ? "out<T>" : "inout<T>",
      ": make parameter ", input + 1, " inout<T>, or pass memory that does not overlap"));
}

void throw_too_much_shared(const ptx::kernel_image& kernel, std::uint64_t dynamic,
                           const device_properties& device, std::string_view description) {
  throw unsupported_device(text("kaio: kernel ", display_name(kernel), " needs ",
                                kernel.needs.shared_bytes + dynamic, " bytes of shared memory for a block (",
                                kernel.needs.shared_bytes, " static, ", dynamic, " dynamic), and a block on ",
                                description, " has at most ", device.shared_per_block_optin,
                                "; use smaller tiles, or fewer stages"));
}

void throw_bad_grid(const ptx::kernel_image& kernel, const ptx::launch_grid& grid,
                    const device_properties& device, std::string_view description) {
  throw invalid_argument(text("kaio: kernel ", display_name(kernel), " was given a grid of ",
                              extents(grid.x, grid.y, grid.z), " blocks, and ", description,
                              " takes at most ", extents(device.max_grid),
                              "; let each thread do more, or launch in parts"));
}

}  // namespace kaio::runtime
