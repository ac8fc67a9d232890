// The checks of an attention_decode before anything runs, and the normalisation of the caller's views.

#include <kaio/ops/attention/decode/call/call.hpp>
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
#include <vector>

#include "ops/attention/common/band.hpp"
#include "ops/attention/common/operands.hpp"
#include "ops/attention/decode/call/check_append.hpp"
#include "ops/attention/decode/call/join_queries.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max(), most_head_size = 512,
                       most_latent_size = 576, most_latent_value_size = 512;

// The dimensions of Q, K, V and O. In K and V of a paged cache, `batch` is the page.
enum : std::size_t { batch, row, head, element };

struct named {
  std::string_view name;
  const attention_view* view;
};

std::array<named, 7> numbers_of(const attention_cache_view& cache) {
  return {{{"table", &cache.table},
           {"indptr", &cache.indptr},
           {"indices", &cache.indices},
           {"lengths", &cache.lengths},
           {"last_page_len", &cache.last_page_len},
           {"batch_index", &cache.batch_index},
           {"left_padding", &cache.left_padding}}};
}

// The form of a cache. Throws if its numbers do not belong together.
cache_form form_of(std::string_view operation, const attention_cache_view& cache) {
  const bool has_table = cache.table.exists(), has_list = cache.indptr.exists() || cache.indices.exists();
  if (has_table && has_list)
    refuse_attention(operation, "a cache with a table and with indptr and indices; give one of them");
  if (cache.indptr.exists() != cache.indices.exists())
    refuse_attention(operation, "a cache with one of indptr and indices; a list of pages has both");
  if (cache.last_page_len.exists() && !has_list)
    refuse_attention(operation, "last_page_len without indptr and indices; give lengths");
  if (cache.last_page_len.exists() && cache.lengths.exists())
    refuse_attention(operation, "a cache with lengths and last_page_len; give one of them");
  if (cache.batch_index.exists() && (has_table || has_list))
    refuse_attention(operation, "batch_index of a cache in pages; its pages say where a sequence is");
  return has_table ? cache_form::table : has_list ? cache_form::list : cache_form::contiguous;
}

void check_numbers(const validation& check, std::string_view operation, const attention_cache_view& cache,
                   std::int64_t sequences) {
  constexpr const char* reason = "the sequences: the batches of q, or one less than the numbers of cu_q";
  for (const auto& [name, view] : numbers_of(cache)) {
    if (!view->exists()) continue;
    check.input(name, *view);
    const std::size_t last = view->rank - 1;
    if (view->extents[last] > 1 && view->strides[last] != 1)
      refuse_attention(operation,
                       "argument " + std::string(name) + " has gaps; its numbers follow each other");
    if (view == &cache.indptr)
      check.extent(name, *view, 0, sequences + 1, "the sequences and one more");
    else if (view == &cache.indices)
      check.at_most(name, *view, 0, most_extent);
    else
      check.extent(name, *view, 0, sequences, reason);
  }
}

// Whether V is the first elements of the rows of K.
bool values_in_keys(const attention_cache_view& cache) {
  const attention_view &k = cache.k, &v = cache.v;
  bool same = k.address == v.address && v.extents[element] <= k.extents[element] && !cache.has_codes();
  for (const std::size_t d : {batch, row, head})
    same = same && k.extents[d] == v.extents[d] && (k.extents[d] <= 1 || k.strides[d] == v.strides[d]);
  return same;
}

// The views of a call with four dimensions, lse with three. Packed sequences are one batch.
struct shaped_call {
  attention_view q, k, v, o, lse;
  std::int64_t sequences = 0;
  bool packed = false;
};

