// Texture and surface objects: descriptors of the program become objects of the emulator (emulator/memory/image.hpp).
// Source: CUDA driver API, cuTexObjectCreate and cuSurfObjectCreate.

#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/image_limits.hpp"
#include "driver_emulator/state/memory_objects.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace kaio::driver_emulator {
namespace {

using emulator::image;
using emulator::image_shape;
using emulator::texel_format;
using emulator::texel_kind;

// Throws failure, and says why on the standard error stream.
void check(bool condition, const char* reason, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  if (condition) return;
  std::fprintf(stderr, "kaio: a texture or surface object: %s\n", reason);
  refuse(code);
}

// The element of a format, and whether its reads are fractions whatever the texture says.
struct element {
  texel_format format;
  bool fractions = false;
};

element element_of(CUarray_format format, unsigned channels) {
  check(channels == 1 || channels == 2 || channels == 4, "an element has 1, 2 or 4 channels");
  const auto of = [&](texel_kind kind, unsigned bytes) {
    return element{{kind, static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(channels)}};
  };
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: return of(texel_kind::unsigned_integer, 1);
    case CU_AD_FORMAT_UNSIGNED_INT16: return of(texel_kind::unsigned_integer, 2);
    case CU_AD_FORMAT_UNSIGNED_INT32: return of(texel_kind::unsigned_integer, 4);
    case CU_AD_FORMAT_SIGNED_INT8: return of(texel_kind::signed_integer, 1);
    case CU_AD_FORMAT_SIGNED_INT16: return of(texel_kind::signed_integer, 2);
    case CU_AD_FORMAT_SIGNED_INT32: return of(texel_kind::signed_integer, 4);
    case CU_AD_FORMAT_HALF: return of(texel_kind::floating, 2);
    case CU_AD_FORMAT_FLOAT: return of(texel_kind::floating, 4);
    default: break;
  }
  // The normalised formats: unsigned, then signed; 8, then 16 bits; 1, 2 and 4 channels.
  check(format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4,
        "the emulator does not have this element format", CUDA_ERROR_NOT_SUPPORTED);
  const int index = (format - CU_AD_FORMAT_UNORM_INT8X1) / 3;
  element e =
      of(index < 2 ? texel_kind::unsigned_integer : texel_kind::signed_integer, index % 2 == 0 ? 1 : 2);
  e.fractions = true;
  return e;
}

struct resource {
  image texels;
  bool fractions = false;
};

resource array_resource(CUarray handle) {
  const std::shared_ptr<array> a = find_array(handle);
  const CUDA_ARRAY3D_DESCRIPTOR& d = a->shape;
  check((d.flags & array_cubemap) == 0, "the emulator does not have cube maps", CUDA_ERROR_NOT_SUPPORTED);
  const element e = element_of(d.format, d.channels);
  const bool layered = (d.flags & array_layered) != 0;
  resource r;
  r.fractions = e.fractions;
  r.texels.address = a->address;
  r.texels.format = e.format;
  r.texels.shape = layered         ? d.height == 0 ? image_shape::layered_one : image_shape::layered_two
                   : d.depth != 0  ? image_shape::three
                   : d.height != 0 ? image_shape::two
                                   : image_shape::one;
  r.texels.width = static_cast<std::uint32_t>(d.width);
  r.texels.height = static_cast<std::uint32_t>(a->rows);
  r.texels.depth = static_cast<std::uint32_t>(a->slices);
  r.texels.pitch = a->pitch;
  r.texels.slice = a->pitch * a->rows;
  return r;
}

resource linear_resource(const CUDA_RESOURCE_DESC::linear_memory& m) {
  const element e = element_of(m.format, m.channels);
  check(m.address != 0 && m.address % texture_alignment == 0, "the address is not a multiple of 256");
  const std::size_t texels = m.bytes / e.format.size();
  check(texels != 0 && texels <= most_linear_texels, "linear memory has 1 to 2^28 elements");
  resource r;
  r.fractions = e.fractions;
  r.texels = {m.address, image_shape::linear, e.format, static_cast<std::uint32_t>(texels), 1, 1, m.bytes,
              m.bytes};
  return r;
}

