#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_all_reduce.hpp>
#include <kaio/ops/matmul_reduce_scatter.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <functional>

#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/matmul_rows.hpp"
#include "ops/distributed/peer/products.hpp"
#include "ops/distributed/peer/sums.hpp"
#include "ops/distributed/simt/sum_parts.hpp"

namespace kaio::ops {

namespace detail {

namespace {

matmul_options options_of(const matmul_reduce_options& o) {
  return {.alpha = o.alpha,
          .precision = o.precision,
          .workspace = o.workspace,
          .constant = o.constant,
          .variant = o.variant};
}

// A part without memory, for checks.
any_view part_like(const any_view& out, element_kind type, const peer_memory& m) {
  const part_layout layout = part_layout::of(out, type);
  any_view part = out;
  part.type = type;
  part.address = m.memory.pointer(m.group.rank()).address + 2 * m.sum_half;
  part.bytes = static_cast<std::uint64_t>(out.extents[0]) * layout.row_bytes;
  part.strides[0] = static_cast<std::int64_t>(layout.row_bytes / layout.element_bytes);
  part.strides[1] = 1;
  return part;
}

void reduce(std::string_view operation, const peer_workspace& w, const stream& s, const any_view& out,
            element_kind parts, const work_of_rank& work, const std::function<void()>& more_checks) {
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const validation check(operation, m.group.on().identity());
  const bool runs = m.agree(operation, s, [&]() -> std::vector<std::int64_t> {
    check.output("c", out);
    if (out.extents[1] > 1 && out.strides[1] != 1)
      refuse_collective(operation, "neighbours of a row of c are not adjacent");
    product_call::check(operation, m, reduce_scatter_bytes(m.group.ranks(), out, parts));
    more_checks();
    if (!out.empty()) work(stream::loading(m.group.on()), m.group.rank(), part_like(out, parts, m));
    sum_warmup(m.group.on());
    return {static_cast<std::int64_t>(out.type), static_cast<std::int64_t>(parts), out.extents[0],
            out.extents[1]};
  });
  if (!runs) return warmup_peer_kernels(m.group.on());
  if (out.empty()) return;
  const product_call call(m, s);
  const int ranks = call.ranks(), own = call.rank();
  for (int step = 1; step < ranks; ++step) {
    const int to = call.after(step);
    const any_view part = call.part(own, ranks + to, out, parts);
    work(s, to, part);
    call.allow_copies();
    call.send(to, call.part(to, own, out, parts), part);
  }
  const any_view first = call.part(own, 0, out, parts);
  work(s, own, call.part(own, own, out, parts));
  call.wait(call.after(1), ranks - 1);
  const part_layout layout = part_layout::of(out, parts);
  launch_sum(s, {out.address, out.type, static_cast<std::uint64_t>(out.strides[0]) * out.element_bytes()},
             {first.address, parts, layout.row_bytes}, layout.bytes, static_cast<u32>(ranks),
             static_cast<std::uint64_t>(out.extents[0]), static_cast<std::uint64_t>(out.extents[1]), false);
  call.end();
}

void reduce_matmul(std::string_view operation, const peer_workspace& w, const stream& s, const matmul_view& a,
                   const matmul_view& b, const matmul_view& c, const matmul_reduce_options& options) {
  const matmul_options own = options_of(options);
  const std::int64_t rows = c.extents[0];
  reduce(
      operation, w, s, c, options.f32_parts ? element_kind::f32 : c.type,
      [&](const stream& on, int rank, const any_view& part) {
        run_matmul(on, {operation, lines_of(a, rank * rows, rows), b, as_matrix(part), &own});
      },
      [&] { require_lines(operation, "a", a, peer_memory_access::of(w, operation).group.ranks() * rows); });
}

}  // namespace

void run_reduce_scatter(std::string_view operation, const peer_workspace& w, const stream& s,
                        const any_view& out, element_kind parts, const work_of_rank& work) {
  reduce(operation, w, s, out, parts, work, [] {});
}

void run_matmul_reduce_scatter(const peer_workspace& w, const stream& s, const matmul_view& a,
                               const matmul_view& b, const matmul_view& c,
                               const matmul_reduce_options& options) {
  reduce_matmul("matmul_reduce_scatter", w, s, a, b, c, options);
}

void run_matmul_all_reduce(const peer_workspace& w, const stream& s, const matmul_view& a,
                           const matmul_view& b, const matmul_view& c, const matmul_reduce_options& options) {
  constexpr std::string_view operation = "matmul_all_reduce";
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const std::int64_t ranks = m.group.ranks();
  const matmul_options own = options_of(options);
  const bool direct = sums_by_peers(m, c);
  const bool runs = m.agree(operation, s, [&]() -> std::vector<std::int64_t> {
    run_matmul(stream::loading(m.group.on()), {operation, a, b, c, &own});
    check_dense(operation, "c", c);
    if (!direct) {
      if (c.extents[0] % ranks != 0)
        refuse_collective(operation, "c is larger than sum_bytes of the workspace, and has " +
                                         std::to_string(c.extents[0]) +
                                         " rows; a multiple of the ranks is needed");
      if (s.is_capturing())
        refuse_collective(operation,
                          "the stream is captured, and c is larger than sum_bytes of the workspace");
    }
    return {static_cast<std::int64_t>(c.type), c.extents[0], c.extents[1]};
  });
  if (!runs) return warmup_peer_kernels(m.group.on());
  if (c.empty()) return;
  if (direct) {
    run_matmul(s, {operation, a, b, c, &own});
    return queue_sum(m, s, c, c);
  }
  const std::int64_t rows = c.extents[0] / ranks;
  const matmul_view part = lines_of(c, m.group.rank() * rows, rows);
  reduce_matmul(operation, w, s, a, b, part, options);
  any_view sent = part;
  sent.bytes = bytes_of(part);
  m.group.all_gather(s, sent, c);
}

}  // namespace detail

std::uint64_t reduce_scatter_bytes(int ranks, const any_view& out, element_kind parts) {
  return 2 * static_cast<std::uint64_t>(ranks) * detail::part_layout::of(out, parts).bytes;
}

}  // namespace kaio::ops
