#include "driver_emulator/state/copies.hpp"

#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/virtual_memory.hpp"

#include <cstring>
#include <limits>

namespace kaio::driver_emulator {
namespace {

// Where one side of a copy begins, and how far apart its rows and slices are.
struct side {
  bool device = false;
  std::uint64_t address = 0;
  std::uint64_t pitch = 0, slice = 0;  // bytes
};

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  require(b == 0 || a <= std::numeric_limits<std::uint64_t>::max() / b);
  return a * b;
}
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  require(a <= std::numeric_limits<std::uint64_t>::max() - b);
  return a + b;
}

// Bytes from the first of a box to the end of its last.
std::uint64_t extent(const side& s, std::size_t width, std::size_t height, std::size_t depth) {
  return sum(sum(product(s.slice, depth - 1), product(s.pitch, height - 1)), width);
}

side source_of(const CUDA_MEMCPY3D& c) {
  side s;
  s.device = c.source_type == CU_MEMORYTYPE_DEVICE;
  const std::uint64_t base = s.device ? c.source_device : reinterpret_cast<std::uintptr_t>(c.source_host);
  s.pitch = c.source_pitch;
  s.slice = c.source_pitch * c.source_height;
  s.address = base + c.source_z * s.slice + c.source_y * s.pitch + c.source_x;
  return s;
}
side target_of(const CUDA_MEMCPY3D& c) {
  side s;
  s.device = c.target_type == CU_MEMORYTYPE_DEVICE;
  const std::uint64_t base = s.device ? c.target_device : reinterpret_cast<std::uintptr_t>(c.target_host);
  s.pitch = c.target_pitch;
  s.slice = c.target_pitch * c.target_height;
  s.address = base + c.target_z * s.slice + c.target_y * s.pitch + c.target_x;
  return s;
}

// Replaces an array by the memory that it is in. Throws failure: the box is not in it, or cuts elements.
void replace_array(CUmemorytype& type, CUarray handle, CUdeviceptr& base, std::size_t& pitch,
                   std::size_t& height, std::size_t x, std::size_t y, std::size_t z, const CUDA_MEMCPY3D& c) {
  if (type != CU_MEMORYTYPE_ARRAY) return;
  const std::shared_ptr<array> a = find_array(handle);
  require(x % a->element_bytes == 0 && c.width % a->element_bytes == 0);
  require(sum(x, c.width) <= a->shape.width * a->element_bytes && sum(y, c.height) <= a->rows &&
          sum(z, c.depth) <= a->slices);
  type = CU_MEMORYTYPE_DEVICE;
  base = a->address;
  pitch = a->pitch;
  height = a->rows;
}

// Fills in a side's pitch and height if they may be left out, and checks them.
void complete(std::size_t& pitch, std::size_t& height, std::size_t x, std::size_t y, std::size_t z,
              const CUDA_MEMCPY3D& c) {
  const bool one_row = c.height == 1 && c.depth == 1 && y == 0 && z == 0;
  const bool one_slice = c.depth == 1 && z == 0;
  if (pitch == 0 && one_row) pitch = sum(x, c.width);
  if (height == 0 && one_slice) height = sum(y, c.height);
  require(pitch >= sum(x, c.width));
  require(height >= sum(y, c.height) || one_slice);
  product(product(pitch, height), sum(z, c.depth));
}

// Which kind of memory a unified address is.
CUmemorytype type_of(CUdeviceptr address) {
  if (is_device_range(address, 1)) return CU_MEMORYTYPE_DEVICE;
  require(address != 0 && !is_device_address(address) && find_reservation(address) == nullptr);
  return CU_MEMORYTYPE_HOST;
}

void check_side(const side& s, const CUDA_MEMCPY3D& c) {
  require(s.address != 0);
  if (s.device) require(is_device_range(s.address, extent(s, c.width, c.height, c.depth)));
}

void copy_row(const side& to, const side& from, std::uint64_t to_offset, std::uint64_t from_offset,
              std::uint64_t bytes) {
  emulator::memory& memory = state().memory;
  const std::uint64_t target = to.address + to_offset, source = from.address + from_offset;
  if (to.device && from.device)
    memory.copy(target, source, bytes);
  else if (to.device)
    memory.write(target, reinterpret_cast<const void*>(source), bytes);
  else if (from.device)
    memory.read(reinterpret_cast<void*>(target), source, bytes);
  else
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
}

}  // namespace

CUDA_MEMCPY3D linear_copy(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from,
                          std::size_t bytes) {
  CUDA_MEMCPY3D c{};
  c.source_type = from_type;
  c.source_device = from;
  c.source_host = reinterpret_cast<const void*>(from);
  c.target_type = to_type;
  c.target_device = to;
  c.target_host = reinterpret_cast<void*>(to);
  c.width = bytes;
  c.height = c.depth = 1;
  return c;
}

CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& r) {
  CUDA_MEMCPY3D c{};
  c.source_x = r.source_x;
  c.source_y = r.source_y;
  c.source_type = r.source_type;
  c.source_host = r.source_host;
  c.source_device = r.source_device;
  c.source_array = r.source_array;
  c.source_pitch = r.source_pitch;
  c.target_x = r.target_x;
  c.target_y = r.target_y;
  c.target_type = r.target_type;
  c.target_host = r.target_host;
  c.target_device = r.target_device;
  c.target_array = r.target_array;
  c.target_pitch = r.target_pitch;
  c.width = r.width;
  c.height = r.height;
  c.depth = 1;
  return c;
}

// The types differ in two members only: a context in place of a reserved pointer.
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY3D_PEER& box) {
  static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER));
  CUDA_MEMCPY3D c{};
  std::memcpy(&c, &box, sizeof c);
  c.reserved0 = c.reserved1 = nullptr;
  return c;
}

CUDA_MEMCPY3D checked_copy(CUDA_MEMCPY3D c) {
  if (c.width == 0 || c.height == 0 || c.depth == 0) {
    c.width = 0;
    return c;
  }
  require(c.source_lod == 0 && c.target_lod == 0);
  replace_array(c.source_type, c.source_array, c.source_device, c.source_pitch, c.source_height, c.source_x,
                c.source_y, c.source_z, c);
  replace_array(c.target_type, c.target_array, c.target_device, c.target_pitch, c.target_height, c.target_x,
                c.target_y, c.target_z, c);
  complete(c.source_pitch, c.source_height, c.source_x, c.source_y, c.source_z, c);
  complete(c.target_pitch, c.target_height, c.target_x, c.target_y, c.target_z, c);
  if (c.source_type == CU_MEMORYTYPE_UNIFIED) {
    c.source_type = type_of(c.source_device);
    c.source_host = reinterpret_cast<const void*>(c.source_device);
  }
  if (c.target_type == CU_MEMORYTYPE_UNIFIED) {
    c.target_type = type_of(c.target_device);
    c.target_host = reinterpret_cast<void*>(c.target_device);
  }
  const auto known = [](CUmemorytype t) { return t == CU_MEMORYTYPE_HOST || t == CU_MEMORYTYPE_DEVICE; };
  require(known(c.source_type) && known(c.target_type));
  check_side(source_of(c), c);
  check_side(target_of(c), c);
  return c;
}

CUDA_MEMSET_NODE_PARAMS checked_fill(CUDA_MEMSET_NODE_PARAMS f) {
  require(f.element_size == 1 || f.element_size == 2 || f.element_size == 4);
  if (f.width == 0 || f.height == 0) {
    f.width = 0;
    return f;
  }
  require(f.target % f.element_size == 0);
  const std::uint64_t row = product(f.width, f.element_size);
  if (f.height == 1) f.pitch = row;
  require(f.pitch >= row && f.pitch % f.element_size == 0);
  require(is_device_range(f.target, sum(product(f.pitch, f.height - 1), row)));
  return f;
}

void copy(const CUDA_MEMCPY3D& c) {
  if (c.width == 0) return;
  const side from = source_of(c), to = target_of(c);
  const bool rows_touch = from.pitch == c.width && to.pitch == c.width;
  const std::uint64_t row = rows_touch ? c.width * c.height : c.width;
  const std::uint64_t rows = rows_touch ? 1 : c.height;
  for (std::uint64_t z = 0; z < c.depth; ++z)
    for (std::uint64_t y = 0; y < rows; ++y)
      copy_row(to, from, z * to.slice + y * to.pitch, z * from.slice + y * from.pitch, row);
}

void fill(const CUDA_MEMSET_NODE_PARAMS& f) {
  if (f.width == 0) return;
  emulator::memory& memory = state().memory;
  for (std::uint64_t y = 0; y < f.height; ++y)
    memory.fill(f.target + y * f.pitch, f.value, f.element_size, f.width);
}

bool word_is_reached(const word_work& w, std::uint64_t now) {
  const bool wide = w.bytes == 8;
  switch (w.flags & 3) {
    case 0:  // greater or equal, in the sense of a counter that wraps around
      return wide ? static_cast<std::int64_t>(now - w.value) >= 0
                  : static_cast<std::int32_t>(static_cast<std::uint32_t>(now - w.value)) >= 0;
    case 1:
      return wide ? now == w.value : static_cast<std::uint32_t>(now) == static_cast<std::uint32_t>(w.value);
    case 2: return (now & w.value) != 0;
    default: return wide ? ~(now | w.value) != 0 : static_cast<std::uint32_t>(~(now | w.value)) != 0;
  }
}

}  // namespace kaio::driver_emulator
