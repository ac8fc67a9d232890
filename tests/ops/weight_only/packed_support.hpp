#pragma once
// Packed weights of every format and the numbers that they are, for tests of the operations that project hidden states
// by them; and weights whose products show whether they were rounded to f16.

#include "tests/ops/tune_support.hpp"
#include "tests/ops/weight_only/codes_support.hpp"

#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>

#include "ops/choice/tune_store.hpp"
#include "ops/weight_only/choice/plan.hpp"

#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::tests {

// Weights of (n, k) on the device, and their numbers: [n][k].
struct packed_weights {
  i64 n, k;
  buffer<u8> memory;
  ops::projection_weight weight;
  std::vector<double> numbers;
  double rounded = 0;  // the largest relative error of a multiplied number

  double number(i64 row, i64 column) const { return numbers[static_cast<std::size_t>(row * k + column)]; }

  template <class Shape, class Number>
  packed_weights(const Shape& shape, buffer<u8> in_memory, const Number& number)
      : n(shape.n), k(shape.k), memory(std::move(in_memory)) {
    if constexpr (std::is_same_v<Shape, w4_shape>)
      weight = w4_weights{shape, memory};
    else
      weight = w8_weights{shape, memory};
    for (i64 row = 0; row < n; ++row)
      for (i64 column = 0; column < k; ++column) numbers.push_back(number(row, column));
  }
};

// Q4_1 of GGUF, scale * code + offset: blocks of 32 codes along k, whose first 16 are the lower halves of their bytes.
// scale and offset, of all blocks, are exact in f16; codes: [n][k].
inline packed_weights pack_q4_1(i64 n, i64 k, float scale, float offset, const std::vector<u8>& codes) {
  std::vector<u8> bytes;
  const auto put = [&](float x) {
    const auto bits = __builtin_bit_cast(u16, f16(x));
    bytes.push_back(static_cast<u8>(bits & 0xff));
    bytes.push_back(static_cast<u8>(bits >> 8));
  };
  for (std::size_t first = 0; first < codes.size(); first += 32) {
    put(scale);
    put(offset);
    for (std::size_t i = first; i < first + 16; ++i)
      bytes.push_back(static_cast<u8>(codes[i] | codes[i + 16] << 4));
  }
  const w4_shape shape = w4_shape_of(block_format::q4_1, n, k);
  buffer<u8> memory = under_test().upload(std::vector<u8>(packed_bytes(shape), 0xff));
  const auto on_bytes = upload(bytes);
  const stream& s = under_test().stream();
  repack(s,
         gguf_blocks{block_format::q4_1,
                     tensor_view<const u8, 1>(on_bytes, extents(static_cast<i64>(bytes.size())))},
         w4_weights{shape, memory});
  s.synchronize();
  return {shape, std::move(memory), [&](i64 row, i64 column) {
            return to_double(scale) * codes[static_cast<std::size_t>(row * k + column)] + to_double(offset);
          }};
}

// Integers of eight bits with zero points.
inline packed_weights random_w8(i64 n, i64 k, i64 group, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const i64 groups = k / group;
  std::vector<i8> codes(static_cast<std::size_t>(n * k)), zeros(static_cast<std::size_t>(n * groups));
  std::vector<f32> scales(zeros.size());
  for (i8& code : codes) code = static_cast<i8>(engine());
  for (i8& zero : zeros) zero = static_cast<i8>(engine());
  for (f32& scale : scales) scale = static_cast<f32>(1 + engine() % 7) / 512;
  const w8_shape shape{.n = n, .k = k, .group = group, .zero_points = true};
  buffer<u8> memory = under_test().upload(std::vector<u8>(packed_bytes(shape), 0xff));
  const auto on_codes = upload(codes), on_zeros = upload(zeros);
  const auto on_scales = upload(scales);
  const stream& s = under_test().stream();
  repack(s,
         int8_w8{.weight = tensor_view<const i8, 2>(on_codes, n, k),
                 .scales = tensor_view<const f32, 2>(on_scales, n, groups),
                 .zero_points = tensor_view<const i8, 2>(on_zeros, n, groups)},
         w8_weights{shape, memory});
  s.synchronize();
  return {shape, std::move(memory), [&](i64 row, i64 column) {
            const auto fact = static_cast<std::size_t>(row * groups + column / group);
            return to_double(scales[fact]) *
                   (codes[static_cast<std::size_t>(row * k + column)] - zeros[fact]);
          }};
}

enum class packed_kind { symmetric, zero_points, ordered, awq, w8_zero_points, nf4, fp4, mxfp4, nvfp4, q4_1 };
inline constexpr packed_kind packed_kinds[] = {
    packed_kind::symmetric,      packed_kind::zero_points, packed_kind::ordered, packed_kind::awq,
    packed_kind::w8_zero_points, packed_kind::nf4,         packed_kind::fp4,     packed_kind::mxfp4,
    packed_kind::nvfp4,          packed_kind::q4_1};
// Four bits without offsets.
constexpr bool is_int4(packed_kind kind) { return kind <= packed_kind::awq; }
// Whether qkv_project and gate_up_project of few rows are one launch from sm_90 on. Formats with tables need
// more than 100 KB of shared memory per block.
inline bool has_one_launch_on_sm90(packed_kind kind, const device_properties& device) {
  const bool has_table = kind == packed_kind::nf4 || kind == packed_kind::fp4;
  return kind <= packed_kind::fp4 && (!has_table || device.shared_per_block_optin > 110000);
}

