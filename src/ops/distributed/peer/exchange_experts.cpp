#include <kaio/ops/exchange_experts.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>

#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/peer_memory.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_rows = (std::int64_t{1} << 31) - 1;

struct expert_call {
  std::string_view operation;
  const any_view& rows;  // that are sent
  const any_view& offsets;
  const peer_buffer& to;
  any_view local_offsets, indices;  // of the way to experts
  bool is_back;
};

u32 capacity_of(const expert_call& call) {
  const auto row = static_cast<u64>(call.rows.extents[1]) * call.rows.element_bytes();
  return row == 0 ? 0 : static_cast<u32>(std::min<u64>(call.to.bytes() / row, most_rows));
}

void check_offsets(const expert_call& call, const validation& check, std::string_view name, const any_view& v,
                   std::int64_t count) {
  if (v.type != element_kind::i32) refuse(call.operation, "argument " + std::string(name) + " is not of i32");
  check.input(name, v);
  check.extent(name, v, 0, count, "the experts and one");
  check_adjacent(call.operation, name, v);
}

std::vector<std::int64_t> checked(const expert_call& call, const peer_memory& m) {
  const validation check(call.operation, m.group.on().identity());
  check.input("x", call.rows);
  check_adjacent(call.operation, "x", call.rows);
  check.at_most("x", call.rows, 0, most_rows);
  check.at_most("x", call.rows, 1, std::int64_t{1} << 28);
  const std::int64_t ranks = m.group.ranks(), experts = call.offsets.extents[0] - 1;
  if (experts < 1 || experts > most_peer_experts || experts % ranks != 0)
    refuse(call.operation, "offsets are of " + std::to_string(experts) +
                               " experts; a multiple of the ranks is needed, 1024 at most");
  check_offsets(call, check, "offsets", call.offsets, experts + 1);
  if (!call.is_back) {
    check_offsets(call, check, "local_offsets", call.local_offsets, experts / ranks + 1);
    check.apart("local_offsets", call.local_offsets, "offsets", call.offsets);
  }
  if (is_given(call.indices)) {
    if (call.indices.type != element_kind::i32) refuse(call.operation, "the option rows is not of i32");
    check.input("rows", call.indices);
    check_adjacent(call.operation, "rows", call.indices);
  }
  (void)call.to.pointer(m.group.ranks() - 1);  // refuses one of a smaller group
  const auto memory = call.to.pointer(m.group.rank());
  if (memory.device != m.group.on().identity())
    refuse(call.operation,
           "the peer_buffer is of another device; allocate it by the workspace's communicator");
  if (memory.address % 16 != 0) refuse(call.operation, "the peer_buffer is not aligned to 16 bytes");
  // Other ranks write it while this one reads its rows.
  const any_view written = tensor_view<u8, 1>(memory, extents<1>(call.to.bytes()));
  const auto apart = [&](std::string_view name, const any_view& v) {
    if (!written.empty() && is_given(v) && !v.empty()) check.apart("to", written, name, v);
  };
  apart(call.is_back ? "z" : "x", call.rows);
  apart("offsets", call.offsets);
  apart("rows", call.indices);
  apart("local_offsets", call.local_offsets);
  return {static_cast<std::int64_t>(call.rows.type), call.rows.element_bytes(), call.rows.extents[1], experts,
          static_cast<std::int64_t>(call.to.bytes())};
}

void run(const peer_workspace& w, const stream& s, const expert_call& call) {
  peer_memory& m = peer_memory_access::of(w, call.operation);
  const operation_scope traced(call.operation);
  if (!m.agree(call.operation, s, [&] { return checked(call, m); })) return warmup_peer_kernels(m.group.on());
  const auto experts = static_cast<u32>(call.offsets.extents[0] - 1);
  peer_count_problem counts{};
  counts.peers = m.table();
  counts.to = m.segments();
  counts.counts = m.experts_begin;
  counts.half = m.experts_half;
  counts.counter = m.words.experts_counter();
  counts.words = m.words.experts_first();
  counts.experts = experts;
  counts.is_back = call.is_back ? 1 : 0;
  counts.offsets = call.offsets.address;
  counts.local_offsets = call.is_back ? 0 : call.local_offsets.address;
  counts.address = call.to.pointer(m.group.rank()).address;
  counts.capacity = capacity_of(call);
  launch_peer_counts(s, counts);

  const std::uint32_t element = call.rows.element_bytes();
  const u64 bytes = static_cast<u64>(call.rows.extents[1]) * element,
            stride = static_cast<u64>(call.rows.strides[0]) * element;
  peer_send_problem send{};
  send.peers = m.table();
  send.from = m.segments();
  // Addresses that another process sends mean nothing here.
  send.from.addresses = peer_memory_access::addresses_of(call.to, m.group.rank());
  send.counter = m.words.experts_send_counter();
  send.words = m.words.experts_send();
  send.segments = experts;
  send.x = call.rows.address;
  send.x_row = stride;
  send.indices = is_given(call.indices) ? call.indices.address : 0;
  send.x_rows = static_cast<u32>(call.rows.extents[0]);
  send.limit = static_cast<u32>((is_given(call.indices) ? call.indices : call.rows).extents[0]);
  send.capacity = counts.capacity;
  send.bytes = static_cast<u32>(bytes);
  send.shift = shift_of(element);
  send.by_16 = (call.rows.address | stride | bytes) % 16 == 0 ? 1 : 0;
  launch_peer_send(s, m.options.blocks, send);
}

}  // namespace

void run_send_to_experts(const peer_workspace& w, const stream& s, const any_view& x, const any_view& offsets,
                         const peer_buffer& to, const any_view& local_offsets,
                         const send_to_experts_options& options) {
  run(w, s, {"send_to_experts", x, offsets, to, local_offsets, options.rows, false});
}

void run_return_from_experts(const peer_workspace& w, const stream& s, const any_view& z,
                             const any_view& offsets, const peer_buffer& to) {
  run(w, s, {"return_from_experts", z, offsets, to, {}, {}, true});
}

}  // namespace kaio::ops::detail
