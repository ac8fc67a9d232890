#include <kaio/ops/all_reduce.hpp>
#include <kaio/ops/shared/validation.hpp>

#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/sums.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

void check_dense(std::string_view operation, std::string_view name, const any_view& v) {
  if (v.empty()) return;
  std::int64_t next = 1;
  for (std::uint32_t d = v.rank; d-- > 0; next *= v.extents[d])
    if (v.extents[d] > 1 && v.strides[d] != next)
      refuse_collective(operation, "argument " + std::string(name) + " has gaps; copy it to memory without");
}

bool sums_by_peers(const peer_memory& m, const any_view& v) { return bytes_of(v) <= m.options.sum_bytes; }

void queue_sum(peer_memory& m, const stream& s, const any_view& from, const any_view& to) {
  if (from.empty()) return;
  if (!sums_by_peers(m, from)) return m.group.all_reduce(s, from, to);
  const auto size = static_cast<u64>(elements_of(from)), ranks = u64{m.words.ranks};
  const u64 pieces = (size + run_size - 1) / run_size;
  peer_sum_problem p{};
  p.peers = m.table();
  p.half = m.sum_half;
  p.slot = m.sum_slot;
  p.sums = m.sum_gathered;
  p.counter = m.words.sum_counter();
  p.first = m.words.sum_first();
  p.second = m.words.sum_second();
  p.from = from.address;
  p.to = to.address;
  p.size = size;
  p.part = bytes_of(from) <= m.options.one_shot_bytes ? 0 : (pieces + ranks - 1) / ranks;
  p.type = element_type_of(from.type);
  p.from_aligned = from.address % 16 == 0 ? 1 : 0;
  p.to_aligned = to.address % 16 == 0 ? 1 : 0;
  launch_peer_sum(s, m.options.blocks, p);
}

}  // namespace detail

void all_reduce(const peer_workspace& w, const stream& s, const any_view& from, const output_view& to) {
  using namespace detail;
  constexpr std::string_view operation = "all_reduce";
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const validation check(operation, m.group.on().identity());
  m.agree(operation, s, [&]() -> std::vector<std::int64_t> {
    if (!is_wide(from.type))
      refuse_collective(operation, "argument from has elements that are not f32, f16 or bf16");
    if (from.type != to.type)
      refuse_collective(operation, "arguments from and to have elements of two types");
    if (!from.empty()) {
      check.input("from", from);
      check_dense(operation, "from", from);
    }
    if (elements_of(to) != elements_of(from))
      refuse_collective(operation, "argument to has " + std::to_string(elements_of(to)) + " elements; " +
                                       std::to_string(elements_of(from)) + " are needed");
    if (!to.empty()) {
      check.output("to", static_cast<const any_view&>(to));
      check_dense(operation, "to", to);
      if (to.address != from.address) check.apart("to", static_cast<const any_view&>(to), "from", from);
    }
    if (!sums_by_peers(m, from) && s.is_capturing())
      refuse_collective(operation,
                        "the stream is captured, and the tensor is larger than sum_bytes of the workspace");
    return {static_cast<std::int64_t>(from.type), elements_of(from)};
  });
  queue_sum(m, s, from, to);
}

std::vector<const ptx::kernel_image*> peer_kernels() { return detail::peer_kernel_images(); }

}  // namespace kaio::ops
