// The checks of an attention before anything runs, and the normalisation of the caller's views.

#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "ops/attention/common/band.hpp"
#include "ops/attention/common/blocks.hpp"
#include "ops/attention/common/operands.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max(), most_head_size = 512;

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  refuse_attention(operation, what);
}

// The dimensions of Q, K, V and O.
enum : std::size_t { batch, row, head, element };

attention_operand operand_of(const attention_view& v) {
  return {v.address,
          v.bytes,
          v.device,
          static_cast<std::uint32_t>(v.extents[head]),
          static_cast<std::uint32_t>(v.extents[row]),
          static_cast<std::uint32_t>(v.extents[batch])};
}

void check_shapes(const validation& check, std::string_view operation, const attention_view& q,
                  const attention_view& k, const attention_view& v, const attention_view& o) {
  check.extent("q", q, batch, o.extents[batch], "the batches of out");
  check.extent("k", k, batch, o.extents[batch], "the batches of out");
  check.extent("v", v, batch, o.extents[batch], "the batches of out");
  check.extent("q", q, row, o.extents[row], "the queries, one per row of out");
  check.extent("v", v, row, k.extents[row], "the keys, one per row of k");
  check.extent("q", q, head, o.extents[head], "the heads of out");
  check.extent("v", v, head, k.extents[head], "the heads of k");
  check.extent("k", k, element, q.extents[element], "the head size of q");
  check.extent("out", o, element, v.extents[element], "the head size of v");
  if (q.extents[head] != 0 && (k.extents[head] == 0 || q.extents[head] % k.extents[head] != 0))
    refuse(operation, "argument q has " + std::to_string(q.extents[head]) + " heads, and argument k " +
                          std::to_string(k.extents[head]) +
                          "; the heads of q must be a multiple of the heads of k");
  for (const auto& [name, view] : {std::pair{"q", &q}, std::pair{"v", &v}}) {
    if (view->extents[element] == 0)
      refuse(operation, "argument " + std::string(name) + " has head size 0; it is at least 1");
    check.at_most(name, *view, element, most_head_size);
  }
  for (const auto& [name, view] : {std::pair{"q", &q}, std::pair{"k", &k}})
    for (const std::size_t d : {batch, row, head}) check.at_most(name, *view, d, most_extent);
}

void check_options(std::string_view operation, const attention_arguments& arguments) {
  const attention_options& options = *arguments.options;
  check_scale_and_softcap(operation, options.scale, options.softcap);
  check_band(operation, options.causal, options.window);
  if (options.precision > attention_precision::tf32) refuse(operation, "an invalid precision");
  if (arguments.own_score && (options.softcap != 0 || options.alibi.view.exists()))
    refuse(operation,
           "a softcap or alibi next to a score of your own, which takes their place: compute them there");
  for (const auto& [name, view] :
       {std::pair{"bias", &options.bias.view}, std::pair{"keep", &options.keep.view}})
    if (view->exists() && arguments.with_functions)
      refuse(operation, "argument " + std::string(name) +
                            " is not read here; pass its memory to a score or a mask of your own");
    else if (view->exists() && arguments.sequences != nullptr)
      refuse(operation, "argument " + std::string(name) +
                            " has no meaning for sequences in one tensor; call attention for each of them");
    else if (view->exists() && options.blocks.exists())
      refuse(operation, "argument " + std::string(name) +
                            " is not read next to blocks; compute it in a score or a mask of your own, with "
                            "attention_with and ops::block_sparse");
  if (arguments.with_functions && !options.variant.empty())
    refuse(operation, "a variant of the library's own kernels next to functions of your own; leave it out");
  if (arguments.own_mask && is_banded(options.causal, options.window))
    refuse(operation,
           "causal or a window next to a mask of your own, which takes their place: test them there");
}

// Checks a tensor with an element for each of `scores`, (batches, heads, queries, keys).
void check_score_tensor(const validation& check, std::string_view operation, const char* name,
                        const attention_view& v, const std::array<std::int64_t, 4>& scores) {
  constexpr const char* what[] = {"the batches, or one for all", "the heads of q, or one for all",
                                  "the queries, or one for all", "the keys, or one for all"};
  check.input(name, v);
  for (std::size_t d = 0; d < v.rank; ++d) {
    const std::size_t of_scores = d + 4 - v.rank;
    if (v.extents[d] != 1) check.extent(name, v, d, scores[of_scores], what[of_scores]);
  }
  const std::size_t last = v.rank - 1;
  if (v.extents[last] > 1 && v.strides[last] > std::numeric_limits<i32>::max() / v.element_bytes())
    refuse(operation, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[last]) +
                          " along the keys; it is below 2^31 bytes: copy the tensor");
}

