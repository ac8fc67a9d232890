// CUDA arrays and mipmapped arrays: device memory with a pitch, and its shape. Source: CUDA driver API,
// cuArray3DCreate; CUDA C++ programming guide, table of technical specifications, for the greatest extents.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <bit>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint64_t row_alignment = 32;

// Bytes of one channel. Throws failure: the emulator has no such format, or it has another number of channels.
unsigned channel_bytes(CUarray_format format, unsigned channels) {
  require(channels == 1 || channels == 2 || channels == 4);
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: break;
  }
  // The normalised formats: 8 and 16 bits, unsigned and signed, each with 1, 2 and 4 channels.
  require(format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4,
          CUDA_ERROR_NOT_SUPPORTED);
  const int index = format - CU_AD_FORMAT_UNORM_INT8X1;
  require(channels == 1u << index % 3);
  return index / 3 % 2 == 0 ? 1 : 2;
}

bool is_layered(const CUDA_ARRAY3D_DESCRIPTOR& d) { return (d.flags & array_layered) != 0; }

// Throws failure: no array has this shape.
void check_shape(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  require((d.flags & ~(array_layered | array_surface | array_cubemap | array_gather)) == 0,
          CUDA_ERROR_NOT_SUPPORTED);
  require(d.width != 0);
  const auto within = [&](std::size_t width, std::size_t height, std::size_t depth) {
    require(d.width <= width && d.height <= height && d.depth <= depth);
  };
  if ((d.flags & array_cubemap) != 0) {
    require(d.width == d.height && d.depth != 0 && d.depth % 6 == 0 && (is_layered(d) || d.depth == 6));
    within(32768, 32768, 2046);
  } else if (is_layered(d)) {
    require(d.depth != 0);
    within(32768, 32768, 2048);
  } else if (d.depth != 0) {
    require(d.height != 0);
    within(16384, 16384, 16384);
  } else {
    within(131072, 65536, 0);
  }
  require((d.flags & array_gather) == 0 || (d.height != 0 && d.depth == 0));
}

CUarray make_array(context& c, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  check_shape(shape);
  auto a = std::make_shared<array>();
  a->owner = state().contexts.find(c.handle);
  a->shape = shape;
  a->element_bytes = channel_bytes(shape.format, shape.channels) * shape.channels;
  a->pitch = (shape.width * a->element_bytes + row_alignment - 1) / row_alignment * row_alignment;
  a->rows = std::max<std::size_t>(shape.height, 1);
  a->slices = std::max<std::size_t>(shape.depth, 1);
  a->address = allocate_device(c, a->pitch * a->rows * a->slices, allocation_kind::array, nullptr);
  return state().arrays.add(std::move(a));
}

// The driver waits for the work that may use the memory.
template <class Object>
void wait_for_users(const Object& o) {
  if (const std::shared_ptr<context> owner = o.owner.lock()) drain(*owner);
}

// Each level halves the extents, but not the number of layers and faces.
CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR shape, unsigned level) {
  const auto halve = [&](std::size_t& extent) {
    if (extent != 0) extent = std::max<std::size_t>(extent >> level, 1);
  };
  halve(shape.width);
  halve(shape.height);
  if ((shape.flags & (array_layered | array_cubemap)) == 0) halve(shape.depth);
  return shape;
}

std::shared_ptr<mipmapped_array> find_mipmapped(CUmipmappedArray handle) {
  std::shared_ptr<mipmapped_array> m = state().mipmapped_arrays.find(handle);
  require(m != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return m;
}

}  // namespace

std::shared_ptr<array> find_array(CUarray handle) {
  std::shared_ptr<array> a = state().arrays.find(handle);
  require(a != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return a;
}

void free_array(CUarray handle) {
  if (const std::shared_ptr<array> a = state().arrays.take(handle)) free_allocation(a->address);
}

CUresult cuArrayCreate_v2(CUarray* to, const CUDA_ARRAY_DESCRIPTOR* d) {
  return call(function_id::cuArrayCreate_v2, [&](context& c) {
    require(to != nullptr && d != nullptr);
    forbid_in_capture();
    *to = make_array(c, {d->width, d->height, 0, d->format, d->channels, 0});
  });
}
CUresult cuArray3DCreate_v2(CUarray* to, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return call(function_id::cuArray3DCreate_v2, [&](context& c) {
    require(to != nullptr && d != nullptr);
    forbid_in_capture();
    *to = make_array(c, *d);
  });
}
CUresult cuArrayDestroy(CUarray handle) {
  return release_call(function_id::cuArrayDestroy, [&] {
    forbid_in_capture();
    const std::shared_ptr<array> a = find_array(handle);
    require(a->mipmapped == nullptr, CUDA_ERROR_INVALID_HANDLE);
    wait_for_users(*a);
    free_array(handle);
  });
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* to, CUarray handle) {
  return call(function_id::cuArrayGetDescriptor_v2, [&](context&) {
    require(to != nullptr);
    const CUDA_ARRAY3D_DESCRIPTOR& d = find_array(handle)->shape;
    *to = {d.width, d.height, d.format, d.channels};
  });
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* to, CUarray handle) {
  return call(function_id::cuArray3DGetDescriptor_v2, [&](context&) {
    require(to != nullptr);
    *to = find_array(handle)->shape;
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* to, const CUDA_ARRAY3D_DESCRIPTOR* d, unsigned levels) {
  return call(function_id::cuMipmappedArrayCreate, [&](context& c) {
    require(to != nullptr && d != nullptr && levels != 0);
    forbid_in_capture();
    check_shape(*d);
    const CUDA_ARRAY3D_DESCRIPTOR shape = *d;
    const bool flat = (shape.flags & (array_layered | array_cubemap)) != 0;
    const std::size_t longest = std::max({shape.width, shape.height, flat ? 0 : shape.depth});
    auto m = std::make_shared<mipmapped_array>();
    m->owner = state().contexts.find(c.handle);
    try {
      // The last possible level has one element.
      for (unsigned level = 0; level < std::min<std::size_t>(levels, std::bit_width(longest)); ++level)
        m->levels.push_back(make_array(c, level_of(shape, level)));
    } catch (...) {
      for (const CUarray a : m->levels) free_array(a);
      throw;
    }
    *to = state().mipmapped_arrays.add(m);
    for (const CUarray a : m->levels) find_array(a)->mipmapped = *to;
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* to, CUmipmappedArray handle, unsigned level) {
  return call(function_id::cuMipmappedArrayGetLevel, [&](context&) {
    require(to != nullptr);
    const std::shared_ptr<mipmapped_array> m = find_mipmapped(handle);
    require(level < m->levels.size());
    *to = m->levels[level];
  });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return release_call(function_id::cuMipmappedArrayDestroy, [&] {
    forbid_in_capture();
    const std::shared_ptr<mipmapped_array> m = find_mipmapped(handle);
    wait_for_users(*m);
    state().mipmapped_arrays.take(handle);
    for (const CUarray a : m->levels) free_array(a);
  });
}

}  // namespace kaio::driver_emulator
