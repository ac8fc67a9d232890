#include <kaio/ops/all_reduce_rms_norm.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/shared/validation.hpp>

#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/sums.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "all_reduce_rms_norm";

peer_rows rows_of(const any_view& v) {
  if (!is_given(v)) return {};
  const u64 row = static_cast<u64>(v.strides[0]) * v.element_bytes();
  return {v.address, row, (v.address | row) % 16 == 0 ? 1u : 0u};
}

// One kernel: all rows fit into a slot, with whole pieces.
bool is_fused(const peer_memory& m, const any_view& x, const any_view& weight, const rms_norm_options& o) {
  if (!is_given(weight) || is_given(o.gate) || is_given(o.scale) || is_given(o.shift)) return false;
  const u64 pieces = (static_cast<u64>(x.extents[1]) + run_size - 1) / run_size;
  return static_cast<u64>(x.extents[0]) * pieces * run_size * x.element_bytes() <= m.options.one_shot_bytes;
}

void queue_fused(const peer_memory& m, const stream& s, const any_view& x, const any_view& weight,
                 const any_view& out, const rms_norm_options& o) {
  peer_norm_problem p{};
  p.peers = m.table();
  p.half = m.sum_half;
  p.slot = m.sum_slot;
  p.counter = m.words.sum_counter();
  p.first = m.words.sum_first();
  p.rows = static_cast<u64>(x.extents[0]);
  p.size = static_cast<u64>(x.extents[1]);
  p.x = rows_of(x);
  p.residual = rows_of(o.residual);
  p.residual_out = rows_of(o.residual_out);
  p.out = rows_of(out);
  p.weight = weight.address;
  p.weight_aligned = weight.address % 16 == 0 ? 1 : 0;
  p.weight_type = element_type_of(weight.type);
  p.type = element_type_of(x.type);
  p.epsilon = o.epsilon;
  p.weight_offset = o.weight_offset;
  p.casts = o.casting == norm_casting::llama ? 1 : 0;
  launch_peer_norm(s, m.options.blocks, p);
}

// Compares the call. norm(stream) is the norm that follows the sum, in `summed`: its checks are those of a loading
// stream.
template <class Norm>
bool agree(peer_memory& m, const stream& s, const any_view& x, const any_view& summed, bool fused,
           const rms_norm_options& o, const Norm& norm) {
  return m.agree(operation, s, [&]() -> std::vector<std::int64_t> {
    norm(stream::loading(m.group.on()));
    if (is_given(o.residual_out) && !is_given(o.residual) && !is_given(o.gate))
      refuse_collective(operation, "the option residual_out needs a residual");
    if (!fused) {
      check_dense(operation, "x", x);
      check_dense(operation, "out", summed);
      if (!sums_by_peers(m, x) && s.is_capturing())
        refuse_collective(operation,
                          "the stream is captured, and x is larger than sum_bytes of the workspace");
    }
    return {static_cast<std::int64_t>(x.type), x.extents[0], x.extents[1], fused ? 1 : 0};
  });
}

}  // namespace

void run_all_reduce_rms_norm(const peer_workspace& w, const stream& s, const any_view& x,
                             const any_view& weight, const any_view& out, const rms_norm_options& options) {
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const bool fused = is_fused(m, x, weight, options);
  agree(m, s, x, out, fused, options, [&](const stream& on) { run_rms_norm(on, x, weight, out, options); });
  if (x.empty()) return;
  if (fused) return queue_fused(m, s, x, weight, out, options);
  queue_sum(m, s, x, out);
  run_rms_norm(s, out, weight, out, options);
}

void run_all_reduce_rms_norm_codes(const peer_workspace& w, const stream& s, const any_view& x,
                                   const any_view& weight, const any_view& codes, const any_view& scales,
                                   f32 scale, const rms_norm_options& options) {
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const auto norm = [&](const stream& on) {
    run_rms_norm_codes(on, x, weight, codes, scales, scale, options);
  };
  agree(m, s, x, x, false, options, norm);
  if (x.empty()) return;
  queue_sum(m, s, x, x);
  norm(s);
}

}  // namespace kaio::ops::detail