shaped_call shape_of(const attention_decode_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const bool packed = arguments.sequences != nullptr;
  const auto require = [&](std::string_view name, const attention_view& view, std::uint32_t rank,
                           const char* is) {
    if (view.rank != rank)
      refuse_attention(operation, "argument " + std::string(name) + " has " + std::to_string(view.rank) +
                                      " dimensions; it has " + is);
  };
  constexpr const char *four = "four: batches or pages, rows, heads, head size",
                       *three = "three: rows, heads, head size";
  require("q", arguments.q, packed ? 3 : 4, packed ? three : four);
  require("k", arguments.cache.k, 4, four);
  require("v", arguments.cache.v, 4, four);
  if (arguments.out.exists()) require("out", arguments.out, packed ? 3 : 4, packed ? three : four);
  const attention_view& lse = arguments.options->lse.view;
  if (lse.exists() && lse.rank != (packed ? 2u : 3u))
    refuse_attention(operation,
                     std::string("argument lse has another number of dimensions than it needs; it is ") +
                         (packed ? "(heads, rows)" : "(batches, heads, queries)"));
  shaped_call call{as_one_batch(arguments.q),
                   arguments.cache.k,
                   arguments.cache.v,
                   as_one_batch(arguments.out),
                   lse,
                   arguments.q.extents[0],
                   packed};
  if (!packed) return call;
  if (lse.exists()) call.lse = as_one_batch(lse);
  call.sequences = arguments.sequences->cu_q.view.extents[0] - 1;
  return call;
}

void check_sequences(const validation& check, std::string_view operation,
                     const attention_sequences& sequences, std::int64_t rows) {
  const attention_view& cu_q = sequences.cu_q.view;
  if (!cu_q.exists()) refuse_attention(operation, "cu_q is not given; it says where sequences begin");
  if (sequences.cu_k.view.exists() || sequences.used_q.view.exists() || sequences.used_k.view.exists() ||
      sequences.max_k != 0)
    refuse_attention(operation,
                     "cu_k, used_q, used_k or max_k of a cache, whose lengths say how many keys "
                     "there are; give cu_q and max_q alone");
  check.input("cu_q", cu_q);
  if (cu_q.extents[0] < 1)
    refuse_attention(operation, "argument cu_q is empty; it has one number more than there are sequences");
  check.at_most("cu_q", cu_q, 0, most_extent);
  if (cu_q.extents[0] > 1 && cu_q.strides[0] != 1)
    refuse_attention(operation, "argument cu_q has gaps; its numbers follow each other");
  check_max_q(operation, sequences.max_q, rows, cu_q.extents[0] - 1);
}

void check_shapes(const validation& check, const attention_decode_arguments& arguments,
                  const shaped_call& call, cache_form form) {
  const std::string_view operation = arguments.operation;
  const attention_view &q = call.q, &k = call.k, &v = call.v, &o = call.o;
  for (const auto& [name, view] : {named{"k", &k}, named{"v", &v}, named{"out", &o}})
    if (view->exists() && view->type != q.type && (view != &o || o.type != element_kind::f32) &&
        (view == &o || !arguments.cache.has_codes()))
      refuse_attention(operation, "arguments q and " + std::string(name) +
                                      " have different element types; cast one of them");
  check.input("q", q);
  check.input("k", k);
  check.input("v", v);
  if (o.exists()) {
    check.output("out", o);
    check.extent("out", o, batch, q.extents[batch], "the batches of q");
    check.extent("out", o, row, q.extents[row], "the queries");
    check.extent("out", o, head, q.extents[head], "the heads of q");
    check.extent("out", o, element, v.extents[element], "the head size of v");
  }
  check.extent("v", v, batch, k.extents[batch], "the batches or pages of k");
  check.extent("v", v, row, k.extents[row], "the rows of k");
  check.extent("v", v, head, k.extents[head], "the heads of k");
  check.extent("k", k, element, q.extents[element], "the head size of q");
  if (form == cache_form::contiguous && !arguments.cache.batch_index.exists())
    check.extent("k", k, batch, call.sequences,
                 call.packed ? "the sequences, of which cu_q has one number more" : "the batches of q");
  if (form != cache_form::contiguous && k.extents[row] == 0)
    refuse_attention(operation, "argument k has pages of 0 rows; they have at least 1");
  if (q.extents[head] != 0 && (k.extents[head] == 0 || q.extents[head] % k.extents[head] != 0))
    refuse_attention(operation, "argument q has " + std::to_string(q.extents[head]) +
                                    " heads, and argument k " + std::to_string(k.extents[head]) +
                                    "; the heads of q must be a multiple of the heads of k");
  for (const auto& [name, view] : {named{"q", &q}, named{"v", &v}}) {
    if (view->extents[element] == 0)
      refuse_attention(operation, "argument " + std::string(name) + " has head size 0; it is at least 1");
    const bool latent = values_in_keys(arguments.cache);
    check.at_most(name, *view, element,
                  !latent      ? most_head_size
                  : view == &q ? most_latent_size
                               : most_latent_value_size);
  }
  for (const auto& [name, view] : {named{"q", &q}, named{"k", &k}})
    for (const std::size_t d : {batch, row, head}) check.at_most(name, *view, d, most_extent);
  const std::int64_t queries = call.packed ? arguments.sequences->max_q : q.extents[row];
  if (k.extents[head] != 0 &&
      queries > most_extent / std::max<std::int64_t>(q.extents[head] / k.extents[head], 1))
    refuse_attention(operation,
                     "more than 2^31 queries of the heads that share a head of keys; take fewer queries");
}

