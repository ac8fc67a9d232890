#include "emulator/machine/special_registers.hpp"

#include <cstring>

namespace kaio::emulator {

void fill_specials(warp& w, const grid& g, const ptx::dim3& index, u32 rank) {
  const ptx::dim3& n = g.threads;
  const u64 linear = index.x + u64{g.blocks.x} * (index.y + u64{g.blocks.y} * index.z);
  const ptx::dim3& c = g.cluster_blocks;
  for (const special_row& s : g.kernel.specials) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const ptx::dim3 t = thread_of(g, w.index, lane);
      u64 value = 0;
      switch (s.which) {
        case special_form::tid_x: value = t.x; break;
        case special_form::tid_y: value = t.y; break;
        case special_form::tid_z: value = t.z; break;
        case special_form::ntid_x: value = n.x; break;
        case special_form::ntid_y: value = n.y; break;
        case special_form::ntid_z: value = n.z; break;
        case special_form::ctaid_x: value = index.x; break;
        case special_form::ctaid_y: value = index.y; break;
        case special_form::ctaid_z: value = index.z; break;
        case special_form::nctaid_x: value = g.blocks.x; break;
        case special_form::nctaid_y: value = g.blocks.y; break;
        case special_form::nctaid_z: value = g.blocks.z; break;
        case special_form::laneid: value = lane; break;
        case special_form::warpid: value = w.index; break;
        case special_form::nwarpid: value = g.warps(); break;
        case special_form::smid: value = linear % g.multiprocessors; break;
        case special_form::nsmid: value = g.multiprocessors; break;
        case special_form::gridid: value = g.id; break;
        case special_form::dynamic_smem_size: value = g.dynamic_shared; break;
        case special_form::total_smem_size: value = g.shared_bytes; break;
        case special_form::aggr_smem_size: value = g.reserved_offset() + grid::reserved_bytes; break;
        case special_form::reserved_smem_offset_begin: value = g.reserved_offset(); break;
        case special_form::reserved_smem_offset_end: value = g.reserved_offset() + grid::reserved_used; break;
        case special_form::reserved_smem_offset_cap:
          value = g.reserved_offset() + grid::reserved_bytes;
          break;
        case special_form::clusterid_x: value = index.x / c.x; break;
        case special_form::clusterid_y: value = index.y / c.y; break;
        case special_form::clusterid_z: value = index.z / c.z; break;
        case special_form::nclusterid_x: value = g.blocks.x / c.x; break;
        case special_form::nclusterid_y: value = g.blocks.y / c.y; break;
        case special_form::nclusterid_z: value = g.blocks.z / c.z; break;
        case special_form::cluster_ctaid_x: value = index.x % c.x; break;
        case special_form::cluster_ctaid_y: value = index.y % c.y; break;
        case special_form::cluster_ctaid_z: value = index.z % c.z; break;
        case special_form::cluster_nctaid_x: value = c.x; break;
        case special_form::cluster_nctaid_y: value = c.y; break;
        case special_form::cluster_nctaid_z: value = c.z; break;
        case special_form::cluster_ctarank: value = rank; break;
        case special_form::cluster_nctarank: value = c.count(); break;
        case special_form::is_explicit_cluster: value = g.explicit_cluster ? 1 : 0; break;
        case special_form::grid_workspace_high: value = g.workspace >> 32; break;
        case special_form::grid_workspace_low: value = g.workspace & 0xffffffffu; break;
        case special_form::lanemask_eq: value = 1u << lane; break;
        case special_form::lanemask_lt: value = (1u << lane) - 1; break;
        case special_form::lanemask_le: value = (2u << lane) - 1; break;
        case special_form::lanemask_gt: value = ~((2u << lane) - 1) & all_lanes; break;
        case special_form::lanemask_ge: value = ~((1u << lane) - 1) & all_lanes; break;
        default: break;
      }
      std::memcpy(w.file + s.row + lane * s.bytes, &value, s.bytes);
    }
  }
}

}  // namespace kaio::emulator
