// merge_states: its checks, its launch, and its kernel.

#include <kaio/ops/attention/decode/common/merge.hpp>
#include <kaio/ops/merge_states.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/common/operands.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "merge_states";
enum : std::size_t { batch, row, head, element };

// Results as (batches, rows, heads, size), lse as (batches, heads, rows).
attention_view with_batch(const attention_view& v, std::uint32_t rank) {
  if (!v.exists() || v.rank == rank) return v;
  attention_view result = v;
  result.rank = v.rank + 1;
  result.extents = {1, v.extents[0], v.extents[1], v.extents[2]};
  result.strides = {0, v.strides[0], v.strides[1], v.strides[2]};
  return result;
}

bool same_places(const attention_view& a, const attention_view& b) {
  if (a.type != b.type || a.address != b.address) return false;
  for (std::size_t d = 0; d < a.rank; ++d)
    if (a.extents[d] > 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

element_type element_of(element_kind type) {
  return type == element_kind::f32   ? element_type::f32
         : type == element_kind::f16 ? element_type::f16
                                     : element_type::bf16;
}

attention_state state_of(std::string_view name, const attention_view& out, const attention_view& lse) {
  return {detail::strides_of(operation, name, out), lse.address, lse.strides[0], lse.strides[1],
          lse.strides[2]};
}

}  // namespace

namespace detail {

void run_merge_states(const stream& s, const merge_states_arguments& given) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  struct named {
    std::string_view name;
    attention_view view;
  };
  const named out_a{"out_a", with_batch(given.out_a, 4)}, out_b{"out_b", with_batch(given.out_b, 4)},
      out{"out", with_batch(given.out, 4)}, lse_a{"lse_a", with_batch(given.lse_a, 3)},
      lse_b{"lse_b", with_batch(given.lse_b, 3)}, lse{"lse", with_batch(given.lse, 3)};
  for (const named* x : {&out_a, &lse_a, &out_b, &lse_b}) check.input(x->name, x->view);
  check.output(out.name, out.view);
  if (lse.view.exists()) check.output(lse.name, lse.view);
  const attention_view& shape = out_a.view;
  constexpr std::array<const char*, 4> of_result{"the batches of out_a", "the queries of out_a",
                                                 "the heads of out_a", "the head size of out_a"};
  for (const named* x : {&out_b, &out})
    for (const std::size_t d : {batch, row, head, element})
      check.extent(x->name, x->view, d, shape.extents[d], of_result[d]);
  for (const named* x : {&lse_a, &lse_b, &lse}) {
    if (!x->view.exists()) continue;
    check.extent(x->name, x->view, 0, shape.extents[batch], of_result[batch]);
    check.extent(x->name, x->view, 1, shape.extents[head], of_result[head]);
    check.extent(x->name, x->view, 2, shape.extents[row], of_result[row]);
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (const std::size_t d : {batch, row, head, element}) check.at_most("out_a", shape, d, most);
  const auto apart = [&](const named& to, const named& from, bool may_be_same) {
    if (to.view.exists() && !(may_be_same && same_places(to.view, from.view)))
      check.apart(to.name, to.view, from.name, from.view);
  };
  for (const named* x : {&out_a, &out_b}) apart(out, *x, true), apart(lse, *x, false);
  for (const named* x : {&lse_a, &lse_b}) apart(out, *x, false), apart(lse, *x, true);
  if (lse.view.exists()) check.apart("lse", lse.view, "out", out.view);

  attention_merge_problem problem{};
  problem.a = state_of("out_a", out_a.view, lse_a.view);
  problem.b = state_of("out_b", out_b.view, lse_b.view);
  problem.o = state_of("out", out.view, lse.view);
  if (shape.extents[batch] == 0 || shape.extents[row] == 0 || shape.extents[head] == 0) return;
  problem.rows = static_cast<u32>(shape.extents[row]);
  problem.heads = static_cast<u32>(shape.extents[head]);
  problem.size = static_cast<u32>(shape.extents[element]);
  problem.type_a = static_cast<u32>(element_of(shape.type));
  problem.type_b = static_cast<u32>(element_of(out_b.view.type));
  problem.out_type = static_cast<u32>(element_of(out.view.type));
  const double results = static_cast<double>(shape.extents[batch]) * problem.rows * problem.heads;
  if (results > static_cast<double>(most))
    refuse_attention(operation, "more than 2^31 rows of all heads and batches; divide the batch");
  problem.results = static_cast<u64>(results);
  constexpr std::uint64_t warps = attention_merge_config::warps;
  attention_merge_states.launch(s, grid((problem.results + warps - 1) / warps), problem);
}

}  // namespace detail

void merge_states_warmup(const runtime::device& gpu) { gpu.warmup(attention_merge_states.image()); }

void list_attention_merge_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&attention_merge_states.image());
}

}  // namespace kaio::ops