void check_parts(std::string_view operation, const attention_decode_options& options) {
  constexpr std::uint32_t most_splits = 256;
  const bool clusters = options.combining == attention_combining::cluster;
  if (options.splits > most_splits)
    refuse_attention(operation, "splits is " + std::to_string(options.splits) +
                                    "; it is from 1 to 256, or 0: what takes the least time");
  if (options.batch_invariant && (options.splits != 0 || clusters))
    refuse_attention(operation,
                     "batch_invariant excludes splits and a cluster; it fixes the keys of a split");
  if (clusters && options.splits != 0 && options.splits != 2 && options.splits != 4 && options.splits != 8 &&
      options.splits != 16)
    refuse_attention(
        operation, "a cluster of " + std::to_string(options.splits) + " splits; a cluster has 2, 4, 8 or 16");
}

void check_options(const validation& check, const attention_decode_arguments& arguments,
                   const shaped_call& call) {
  const std::string_view operation = arguments.operation;
  const attention_decode_options& options = *arguments.options;
  const attention_view &q = call.q, &lse = call.lse;
  check_scale_and_softcap(operation, options.scale, options.softcap);
  check_band(operation, options.causal, options.window);
  if (options.causal == causal_alignment::top_left)
    refuse_attention(
        operation,
        "causal is top_left; the queries of a cache are its last keys: take bottom_right, or none");
  if (options.max_length < 0 || options.max_length > most_extent)
    refuse_attention(operation, "max_length is " + std::to_string(options.max_length) +
                                    "; it is from 1 to 2^31 - 1, or 0: what the cache has room for");
  check_parts(operation, options);
  if (arguments.own_score && (options.softcap != 0 || options.alibi.view.exists()))
    refuse_attention(
        operation,
        "a softcap or alibi next to a score of your own, which takes their place: compute them there");
  if (arguments.own_mask && is_banded(options.causal, options.window))
    refuse_attention(
        operation, "causal or a window next to a mask of your own, which takes their place: test them there");
  if (arguments.with_functions && !options.variant.empty())
    refuse_attention(operation,
                     "a variant of the library's own kernels next to functions of your own; leave it out");
  check_alibi(check, options.alibi.view, q.extents[head], call.sequences);
  check_sinks(check, options.sinks.view, q.extents[head]);
  if (!lse.exists()) return;
  check.output("lse", lse);
  check.extent("lse", lse, 0, q.extents[batch], "the batches of q");
  check.extent("lse", lse, 1, q.extents[head], "the heads of q");
  check.extent("lse", lse, 2, q.extents[row], "the queries");
}

// Checks the scales that are given. Only caches of codes have scales.
void check_cache_scales(const validation& check, const attention_decode_arguments& arguments,
                        std::int64_t sequences) {
  const attention_decode_options& options = *arguments.options;
  const attention_view& k = arguments.cache.k;
  for (const auto& [name, view] :
       {named{"k_scale", &options.k_scale.view}, named{"v_scale", &options.v_scale.view}}) {
    if (!view->exists()) continue;
    if (!arguments.cache.has_codes())
      refuse_attention(arguments.operation,
                       std::string(name) + " of a cache whose elements are those of q; it has no scales");
    check.input(name, *view);
    if (view->rank == 3) {
      for (const std::size_t d : {batch, row, head})
        check.extent(name, *view, d, k.extents[d], "as of the cache");
    } else if (view->rank == 2) {
      check.extent(name, *view, 0, sequences, "the sequences");
      check.extent(name, *view, 1, k.extents[head], "the heads of k");
    } else if (view->extents[0] != 1)
      check.extent(name, *view, 0, k.extents[head], "1, or the heads of k");
  }
}

