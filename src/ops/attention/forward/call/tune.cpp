// Measures the variants of an attention on its own memory.

#include <kaio/ops/parity/attention.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "ops/attention/forward/choice/signature.hpp"
#include "ops/attention/forward/choice/table.hpp"
#include "ops/choice/measure.hpp"

namespace kaio::ops {

namespace {

buffer<u32> pattern_of(const device& gpu, element_kind type) {
  if (type == element_kind::f32) return make_pattern<f32>(gpu);
  return type == element_kind::f16 ? make_pattern<f16>(gpu) : make_pattern<bf16>(gpu);
}

// From the first element to the end of the last one.
std::uint64_t span_of(std::uint64_t extent, std::uint64_t stride) { return (extent - 1) * stride; }
std::uint64_t span_of(std::uint64_t extent, i64 stride) {
  return span_of(extent, static_cast<std::uint64_t>(stride));
}

// A call on its own memory. Numbers that decide its time are made up: packed sequences have equal lengths,
// lists of blocks are full, and `keep` masks nothing.
class trial {
 public:
  trial(const device& gpu, const attention_call& call, const buffer<u32>& pattern)
      : memory_(gpu), call_(call) {
    attention_problem& p = call_.problem;
    const std::uint32_t size = bytes_of(call.type);
    replace(call_.q, p.q, p.qk_size, size, &pattern);
    replace(call_.k, p.k, p.qk_size, size, &pattern);
    replace(call_.v, p.v, p.v_size, size, &pattern);
    replace(call_.o, p.o, p.v_size, bytes_of(call.output), nullptr);
    const std::uint64_t batches = p.batches, heads = p.heads;
    if (p.lse != 0)
      p.lse = memory_
                  .add(p.lse, (span_of(call.q.batches, p.lse_batch) + span_of(heads, p.lse_head) +
                               span_of(call.q.rows, p.lse_row) + 1) *
                                  sizeof(f32))
                  .address();
    if (p.sinks != 0)
      p.sinks = memory_.add(p.sinks, (span_of(heads, p.sink_head) + 1) * sizeof(f32)).address();
    attention_terms& terms = call_.terms;
    if (terms.alibi != 0)
      terms.alibi =
          memory_
              .add(terms.alibi,
                   (span_of(batches, terms.alibi_batch) + span_of(heads, terms.alibi_head) + 1) * sizeof(f32))
              .address();
    replace(call_.bias, 0);
    replace(call_.keep, 0x01010101);
    if (p.packed != 0) {
      p.cu_q = add_begins(call.q.rows, p.queries);
      p.cu_k = add_begins(call.k.rows, call.k.rows);
      p.used_q = p.used_k = 0;
    }
    if (call.in_blocks) fill_lists();
  }

