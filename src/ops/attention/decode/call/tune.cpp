// Measures the kernels of an attention_decode, and divisions of the keys, on its own memory.

#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/attention/decode/call/join_queries.hpp"
#include "ops/attention/decode/choice/plan.hpp"
#include "ops/attention/decode/choice/table.hpp"
#include "ops/choice/measure.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "tune_attention_decode";

element_kind kind_of(element_kind type) {
  return type == element_kind::f32   ? element_kind::f32
         : type == element_kind::f16 ? element_kind::f16
                                     : element_kind::bf16;
}

// A call on its own memory. Its cache has pages for its sequences alone. All sequences have the largest
// possible number of keys; packed sequences have equal numbers of queries.
class decode_trial {
 public:
  decode_trial(const device& gpu, const detail::attention_decode_arguments& arguments,
               const attention_decode_call& call, std::uint64_t workspace)
      : memory_(gpu) {
    detail::attention_decode_arguments own = arguments;
    attention_decode_options options = *arguments.options;
    const element_kind kind = kind_of(own.q.type);
    const buffer<u32> of_q = make_pattern_of(gpu, kind),
                      of_cache = make_pattern_of(gpu, own.cache.has_codes() ? own.cache.kind : kind);
    memory_.replace(own.q, &of_q);
    memory_.replace(own.out);
    for (attention_view* v : {&options.lse.view, &options.alibi.view, &options.sinks.view})
      memory_.replace(*v);
    replace_cache(own.cache, options, call, of_cache);
    attention_sequences sequences;
    if (own.sequences != nullptr) {
      sequences = *own.sequences;
      replace_numbers(sequences.cu_q.view, [&](std::int64_t i) {
        return std::min(i * sequences.max_q,
                        own.q.extents[0] * i / std::max<std::int64_t>(call.problem.batches, 1));
      });
      own.sequences = &sequences;
    }
    own.options = &options;
    call_ = detail::resolve_attention_decode(gpu.identity(), own);
    workspace_ = memory_.add(0, workspace).address();
  }
  void run(const stream& s, const decode_choice& choice) const {
    const auto variants = attention_decode_variants();
    detail::planned_attention_decode planned =
        detail::divide_attention_decode(operation, call_, variants, choice, false);
    planned.call.split.sums = workspace_;
    planned.call.split.totals = workspace_ + planned.sums;
    variants[planned.chosen].run(s, planned.call, planned.blocks);
    detail::combine_attention_decode(s, planned.call);
  }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  void replace_cache(attention_cache_view& cache, attention_decode_options& options,
                     const attention_decode_call& call, const buffer<u32>& pattern) {
    attention_view &k = cache.k, &v = cache.v;
    const std::int64_t keys = call.cache.max_keys, sequences = call.problem.batches,
                       page = std::max<std::int64_t>(k.extents[1], 1);
    std::int64_t of_one = (keys + page - 1) / page;  // pages
    if (cache.indices.exists()) of_one = std::min(of_one, cache.indices.extents[0] / sequences);
    if (cache.table.exists() || cache.indices.exists())
      k.extents[0] = v.extents[0] = std::min(k.extents[0], std::max<std::int64_t>(sequences * of_one, 1));
    const std::int64_t pages = std::max<std::int64_t>(k.extents[0], 1);
    for (attention_view* scale : {&options.k_scale.view, &options.v_scale.view}) {
      if (scale->rank == 3) scale->extents[0] = k.extents[0];
      memory_.replace(*scale);
    }
    memory_.replace(k, &pattern);
    if (call.values_in_keys) {
      v.address = k.address;
      v.bytes = k.bytes;
      v.device = k.device;
    } else {
      memory_.replace(v, &pattern);
    }
    const std::int64_t pitch = cache.table.exists() ? cache.table.extents[1] : 1;
    replace_numbers(cache.table, [&](std::int64_t i) { return (i / pitch * of_one + i % pitch) % pages; });
    replace_numbers(cache.indptr, [&](std::int64_t i) { return i * of_one; });
    replace_numbers(cache.indices, [&](std::int64_t i) { return i % pages; });
    replace_numbers(cache.last_page_len, [&](std::int64_t) {
      return std::clamp<std::int64_t>(keys - (of_one - 1) * page, 1, page);
    });
    replace_numbers(cache.lengths, [&](std::int64_t) { return keys; });
    replace_numbers(cache.batch_index, [&](std::int64_t i) { return i % pages; });
    replace_numbers(cache.left_padding, [](std::int64_t) { return 0; });
  }
  // Number i is f(i).
  template <class F>
  void replace_numbers(attention_view& v, const F& f) {
    if (!v.exists()) return;
    std::int64_t count = 1;
    for (std::uint32_t d = v.rank; d-- > 0;) {
      v.strides[d] = count;
      count *= v.extents[d];
    }
    std::vector<u32> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<u32>(f(i)));
    v.bytes = numbers.size() * sizeof(u32);
    stand_in& by = memory_.add(0, v.bytes);
    if (!numbers.empty()) by.put(memory_.gpu().stream(), 0, numbers);
    v.address = by.address();
    v.device = by.device();
  }

  stand_ins memory_;
  attention_decode_call call_;
  std::uint64_t workspace_ = 0;
};

tune_report tune_call(const device& gpu, detail::attention_decode_arguments arguments,
                      const tune_options& how) {
  attention_decode_options options;
  arguments = detail::join_queries({arguments.operation, gpu.identity()}, arguments, options);
  options.append = {};
  options.workspace = {};
  options.variant = {};
  const auto variants = attention_decode_variants();
  const detail::planned_attention_decode planned =
      detail::plan_attention_decode(gpu.identity(), gpu.properties(), arguments, variants);
  if (planned.blocks == 0 || planned.call.cache.max_keys == 0 || !is_open(options)) return {};
  const attention_decode_call call = detail::resolve_attention_decode(gpu.identity(), arguments);
  const decode_choice before = choice_of(planned);
  std::vector<decode_choice> choices = decode_choices(call, gpu.properties());
  if (std::none_of(choices.begin(), choices.end(),
                   [&](const decode_choice& c) { return c.name() == before.name(); }))
    choices.push_back(before);
  std::uint64_t workspace = 0;
  for (const decode_choice& c : choices)
    workspace = std::max(
        workspace, detail::divide_attention_decode(operation, call, variants, c, false).workspace_bytes());
  const auto trials =
      make_trials<decode_trial>(gpu, [&] { return decode_trial(gpu, arguments, call, workspace); });
  return measure_choices(
      gpu, choices, trials, [](const decode_choice& c) { return c.name(); },
      [](const stream& s, const decode_trial& t, const decode_choice& c) { t.run(s, c); }, before.name(),
      tuning_key(call), how);
}

}  // namespace

tune_report tune_attention_decode(const device& gpu, const attention_view& q,
                                  const attention_cache_view& cache, const attention_view& out,
                                  const attention_decode_options& options, const tune_options& how) {
  return tune_call(gpu, {operation, q, cache, out, &options}, how);
}

tune_report tune_attention_decode_varlen(const device& gpu, const attention_view& q,
                                         const attention_cache_view& cache, const attention_view& out,
                                         const attention_sequences& sequences,
                                         const attention_decode_options& options, const tune_options& how) {
  return tune_call(
      gpu, {"tune_attention_decode_varlen", q, cache, out, &options, false, false, false, &sequences}, how);
}

}  // namespace kaio::ops