// At random; k is a multiple of 64.
inline packed_weights random_weights(packed_kind kind, i64 n, i64 k, std::uint64_t seed) {
  const auto of_integers = [&](w4_shape shape, w4_format format) -> packed_weights {
    shape.n = n;
    shape.k = k;
    const auto model = w4_model<f16>::random(shape, seed);
    w4_on_device<f16> packed(model, format);
    return {packed.shape, std::move(packed.memory),
            [&](i64 row, i64 column) { return model.weight(column, row); }};
  };
  const auto of_bytes = [&](w4_codes codes, i64 group, bool factors) -> packed_weights {
    const auto model = byte_model::random(codes, {.n = n, .k = k, .group = group, .factors = factors}, seed);
    byte_weights packed(model);
    packed_weights result(packed.shape, std::move(packed.memory),
                          [&](i64 row, i64 column) { return to_double(model.weight(row, column)); });
    if (codes == w4_codes::nf4) result.rounded = 0x1p-11;  // its table is rounded to the type of x
    return result;
  };
  switch (kind) {
    case packed_kind::symmetric: return of_integers({.group = 32}, w4_format::compressed_tensors);
    case packed_kind::zero_points: return of_integers({.group = 16, .zero_points = true}, w4_format::gptq);
    case packed_kind::ordered:
      return of_integers({.group = 32, .zero_points = true, .act_order = true}, w4_format::gptq_v2);
    case packed_kind::awq: return of_integers({.group = 64, .zero_points = true}, w4_format::awq);
    case packed_kind::w8_zero_points: return random_w8(n, k, 32, seed);
    case packed_kind::nf4: return of_bytes(w4_codes::nf4, 64, false);
    case packed_kind::fp4: return of_bytes(w4_codes::fp4, 64, false);
    case packed_kind::mxfp4: return of_bytes(w4_codes::e2m1, 32, false);
    case packed_kind::nvfp4: return of_bytes(w4_codes::e2m1, 16, true);
    case packed_kind::q4_1: break;
  }
  std::mt19937_64 engine(seed);
  std::vector<u8> codes(static_cast<std::size_t>(n * k));
  for (u8& code : codes) code = static_cast<u8>(engine() % 16);
  return pack_q4_1(n, k, 0.0625f, -0.375f, codes);
}

// Hidden states for them: eighths up to one.
template <class T = f16>
std::vector<T> random_eighths(i64 count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& one : x) one = T(static_cast<float>(engine() % 17) / 8 - 1);
  return x;
}

// A sum of products in double precision, and the error that an f32 sum of the multiplied numbers may have.
struct exact_sum {
  double value = 0, error = 0;
};
template <class T>
exact_sum sum_of(const packed_weights& w, const std::vector<T>& x, i64 row_of_x, i64 row) {
  exact_sum sum;
  double terms = 0;
  for (i64 i = 0; i < w.k; ++i) {
    const double term = to_double(x[static_cast<std::size_t>(row_of_x * w.k + i)]) * w.number(row, i);
    sum.value += term;
    terms += std::abs(term);
  }
  sum.error = terms * (0x1p-19 + w.rounded * (std::is_same_v<T, f16> ? 1 : 8));  // bf16 has three bits fewer
  return sum;
}

// Weights 1 + q / 8192, which in f16 lose three bits. Hidden states are pairs of 32 and -32, so the ones
// cancel. The sums of the weights and those of the weights rounded to f16 differ; all sums are exact in f16.
struct rounded_product {
  i64 rows, n, k;
  std::vector<f16> x;
  packed_weights w;
  buffer<f16> on_x;

  rounded_product(i64 in_rows, i64 in_n, i64 in_k)
      : rows(in_rows), n(in_n), k(in_k), w(pack_q4_1(n, k, 0x1p-13f, 1, codes(n * k))) {
    std::mt19937_64 engine(3);
    for (i64 i = 0; i < rows * k / 2; ++i) {
      const float one = engine() % 2 == 0 ? 32.0f : -32.0f;
      x.push_back(f16(one));
      x.push_back(f16(-one));
    }
    on_x = upload(x);
  }
  static std::vector<u8> codes(i64 count) {
    std::mt19937_64 engine(4);
    std::vector<u8> result(static_cast<std::size_t>(count));
    for (u8& code : result) code = static_cast<u8>(engine() % 16);
    return result;
  }
  tensor_view<const f16, 2> x_view() const { return {on_x, extents(rows, k)}; }
  double sum(i64 row_of_x, i64 row, bool rounds) const {
    double y = 0;
    for (i64 i = 0; i < k; ++i) {
      const double number = w.number(row, i);
      y += to_double(x[static_cast<std::size_t>(row_of_x * k + i)]) *
           (rounds ? to_double(f16(static_cast<float>(number))) : number);
    }
    return y;
  }
  // As if tuning had found that the product is the fastest by a matrix of rounded weights.
  void tune_to_matrix() const {
    const device& gpu = under_test();
    const matmul_w4_options options;
    const auto planned = ops::plan_w4(gpu.identity(), gpu.properties(),
                                      {"test", x_view(), {}, &w.weight.packed, &options}, true);
    ops::remember_tuned(gpu.properties(), ops::tuning_key(planned.problem, options), "dequantise:1", false);
  }
};

}  // namespace kaio::tests
