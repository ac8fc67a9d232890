#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <functional>

#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/matmul_rows.hpp"
#include "ops/distributed/peer/products.hpp"

namespace kaio::ops {

namespace detail {

namespace {

void gather(std::string_view operation, const peer_workspace& w, const stream& s, const any_view& rows,
            const work_of_rank& work, const std::function<void()>& more_checks) {
  peer_memory& m = peer_memory_access::of(w, operation);
  const operation_scope traced(operation);
  const validation check(operation, m.group.on().identity());
  const bool runs = m.agree(operation, s, [&]() -> std::vector<std::int64_t> {
    if (rows.rank != 2) refuse_collective(operation, "the rows of a rank have two dimensions");
    check.input("a", rows);
    if (rows.extents[1] > 1 && rows.strides[1] != 1)
      refuse_collective(operation,
                        "neighbours of a row are not adjacent; transpose the rows of the ranks before");
    product_call::check(operation, m, all_gather_bytes(m.group.ranks(), rows));
    more_checks();
    const stream loads = stream::loading(m.group.on());
    work(loads, m.group.rank(), rows);
    return {static_cast<std::int64_t>(rows.type), rows.element_bytes(), rows.extents[0], rows.extents[1]};
  });
  if (!runs) return warmup_peer_kernels(m.group.on());
  if (rows.empty()) return;
  const product_call call(m, s);
  call.allow_copies();
  // Rank - 1 needs these rows first, after its own.
  for (int step = 1; step < call.ranks(); ++step)
    call.send(call.after(-step), call.part(call.after(-step), call.rank(), rows, rows.type), rows);
  work(s, call.rank(), rows);
  for (int step = 1; step < call.ranks(); ++step) {
    const int from = call.after(step);
    call.wait(from, 1);
    work(s, from, call.part(call.rank(), from, rows, rows.type));
  }
  call.end();
}

}  // namespace

void run_all_gather(std::string_view operation, const peer_workspace& w, const stream& s,
                    const any_view& rows, const work_of_rank& work) {
  gather(operation, w, s, rows, work, [] {});
}

void run_all_gather_matmul(const peer_workspace& w, const stream& s, const matmul_view& a,
                           const matmul_view& b, const matmul_view& c, const matmul_options& options) {
  constexpr std::string_view operation = "all_gather_matmul";
  const std::int64_t rows = a.extents[0];
  gather(
      operation, w, s, a,
      [&](const stream& on, int rank, const any_view& part) {
        const std::int64_t first = rank * rows;
        matmul_options own = options;
        if (own.bias.vector.exists() && own.bias.of_rows)
          own.bias.vector = lines_of(own.bias.vector, first, rows);
        if (own.residual.exists()) own.residual = lines_of(own.residual, first, rows);
        run_matmul(on, {operation, as_matrix(part), b, lines_of(c, first, rows), &own});
      },
      [&] {
        const int ranks = peer_memory_access::of(w, operation).group.ranks();
        require_lines(operation, "c", c, ranks * rows);
        if (options.bias.vector.exists() && options.bias.of_rows)
          require_lines(operation, "bias", options.bias.vector, ranks * rows);
        if (options.residual.exists()) require_lines(operation, "residual", options.residual, ranks * rows);
      });
}

}  // namespace detail

std::uint64_t all_gather_bytes(int ranks, const any_view& rows) {
  return static_cast<std::uint64_t>(ranks) * detail::part_layout::of(rows, rows.type).bytes;
}

}  // namespace kaio::ops
