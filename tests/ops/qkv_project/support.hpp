#pragma once
// A call of qkv_project, next to the same steps in double precision, and next to a matmul, a rotary and an
// append_kv, whose bits it has. Hidden states and weights are small integers, so that sums are exact in any
// order.
#include "tests/ops/cache/support.hpp"

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rotary.hpp>

#include <functional>

namespace kaio::tests {

struct qkv_case {
  i64 batches = 1, tokens = 3, k = 32;
  i64 q_heads = 2, k_heads = 1, v_heads = 1, size = 64, v_size = 64;
  bool three = false;    // weights
  bool k_first = false;  // weights of (K, N)
  bool biases = false, norms = false, interleaved = false, positions = false, offsets = false;
  u32 pairs = 0;
  float q_scale = 1;
  tensor_layout out{};
  u64 seed = 1;
  const char* variant = "";
  u32 bits = 16;  // of weights; of 8 or 4: packed, all in one
  i64 group = 0;  // of packed weights; 0: k
  u32 splits = 0;
  i64 x_pad = 0;  // elements between rows of x
};

template <class T>
class qkv_run {
 public:
  explicit qkv_run(const qkv_case& in) : c(in) {
    std::mt19937_64 engine(c.seed);
    const auto integers = [&](std::size_t count) {
      std::vector<T> result(count);
      for (T& one : result) one = from_float<T>(static_cast<float>(engine() % 5) - 2);
      return result;
    };
    const auto random = [&](std::size_t count) {
      std::uniform_real_distribution<float> any(-2, 2);
      std::vector<T> result(count);
      for (T& one : result) one = from_float<T>(any(engine));
      return result;
    };
    columns = c.q_heads * c.size + c.k_heads * c.size + c.v_heads * c.v_size;
    x = integers(static_cast<std::size_t>(c.batches * c.tokens * x_pitch()));
    w = integers(static_cast<std::size_t>(columns * c.k));
    bias = random(static_cast<std::size_t>(columns));
    norm = random(static_cast<std::size_t>(2 * c.size));
    for (i64 i = 0; i < c.batches * c.tokens; ++i) positions.push_back(static_cast<i64>(engine() % 40));
    for (i64 i = 0; i < c.batches; ++i) offsets.push_back(static_cast<i32>(engine() % 20));
    if (c.bits != 16) pack(engine);
    on_x = upload(x);
    on_w = upload(w);
    on_bias = upload(bias);
    on_norm = upload(norm);
    on_positions = upload(positions);
    on_offsets = upload(offsets);
    on_cos = upload(tables.cos);
    on_sin = upload(tables.sin);
  }

  i64 x_pitch() const { return c.k + c.x_pad; }
  tensor_view<const T, 3> x_view() {
    return {on_x, extents(c.batches, c.tokens, c.k), strides(c.tokens * x_pitch(), x_pitch(), 1)};
  }
  // Rows `first` on of the weight of all.
  tensor_view<const T, 2> weight(i64 first, i64 count) {
    if (c.k_first) return tensor_view<const T, 2>(on_w, c.k, columns).transposed().slice(0, first, count);
    return tensor_view<const T, 2>(on_w, columns, c.k).slice(0, first, count);
  }
  qkv_weights weights() {
    const i64 q = c.q_heads * c.size, k = c.k_heads * c.size, v = c.v_heads * c.v_size;
    if (c.bits == 4) return w4_weights{shape_4(), packed};
    if (c.bits == 8) return w8_weights{shape_8(), packed};
    if (!c.three) return weight(0, columns);
    return {weight(0, q), weight(q, k), weight(q + k, v)};
  }
  qkv_project_options options() {
    qkv_project_options o;
    const i64 q = c.q_heads * c.size, k = c.k_heads * c.size, v = c.v_heads * c.v_size;
    if (c.biases) {
      const tensor_view<const T, 1> all(on_bias, columns);
      o.q_bias = all.slice(0, 0, q);
      o.k_bias = all.slice(0, q, k);
      o.v_bias = all.slice(0, q + k, v);
    }
    if (c.norms) {
      o.q_norm = tensor_view<const T, 1>(on_norm, 2 * c.size).slice(0, 0, c.size);
      o.k_norm = tensor_view<const T, 1>(on_norm, 2 * c.size).slice(0, c.size, c.size);
      o.epsilon = 1e-3f;
      o.norm_offset = c.seed % 2 == 0 ? 1.0f : 0.0f;
    }
    if (c.pairs != 0) {
      o.rotary.cos = tables.view(on_cos);
      o.rotary.sin = tables.view(on_sin);
      o.rotary.interleaved = c.interleaved;
    }
    if (c.pairs != 0 || call) {
      if (c.positions)
        o.rotary.positions = tensor_view<const i64, 2>(on_positions, extents(c.batches, c.tokens));
      if (c.offsets) o.rotary.offsets = numbers_view(on_offsets, c.batches);
    }
    o.q_scale = c.q_scale;
    o.constant = c.seed % 3 != 0 ? constant_inputs::weights : constant_inputs::none;
    o.variant = c.variant;
    o.splits = c.splits;
    return o;
  }
  // With the workspace that the call takes.
  void project(const qkv_outputs& to, qkv_project_options o) {
    const stream& s = under_test().stream();
    if (call) return call(s, x_view(), weights(), to, o);
    auto workspace =
        under_test().template allocate<u8>(qkv_project_workspace_bytes(s, x_view(), weights(), to, o) + 16);
    o.workspace = workspace;
    qkv_project(s, x_view(), weights(), to, o);
    s.synchronize();
  }
  i64 position(i64 b, i64 token) const {
    if (c.positions) return positions[static_cast<std::size_t>(b * c.tokens + token)];
    return token + (c.offsets ? offsets[static_cast<std::size_t>(b)] : 0);
  }

