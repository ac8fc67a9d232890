#pragma once
// Runs the text of a kernel of attention, or of make_block_mask, on the emulator, under the sanitizer, for a
// call of any shape and options, on numbers that are the same each time.
//
//   const auto right = run(kernel, {.queries = 70, .keys = 150}, text_of(*kernel.image));

#include "emulator/emulator.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "emulator/sanitizer/sanitizer.hpp"
#include "mutants/run.hpp"
#include "ops/attention/forward/choice/table.hpp"

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention/block_mask/arguments.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace kaio::tests::mutants {

struct attention_shape {
  u32 batches = 1, queries = 70, keys = 150, heads = 2, key_heads = 1, qk_size = 64, v_size = 64;
  u32 pad = 0;  // elements after each row, which are NaN
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
  f32 softcap = 0;
  bool alibi = false;
  u32 sinks = 0;  // 0: none, 1: f32, 2: f16, 3: bf16
  bool bias = false, keep = false;
  bool packed = false;     // sequences of different lengths; not all of their rows are used
  u32 many = 0;            // packed: number of short sequences, with 3, 6, 9, ... keys
  bool planted = false;    // a NaN in a value that some queries do not attend to
  u32 block = 0;           // > 0: a block mask; queries and keys of a block
  u32 blocks_of_grid = 0;  // > 0: blocks of a persistent kernel, each with several tiles
  bool lse = true;
  bool f32_output = false;
};

namespace detail {

// Memory of a run: numbers of one type, by their address.
class attention_memory {
 public:
  explicit attention_memory(emulator::memory& global) : global_(global) {}

  template <class T>
  u64 write(const std::vector<T>& content) {
    const u64 address = global_.allocate(std::max<u64>(content.size() * sizeof(T), 1));
    global_.write(address, content.data(), content.size() * sizeof(T));
    return address;
  }
  // Rows of a tensor of (batch, row, head, element), in memory in this order.
  ops::attention_view tensor(ops::element_kind type, u32 batches, u32 rows, u32 heads, u32 size, u32 pad) {
    const u32 bytes = ops::bytes_of(type), line = size + pad;
    std::vector<std::byte> content(std::size_t{batches} * rows * heads * line * bytes, std::byte{0xff});
    for (std::size_t row = 0; row < std::size_t{batches} * rows * heads; ++row)
      for (u32 e = 0; e < size; ++e) put(&content[(row * line + e) * bytes], type, number());
    ops::attention_view view;
    view.type = type;
    view.rank = 4;
    view.address = write(content);
    view.bytes = content.size();
    view.extents = {batches, rows, heads, size};
    view.strides = {i64{rows} * heads * line, i64{heads} * line, line, 1};
    return view;
  }
  template <class T>
  ops::attention_view numbers(const std::vector<T>& content, std::vector<i64> extents) {
    ops::attention_view view;
    view.type = ops::element_kind_of<T>();
    view.other_bytes = sizeof(T);
    view.rank = static_cast<u32>(extents.size());
    view.address = write(content);
    view.bytes = content.size() * sizeof(T);
    i64 stride = 1;
    for (std::size_t d = extents.size(); d-- > 0;) {
      view.extents[d] = extents[d];
      view.strides[d] = stride;
      stride *= extents[d];
    }
    return view;
  }
  // One element of a tensor becomes NaN.
  void plant(const ops::attention_view& view, i64 row, i64 element) {
    const u64 all_bits = ~u64{0};
    global_.write(view.address + static_cast<u64>(row * view.strides[1] + element) * view.element_bytes(),
                  &all_bits, view.element_bytes());
  }
  f32 number() { return static_cast<f32>(static_cast<int>(random_() % 2001) - 1000) / 500; }
  u32 below(u32 n) { return static_cast<u32>(random_() % n); }

 private:
  static void put(std::byte* to, ops::element_kind type, f32 x) {
    const auto copy = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    if (type == ops::element_kind::f32) copy(x);
    if (type == ops::element_kind::f16) copy(f16(x));
    if (type == ops::element_kind::bf16) copy(bf16(x));
  }

  emulator::memory& global_;
  std::mt19937 random_{5};
};

// Rows of a head as tensor copies see them.
inline emulator::tensor_map attention_map(const ops::attention_operand& x, const ops::attention_strides& s,
                                          ops::element_kind type, u32 size, u32 box_rows,
                                          u32 box_columns = ops::attention_sm90_config::panel) {
  const auto stride = [](i64 elements, u32 extent) {
    return extent == 1 ? u64{32} : static_cast<u64>(elements) * 2;
  };
  const u64 sizes[] = {size, x.rows, x.heads, x.batches};
  const u64 strides[] = {stride(s.row, x.rows), stride(s.head, x.heads), stride(s.batch, x.batches)};
  const u32 box[] = {box_columns, box_rows, 1, 1}, steps[] = {1, 1, 1, 1};
  emulator::tensor_map map;
  const auto element =
      type == ops::element_kind::f16 ? emulator::tensor_element::float16 : emulator::tensor_element::bfloat16;
  if (const auto failure = encode_tiled(map, element, 4, x.address, sizes, strides, box, steps,
                                        emulator::tensor_interleave::none, emulator::tensor_swizzle::b128, 0,
                                        emulator::tensor_fill::zero))
    throw std::logic_error(failure->reason);
  return map;
}

struct written_range {
  u64 address, bytes;
};

// pass_all(pass) passes the arguments of the kernel in their order. Returns the contents of `written`
// afterwards; nothing if the kernel was stopped.
template <class PassAll>
std::optional<std::vector<std::byte>> run_on(emulator::memory& global, const ptx::kernel_image& image,
                                             std::string_view text, const run_mode& mode, u64 blocks,
                                             const PassAll& pass_all,
                                             const std::vector<written_range>& written) {
  using namespace emulator;
  try {
    const module mod = parse_module(text, architecture{});
    launch l;
    l.mod = &mod;
    l.kernel = mod.find(image.name);
    l.grid = {static_cast<u32>(blocks), 1, 1};
    l.block = image.block;
    l.image = &image;
    l.dynamic_shared = image.needs.dynamic_shared_bytes;
    l.order = mode.order;
    l.threads = 1;
    l.instruction_limit = u64{1} << 20;
    l.parameters.resize(l.kernel->parameter_bytes);
    std::size_t next = 0;
    pass_all([&](const auto& argument) {
      const auto& parameter = l.kernel->parameters.at(next++);
      if (parameter.bytes != sizeof argument) throw std::logic_error("an argument of another size");
      std::memcpy(l.parameters.data() + parameter.offset, &argument, sizeof argument);
    });
    if (next != l.kernel->parameters.size()) throw std::logic_error("a parameter without an argument");
    sanitizer checks{sanitizer_options{}};
    if (mode.is_sanitized) l.observers.push_back(&checks);
    if (mode.also != nullptr) l.observers.push_back(mode.also);
    emulator::run(l, global);
  } catch (const fault&) {
    return {};
  } catch (const ptx_error&) {
    return {};
  }
  std::vector<std::byte> result;
  for (const auto& [address, bytes] : written) {
    result.resize(result.size() + bytes);
    global.read(result.data() + result.size() - bytes, address, bytes);
  }
  return result;
}

}  // namespace detail

// Returns out, then lse, as the kernel wrote them. Nothing if it was stopped.
inline std::optional<std::vector<std::byte>> run(const ops::attention_variant& kernel,
                                                 const attention_shape& shape, std::string_view text,
                                                 const run_mode& mode = {}) {
  emulator::memory global;
  detail::attention_memory memory_of_run(global);
  const auto tensor = [&](u32 rows, u32 heads, u32 size, ops::element_kind type) {
    ops::attention_view view = memory_of_run.tensor(type, shape.batches, rows, heads, size, shape.pad);
    if (!shape.packed) return view;
    view.rank = 3;
    view.extents = {view.extents[1], view.extents[2], view.extents[3]};
    view.strides = {view.strides[1], view.strides[2], view.strides[3]};
    return view;
  };
  const auto q = tensor(shape.queries, shape.heads, shape.qk_size, kernel.type);
  const auto k = tensor(shape.keys, shape.key_heads, shape.qk_size, kernel.type);
  const auto v = tensor(shape.keys, shape.key_heads, shape.v_size, kernel.type);
  const auto o = tensor(shape.queries, shape.heads, shape.v_size,
                        shape.f32_output ? ops::element_kind::f32 : kernel.type);
  if (shape.planted) memory_of_run.plant(v, shape.keys / 2, shape.v_size - 1);

  const auto some = [&](std::size_t count) {
    std::vector<f32> content(count);
    for (f32& x : content) x = memory_of_run.number();
    return content;
  };
  const i64 batches = shape.batches, heads = shape.heads, queries = shape.queries, keys = shape.keys;
  const std::size_t rows = std::size_t{shape.batches} * shape.heads * shape.queries;
  ops::attention_options options;
  options.causal = shape.causal;
  options.window = shape.window;
  options.softcap = shape.softcap;
  options.precision = kernel.precision;
  if (shape.alibi)
    options.alibi.view = shape.batches == 1
                             ? memory_of_run.numbers(some(shape.heads), {heads})
                             : memory_of_run.numbers(some(shape.batches * shape.heads), {batches, heads});
  if (shape.sinks == 1) options.sinks.view = memory_of_run.numbers(some(shape.heads), {heads});
  if (shape.sinks > 1) {
    const auto type = shape.sinks == 2 ? ops::element_kind::f16 : ops::element_kind::bf16;
    options.sinks.view = memory_of_run.tensor(type, 1, 1, 1, shape.heads, 0);
    options.sinks.view.rank = 1;
    options.sinks.view.extents = {heads};
    options.sinks.view.strides = {1};
  }
  if (shape.bias)
    options.bias.view = memory_of_run.numbers(some(rows * shape.keys), {batches, heads, queries, keys});
  if (shape.keep) {
    std::vector<u8> kept(rows * shape.keys);
    for (u8& x : kept) x = memory_of_run.below(3) != 0;
    options.keep.view = memory_of_run.numbers(kept, {batches, heads, queries, keys});
  }
  const std::vector<f32> poison(rows, -1e30f);
  const auto lse = shape.packed ? memory_of_run.numbers(poison, {heads, queries})
                                : memory_of_run.numbers(poison, {batches, heads, queries});
  if (shape.lse) options.lse.view = lse;
  if (shape.block != 0) {
    const i64 of_queries = (queries + shape.block - 1) / shape.block,
              of_keys = (keys + shape.block - 1) / shape.block;
    std::vector<i32> counts[2], indices[2];
    for (i64 row = 0; row < heads * of_queries; ++row) {
      std::vector<i32> found[2];
      for (i64 block = of_keys; block-- > 0;)  // not in order
        // A single block is in the first list; of two blocks, each head has one in each list.
        if (const u32 list = of_keys <= 2 ? static_cast<u32>((block + row / of_queries) % of_keys)
                                          : memory_of_run.below(3);
            list < 2)
          found[list].push_back(static_cast<i32>(block));
      for (const u32 list : {0u, 1u}) {
        counts[list].push_back(static_cast<i32>(found[list].size()));
        found[list].resize(static_cast<std::size_t>(of_keys), 0x7fffff00);
        indices[list].insert(indices[list].end(), found[list].begin(), found[list].end());
      }
    }
    options.blocks.kv_num_blocks.view = memory_of_run.numbers(counts[0], {1, heads, of_queries});
    options.blocks.kv_indices.view = memory_of_run.numbers(indices[0], {1, heads, of_queries, of_keys});
    options.blocks.full_kv_num_blocks.view = memory_of_run.numbers(counts[1], {1, heads, of_queries});
    options.blocks.full_kv_indices.view = memory_of_run.numbers(indices[1], {1, heads, of_queries, of_keys});
    options.blocks.size = {shape.block, shape.block};
  }
  ops::attention_sequences sequences;
  if (shape.packed) {
    const auto lengths = [&](std::vector<i32> numbers) {
      ops::attention_i32_input input;
      const auto count = static_cast<i64>(numbers.size());
      input.view = memory_of_run.numbers(numbers, {count});
      return input;
    };
    const auto q_rows = static_cast<i32>(shape.queries), k_rows = static_cast<i32>(shape.keys);
    if (shape.many != 0) {
      std::vector<i32> begins_q{0}, begins_k{0};
      for (i32 n = 1; begins_q.size() <= shape.many; ++n) {
        begins_q.push_back(begins_q.back() + 10);
        begins_k.push_back(begins_k.back() + 3 * n);
      }
      sequences.cu_q = lengths(begins_q);
      sequences.cu_k = lengths(begins_k);
      sequences.max_q = 10;
    } else {
      sequences.cu_q = lengths({0, 5, 5, q_rows - 3});
      sequences.cu_k = lengths({0, 20, 30, k_rows - 10});
      sequences.used_q = lengths({4, 0, q_rows - 10});
      sequences.used_k = lengths({20, 10, k_rows - 45});
      sequences.max_q = queries;
    }
  }
  const ops::attention_call call = ops::detail::resolve_attention(
      nullptr, {"attention", q, k, v, o, &options, false, false, shape.packed ? &sequences : nullptr});
  u64 blocks = call.blocks(kernel.queries);
  if (shape.blocks_of_grid != 0) blocks = std::min<u64>(blocks, shape.blocks_of_grid);
  const auto pass_all = [&](const auto& pass) {
    if (kernel.copies_tensors) {
      const ops::attention_sm90_config config =
          ops::attention_sm90_for(kernel.depth_qk, kernel.depth_v, kernel.plain, kernel.in_blocks);
      const ops::attention_problem& p = call.problem;
      pass(detail::attention_map(call.q, p.q, kernel.type, p.qk_size, config.stage_queries()));
      pass(detail::attention_map(call.k, p.k, kernel.type, p.qk_size, config.keys));
      pass(detail::attention_map(call.v, p.v, kernel.type, p.v_size, config.keys));
      const auto rest = [](u32 size) { return size % 64 == 0 ? 64 : size % 64; };
      pass(detail::attention_map(call.k, p.k, kernel.type, p.qk_size, config.keys, rest(p.qk_size)));
      pass(detail::attention_map(call.v, p.v, kernel.type, p.v_size, config.keys, rest(p.v_size)));
    } else {
      for (const ops::attention_operand* x : {&call.q, &call.k, &call.v, &call.o}) pass(x->address);
    }
    // As on two multiprocessors, or with the shape's number of blocks, so that heads lead.
    pass(ops::problem_of(call, kernel.queries, std::max(shape.blocks_of_grid, 2u)));
    if (kernel.name().starts_with("attention_simt_") && !kernel.name().starts_with("attention_simt_wide_"))
      pass(ops::attention_simt_for(kernel.depth_qk).least_groups);
    if (!kernel.plain) pass(call.terms);
    if (kernel.is_biased || kernel.has_lists) {
      pass(call.bias);
      pass(call.keep);
    }
    if (kernel.in_blocks || kernel.has_lists) pass(call.lists);
    pass(call.band);
  };
  return detail::run_on(global, *kernel.image, text, mode, blocks, pass_all,
                        {{o.address, o.bytes}, {lse.address, lse.bytes}});
}

// make_block_mask of a causal window, along both sides of the mask.
struct block_mask_shape {
  u32 queries, keys, block_queries, block_keys;
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
  bool full = true;      // lists of the blocks that keep every key
  bool of_keys = false;  // the lists of blocks of queries
};

inline std::optional<std::vector<std::byte>> run(const ptx::kernel_image& image,
                                                 const block_mask_shape& shape, std::string_view text,
                                                 const run_mode& mode = {}) {
  emulator::memory global;
  detail::attention_memory memory_of_run(global);
  const i64 query_blocks = (shape.queries + shape.block_queries - 1) / shape.block_queries;
  const i64 key_blocks = (shape.keys + shape.block_keys - 1) / shape.block_keys;
  const i64 rows = shape.of_keys ? key_blocks : query_blocks;
  const i64 room = (shape.of_keys ? query_blocks : key_blocks) + 1, heads = 2;
  std::vector<detail::written_range> written;
  const auto poisoned = [&](std::vector<i64> extents, i64 count) {
    const auto view = memory_of_run.numbers(std::vector<i32>(static_cast<std::size_t>(count), -7), extents);
    written.push_back({view.address, view.bytes});
    return view;
  };
  ops::block_mask_output output;
  output.size = {shape.block_queries, shape.block_keys};
  auto& counts = shape.of_keys ? output.q_num_blocks : output.kv_num_blocks;
  auto& indices = shape.of_keys ? output.q_indices : output.kv_indices;
  auto& full_counts = shape.of_keys ? output.full_q_num_blocks : output.full_kv_num_blocks;
  auto& full_indices = shape.of_keys ? output.full_q_indices : output.full_kv_indices;
  counts.view = poisoned({1, heads, rows}, heads * rows);
  indices.view = poisoned({1, heads, rows, room}, heads * rows * room);
  if (shape.full) {
    full_counts.view = poisoned({1, heads, rows}, heads * rows);
    full_indices.view = poisoned({1, heads, rows, room}, heads * rows * room);
  }
  const ops::block_mask_call call = ops::detail::resolve_block_mask(
      nullptr, output,
      {.queries = shape.queries, .keys = shape.keys, .causal = shape.causal, .window = shape.window}, false);
  const auto& side = call.sides[shape.of_keys ? 1 : 0];
  const auto pass_all = [&](const auto& pass) {
    pass(side.problem);
    pass(call.band);
  };
  return detail::run_on(global, image, text, mode, side.lists, pass_all, written);
}

}  // namespace kaio::tests::mutants
