// Surface reads, writes and reductions (PTX ISA, "Surface Instructions"): unformatted bytes of a texel. The first
// coordinate counts bytes, the others rows, slices and layers.

#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/memory/address.hpp"
#include "emulator/instructions/memory/reduction.hpp"
#include "emulator/instructions/texture/image_access.hpp"
#include "emulator/machine/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <variant>

namespace kaio::emulator {
namespace surfaces {
namespace {

// Coordinates x, y and z, where z may be a layer, and their limits: greatest allowed values.
struct surface_place {
  std::array<s64, 3> at{};
  std::array<s64, 3> last{};
  bool outside() const {
    for (unsigned d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] > last[d]) return true;
    return false;
  }
};

surface_place place_of(const warp& w, const instruction& i, unsigned lane, const image& m, u32 bytes) {
  const auto geometry = static_cast<image_geometry>(i.form);
  const bool layered = geometry == image_geometry::array_one || geometry == image_geometry::array_two;
  const u32* const rows = w.owner->launched.kernel.rows.data() + i.rows;
  const u32 count = image_operands_of(w, i).coordinates;
  surface_place p;
  for (u32 k = 0; k < count; ++k) {
    const u32 dimension = !layered ? k : k == 0 ? 2 : k - 1;
    p.at[dimension] = get<s32>(w.file + rows[k], lane);
  }
  p.last = {s64{m.width} * m.format.size() - bytes, s64{m.height} - 1, s64{m.depth} - 1};
  return p;
}

// Finds the bytes of the lanes that are inside, or are moved inside. Returns these lanes.
u32 find(warp& w, const instruction& i, u32 lanes, const image& m, u32 bytes, access_kind access,
         std::byte* (&at)[warp_lanes]) {
  const surface_bounds bounds = image_operands_of(w, i).bounds;
  u64 addresses[warp_lanes];
  u32 inside = 0;
  for_lanes(lanes, [&](unsigned lane) {
    surface_place p = place_of(w, i, lane, m, bytes);
    if (p.last[0] < 0)
      refuse_image(w, i, lane,
                   fmt::format("a thread accesses {} bytes of a surface whose rows have {}", bytes,
                               u64{m.width} * m.format.size()));
    if (p.outside()) {
      if (bounds == surface_bounds::zero) return;
      if (bounds == surface_bounds::trap)
        refuse_image(
            w, i, lane,
            fmt::format("a thread accesses {} bytes at byte {}, row {}, slice or layer {} of a surface of "
                        "{} bytes by {} by {}",
                        bytes, p.at[0], p.at[1], p.at[2], u64{m.width} * m.format.size(), m.height, m.depth));
      for (unsigned d = 0; d < 3; ++d) p.at[d] = std::clamp<s64>(p.at[d], 0, p.last[d]);
    }
    inside |= 1u << lane;
    addresses[lane] = m.address + static_cast<u64>(p.at[0]) + static_cast<u64>(p.at[1]) * m.pitch +
                      static_cast<u64>(p.at[2]) * m.slice;
  });
  if (inside != 0) locate_at(w, i, inside, bytes, access, addresses, at);
  return inside;
}

template <class Function>
void for_surfaces(warp& w, const instruction& i, u32 mask, Function&& function) {
  for_objects(w, i, mask, [&](u64 handle, u32 lanes) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const auto object = object_of(w, i, lane, handle, true);
    const image& texels = std::get<surface>(*object).texels;
    check_geometry(w, i, lane, texels);
    function(texels, lanes);
  });
}

void load_surface(warp& w, const instruction& i, u32 mask) {
  const u32 element = ptx::size_of(i.type);
  for_surfaces(w, i, mask, [&](const image& m, u32 lanes) {
    std::byte* at[warp_lanes];
    const u32 inside = find(w, i, lanes, m, element * i.count, access_kind::read, at);
    std::array<std::array<u64, 4>, warp_lanes> values{};
    for_lanes(inside, [&](unsigned lane) {
      for (u32 k = 0; k < i.count; ++k) std::memcpy(&values[lane][k], at[lane] + k * element, element);
    });
    for_lanes(lanes, [&](unsigned lane) {
      for (u32 k = 0; k < i.count; ++k)
        std::memcpy(w.file + i.to[k] + lane * i.to_bytes, &values[lane][k], i.to_bytes);
    });
  });
}

void store_surface(warp& w, const instruction& i, u32 mask) {
  const u32 element = ptx::size_of(i.type);
  for_surfaces(w, i, mask, [&](const image& m, u32 lanes) {
    std::byte* at[warp_lanes];
    const u32 inside = find(w, i, lanes, m, element * i.count, access_kind::write, at);
    for_lanes(inside, [&](unsigned lane) {
      for (u32 k = 0; k < i.count; ++k)
        std::memcpy(at[lane] + k * element, w.file + i.to[k] + lane * i.to_bytes, element);
    });
    if (inside != 0) ++w.owner->changes;
  });
}

template <class Bits>
void reduce_at(std::byte* at, Bits value, reduction combine) {
  auto* const place = reinterpret_cast<Bits*>(at);
  Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    Bits now = old;
    combine(reinterpret_cast<std::byte*>(&now), reinterpret_cast<const std::byte*>(&value), sizeof value);
    if (__atomic_compare_exchange_n(place, &old, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  }
}

void reduce_surface(warp& w, const instruction& i, u32 mask) {
  const u32 bytes = ptx::size_of(i.type);
  const reduction combine = reduction_of(image_operands_of(w, i).reduction, i.type);
  for_surfaces(w, i, mask, [&](const image& m, u32 lanes) {
    std::byte* at[warp_lanes];
    const u32 inside = find(w, i, lanes, m, bytes, access_kind::atomic, at);
    for_lanes(inside, [&](unsigned lane) {
      const std::byte* const row = w.file + i.from[1];
      if (bytes == 4)
        reduce_at(at[lane], get<u32>(row, lane), combine);
      else
        reduce_at(at[lane], get<u64>(row, lane), combine);
    });
    if (inside != 0) ++w.owner->changes;
  });
}

}  // namespace
}  // namespace surfaces

handler surface_handler(const instruction& i) {
  switch (i.op) {
    case operation::suld: return &surfaces::load_surface;
    case operation::sust: return &surfaces::store_surface;
    case operation::sured: return &surfaces::reduce_surface;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
