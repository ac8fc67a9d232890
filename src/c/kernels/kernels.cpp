// Kernel libraries and launches of the C interface.

#include <kaio/c/kernels.h>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstring>
#include <memory>
#include <string>

#include "c/call/call.hpp"
#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "c/kernels/arguments.hpp"
#include "c/kernels/library.hpp"
#include "host/printable.hpp"
#include "host/system/library.hpp"

namespace kaio::c {

namespace {

static_assert(sizeof(kaio_kernel_info) == 72 && sizeof(kaio_kernel_parameter) == 32 &&
              sizeof(kaio_kernel_grid) == 64 && sizeof(kaio_kernel_argument) == 32);
static_assert(std::string_view(KAIO_VERSION) == ptx::library_version,
              "kaio: library_version in kaio/ptx/kernel_library.hpp is the version of CMake's project");

std::unique_ptr<kaio_kernel_library> opened(const char* file) {
  auto library = std::make_unique<kaio_kernel_library>();
  library->file = file;
  std::string why;
  library->object = host::open_library(file, why);
  if (library->object == nullptr)
    throw runtime::file_error(
        runtime::errc::unreadable_file,
        "kaio: the kernel library " + host::printable(file) + " cannot be loaded: " + host::printable(why),
        file, "");
  void* const symbol = host::find_symbol(library->object, "kaio_kernel_library");
  if (symbol == nullptr)
    throw runtime::file_error(runtime::errc::unsupported_format,
                              "kaio: " + host::printable(file) +
                                  " is no kernel library: it has no function kaio_kernel_library; write "
                                  "KAIO_KERNEL_LIBRARY(...) in one of its sources",
                              file, "");
  const ptx::kernel_library* (*table)() = nullptr;
  std::memcpy(&table, &symbol, sizeof table);
  read_table(*library, table());
  return library;
}

// The grid in blocks.
ptx::launch_grid blocks_of(const kaio_kernel& kernel, const kaio_kernel_grid& given) {
  const auto refuse_grid = [&](const std::string& what) { refuse(kernel.called.c_str(), what); };
  ptx::launch_grid grid{given.x,
                        given.y,
                        given.z,
                        given.shared_bytes,
                        {given.cluster[0], given.cluster[1], given.cluster[2]},
                        given.programmatic == 1};
  if (given.programmatic != 0 && given.programmatic != 1)
    refuse_grid("programmatic is " + std::to_string(given.programmatic) + "; it has to be 0 or 1");
  if (given.unit == KAIO_GRID_UNIT_BLOCKS) return grid;
  if (given.unit != KAIO_GRID_UNIT_ELEMENTS)
    refuse_grid("the grid's unit is " + std::to_string(given.unit) +
                "; it has to be one of the named constants");
  const ptx::dim3 &block = kernel.image->block, &fixed = kernel.image->needs.cluster;
  if (block.y != 1 || block.z != 1)
    refuse_grid("a grid of elements is for blocks of one dimension, and its blocks have " +
                std::to_string(block.x) + " x " + std::to_string(block.y) + " x " + std::to_string(block.z) +
                " threads; give the grid in blocks");
  if (given.y != 1 || given.z != 1) refuse_grid("a grid of elements has an extent x alone; y and z are 1");
  const std::uint64_t per_block = std::uint64_t{block.x} * (given.per_thread == 0 ? 1 : given.per_thread);
  const std::uint64_t blocks = given.x / per_block + (given.x % per_block != 0 ? 1 : 0);
  const std::uint64_t together = given.cluster[0] != 0 ? given.cluster[0] : fixed.x != 0 ? fixed.x : 1;
  const std::uint64_t missing = blocks % together == 0 ? 0 : together - blocks % together;
  grid.x = blocks + missing;
  return grid;
}

void copy_extents(const ptx::dim3& from, std::uint32_t (&to)[3]) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

}  // namespace

}  // namespace kaio::c

using namespace kaio::c;

