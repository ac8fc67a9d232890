#pragma once
// Groups of bulk copies out of shared memory: a thread closes a group of the copies that it has issued, then waits
// for groups. Source: PTX ISA, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group". sm_90.
//
//   store_tensor(map, coordinates(0, 0), tile);
//   bulk_commit_group(t);
//   bulk_wait_group_read<0>(t);       // the tile may be written again

#include <kaio/dsl/async/fence.hpp>

#include <cstdint>

namespace kaio::dsl {

// Makes a group of the bulk copies out of shared memory that this thread issued since its last group.
constexpr void bulk_commit_group(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::cp_async_bulk_commit_group, 0, line, file);
}

namespace detail {

constexpr void wait_bulk_groups(const thread& t, std::uint32_t pending, modifier_list modifiers,
                                std::uint32_t line, const char* file) {
  emit_bare(t, opcode::cp_async_bulk_wait_group, modifiers, line, file);
  if (!t.trace().probing()) t.trace().add({operand_kind::immediate, ptx::type::u32, 0, pending});
}

}  // namespace detail

// Waits until at most Pending of this thread's groups are incomplete; the writes of the others are done.
template <std::uint32_t Pending>
constexpr void bulk_wait_group(const thread& t, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
  detail::wait_bulk_groups(t, Pending, 0, line, file);
}

// Waits until all but Pending groups have read their sources, which may then be overwritten.
template <std::uint32_t Pending>
constexpr void bulk_wait_group_read(const thread& t, std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  detail::wait_bulk_groups(t, Pending, in_order(modifier::read), line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::bulk_commit_group;
using dsl::bulk_wait_group;
using dsl::bulk_wait_group_read;
}  // namespace kaio