attention_score_tensor score_tensor_of(const attention_view& v) {
  const auto bytes = [&](std::size_t dimension) {
    const std::size_t before = 4 - v.rank;
    if (dimension < before || v.extents[dimension - before] == 1) return u64{0};
    return static_cast<u64>(v.strides[dimension - before]) * v.element_bytes();
  };
  return {
      v.address, bytes(0), bytes(1), bytes(2), static_cast<u32>(bytes(3)), v.element_bytes() == 4 ? 1u : 0u};
}

void check_sequences(const validation& check, std::string_view operation,
                     const attention_sequences& sequences, std::int64_t rows) {
  const attention_view &cu_q = sequences.cu_q.view, &cu_k = sequences.cu_k.view;
  if (!cu_q.exists() || !cu_k.exists())
    refuse(operation, "cu_q or cu_k is not given; they say where sequences begin");
  const std::int64_t count = cu_q.extents[0] - 1;
  check.input("cu_q", cu_q);
  check.input("cu_k", cu_k);
  if (count < 0) refuse(operation, "argument cu_q is empty; it has one number more than there are sequences");
  check.at_most("cu_q", cu_q, 0, most_extent);
  check.extent("cu_k", cu_k, 0, cu_q.extents[0], "the numbers of cu_q, one more than there are sequences");
  for (const auto& [name, view] :
       {std::pair{"used_q", &sequences.used_q.view}, std::pair{"used_k", &sequences.used_k.view}})
    if (view->exists()) {
      check.input(name, *view);
      check.extent(name, *view, 0, count, "the sequences, of which cu_q has one number more");
    }
  for (const auto& [name, view] :
       {std::pair{"cu_q", &cu_q}, std::pair{"cu_k", &cu_k}, std::pair{"used_q", &sequences.used_q.view},
        std::pair{"used_k", &sequences.used_k.view}})
    if (view->exists() && view->extents[0] > 1 && view->strides[0] != 1)
      refuse(operation, "argument " + std::string(name) + " has gaps; its numbers follow each other");
  check_max_q(operation, sequences.max_q, rows, count);
}

// Packed sequences: their number, and where their lengths are.
void take_sequences(attention_problem& problem, const attention_sequences& sequences) {
  problem.packed = 1;
  problem.batches = static_cast<u32>(sequences.cu_q.view.extents[0] - 1);
  problem.queries = static_cast<u32>(sequences.max_q);
  problem.keys = 0;
  problem.cu_q = sequences.cu_q.view.address;
  problem.cu_k = sequences.cu_k.view.address;
  problem.used_q = sequences.used_q.view.address;
  problem.used_k = sequences.used_k.view.address;
}

}  // namespace