extern "C" {

kaio_status kaio_kernel_library_open(const char* file, kaio_kernel_library** library) {
  return guarded([&] {
    require("kernel_library_open", "file", file);
    require("kernel_library_open", "library", library);
    *library = opened(file).release();
  });
}

kaio_status kaio_kernel_library_of_table(const void* table, kaio_kernel_library** library) {
  return guarded([&] {
    require("kernel_library_of_table", "table", table);
    require("kernel_library_of_table", "library", library);
    auto made = std::make_unique<kaio_kernel_library>();
    made->file = "of this program";
    read_table(*made, static_cast<const kaio::ptx::kernel_library*>(table));
    *library = made.release();
  });
}

kaio_status kaio_kernel_library_close(kaio_kernel_library* library) {
  return guarded([&] { delete library; });
}

const char* kaio_kernel_library_version(const kaio_kernel_library* library) {
  return library == nullptr ? "" : library->version.c_str();
}

kaio_status kaio_kernel_library_count(const kaio_kernel_library* library, uint64_t* count) {
  return guarded([&] {
    require("kernel_library_count", "library", library);
    require("kernel_library_count", "count", count);
    *count = library->kernels.size();
  });
}

kaio_status kaio_kernel_library_at(const kaio_kernel_library* library, uint64_t index,
                                   const kaio_kernel** kernel) {
  return guarded([&] {
    require("kernel_library_at", "library", library);
    require("kernel_library_at", "kernel", kernel);
    if (index >= library->kernels.size())
      refuse("kernel_library_at", "index is " + std::to_string(index) + "; the library has " +
                                      std::to_string(library->kernels.size()) + " kernels");
    *kernel = &library->kernels[index];
  });
}

kaio_status kaio_kernel_library_find(const kaio_kernel_library* library, const char* name,
                                     const kaio_kernel** kernel) {
  return guarded([&] {
    require("kernel_library_find", "library", library);
    require("kernel_library_find", "name", name);
    require("kernel_library_find", "kernel", kernel);
    *kernel = &find_kernel(*library, name);
  });
}

kaio_status kaio_kernel_info_of(const kaio_kernel* kernel, kaio_kernel_info* info) {
  return guarded([&] {
    require("kernel_info_of", "kernel", kernel);
    const kaio::ptx::kernel_image& image = *kernel->image;
    kaio_kernel_info known = kaio_kernel_info_default();
    known.parameters = static_cast<uint32_t>(kernel->parameters.size());
    known.name = kernel->name.c_str();
    known.object = kernel->object.c_str();
    known.signature = kernel->signature.c_str();
    copy_extents(image.block, known.block);
    copy_extents(image.needs.cluster, known.cluster);
    known.shared_bytes = image.needs.shared_bytes;
    known.architecture = image.needs.target.sm;
    known.is_arch_specific = image.needs.target.arch_specific;
    known.is_cooperative = image.needs.cooperative;
    call("kernel_info_of").give("info", info, &known, sizeof known);
  });
}

kaio_status kaio_kernel_parameter_of(const kaio_kernel* kernel, uint64_t index, kaio_kernel_parameter* to) {
  return guarded([&] {
    require("kernel_parameter_of", "kernel", kernel);
    if (index >= kernel->parameters.size())
      refuse("kernel_parameter_of", "index is " + std::to_string(index) + "; " + kernel->called + " has " +
                                        std::to_string(kernel->parameters.size()) + " parameters");
    const parameter& from = kernel->parameters[index];
    kaio_kernel_parameter known = kaio_kernel_parameter_default();
    known.access = static_cast<int32_t>(from.access);
    known.type = from.element;
    known.bytes = from.type.bytes;
    known.alignment = from.type.alignment;
    known.text = from.text.c_str();
    call("kernel_parameter_of").give("parameter", to, &known, sizeof known);
  });
}

kaio_status kaio_kernel_ptx(const kaio_kernel* kernel, const char** text) {
  return guarded([&] {
    require("kernel_ptx", "kernel", kernel);
    require("kernel_ptx", "text", text);
    const std::lock_guard lock(kernel->reading);
    if (kernel->text.empty())
      kaio::ptx::with_text(*kernel->image, [&](const kaio::ptx::kernel_image& whole) {
        for (std::size_t i = 0; i < whole.segment_count; ++i) kernel->text += whole.segments[i];
      });
    *text = kernel->text.c_str();
  });
}

kaio_status kaio_kernel_launch(void* stream, const kaio_kernel* kernel, const kaio_kernel_grid* grid,
                               const kaio_kernel_argument* arguments, uint64_t count) {
  return guarded([&] {
    require("kernel_launch", "kernel", kernel);
    require("kernel_launch", "grid", grid);
    call in(kernel->called.c_str());
    kaio_kernel_grid shape = kaio_kernel_grid_default();
    in.take("grid", grid, &shape, sizeof shape);
    if (shape.device.device_type != 0) in.device("device", shape.device);
    const kernel_arguments packed(in, *kernel, arguments, count);
    if (!in.has_device())
      refuse(kernel->called.c_str(), "no argument is a tensor that names a device; set the grid's device");
    in.stream(stream).launch(*kernel->image, blocks_of(*kernel, shape), packed.data(), count);
    in.finish();
  });
}

kaio_status kaio_kernel_warmup(const kaio_kernel* kernel, DLDevice device) {
  return guarded([&] {
    require("kernel_warmup", "kernel", kernel);
    device_of("kernel_warmup", "device", device).warmup(*kernel->image);
  });
}
}