  // A row of a head in double precision, rounded between the steps as the kernels do. part: 0 to 2.
  std::vector<double> row(int part, i64 b, i64 token, i64 head, i64 at) const {
    const i64 size = part == 2 ? c.v_size : c.size;
    const i64 before = part == 0 ? 0 : part == 1 ? c.q_heads * c.size : (c.q_heads + c.k_heads) * c.size;
    const auto rounded = [](double y) { return to_double(from_float<T>(static_cast<float>(y))); };
    std::vector<double> y(static_cast<std::size_t>(size));
    double squares = 0;
    for (i64 e = 0; e < size; ++e) {
      const i64 column = before + head * size + e;
      double sum = 0;
      for (i64 i = 0; i < c.k; ++i) {
        const auto of_w = static_cast<std::size_t>(c.k_first ? i * columns + column : column * c.k + i);
        sum += to_double(x[static_cast<std::size_t>((b * c.tokens + token) * x_pitch() + i)]) *
               to_double(w[of_w]);
      }
      if (c.biases) sum += to_double(bias[static_cast<std::size_t>(column)]);
      double& one = y[static_cast<std::size_t>(e)];
      one = rounded(sum);
      squares += one * one;
    }
    if (c.norms && part != 2) {
      const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + 1e-3);
      for (i64 e = 0; e < size; ++e) {
        const double weight_of = to_double(norm[static_cast<std::size_t>(part * size + e)]);
        double& one = y[static_cast<std::size_t>(e)];
        one = rounded(one * inverse * (weight_of + (c.seed % 2 == 0 ? 1 : 0)));
      }
    }
    const auto own = [&](const head_function& f) {
      if (!f) return;
      f(part, head, at, y);
      for (double& one : y) one = rounded(one);
    };
    own(before_rotary);
    if (part != 2)
      for (u32 i = 0; i < c.pairs; ++i) {
        const std::size_t of_table = static_cast<std::size_t>(at) * tables.pitch + i;
        const double cosine = to_double(tables.cos[of_table]), sine = to_double(tables.sin[of_table]);
        double& y0 = y[c.interleaved ? 2 * i : i];
        double& y1 = y[c.interleaved ? 2 * i + 1 : i + c.pairs];
        const double a = y0, b_of = y1;
        y0 = rounded(a * cosine - b_of * sine);
        y1 = rounded(b_of * cosine + a * sine);
      }
    own(after_rotary);
    if (part == 0 && c.q_scale != 1)
      for (double& one : y) one = rounded(one * static_cast<double>(c.q_scale));
    return y;
  }

