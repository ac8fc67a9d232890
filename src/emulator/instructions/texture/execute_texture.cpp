// Texture reads and queries (PTX ISA, "Texture Instructions"). The texels that a read combines are in footprint.hpp.

#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/instructions/texture/footprint.hpp"
#include "emulator/instructions/texture/image_access.hpp"
#include "emulator/instructions/texture/texel.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/program/half.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <variant>

namespace kaio::emulator {
namespace textures {
namespace {

// One texel of a read.
struct weighted_texel {
  std::array<s64, 3> at{};  // negative: the border
  f64 weight = 1;
  bool outside() const { return at[0] < 0 || at[1] < 0 || at[2] < 0; }
};

struct footprint {
  u32 count = 0;
  std::array<weighted_texel, 8> texels;
};

// The values of a texel, for reads of numbers or of integers.
struct values {
  std::array<f64, 4> numbers{};
  std::array<u32, 4> words{};
};

using lane_values = std::array<values, warp_lanes>;

class reader {
 public:
  reader(warp& w, const instruction& i, u32 mask, const texture& t)
      : w_(w), i_(i), mask_(mask), t_(t), geometry_(static_cast<image_geometry>(i.form)) {
    check_geometry(w, i, first(), t.texels);
    if (i.source_type == ptx::type::f32) {
      if (t.texels.shape == image_shape::linear)
        refuse_image(w, i, first(),
                     "a thread reads a texture of linear memory with floating-point coordinates");
    } else if (t.sampler.normalized && t.texels.shape != image_shape::linear) {
      refuse_image(w, i, first(),
                   "a thread reads a texture of normalized coordinates with integer coordinates");
    }
    if (ptx::is_half(i.type) || i.type == ptx::type::f16x2) {
      if (!t.reads_floats()) refuse_image(w, i, first(), "a thread reads a texture of integers as halves");
    }
  }

  // tex: the weighted sum of the texels of each lane's footprint.
  void sample() {
    std::array<footprint, warp_lanes> places;
    u32 most = 0;
    for_lanes(mask_, [&](unsigned lane) {
      places[lane] = footprint_of(lane);
      most = std::max(most, places[lane].count);
    });
    lane_values sum{}, now{};
    for (u32 k = 0; k < most; ++k) {
      u32 lanes = 0;
      for_lanes(mask_, [&](unsigned lane) { lanes |= k < places[lane].count ? 1u << lane : 0; });
      read(
          lanes, [&](unsigned lane) -> const weighted_texel& { return places[lane].texels[k]; }, now);
      for_lanes(lanes, [&](unsigned lane) {
        if (k == 0) sum[lane].words = now[lane].words;
        const f64 weight = places[lane].texels[k].weight;
        for (unsigned c = 0; c < 4; ++c) {
          const f64 part = weight * now[lane].numbers[c];
          sum[lane].numbers[c] = k == 0 ? part : sum[lane].numbers[c] + part;
        }
      });
    }
    for_lanes(mask_, [&](unsigned lane) { write(lane, sum[lane]); });
  }

  // tld4: one component of the four texels of the linear filter, from the lower left one counter-clockwise.
  void gather(unsigned component) {
    constexpr unsigned column[] = {0, 1, 1, 0}, row[] = {1, 1, 0, 0};
    lane_values result{}, now{};
    for (unsigned k = 0; k < 4; ++k) {
      std::array<weighted_texel, warp_lanes> places;
      for_lanes(mask_, [&](unsigned lane) {
        places[lane].at = {
            pair_at(coordinate<f32>(lane, 0), t_.texels.width, mode(0), normalized())[column[k]],
            pair_at(coordinate<f32>(lane, 1), t_.texels.height, mode(1), normalized())[row[k]], layer(lane)};
      });
      read(
          mask_, [&](unsigned lane) -> const weighted_texel& { return places[lane]; }, now);
      for_lanes(mask_, [&](unsigned lane) {
        result[lane].numbers[k] = now[lane].numbers[component];
        result[lane].words[k] = now[lane].words[component];
      });
    }
    for_lanes(mask_, [&](unsigned lane) { write(lane, result[lane]); });
  }

 private:
  unsigned first() const { return static_cast<unsigned>(std::countr_zero(mask_)); }
  bool normalized() const { return t_.sampler.normalized; }
  address_mode mode(unsigned dimension) const { return t_.sampler.address[dimension]; }
  bool layered() const {
    return geometry_ == image_geometry::array_one || geometry_ == image_geometry::array_two;
  }
  u32 row_of(unsigned k) const { return w_.owner->launched.kernel.rows[i_.rows + k]; }

  template <class T>
  T coordinate(unsigned lane, unsigned dimension) const {
    return get<T>(w_.file + row_of(dimension + (layered() ? 1 : 0)), lane);
  }

  // The layer, at most the last one; 0 if the image has no layers.
  s64 layer(unsigned lane) const {
    return layered() ? std::min(get<u32>(w_.file + row_of(0), lane), t_.texels.depth - 1) : 0;
  }

  axis_texels axis(unsigned lane, unsigned dimension, u32 size) const {
    if (i_.source_type == ptx::type::f32)
      return texels_at(coordinate<f32>(lane, dimension), size, mode(dimension), normalized(),
                       t_.sampler.filter);
    axis_texels result;
    const s64 index = coordinate<s32>(lane, dimension);
    if (t_.texels.shape == image_shape::linear)
      result.index[0] = index < 0 || index >= size ? axis_texels::outside : index;
    else
      result.index[0] = folded(index, size, mode(dimension), false);
    return result;
  }

