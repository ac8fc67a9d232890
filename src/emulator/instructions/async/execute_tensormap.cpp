// Changes tensor maps in a kernel (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").

#include "emulator/instructions/async/async_address.hpp"
#include "emulator/instructions/async/execute_async.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/memory/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr u32 map_bytes = sizeof(tensor_map);
constexpr u32 map_alignment = 64;

[[noreturn]] void refuse(warp& w, const instruction& i, unsigned lane, std::string detail) {
  fault_report report;
  report.kind = fault_kind::tensor_map;
  report.detail = std::move(detail);
  raise_fault(w, i, lane, std::move(report));
}

// The numbers of .elemtype, which are not those of the driver (PTX ISA, "Tensormap new_val validity").
constexpr tensor_element elements[] = {
    tensor_element::uint8,        tensor_element::uint16,  tensor_element::uint32,   tensor_element::int32,
    tensor_element::uint64,       tensor_element::int64,   tensor_element::float16,  tensor_element::float32,
    tensor_element::float32_ftz,  tensor_element::float64, tensor_element::bfloat16, tensor_element::tfloat32,
    tensor_element::tfloat32_ftz,
};

bool is_zero(const std::byte* map) {
  return std::all_of(map, map + map_bytes, [](std::byte b) { return b == std::byte{0}; });
}

// The map that 128 zero bytes are: kernels, such as Triton's, make one from nothing, field by field. The
// hardware keeps one less than an extent, a step or the rank, so zeros mean 1.
tensor_map blank_map() {
  tensor_map map;
  map.signature = tensor_map::valid;
  map.rank = 1;
  std::fill(std::begin(map.box), std::end(map.box), u16{1});
  std::fill(std::begin(map.steps), std::end(map.steps), u8{1});
  return map;
}

// Checks of fields that depend on each other, such as bounds, are left to the copy.
std::string replace_field(tensor_map& map, tensormap_form field, unsigned ordinal, u64 value) {
  switch (field) {
    case tensormap_form::global_address: map.address = value; break;
    case tensormap_form::rank:
      if (value >= most_tensor_dimensions) return fmt::format("rank {} (one less than it is)", value);
      map.rank = static_cast<u8>(value + 1);
      break;
    case tensormap_form::box_dim:
      if (value == 0 || value > 256) return fmt::format("a box of {} elements", value);
      map.box[ordinal] = static_cast<u16>(value);
      break;
    case tensormap_form::global_dim: map.last[ordinal] = static_cast<u32>(value) - 1; break;
    case tensormap_form::global_stride:
      if (ordinal >= std::size(map.strides)) return fmt::format("a stride of dimension {}", ordinal + 1);
      map.strides[ordinal] = value;
      break;
    case tensormap_form::element_stride:
      if (value == 0 || value > 8) return fmt::format("an element stride of {}", value);
      map.steps[ordinal] =
          ordinal == 0 && map.interleave == tensor_interleave::none ? u8{1} : static_cast<u8>(value);
      break;
    case tensormap_form::elemtype: map.element = elements[value]; break;
    case tensormap_form::interleave_layout: map.interleave = static_cast<tensor_interleave>(value); break;
    case tensormap_form::swizzle_mode: map.swizzle = static_cast<tensor_swizzle>(value); break;
    case tensormap_form::fill_mode: map.fill = static_cast<tensor_fill>(value); break;
    case tensormap_form::cp_fenceproxy: break;
  }
  return {};
}

void replace(warp& w, const instruction& i, u32 mask) {
  const bool wide = ptx::size_of(i.type) == 8;
  ++w.owner->changes;
  std::byte* at[warp_lanes];
  for_lanes(mask, [&](unsigned lane) {
    at[lane] =
        find_location(w, i, address_operand_of(i), lane, map_bytes, map_alignment, access_kind::write).at;
  });
  for (const auto& o : w.owner->observers) o->access(w, i, mask, map_bytes, access_kind::write, at);
  for_lanes(mask, [&](unsigned lane) {
    tensor_map map;
    std::memcpy(&map, at[lane], sizeof map);
    if (is_zero(at[lane]))
      map = blank_map();
    else if (map.signature != tensor_map::valid)
      refuse(w, i, lane, "tensormap.replace works on 128 bytes that are neither a tensor map nor all zero");
    const u64 value = wide ? get<u64>(w.file + i.from[1], lane) : get<u32>(w.file + i.from[1], lane);
    const std::string wrong = replace_field(map, static_cast<tensormap_form>(i.form), i.count, value);
    if (!wrong.empty()) refuse(w, i, lane, "tensormap.replace sets " + wrong + ", which no tensor map has");
    std::memcpy(at[lane], &map, sizeof map);
  });
}

// The whole warp takes part in copying one tensor map.
void copy(warp& w, const instruction& i, u32 mask) {
  const transfer_operands& operands = w.owner->launched.kernel.transfers[i.detail];
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  if (mask != w.live) refuse(w, i, lane, "tensormap.cp_fenceproxy is executed by a part of the warp only");
  const memory_location from =
      find_location(w, i, operands.from, lane, map_bytes, map_bytes, access_kind::read);
  const memory_location to = find_location(w, i, operands.to, lane, map_bytes, map_bytes, access_kind::write);
  std::memcpy(to.at, from.at, map_bytes);
  ++w.owner->changes;
}

}  // namespace

handler tensormap_handler(const instruction& i) {
  if (i.op != operation::tensormap) return nullptr;
  return static_cast<tensormap_form>(i.form) == tensormap_form::cp_fenceproxy ? &copy : &replace;
}

}  // namespace kaio::emulator