  // Into tensors, against double precision: each element within two units in the last place of the largest
  // in its row. Padding keeps its pattern.
  void check_tensors() {
    CAPTURE(c.seed, c.batches, c.tokens, c.k, c.q_heads, c.k_heads, c.v_heads, c.size, c.v_size, c.three,
            c.k_first, c.biases, c.norms, c.pairs, c.interleaved, c.positions, c.offsets);
    const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size, c.out),
        k(c.batches, c.tokens, c.k_heads, c.size, c.out), v(c.batches, c.tokens, c.v_heads, c.v_size, c.out);
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    project({q.view(on_q), k.view(on_k), v.view(on_v)}, options());
    check_rows(0, q, on_q.download());
    check_rows(1, k, on_k.download());
    check_rows(2, v, on_v.download());
  }

  void check_rows(int part, const cache_tensor<T>& before, const std::vector<T>& got) {
    if (before.host.empty()) return;
    std::vector<bool> is_element(got.size(), false);
    for (i64 b = 0; b < before.extents[0]; ++b)
      for (i64 token = 0; token < before.extents[1]; ++token)
        for (i64 h = 0; h < before.extents[2]; ++h) {
          const std::vector<double> want = row(part, b, token, h, position(b, token));
          double largest = 0;
          for (const double one : want) largest = std::max(largest, std::abs(one));
          for (i64 e = 0; e < before.extents[3]; ++e) {
            const std::size_t at = before.index(b, token, h, e);
            is_element[at] = true;
            const double is = to_double(got[at]), wanted = want[static_cast<std::size_t>(e)];
            if (std::abs(is - wanted) <= 2 * unit_in_last_place<T>(largest)) continue;
            CAPTURE(part, b, token, h, e, largest);
            REQUIRE(is == wanted);
          }
        }
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!is_element[i]) REQUIRE(std::memcmp(&got[i], &before.host[i], sizeof(T)) == 0);
  }

  qkv_case c;
  // Tests of qkv_project_with set the steps of a head function, and the call in place of qkv_project.
  using head_function = std::function<void(int part, i64 head, i64 position, std::vector<double>& y)>;
  head_function before_rotary, after_rotary;
  std::function<void(const stream&, const tensor_view<const T, 3>&, const qkv_weights&, const qkv_outputs&,
                     const qkv_project_options&)>
      call;
  i64 columns = 0;
  i64 group() const { return c.group == 0 ? c.k : c.group; }
  w4_shape shape_4() const {
    return {.n = columns,
            .k = c.k,
            .group = group(),
            .scales = std::is_same_v<T, f16> ? w4_scale_type::f16 : w4_scale_type::bf16};
  }
  w8_shape shape_8() const { return {.n = columns, .k = c.k, .group = group()}; }
  // w becomes the numbers of the packed weights; the scale of a group is a power of two.
  void pack(std::mt19937_64& engine) {
    const i64 groups = c.k / group();
    std::vector<T> halves(static_cast<std::size_t>(groups * columns));  // (groups, columns)
    std::vector<f32> singles(halves.size());                            // (columns, groups)
    std::vector<i32> words(static_cast<std::size_t>((c.k + 7) / 8 * columns));
    std::vector<i8> bytes(w.size());
    for (i64 n = 0; n < columns; ++n)
      for (i64 k = 0; k < c.k; ++k) {
        const i64 of = k / group();
        const auto at = static_cast<std::size_t>(of * columns + n);
        if (k % group() == 0) {
          const f32 scale = engine() % 2 == 0 ? 1.0f : 0.5f;
          halves[at] = from_float<T>(scale);
          singles[static_cast<std::size_t>(n * groups + of)] = scale;
        }
        T& one = w[static_cast<std::size_t>(n * c.k + k)];
        const int code = static_cast<int>(to_double(one));
        bytes[static_cast<std::size_t>(n * c.k + k)] = static_cast<i8>(code);
        i32& word = words[static_cast<std::size_t>(k / 8 * columns + n)];
        word = static_cast<i32>(static_cast<u32>(word) | static_cast<u32>(code + 8) << (k % 8 * 4));
        one = from_float<T>(static_cast<float>(code * to_double(halves[at])));
      }
    const device& gpu = under_test();
    const stream& s = gpu.stream();
    if (c.bits == 4) {
      const auto on_words = upload(words);
      const auto on_scales = upload(halves);
      packed = gpu.allocate<u8>(packed_bytes(shape_4()));
      repack(s,
             gptq_w4{.qweight = tensor_view<const i32, 2>(on_words, c.k / 8, columns),
                     .scales = tensor_view<const T, 2>(on_scales, groups, columns)},
             w4_weights{shape_4(), packed});
      s.synchronize();
    } else {
      const auto on_bytes = upload(bytes);
      const auto on_scales = upload(singles);
      packed = gpu.allocate<u8>(packed_bytes(shape_8()));
      repack(s,
             int8_w8{.weight = tensor_view<const i8, 2>(on_bytes, columns, c.k),
                     .scales = tensor_view<const f32, 2>(on_scales, columns, groups)},
             w8_weights{shape_8(), packed});
      s.synchronize();
    }
  }

  buffer<u8> packed;
  std::vector<T> x, w, bias, norm;
  std::vector<i64> positions;
  std::vector<i32> offsets;
  host_tables<f32> tables{64, c.pairs, c.seed % 2 == 0 ? 4u : 0u, c.seed + 9};
  buffer<T> on_x, on_w, on_bias, on_norm;
  buffer<i64> on_positions;
  buffer<i32> on_offsets;
  buffer<f32> on_cos, on_sin;
};

// matmul multiplies bf16 from sm_80 on.
template <class T>
bool has_products() {
  return !std::is_same_v<T, bf16> || under_test().properties().target.sm >= 80;
}

template <class T>
void check_qkv(const qkv_case& c) {
  if (has_products<T>()) qkv_run<T>(c).check_tensors();
}

}  // namespace kaio::tests