  footprint footprint_of(unsigned lane) const {
    const u32 dimensions = image_operands_of(w_, i_).coordinates - (layered() ? 1 : 0);
    const u32 sizes[] = {t_.texels.width, t_.texels.height, t_.texels.depth};
    footprint f;
    f.count = 1;
    f.texels[0].at[2] = layer(lane);
    for (unsigned d = 0; d < dimensions; ++d) {
      const axis_texels a = axis(lane, d, sizes[d]);
      for (u32 k = f.count * a.count; k-- > 0;) {
        f.texels[k] = f.texels[k % f.count];
        f.texels[k].at[d] = a.index[k / f.count];
        f.texels[k].weight *= a.weight[k / f.count];
      }
      f.count *= a.count;
    }
    return f;
  }

  // Reads one texel per lane.
  template <class Place>
  void read(u32 lanes, Place&& place, lane_values& to) const {
    u64 addresses[warp_lanes];
    std::byte* at[warp_lanes];
    u32 inside = 0;
    for_lanes(lanes, [&](unsigned lane) {
      const weighted_texel& texel = place(lane);
      if (texel.outside()) {
        to[lane] = border();
        return;
      }
      inside |= 1u << lane;
      addresses[lane] = t_.texels.texel(static_cast<u32>(texel.at[0]), static_cast<u32>(texel.at[1]),
                                        static_cast<u32>(texel.at[2]));
    });
    if (inside == 0) return;
    locate_at(w_, i_, inside, t_.texels.format.size(), access_kind::read, addresses, at);
    for_lanes(inside, [&](unsigned lane) {
      if (t_.reads_floats())
        to[lane].numbers = numbers_of(at[lane], t_.texels.format);
      else
        to[lane].words = words_of(at[lane], t_.texels.format);
    });
  }

  // Linear memory has no border color, nor have integers.
  values border() const {
    values v;
    if (t_.reads_floats() && t_.texels.shape != image_shape::linear)
      for (unsigned c = 0; c < t_.texels.format.channels; ++c) v.numbers[c] = t_.sampler.border_color[c];
    return v;
  }

  u16 half(const values& v, unsigned c) const { return nearest<f16>(v.numbers[c]).bits; }

  void write(unsigned lane, const values& v) const {
    for (unsigned k = 0; k < i_.count; ++k) {
      std::byte* const row = w_.file + i_.to[k];
      if (i_.type == ptx::type::f16)
        put(row, lane, half(v, k));
      else if (i_.type == ptx::type::f16x2)
        put(row, lane, half(v, 2 * k) | static_cast<u32>(half(v, 2 * k + 1)) << 16);
      else
        put(row, lane, t_.reads_floats() ? std::bit_cast<u32>(static_cast<f32>(v.numbers[k])) : v.words[k]);
    }
  }

  warp& w_;
  const instruction& i_;
  u32 mask_;
  const texture& t_;
  image_geometry geometry_;
};

void read_texture(warp& w, const instruction& i, u32 mask) {
  for_objects(w, i, mask, [&](u64 handle, u32 lanes) {
    const auto object = object_of(w, i, static_cast<unsigned>(std::countr_zero(lanes)), handle, false);
    reader r(w, i, lanes, std::get<texture>(*object));
    if (i.op == operation::tld4)
      r.gather(image_operands_of(w, i).component);
    else
      r.sample();
  });
  if (i.flags.has_second) put_mask(w, image_operands_of(w, i).resident, all_lanes, mask);
}

// CUarray_format.
u32 format_number(const texel_format& f) {
  if (f.kind == texel_kind::floating) return f.bytes == 2 ? 0x10 : 0x20;
  const u32 log = f.bytes == 1 ? 0 : f.bytes == 2 ? 1 : 2;
  return (f.kind == texel_kind::signed_integer ? 0x08 : 0x01) + log;
}

// An extent that the image does not have is 0.
u32 property(const image& m, bool normalized, image_query query) {
  const bool layered = m.shape == image_shape::layered_one || m.shape == image_shape::layered_two;
  const bool two = m.shape == image_shape::two || m.shape == image_shape::layered_two;
  switch (query) {
    case image_query::width: return m.width;
    case image_query::height: return two || m.shape == image_shape::three ? m.height : 0;
    case image_query::depth: return m.shape == image_shape::three ? m.depth : 0;
    case image_query::array_size: return layered ? m.depth : 0;
    case image_query::channel_data_type: return format_number(m.format);
    case image_query::normalized_coords: return normalized ? 1 : 0;
    case image_query::mipmap_levels:
    case image_query::samples: return 1;
  }
  return 0;
}

void ask(warp& w, const instruction& i, u32 mask) {
  const image_operands& access = image_operands_of(w, i);
  for_objects(w, i, mask, [&](u64 handle, u32 lanes) {
    const auto object =
        object_of(w, i, static_cast<unsigned>(std::countr_zero(lanes)), handle, access.of_surface);
    const texture* const t = std::get_if<texture>(object.get());
    const image& texels = t != nullptr ? t->texels : std::get<surface>(*object).texels;
    const u32 value = property(texels, t != nullptr && t->sampler.normalized, access.query);
    for_lanes(lanes, [&](unsigned lane) { put(w.file + i.to[0], lane, value); });
  });
}

}  // namespace
}  // namespace textures

handler texture_handler(const instruction& i) {
  if (i.op == operation::tex || i.op == operation::tld4) return &textures::read_texture;
  return i.op == operation::txq ? &textures::ask : nullptr;
}

}  // namespace kaio::emulator
