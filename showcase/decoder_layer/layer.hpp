#pragma once
// One layer of a LLaMA-like decoder, step by step, each of them one operation of kaio:
//
//   h1 = h0 + x,   n1 = norm(h1)                    qkv_project: x is what the layer before has left
//   q, cache += rotated heads of n1 Wqkv^T
//   o  = attention of q over the cache              attention_decode
//   a  = o Wo^T                                     matmul, or matmul_w4
//   h2 = h1 + a,   n2 = norm(h2)                    gate_up_project
//   g  = silu(n2 Wg^T) * (n2 Wu^T)
//   d  = g Wd^T                                     matmul, or matmul_w4; the next layer adds it to h2
//
// Nothing is allocated, read back or waited for in run(), so that it may be captured into a graph.

#include "weights.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kaio::showcase {

struct layer_shape {
  u32 hidden, heads, key_heads, size, ff;
  u32 before, tokens;  // keys that the cache has; tokens that are new
  bool four_bits;

  u32 queries() const { return heads * size; }
  u32 keys() const { return key_heads * size; }
  u32 length() const { return before + tokens; }
};

class decoder_layer {
 public:
  static constexpr f32 epsilon = 1e-5f, base = 500000;
  static constexpr u32 page_rows = 16;

  decoder_layer(device& gpu, const layer_shape& of)
      : shape(of),
        qkv(gpu, of.queries() + 2 * of.keys(), of.hidden, of.four_bits, 10),
        out(gpu, of.hidden, of.queries(), of.four_bits, 20),
        gate_up(gpu, 2 * of.ff, of.hidden, of.four_bits, 30),
        down(gpu, of.hidden, of.ff, of.four_bits, 40),
        gpu_(gpu) {
    const std::size_t rows = of.tokens;
    first_norm = random_numbers(of.hidden, 50, 1, 0.5f);
    second_norm = random_numbers(of.hidden, 51, 1, 0.5f);
    h0 = gpu.upload(random_numbers(rows * of.hidden, 52, 0, 2));
    x = gpu.upload(random_numbers(rows * of.hidden, 53, 0, 1));
    on_first_norm_ = gpu.upload(first_norm);
    on_second_norm_ = gpu.upload(second_norm);
    // The pages of the sequence, in an order of their own.
    table.resize((of.length() + page_rows - 1) / page_rows);
    std::iota(table.begin(), table.end(), 0);
    random_bits bits(54);
    for (std::size_t i = table.size(); i > 1; --i) std::swap(table[i - 1], table[bits.next() % i]);
    on_table_ = gpu.upload(table);
    before_ = gpu.upload(std::vector<i32>{static_cast<i32>(of.before)});
    after_ = gpu.upload(std::vector<i32>{static_cast<i32>(of.length())});
    keys = random_numbers(table.size() * page_rows * of.keys(), 55, 0, 1.7f);
    values = random_numbers(keys.size(), 56, 0, 1.7f);
    cos_ = gpu.allocate<f32>(std::size_t{of.length()} * of.size / 2);
    sin_ = gpu.allocate<f32>(std::size_t{of.length()} * of.size / 2);
    rotary_table(gpu.stream(), tensor_view<f32, 2>(cos_, of.length(), of.size / 2),
                 tensor_view<f32, 2>(sin_, of.length(), of.size / 2), {.base = base});
    poison();
    workspace_ = gpu.allocate<u8>(workspace_bytes());
  }

  // Everything that a run writes becomes NaN, and the cache what it was before.
  void poison() {
    const std::size_t rows = shape.tokens;
    const auto nan = [&](buffer<f16>& to, std::size_t of_row) {
      to = gpu_.upload(std::vector<f16>(rows * of_row, f16(std::numeric_limits<f32>::quiet_NaN())));
    };
    for (buffer<f16>* one : {&h1, &a, &h2, &d}) nan(*one, shape.hidden);
    nan(q, shape.queries());
    nan(o, shape.queries());
    nan(g, shape.ff);
    on_keys = gpu_.upload(keys);
    on_values = gpu_.upload(values);
  }

  void run(const stream& s) const {
    qkv_project(s, tokens(x), qkv.of_qkv(), {heads(q), cache(before_)}, qkv_options_of(workspace_));
    attention_decode(s, heads(q), cache(after_), heads(o), attention_options_of(workspace_));
    multiply(s, matrix(o, shape.queries()), out, hidden(a));
    gate_up_project(s, hidden(a), gate_up.of_gate_up(), matrix(g, shape.ff), gate_up_options_of(workspace_));
    multiply(s, matrix(g, shape.ff), down, hidden(d));
  }

  // Bytes that a run reads and writes: weights, keys and values, and hidden states between the steps.
  double bytes() const {
    const double states = 2.0 * (8 * shape.hidden + 3 * shape.queries() + 2 * shape.keys() + 2 * shape.ff);
    return qkv.bytes() + out.bytes() + gate_up.bytes() + down.bytes() + 4.0 * shape.length() * shape.keys() +
           states * shape.tokens;
  }
  double operations() const {
    const double of_weights =
        static_cast<double>(qkv.n()) * qkv.k() + static_cast<double>(out.n()) * out.k() +
        static_cast<double>(gate_up.n()) * gate_up.k() + static_cast<double>(down.n()) * down.k();
    const double pairs = shape.tokens * (shape.before + (shape.tokens + 1) / 2.0);
    return 2 * of_weights * shape.tokens + 4 * pairs * shape.queries();
  }