  const attention_call& call() const { return call_; }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  void replace(attention_operand& x, attention_strides& s, std::uint32_t length, std::uint32_t size,
               const buffer<u32>* pattern) {
    if (x.rows == 0) return;  // k or v without keys
    const stand_in& by = memory_.add(
        x.address,
        (span_of(x.batches, s.batch) + span_of(x.rows, s.row) + span_of(x.heads, s.head) + length) * size,
        pattern);
    x.address = s.address = by.address();
    x.bytes = by.bytes();
    x.device = by.device();
  }
  void replace(attention_score_tensor& x, std::uint32_t word) {
    if (x.address == 0) return;
    const attention_problem& p = call_.problem;
    stand_in& by = memory_.add(x.address, span_of(p.batches, x.batch) + span_of(p.heads, x.head) +
                                              span_of(p.queries, x.query) +
                                              span_of(p.keys, std::uint64_t{x.key}) + sizeof(f32));
    if (word != 0) {
      patterns_.push_back(memory_.gpu().upload(std::vector<u32>(pattern_words, word)));
      by.fill(memory_.gpu().stream(), patterns_.back());
    }
    x.address = by.address();
  }
  std::uint64_t add_numbers(const std::vector<i32>& numbers) {
    numbers_.push_back(memory_.gpu().upload(numbers));
    return numbers_.back().address();
  }
  // Begins of the sequences: they share `rows` rows, and none is longer than `most`.
  std::uint64_t add_begins(std::uint64_t rows, std::uint64_t most) {
    const std::uint64_t count = call_.problem.batches;
    std::vector<i32> begins{0};
    for (std::uint64_t i = 0; i < count; ++i)
      begins.push_back(begins.back() +
                       static_cast<i32>(std::min(most, (i + 1) * rows / count - i * rows / count)));
    return add_numbers(begins);
  }
  // Fills one list for all heads, of all blocks. If full lists are wanted, every block but the last is full.
  void fill_lists() {
    attention_block_lists& lists = call_.lists;
    const std::uint32_t blocks = (call_.problem.keys + lists.keys - 1) / lists.keys;
    const std::uint32_t full =
        lists.full.counts != 0 && blocks != 0 ? std::min(blocks - 1, lists.full.most) : 0;
    fill(lists.full, 0, full);
    fill(lists.partial, full, std::min(blocks - full, lists.partial.most));
  }
  void fill(block_list& list, std::uint32_t first, std::uint32_t count) {
    if (list.counts == 0) return;
    std::vector<i32> indices(std::max(count, 1u));
    std::iota(indices.begin(), indices.end(), static_cast<i32>(first));
    const std::uint32_t most = list.most;
    list = {};
    list.counts = add_numbers({static_cast<i32>(count)});
    list.indices = add_numbers(indices);
    list.most = most;
  }

  stand_ins memory_;
  attention_call call_;
  std::vector<buffer<u32>> patterns_;
  std::vector<buffer<i32>> numbers_;
};

}  // namespace

namespace detail {

tune_report tune_attention_call(const device& gpu, const attention_arguments& arguments,
                                const tune_options& how) {
  const attention_call call = resolve_attention(gpu.identity(), arguments);
  if (call.empty() || call.k.rows == 0) return {};
  const device_properties& properties = gpu.properties();
  const attention_variant& before = choose(arguments.operation, call, properties, {});

  const buffer<u32> pattern = pattern_of(gpu, call.type);
  const auto trials = make_trials<trial>(gpu, [&] { return trial(gpu, call, pattern); });
  std::vector<const attention_variant*> accepted;
  for (const attention_variant& v : all_attention_variants())
    if (accepts(v, trials[0].call(), properties)) accepted.push_back(&v);
  return measure_choices(
      gpu, accepted, trials, [](const attention_variant* v) { return v->name(); },
      [](const stream& s, const trial& t, const attention_variant* v) { v->run(s, t.call()); }, before.name(),
      attention_signature::of(call).text(), how);
}

}  // namespace detail

namespace {

std::string tune_compact(const device& gpu, std::uint32_t seq_len, std::uint32_t d_k,
                         const attention_options& options) {
  // Memory is not read: only the views' extents count, and that the output is apart.
  const std::uint64_t elements = std::uint64_t{seq_len} * d_k;
  constexpr std::uint64_t anywhere = 4096;
  const device_pointer<f32> in{anywhere, elements, gpu.identity()};
  const device_pointer<f32> out{anywhere + (elements * sizeof(f32) + 255) / 256 * 256, elements,
                                gpu.identity()};
  const extents shape(1, seq_len, 1, d_k);
  const tensor_view<const f32, 4> x(in, shape);
  return tune_attention(gpu, x, x, x, tensor_view<f32, 4>(out, shape), options).variant;
}

}  // namespace

std::string tune_attention(const device& gpu, std::uint32_t seq_len, std::uint32_t d_k) {
  return tune_compact(gpu, seq_len, d_k, {});
}
std::string tune_attention_causal(const device& gpu, std::uint32_t seq_len, std::uint32_t d_k) {
  return tune_compact(gpu, seq_len, d_k, {.causal = causal_alignment::top_left});
}

}  // namespace kaio::ops