// Checks that outputs share no memory with anything else.
void check_apart(const validation& check, const attention_decode_arguments& arguments) {
  const attention_decode_options& options = *arguments.options;
  std::vector<named> inputs{{"q", &arguments.q}, {"k", &arguments.cache.k}, {"v", &arguments.cache.v}};
  for (const named& one : numbers_of(arguments.cache)) inputs.push_back(one);
  inputs.push_back({"alibi", &options.alibi.view});
  inputs.push_back({"sinks", &options.sinks.view});
  inputs.push_back({"k_scale", &options.k_scale.view});
  inputs.push_back({"v_scale", &options.v_scale.view});
  if (arguments.sequences != nullptr) inputs.push_back({"cu_q", &arguments.sequences->cu_q.view});
  std::vector<named> outputs{{"out", &arguments.out}, {"lse", &options.lse.view}};
  std::erase_if(inputs, [](const named& x) { return !x.view->exists(); });
  std::erase_if(outputs, [](const named& x) { return !x.view->exists(); });
  for (const named& to : outputs)
    for (const named& from : inputs) check.apart(to.name, *to.view, from.name, *from.view);
  if (outputs.size() == 2) check.apart(outputs[1].name, *outputs[1].view, outputs[0].name, *outputs[0].view);
  check_append_apart(check, arguments);
  if (options.workspace.address == 0) return;
  for (const auto& list : {inputs, outputs})
    for (const named& one : list) check.workspace_apart(options.workspace.facts(), one.name, *one.view);
}

attention_cache cache_of(const attention_cache_view& view, cache_form form, std::int64_t max_length) {
  attention_cache cache{};
  cache.form = static_cast<u32>(form);
  const std::int64_t rows = view.k.extents[row];
  std::int64_t room = rows;
  if (form != cache_form::contiguous) {
    const std::int64_t pages = form == cache_form::table ? view.table.extents[1] : view.indices.extents[0];
    room = pages > most_extent / rows ? most_extent : pages * rows;
    cache.page = divisor::of(static_cast<u32>(rows));
    cache.pages = form == cache_form::table ? view.table.address : view.indices.address;
    if (form == cache_form::table && view.table.extents[0] > 1) cache.pages_row = view.table.strides[0];
  }
  if (max_length != 0) room = std::min(room, max_length);
  cache.max_keys = static_cast<u32>(std::min(room, most_extent));
  cache.indptr = view.indptr.address;
  cache.lengths = view.lengths.address;
  cache.last_page = view.last_page_len.address;
  cache.batch_index = view.batch_index.address;
  cache.left_padding = view.left_padding.address;
  return cache;
}

cache_elements kept_as(element_kind kind) {
  return kind == element_kind::e4m3   ? cache_elements::e4m3
         : kind == element_kind::e5m2 ? cache_elements::e5m2
         : kind == element_kind::i8   ? cache_elements::i8
                                      : cache_elements::same;
}

cache_scale scale_of(const attention_view& v) {
  cache_scale scale{};
  if (!v.exists()) return scale;
  scale.address = v.address;
  const auto stride = [&](std::size_t d) { return v.extents[d] > 1 ? v.strides[d] : 0; };
  scale.head = stride(v.rank - 1);
  if (v.rank > 1) scale.page = stride(0);
  if (v.rank == 3) scale.row = stride(row);
  scale.by_key = v.rank == 3 && (scale.page != 0 || scale.row != 0) ? 1 : 0;
  return scale;
}

element_type element_of(element_kind type) {
  return type == element_kind::f32   ? element_type::f32
         : type == element_kind::f16 ? element_type::f16
                                     : element_type::bf16;
}

}  // namespace

