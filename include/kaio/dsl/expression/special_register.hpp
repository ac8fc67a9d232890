#pragma once
// The indices of a thread, from PTX's special registers. They are pure leaves that need no kernel, so
// `block_idx_x() * 16 + thread_idx_x()` is an expression anywhere. If a register changes while a thread runs (a clock,
// the multiprocessor), functions of the thread read it: t.clock(), t.sm_id().

#include <kaio/dsl/expression/expression.hpp>

#include <cstdint>

namespace kaio::dsl {

template <special_register R>
struct special_node : no_host_bool {
  using device_type = u32;
  static constexpr bool bound = false;
  static constexpr bool reads_memory = false;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;
  constexpr const special_node& node() const { return *this; }
  constexpr tracer* context() const { return nullptr; }
  constexpr void load(tracer&) const {}
  constexpr std::uint64_t hash() const { return static_cast<unsigned>(R); }
  constexpr value lower(tracer& t) const { return t.special(R); }
};

// Indices and sizes in one dimension; u32. Source: PTX ISA, "Special Registers" (%tid, %ctaid, %ntid, %nctaid).
constexpr special_node<special_register::tid_x> thread_idx_x() { return {}; }
constexpr special_node<special_register::tid_y> thread_idx_y() { return {}; }
constexpr special_node<special_register::tid_z> thread_idx_z() { return {}; }
constexpr special_node<special_register::ctaid_x> block_idx_x() { return {}; }
constexpr special_node<special_register::ctaid_y> block_idx_y() { return {}; }
constexpr special_node<special_register::ctaid_z> block_idx_z() { return {}; }
constexpr special_node<special_register::ntid_x> block_dim_x() { return {}; }
constexpr special_node<special_register::ntid_y> block_dim_y() { return {}; }
constexpr special_node<special_register::ntid_z> block_dim_z() { return {}; }
constexpr special_node<special_register::nctaid_x> grid_dim_x() { return {}; }
constexpr special_node<special_register::nctaid_y> grid_dim_y() { return {}; }
constexpr special_node<special_register::nctaid_z> grid_dim_z() { return {}; }
// The lane within the warp, 0 to 31.
constexpr special_node<special_register::laneid> lane_id() { return {}; }
// Bytes of the launch's dynamic shared memory; bytes of dynamic, static and system shared memory together.
// Source: PTX ISA, "%dynamic_smem_size", "%total_smem_size".
constexpr special_node<special_register::dynamic_smem_size> dynamic_smem_size() { return {}; }
constexpr special_node<special_register::total_smem_size> total_smem_size() { return {}; }

}  // namespace kaio::dsl

namespace kaio {
using dsl::block_dim_x;
using dsl::block_dim_y;
using dsl::block_dim_z;
using dsl::block_idx_x;
using dsl::block_idx_y;
using dsl::block_idx_z;
using dsl::dynamic_smem_size;
using dsl::grid_dim_x;
using dsl::grid_dim_y;
using dsl::grid_dim_z;
using dsl::lane_id;
using dsl::thread_idx_x;
using dsl::thread_idx_y;
using dsl::thread_idx_z;
using dsl::total_smem_size;
}  // namespace kaio
