#include "emulator/machine/special_registers.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kaio::emulator {
namespace {

using lane_values = std::array<u64, warp_lanes>;

// The values of a register that differs from lane to lane; false if it does not differ.
bool values_of_lanes(special_form which, const grid& g, u32 warp_index, lane_values& values) {
  const auto each = [&](auto value) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) values[lane] = value(lane);
    return true;
  };
  const auto each_thread = [&](auto coordinate) {
    ptx::dim3 t = thread_of(g, warp_index, 0);
    return each([&](unsigned) {
      const u64 value = coordinate(t);
      if (++t.x == g.threads.x) t.x = 0, ++t.y;
      if (t.y == g.threads.y) t.y = 0, ++t.z;
      return value;
    });
  };
  switch (which) {
    case special_form::tid_x: return each_thread([](const ptx::dim3& t) { return t.x; });
    case special_form::tid_y: return each_thread([](const ptx::dim3& t) { return t.y; });
    case special_form::tid_z: return each_thread([](const ptx::dim3& t) { return t.z; });
    case special_form::laneid: return each([](unsigned lane) { return lane; });
    case special_form::lanemask_eq: return each([](unsigned lane) { return 1u << lane; });
    case special_form::lanemask_lt: return each([](unsigned lane) { return (1u << lane) - 1; });
    case special_form::lanemask_le: return each([](unsigned lane) { return (2u << lane) - 1; });
    case special_form::lanemask_gt: return each([](unsigned lane) { return ~((2u << lane) - 1); });
    case special_form::lanemask_ge: return each([](unsigned lane) { return ~((1u << lane) - 1); });
    default: return false;
  }
}

// The value of a register that is the same in all lanes of a warp.
u64 value_of_warp(special_form which, const grid& g, u32 warp_index, const ptx::dim3& index, u32 rank) {
  const ptx::dim3& n = g.threads;
  const ptx::dim3& c = g.cluster_blocks;
  switch (which) {
    case special_form::ntid_x: return n.x;
    case special_form::ntid_y: return n.y;
    case special_form::ntid_z: return n.z;
    case special_form::ctaid_x: return index.x;
    case special_form::ctaid_y: return index.y;
    case special_form::ctaid_z: return index.z;
    case special_form::nctaid_x: return g.blocks.x;
    case special_form::nctaid_y: return g.blocks.y;
    case special_form::nctaid_z: return g.blocks.z;
    case special_form::warpid: return warp_index;
    case special_form::nwarpid: return g.warps();
    case special_form::smid:
      return (index.x + u64{g.blocks.x} * (index.y + u64{g.blocks.y} * index.z)) % g.multiprocessors;
    case special_form::nsmid: return g.multiprocessors;
    case special_form::gridid: return g.id;
    case special_form::dynamic_smem_size: return g.dynamic_shared;
    case special_form::total_smem_size: return g.shared_bytes;
    case special_form::aggr_smem_size: return g.reserved_offset() + grid::reserved_bytes;
    case special_form::reserved_smem_offset_begin: return g.reserved_offset();
    case special_form::reserved_smem_offset_end: return g.reserved_offset() + grid::reserved_used;
    case special_form::reserved_smem_offset_cap: return g.reserved_offset() + grid::reserved_bytes;
    case special_form::clusterid_x: return index.x / c.x;
    case special_form::clusterid_y: return index.y / c.y;
    case special_form::clusterid_z: return index.z / c.z;
    case special_form::nclusterid_x: return g.blocks.x / c.x;
    case special_form::nclusterid_y: return g.blocks.y / c.y;
    case special_form::nclusterid_z: return g.blocks.z / c.z;
    case special_form::cluster_ctaid_x: return index.x % c.x;
    case special_form::cluster_ctaid_y: return index.y % c.y;
    case special_form::cluster_ctaid_z: return index.z % c.z;
    case special_form::cluster_nctaid_x: return c.x;
    case special_form::cluster_nctaid_y: return c.y;
    case special_form::cluster_nctaid_z: return c.z;
    case special_form::cluster_ctarank: return rank;
    case special_form::cluster_nctarank: return c.count();
    case special_form::is_explicit_cluster: return g.explicit_cluster ? 1 : 0;
    case special_form::grid_workspace_high: return g.workspace >> 32;
    case special_form::grid_workspace_low: return g.workspace & 0xffffffffu;
    default: return 0;
  }
}

template <class T>
void put_row(std::byte* row, const lane_values& values) {
  std::array<T, warp_lanes> narrow;
  std::transform(values.begin(), values.end(), narrow.begin(), [](u64 v) { return static_cast<T>(v); });
  std::memcpy(row, narrow.data(), sizeof narrow);
}

}  // namespace

void fill_specials(warp& w, const grid& g, const ptx::dim3& index, u32 rank) {
  lane_values values;
  for (const special_row& s : g.kernel.specials) {
    if (!values_of_lanes(s.which, g, w.index, values))
      values.fill(value_of_warp(s.which, g, w.index, index, rank));
    switch (s.bytes) {
      case 1: put_row<u8>(w.file + s.row, values); break;
      case 2: put_row<u16>(w.file + s.row, values); break;
      case 4: put_row<u32>(w.file + s.row, values); break;
      case 8: put_row<u64>(w.file + s.row, values); break;
      default: break;
    }
  }
}

}  // namespace kaio::emulator