resource pitched_resource(const CUDA_RESOURCE_DESC::pitched_memory& m) {
  const element e = element_of(m.format, m.channels);
  check(m.address != 0 && m.address % texture_alignment == 0, "the address is not a multiple of 256");
  check(m.width != 0 && m.width <= most_pitched_width, "the width of pitched memory is 1 to 131072 elements");
  check(m.height != 0 && m.height <= most_pitched_height, "the height of pitched memory is 1 to 65000 rows");
  check(
      m.pitch % texture_pitch_alignment == 0 && m.pitch <= most_pitch && m.pitch >= m.width * e.format.size(),
      "the pitch is not a multiple of 32, from the bytes of a row to 2097120");
  resource r;
  r.fractions = e.fractions;
  r.texels = {m.address,
              image_shape::two,
              e.format,
              static_cast<std::uint32_t>(m.width),
              static_cast<std::uint32_t>(m.height),
              1,
              m.pitch,
              m.pitch * m.height};
  return r;
}

resource resource_of(const CUDA_RESOURCE_DESC& d) {
  require(d.flags == 0);
  switch (d.type) {
    case CU_RESOURCE_TYPE_ARRAY: return array_resource(d.array);
    case CU_RESOURCE_TYPE_LINEAR: return linear_resource(d.linear);
    case CU_RESOURCE_TYPE_PITCH2D: return pitched_resource(d.pitched);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: break;
  }
  check(d.type == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, "there is no such type of resource");
  check(false, "the emulator reads the arrays of a mipmapped array one by one", CUDA_ERROR_NOT_SUPPORTED);
  return {};
}

// A view has to be the whole array as it is.
void check_view(const CUDA_RESOURCE_DESC& d, const CUDA_RESOURCE_VIEW_DESC& v) {
  check(d.type == CU_RESOURCE_TYPE_ARRAY, "a view is for arrays");
  const CUDA_ARRAY3D_DESCRIPTOR& shape = find_array(d.array)->shape;
  const std::size_t layers = (shape.flags & array_layered) != 0 ? shape.depth : 0;
  const bool whole = v.format == 0 && v.width == shape.width && v.height == shape.height &&
                     v.depth == shape.depth && v.first_mipmap_level == 0 && v.last_mipmap_level == 0 &&
                     v.first_layer == 0 && (layers == 0 ? v.last_layer == 0 : v.last_layer == layers - 1);
  check(whole, "the emulator has views of a whole array in its own format only", CUDA_ERROR_NOT_SUPPORTED);
}

emulator::texture texture_of(const CUDA_RESOURCE_DESC& d, const CUDA_TEXTURE_DESC& t) {
  const resource r = resource_of(d);
  check((t.flags & (srgb | seamless_cubemap)) == 0, "the emulator has no sRGB reads and no cube maps",
        CUDA_ERROR_NOT_SUPPORTED);
  check((t.flags & ~(read_as_integer | normalized_coordinates | no_trilinear_optimization)) == 0,
        "there is no such flag");
  emulator::texture result;
  result.texels = r.texels;
  const texel_format& f = r.texels.format;
  const bool small_integer = f.kind != texel_kind::floating && f.bytes < 4;
  result.reads_fractions = r.fractions || (small_integer && (t.flags & read_as_integer) == 0);
  if (d.type == CU_RESOURCE_TYPE_LINEAR) return result;  // which has no sampler

  bool border = false;
  for (unsigned k = 0; k < 3; ++k) {
    check(t.address[k] >= CU_TR_ADDRESS_MODE_WRAP && t.address[k] <= CU_TR_ADDRESS_MODE_BORDER,
          "there is no such address mode");
    result.sampler.address[k] = static_cast<emulator::address_mode>(t.address[k]);
    border = border || t.address[k] == CU_TR_ADDRESS_MODE_BORDER;
  }
  check(t.filter == CU_TR_FILTER_MODE_POINT || t.filter == CU_TR_FILTER_MODE_LINEAR,
        "there is no such filter");
  check(t.filter == CU_TR_FILTER_MODE_POINT || result.reads_floats(),
        "linear filtering needs reads of floating-point numbers");
  result.sampler.filter = static_cast<emulator::filter_mode>(t.filter);
  result.sampler.normalized = (t.flags & normalized_coordinates) != 0;
  std::copy(t.border_color, t.border_color + 4, result.sampler.border_color.begin());
  const bool colored = std::any_of(t.border_color, t.border_color + 4, [](float c) { return c != 0; });
  check(!border || !colored || result.reads_floats(),
        "the emulator has border colors for floating-point reads only", CUDA_ERROR_NOT_SUPPORTED);
  return result;
}