  layer_shape shape;
  linear qkv, out, gate_up, down;
  std::vector<f16> first_norm, second_norm, keys, values;  // keys and values: of the pages, before a run
  std::vector<i32> table;
  buffer<f16> h0, x;                          // what comes in
  mutable buffer<f16> h1, q, o, a, h2, g, d;  // what the steps make, by rows of tokens
  mutable buffer<f16> on_keys, on_values;

 private:
  tensor_view<f16, 2> matrix(const buffer<f16>& of, u32 columns) const {
    return tensor_view<f16, 2>(const_cast<buffer<f16>&>(of), shape.tokens, columns);
  }
  tensor_view<f16, 2> hidden(const buffer<f16>& of) const { return matrix(of, shape.hidden); }
  tensor_view<const f16, 3> tokens(const buffer<f16>& of) const {
    return {of, extents(1, shape.tokens, shape.hidden)};
  }
  tensor_view<f16, 4> heads(const buffer<f16>& of) const {
    return tensor_view<f16, 4>(const_cast<buffer<f16>&>(of),
                               extents(1, shape.tokens, shape.heads, shape.size));
  }
  tensor_view<const f16, 1> norm(const buffer<f16>& of) const { return {of, shape.hidden}; }
  kv_cache<f16> cache(const buffer<i32>& lengths) const {
    const auto pages = static_cast<i64>(table.size());
    return {.k = {on_keys, extents(pages, page_rows, shape.key_heads, shape.size)},
            .v = {on_values, extents(pages, page_rows, shape.key_heads, shape.size)},
            .table = {on_table_, extents(1, pages)},
            .lengths = {lengths, 1}};
  }
  qkv_project_options qkv_options_of(const ops::workspace_view& memory) const {
    qkv_project_options options;
    options.rotary.cos = tensor_view<const f32, 2>(cos_, shape.length(), shape.size / 2);
    options.rotary.sin = tensor_view<const f32, 2>(sin_, shape.length(), shape.size / 2);
    options.workspace = memory;
    options.constant = constant_inputs::weights;
    options.x_norm = {.weight = norm(on_first_norm_),
                      .epsilon = epsilon,
                      .residual = tokens(h0),
                      .residual_out = tensor_view<f16, 3>(h1, extents(1, shape.tokens, shape.hidden))};
    return options;
  }
  attention_decode_options attention_options_of(const ops::workspace_view& memory) const {
    attention_decode_options options;
    options.causal = causal_alignment::bottom_right;
    options.workspace = memory;
    options.constant = constant_inputs::indices;
    return options;
  }
  gate_up_project_options gate_up_options_of(const ops::workspace_view& memory) const {
    return {.activation = matmul_activation::silu,
            .x_norm = {.weight = norm(on_second_norm_),
                       .epsilon = epsilon,
                       .residual = hidden(h1),
                       .residual_out = hidden(h2)},
            .workspace = memory,
            .constant = constant_inputs::weights};
  }
  matmul_options matmul_options_of(const ops::workspace_view& memory) const {
    matmul_options options;
    options.constant = constant_inputs::b;
    options.workspace.address = memory.address;
    options.workspace.bytes = memory.bytes;
    options.workspace.device = memory.device;
    return options;
  }
  void multiply(const stream& s, const tensor_view<f16, 2>& from, const linear& w,
                const tensor_view<f16, 2>& to) const {
    if (w.four_bits())
      matmul_w4(s, from, w.packed(), to, {.workspace = workspace_, .constant = constant_inputs::weights});
    else
      matmul(s, from, w.matrix().transposed(), to, matmul_options_of(workspace_));
  }
  u64 bytes_of_product(const tensor_view<f16, 2>& from, const linear& w,
                       const tensor_view<f16, 2>& to) const {
    const stream& s = gpu_.stream();
    return w.four_bits() ? matmul_w4_workspace_bytes(s, from, w.packed())
                         : ops::matmul_workspace_bytes(s, from, w.matrix().transposed(), to, {});
  }
  // The largest workspace of a step: the steps follow each other and share it.
  u64 workspace_bytes() const {
    const stream& s = gpu_.stream();
    return std::max<u64>(
        {16, bytes_of_product(matrix(o, shape.queries()), out, hidden(a)),
         bytes_of_product(matrix(g, shape.ff), down, hidden(d)),
         qkv_project_workspace_bytes(s, tokens(x), qkv.of_qkv(), {heads(q), cache(before_)},
                                     qkv_options_of({})),
         attention_decode_workspace_bytes(s, heads(q), cache(after_), attention_options_of({})),
         gate_up_project_workspace_bytes(s, hidden(a), gate_up.of_gate_up(), matrix(g, shape.ff),
                                         gate_up_options_of({}))});
  }

  device& gpu_;
  buffer<f16> on_first_norm_, on_second_norm_;
  buffer<i32> on_table_, before_, after_;
  buffer<f32> cos_, sin_;
  buffer<u8> workspace_;
};

}  // namespace kaio::showcase
