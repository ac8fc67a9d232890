#include <kaio/ops/all_gather_matmul.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>

#include "ops/distributed/peer/gathered_matmul.hpp"
#include "ops/distributed/peer/kernels.hpp"
#include "ops/distributed/peer/matmul_rows.hpp"
#include "ops/distributed/peer/products.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace detail {

namespace {

// Sends this rank's rows to all others. checks(): those of the products, which also loads their kernels. products(call):
// queues them; returns the number of ranks for which they have waited in a kernel of their own. work: for rows without
// elements, which are not sent.
template <class Checks, class Products>
void gather(std::string_view operation, const peer_workspace& w, const stream& s, const any_view& rows,
            const Checks& checks, const Products& products, const work_of_rank& work) {
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
    checks();
    return {static_cast<std::int64_t>(rows.type), rows.element_bytes(), rows.extents[0], rows.extents[1]};
  });
  if (!runs) return warmup_peer_kernels(m.group.on());
  if (rows.empty()) {
    const int ranks = m.group.ranks();
    for (int step = 0; step < ranks; ++step) work(s, (m.group.rank() + step) % ranks, rows);
    return;
  }
  const product_call call(m, s);
  call.allow_copies();
  // Rank - 1 needs these rows first, after its own.
  for (int step = 1; step < call.ranks(); ++step)
    call.send(call.after(-step), call.part(call.after(-step), call.rank(), rows, rows.type), rows);
  call.end(products(call));
}

// One product for each rank, after a wait for its rows.
int queue_products(const product_call& call, const stream& s, const any_view& rows,
                   const work_of_rank& work) {
  work(s, call.rank(), rows);
  for (int step = 1; step < call.ranks(); ++step) {
    const int from = call.after(step);
    call.wait(from, 1);
    work(s, from, call.part(call.rank(), from, rows, rows.type));
  }
  return 0;
}

// A view of all ranks' rows as a batch: its first dimension is divided among ranks.
matmul_view as_batch(const matmul_view& v, std::int64_t ranks) {
  matmul_view batch = v;
  batch.rank = v.rank + 1;
  for (std::uint32_t d = v.rank; d > 0; --d) {
    batch.extents[d] = v.extents[d - 1];
    batch.strides[d] = v.strides[d - 1];
  }
  batch.extents[0] = ranks;
  batch.extents[1] = v.extents[0] / ranks;
  batch.strides[0] = batch.extents[1] * v.strides[0];
  return batch;
}

// The products of all ranks' rows as a batch, whose A are this rank's rows. Throws invalid_argument.
matmul_call batch_of_ranks(std::string_view operation, const stream& s, const matmul_arguments& of,
                           std::int64_t ranks) {
  matmul_options options = *of.options;
  if (options.bias.vector.exists() && options.bias.of_rows)
    options.bias.vector = as_batch(options.bias.vector, ranks);
  if (options.residual.exists()) options.residual = as_batch(options.residual, ranks);
  return resolve_matmul(s.device_identity(), {operation, of.a, of.b, as_batch(of.c, ranks), &options}, false);
}

// The kernel that runs a call in one launch. Throws unsupported_device; invalid_argument.
const gathered_variant& gathered_variant_for(std::string_view operation, const stream& s,
                                             const matmul_call& call, std::string_view forced) {
  const std::string begin = "kaio: " + std::string(operation) + ": gather_schedule::one_launch ";
  const std::string end = "; gather_schedule::launches has no such limits";
  if (!forced.empty()) throw invalid_argument(begin + "has one kernel; leave the variant out" + end);
  const auto all = gathered_variants();
  if (!runs_on(*all.front().of_matmul.image, s.properties()))
    throw unsupported_device(begin + "needs sm_90a, and the device is " + s.properties().name + end);
  const auto found = std::find_if(all.begin(), all.end(), [&](const gathered_variant& v) {
    return v.of_matmul.operand == call.operand && v.of_matmul.output == call.output &&
           v.of_matmul.b == call.b.lines;
  });
  if (found == all.end()) throw invalid_argument(begin + "takes a, b and c of f16, or of bf16" + end);
  if (const std::string why = refusal(found->of_matmul, call, s.properties()); !why.empty())
    throw invalid_argument(begin + "cannot run this product: " + why + end);
  return *found;
}

}  // namespace

void run_all_gather(std::string_view operation, const peer_workspace& w, const stream& s,
                    const any_view& rows, const work_of_rank& work) {
  gather(
      operation, w, s, rows,
      [&] {
        const communicator& group = peer_memory_access::of(w, operation).group;
        work(stream::loading(group.on()), group.rank(), rows);
      },
      [&](const product_call& call) { return queue_products(call, s, rows, work); }, work);
}

void run_all_gather_matmul(const peer_workspace& w, const stream& s, const matmul_view& a,
                           const matmul_view& b, const matmul_view& c, const matmul_options& options,
                           gather_schedule schedule) {
  constexpr std::string_view operation = "all_gather_matmul";
  const std::int64_t rows = a.extents[0];
  const auto product = [&](const stream& on, int rank, const any_view& part) {
    const std::int64_t first = rank * rows;
    matmul_options own = options;
    if (own.bias.vector.exists() && own.bias.of_rows)
      own.bias.vector = lines_of(own.bias.vector, first, rows);
    if (own.residual.exists()) own.residual = lines_of(own.residual, first, rows);
    run_matmul(on, {operation, as_matrix(part), b, lines_of(c, first, rows), &own});
  };
  matmul_call batch;
  const gathered_variant* kernel = nullptr;  // of one launch
  gather(
      operation, w, s, a,
      [&] {
        const communicator& group = peer_memory_access::of(w, operation).group;
        const int ranks = group.ranks();
        require_lines(operation, "c", c, ranks * rows);
        // Rows of a are sent while products for other ranks are written.
        const validation check(operation, group.on().identity());
        if (!c.empty() && !a.empty()) check.apart("c", c, "a", a);
        if (!c.empty() && !b.empty()) check.apart("c", c, "b", b);
        if (options.bias.vector.exists() && options.bias.of_rows)
          require_lines(operation, "bias", options.bias.vector, ranks * rows);
        if (options.residual.exists()) require_lines(operation, "residual", options.residual, ranks * rows);
        if (schedule > gather_schedule::one_launch)
          refuse_collective(operation, "a schedule that is none of gather_schedule");
        const stream loads = stream::loading(group.on());
        if (schedule == gather_schedule::one_launch) {
          batch = batch_of_ranks(operation, loads, {operation, a, b, c, &options}, ranks);
          if (!batch.empty() && batch.k != 0) {
            kernel = &gathered_variant_for(operation, loads, batch, options.variant);
            kernel->launch(loads, batch, batch.a, {});
            return;
          }
        }
        product(loads, group.rank(), a);
      },
      [&](const product_call& call) {
        if (kernel == nullptr) return queue_products(call, s, a, product);
        const any_view first = call.part(call.rank(), 0, a, a.type);
        const part_layout layout = part_layout::of(a, a.type);
        const matmul_operand sent{first.address,
                                  static_cast<std::uint64_t>(call.ranks()) * layout.bytes,
                                  first.device,
                                  line_direction::along_k,
                                  layout.row_bytes / layout.element_bytes,
                                  layout.bytes / layout.element_bytes};
        kernel->launch(s, batch, sent, call.arrivals());
        return call.ranks() - 1;
      },
      product);
}

}  // namespace detail

std::uint64_t all_gather_bytes(int ranks, const any_view& rows) {
  return static_cast<std::uint64_t>(ranks) * detail::part_layout::of(rows, rows.type).bytes;
}

}  // namespace kaio::ops