attention_call resolve_attention(const void* device, const attention_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const attention_options& options = *arguments.options;
  const validation check(operation, device);
  const bool packed = arguments.sequences != nullptr;
  const std::uint32_t rank = packed ? 3 : 4;
  for (const auto& [name, view] : {std::pair{"q", &arguments.q}, std::pair{"k", &arguments.k},
                                   std::pair{"v", &arguments.v}, std::pair{"out", &arguments.out}})
    if (view->rank != rank)
      refuse(operation,
             "argument " + std::string(name) + " has " + std::to_string(view->rank) + " dimensions; it has " +
                 (packed ? "three: rows, heads, head size" : "four: batches, sequence, heads, head size"));
  const attention_view q = as_one_batch(arguments.q), k = as_one_batch(arguments.k),
                       v = as_one_batch(arguments.v), o = as_one_batch(arguments.out);
  if (packed) check_sequences(check, operation, *arguments.sequences, q.extents[row]);
  for (const auto& [name, view] : {std::pair{"k", &k}, std::pair{"v", &v}, std::pair{"out", &o}})
    if (view->type != q.type && (view != &o || o.type != element_kind::f32))
      refuse(operation,
             "arguments q and " + std::string(name) + " have different element types; cast one of them");
  check.input("q", q);
  check.input("k", k);
  check.input("v", v);
  check.output("out", o);
  check_shapes(check, operation, q, k, v, o);
  check_options(operation, arguments);
  for (const auto& [name, view] : {std::pair{"q", &q}, std::pair{"k", &k}, std::pair{"v", &v}})
    check.apart("out", o, name, *view);

  const attention_view &alibi = options.alibi.view, &sinks = options.sinks.view;
  if (options.lse.view.exists() && options.lse.view.rank != (packed ? 2u : 3u))
    refuse(operation, std::string("argument lse has another number of dimensions than it needs; it is ") +
                          (packed ? "(heads, rows)" : "(batches, heads, queries)"));
  const attention_view lse = packed ? as_one_batch(options.lse.view) : options.lse.view;
  const std::int64_t batches = packed ? arguments.sequences->cu_q.view.extents[0] - 1 : q.extents[batch];
  check_alibi(check, alibi, q.extents[head], batches);
  if (alibi.exists()) check.apart("out", o, "alibi", alibi);
  check_sinks(check, sinks, q.extents[head]);
  if (sinks.exists()) check.apart("out", o, "sinks", sinks);
  for (const auto& [name, view] :
       {std::pair{"bias", &options.bias.view}, std::pair{"keep", &options.keep.view}})
    if (view->exists()) {
      check_score_tensor(check, operation, name, *view,
                         {batches, q.extents[head], q.extents[row], k.extents[row]});
      check.apart("out", o, name, *view);
    }
  if (options.bias.view.exists() && options.bias.view.type != element_kind::f32 &&
      options.bias.view.type != q.type)
    refuse(operation, std::string("argument bias has elements of ") + element_name(options.bias.view.type) +
                          "; they are f32, or " + element_name(q.type) + " as those of q: cast it");
  if (packed)
    for (const auto& [name, view] : {std::pair{"cu_q", &arguments.sequences->cu_q.view},
                                     std::pair{"cu_k", &arguments.sequences->cu_k.view},
                                     std::pair{"used_q", &arguments.sequences->used_q.view},
                                     std::pair{"used_k", &arguments.sequences->used_k.view}})
      if (view->exists()) check.apart("out", o, name, *view);
  if (lse.exists()) {
    check.output("lse", lse);
    check.extent("lse", lse, 0, q.extents[batch], "the batches of q");
    check.extent("lse", lse, 1, q.extents[head], "the heads of q");
    check.extent("lse", lse, 2, q.extents[row], "the queries");
    for (const auto& [name, view] :
         {std::pair{"q", &q}, std::pair{"k", &k}, std::pair{"v", &v}, std::pair{"out", &o}})
      check.apart("lse", lse, name, *view);
    if (alibi.exists()) check.apart("lse", lse, "alibi", alibi);
    if (sinks.exists()) check.apart("lse", lse, "sinks", sinks);
    if (options.bias.view.exists()) check.apart("lse", lse, "bias", options.bias.view);
    if (options.keep.view.exists()) check.apart("lse", lse, "keep", options.keep.view);
  }

  check_blocks(check, arguments, {batches, q.extents[head], q.extents[row], k.extents[row]});
  if (options.blocks.exists())
    for (const auto& [name, view] : views_of(options.blocks))
      if (view->exists()) {
        check.apart("out", o, name, *view);
        if (lse.exists()) check.apart("lse", lse, name, *view);
      }

  attention_call call;
  call.type = q.type;
  call.precision = q.type == element_kind::f32 ? options.precision : attention_precision::ieee;
  call.output = o.type;
  call.batch_invariant = options.batch_invariant;
  call.q = operand_of(q);
  call.k = operand_of(k);
  call.v = operand_of(v);
  call.o = operand_of(o);
  attention_problem& problem = call.problem;
  problem.q = strides_of(operation, "q", q);
  problem.k = strides_of(operation, "k", k);
  problem.v = strides_of(operation, "v", v);
  problem.o = strides_of(operation, "out", o);
  problem.o.is_f32 = o.type != q.type ? 1 : 0;
  problem.element = static_cast<u32>(detail::element_type_of(q.type));
  problem.batches = static_cast<u32>(q.extents[batch]);
  problem.heads = static_cast<u32>(q.extents[head]);
  problem.queries = static_cast<u32>(q.extents[row]);
  problem.keys = static_cast<u32>(k.extents[row]);
  problem.qk_size = static_cast<u32>(q.extents[element]);
  problem.v_size = static_cast<u32>(v.extents[element]);
  if (packed) take_sequences(problem, *arguments.sequences);
  if (call.empty()) return call;
  problem.heads_of_group = call.q.heads / call.k.heads;
  call.band = band_of(options.causal, options.window);
  if (options.blocks.exists()) {
    call.in_blocks = true;
    call.lists = lists_of(options.blocks, problem.keys);
    const attention_band open;
    call.lists.masks = arguments.own_mask || call.band.low != open.low || call.band.high != open.high ? 1 : 0;
  }
  if (static_cast<double>(call.query_tiles(16)) * problem.heads * problem.batches >
      static_cast<double>(most_extent))
    refuse(operation, "more than 2^31 tiles of 16 queries; split the batch");
  take_lse(problem, lse);
  problem.scale = options.scale.value_or(1 / std::sqrt(static_cast<f32>(problem.qk_size)));

  problem.longest_first = gives_last_queries_more(call.band, problem.queries) ? 1 : 0;
  take_sinks(problem, sinks);
  call.terms.softcap = options.softcap;
  take_alibi(call.terms, alibi);
  if (options.bias.view.exists()) call.bias = score_tensor_of(options.bias.view);
  if (options.keep.view.exists()) call.keep = score_tensor_of(options.keep.view);
  const bool has_tensors = options.bias.view.exists() || options.keep.view.exists();
  call.terms.plain = options.softcap == 0 && !alibi.exists() && !has_tensors && problem.scale > 0 ? 1 : 0;
  return call;
}

}  // namespace kaio::ops::detail