emulator::surface surface_of(const CUDA_RESOURCE_DESC& d) {
  check(d.type == CU_RESOURCE_TYPE_ARRAY, "a surface object needs an array");
  check((find_array(d.array)->shape.flags & array_surface) != 0,
        "a surface object needs an array that was made with CUDA_ARRAY3D_SURFACE_LDST");
  return {resource_of(d).texels};
}

template <class Table>
auto& found(Table& objects, unsigned long long handle) {
  const auto at = objects.find(handle);
  require(at != objects.end());
  return at->second;
}

template <class Table>
void destroy(Table& objects, unsigned long long handle) {
  found(objects, handle);
  state().memory.images().remove(handle);
  objects.erase(handle);
}

}  // namespace

void destroy_image_objects(const context& c) {
  const auto destroy_own = [&](auto& objects) {
    for (auto at = objects.begin(); at != objects.end();) {
      const auto next = std::next(at);
      if (at->second.owner == c.handle) destroy(objects, at->first);
      at = next;
    }
  };
  destroy_own(state().textures);
  destroy_own(state().surfaces);
}

CUresult cuTexObjectCreate(CUtexObject* to, const CUDA_RESOURCE_DESC* d, const CUDA_TEXTURE_DESC* t,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return call(function_id::cuTexObjectCreate, [&](context& c) {
    require(to != nullptr && d != nullptr && t != nullptr);
    texture_object o{c.handle, *d, *t, {}};
    if (view != nullptr) {
      check_view(*d, *view);
      o.view = *view;
    }
    *to = state().memory.images().add(texture_of(*d, *t));
    state().textures.emplace(*to, o);
  });
}
CUresult cuTexObjectDestroy(CUtexObject handle) {
  return release_call(function_id::cuTexObjectDestroy, [&] { destroy(state().textures, handle); });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* to, CUtexObject handle) {
  return call(function_id::cuTexObjectGetResourceDesc, [&](context&) {
    require(to != nullptr);
    *to = found(state().textures, handle).resource;
  });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* to, CUtexObject handle) {
  return call(function_id::cuTexObjectGetTextureDesc, [&](context&) {
    require(to != nullptr);
    *to = found(state().textures, handle).texture;
  });
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* to, CUtexObject handle) {
  return call(function_id::cuTexObjectGetResourceViewDesc, [&](context&) {
    require(to != nullptr);
    const texture_object& o = found(state().textures, handle);
    require(o.view.has_value());
    *to = *o.view;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* to, const CUDA_RESOURCE_DESC* d) {
  return call(function_id::cuSurfObjectCreate, [&](context& c) {
    require(to != nullptr && d != nullptr);
    *to = state().memory.images().add(surface_of(*d));
    state().surfaces.emplace(*to, surface_object{c.handle, *d});
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return release_call(function_id::cuSurfObjectDestroy, [&] { destroy(state().surfaces, handle); });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* to, CUsurfObject handle) {
  return call(function_id::cuSurfObjectGetResourceDesc, [&](context&) {
    require(to != nullptr);
    *to = found(state().surfaces, handle).resource;
  });
}

}  // namespace kaio::driver_emulator