attention_decode_call resolve_attention_decode(const void* device,
                                               const attention_decode_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const attention_decode_options& options = *arguments.options;
  const validation check(operation, device);
  if (options.qv.view.exists()) {
    attention_decode_options joined;
    return resolve_attention_decode(device, join_queries(check, arguments, joined));
  }
  const cache_form form = form_of(operation, arguments.cache);
  const shaped_call shaped = shape_of(arguments);
  const attention_view &q = shaped.q, &k = shaped.k, &v = shaped.v, &o = shaped.o;
  if (shaped.packed) check_sequences(check, operation, *arguments.sequences, arguments.q.extents[0]);
  check_shapes(check, arguments, shaped, form);
  check_numbers(check, operation, arguments.cache, shaped.sequences);
  check_options(check, arguments, shaped);
  check_cache_scales(check, arguments, shaped.sequences);
  check_append(check, arguments, shaped.sequences);
  check_apart(check, arguments);

  attention_decode_call call;
  call.type = q.type;
  call.batch_invariant = options.batch_invariant;
  call.splits = options.splits;
  call.combining = options.combining;
  call.values_in_keys = values_in_keys(arguments.cache);
  attention_problem& problem = call.problem;
  problem.q = strides_of(operation, "q", q);
  problem.k = strides_of(operation, "k", k);
  problem.v = strides_of(operation, "v", v);
  if (o.exists()) {
    problem.o = strides_of(operation, "out", o);
    problem.o.is_f32 = o.type != q.type ? 1 : 0;
  }
  problem.batches = static_cast<u32>(shaped.sequences);
  problem.heads = static_cast<u32>(q.extents[head]);
  problem.queries = static_cast<u32>(shaped.packed ? arguments.sequences->max_q : q.extents[row]);
  if (shaped.packed) {
    problem.packed = problem.batches;
    problem.cu_q = arguments.sequences->cu_q.view.address;
    call.packed_rows = static_cast<std::uint64_t>(q.extents[row]);
  }
  problem.qk_size = static_cast<u32>(q.extents[element]);
  problem.v_size = static_cast<u32>(v.extents[element]);
  if (call.empty()) return call;
  problem.heads_of_group = static_cast<u32>(q.extents[head] / k.extents[head]);
  problem.scale = options.scale.value_or(1 / std::sqrt(static_cast<f32>(problem.qk_size)));
  take_lse(problem, shaped.lse);
  take_sinks(problem, options.sinks.view);
  call.terms.softcap = options.softcap;
  take_alibi(call.terms, options.alibi.view);
  call.terms.plain = options.softcap == 0 && !options.alibi.view.exists() && problem.scale > 0 ? 1 : 0;
  call.band = band_of(options.causal, options.window);

  call.codes.kept = static_cast<u32>(kept_as(arguments.cache.kind));
  const attention_append& append = options.append;
  const auto scale_from = [](const attention_cache_scale& given, const tensor_view<f32, 3>& computed) {
    return scale_of(computed.is_null() ? given.view : attention_view(computed));
  };
  call.codes.k = scale_from(options.k_scale, append.k_scale_out);
  call.codes.v = scale_from(options.v_scale, append.v_scale_out);
  call.cache = cache_of(arguments.cache, form, options.max_length);
  if (append.exists() && !append.cu_k.is_null())
    call.cache.cu_added = append.cu_k.address();
  else if (append.exists() && shaped.packed)
    call.cache.cu_added = problem.cu_q;
  else if (append.exists())
    call.cache.added = static_cast<u32>(append.k.view.extents[1]);
  call.split.key_heads = divisor::of(std::max(static_cast<u32>(k.extents[head]), 1u));
  call.split.rows = problem.queries * problem.heads_of_group;
  call.split.group = divisor::of(problem.heads_of_group);
  call.split.unsettled =
      static_cast<u32>(has_any(options.constant, constant_inputs::indices) ? decode_unsettled::elements
                                                                           : decode_unsettled::everything);
  call.split.type = static_cast<u32>(element_of(q.type));
  call.split.out_type = static_cast<u32>(element_of(o.exists() ? o.type : q.type));
  call.most_keys = call.cache.max_keys;
  const attention_band open;
  if (call.band.low != open.low && call.band.high != open.high)
    call.most_keys = std::min<std::uint64_t>(
        call.most_keys,
        static_cast<std::uint64_t>(std::int64_t{call.band.high} - call.band.low) + problem.queries);
  return call;
}

}  // namespace kaio::ops::detail
