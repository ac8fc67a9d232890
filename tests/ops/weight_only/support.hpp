#pragma once
// Weights of four bits on the host: codes, zero points, scales and groups; the same as the tensors of each
// format; and products of them in double precision.

#include "tests/ops/support.hpp"

#include <kaio/ops/matmul_w4.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::tests {

// Whether a call has no kernel: the variant dequantise multiplies by matmul, which has none for bf16 before sm_80.
template <class T>
bool is_without_bf16_products(std::string_view variant) {
  return std::is_same_v<T, bf16> && variant.starts_with("dequantise") &&
         under_test().properties().target.sm < 80;
}

template <class S>
struct w4_model {
  w4_shape shape;
  std::vector<u32> codes, zeros;  // [k][n], [group][n]
  std::vector<S> scales;          // [group][n]
  std::vector<i32> order;         // group of each k; empty: k / group

  i64 n() const { return shape.n; }
  i64 k() const { return shape.k; }
  i64 size() const { return shape.group == -1 ? shape.k : shape.group; }
  i64 groups() const { return (shape.k + size() - 1) / size(); }
  u32 code(i64 row, i64 column) const { return codes[static_cast<std::size_t>(row * n() + column)]; }
  std::size_t fact(i64 group, i64 column) const { return static_cast<std::size_t>(group * n() + column); }
  u32 zero(i64 group, i64 column) const { return shape.zero_points ? zeros[fact(group, column)] : 8; }
  i64 group_of(i64 row) const {
    return shape.act_order ? order[static_cast<std::size_t>(row)] : row / size();
  }
  double weight(i64 row, i64 column) const {
    const i64 group = group_of(row);
    return to_double(scales[fact(group, column)]) *
           (static_cast<double>(code(row, column)) - static_cast<double>(zero(group, column)));
  }

  static w4_model random(const w4_shape& in_shape, std::uint64_t seed) {
    w4_model m;
    m.shape = in_shape;
    m.shape.scales = std::is_same_v<S, f16> ? w4_scale_type::f16 : w4_scale_type::bf16;
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1.0f, 1.0f);
    m.codes.resize(static_cast<std::size_t>(m.k() * m.n()));
    for (u32& q : m.codes) q = static_cast<u32>(engine() % 16);
    const auto facts = static_cast<std::size_t>(m.groups() * m.n());
    for (std::size_t i = 0; i < facts; ++i) {
      m.zeros.push_back(static_cast<u32>(engine() % 16));
      m.scales.push_back(S(any(engine) / 8));
    }
    m.order.resize(static_cast<std::size_t>(m.k()));
    for (i64 row = 0; row < m.k(); ++row)
      m.order[static_cast<std::size_t>(row)] = static_cast<i32>(row / m.size());
    std::shuffle(m.order.begin(), m.order.end(), engine);
    return m;
  }
};

// Nibbles of eight neighbours along one dimension of a matrix of rows x columns: word [r][c / 8] with nibble
// c % 8 moved by `place`.
template <class F>
std::vector<i32> words_of(i64 rows, i64 columns, const F& nibble, bool interleaved = false) {
  constexpr u32 turned[] = {0, 4, 1, 5, 2, 6, 3, 7};
  const i64 pitch = (columns + 7) / 8;
  std::vector<u32> words(static_cast<std::size_t>(rows * pitch));
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < columns; ++c) {
      const auto place = static_cast<u32>(c % 8);
      words[static_cast<std::size_t>(r * pitch + c / 8)] |= (nibble(r, c) & 15u)
                                                            << 4 * (interleaved ? turned[place] : place);
    }
  return {words.begin(), words.end()};
}
template <class T>
std::vector<T> transposed(const std::vector<T>& x, i64 rows, i64 columns) {
  std::vector<T> result;
  for (i64 c = 0; c < columns; ++c)
    for (i64 r = 0; r < rows; ++r) result.push_back(x[static_cast<std::size_t>(r * columns + c)]);
  return result;
}

enum class w4_format { gptq, gptq_v2, awq, compressed_tensors, kaio };

// The tensors of a file.
template <class S>
struct w4_file {
  std::vector<i32> words, zeros;
  std::vector<S> scales;
  std::vector<i32> order;

  w4_file(const w4_model<S>& m, w4_format format) : scales(m.scales), order(m.order) {
    const auto of_column = [&](i64 column, i64 row) { return m.code(row, column); };
    const auto of_row = [&](i64 row, i64 column) { return m.code(row, column); };
    const auto zero = [&](i64 group, i64 column) { return m.zeros[m.fact(group, column)]; };
    const i64 eighth_n = (m.n() + 7) / 8;
    switch (format) {
      case w4_format::gptq:
      case w4_format::gptq_v2:
        words = transposed(words_of(m.n(), m.k(), of_column), m.n(), (m.k() + 7) / 8);
        zeros = words_of(m.groups(), m.n(), [&](i64 group, i64 column) {
          return zero(group, column) + (format == w4_format::gptq ? 15u : 0u);
        });
        break;
      case w4_format::awq:
        words = words_of(m.k(), m.n(), of_row, true);
        zeros = words_of(m.groups(), m.n(), zero, true);
        break;
      case w4_format::compressed_tensors:
        words = words_of(m.n(), m.k(), of_column);
        zeros = transposed(words_of(m.groups(), m.n(), zero), m.groups(), eighth_n);
        scales = transposed(m.scales, m.groups(), m.n());
        break;
      case w4_format::kaio:
        words = words_of(m.n(), m.k(), [&](i64 column, i64 row) { return m.code(row, column) ^ 8u; });
        break;
    }
  }
};

// A file on the device, repacked into memory of exactly the size.
template <class S>
struct w4_on_device {
  w4_shape shape;
  buffer<u8> memory;
  w4_weights weights() const { return {shape, memory}; }

  w4_on_device(const w4_model<S>& m, w4_format format)
      : shape(m.shape), memory(under_test().upload(std::vector<u8>(packed_bytes(m.shape), 0xff))) {
    const w4_file<S> file(m, format);
    buffer<i32> words = upload(file.words), zeros = upload(file.zeros), order = upload(file.order);
    buffer<S> scales = upload(file.scales);
    const stream& s = under_test().stream();
    const i64 n = m.n(), k = m.k(), groups = m.groups(), n8 = (n + 7) / 8, k8 = (k + 7) / 8;
    using words_view = tensor_view<const i32, 2>;
    using scales_view = tensor_view<const S, 2>;
    const words_view of_groups = shape.zero_points ? words_view(zeros, groups, n8) : words_view();
    const words_view turned = shape.zero_points ? words_view(zeros, n8, groups) : words_view();
    const tensor_view<const i32, 1> of_order =
        shape.act_order ? tensor_view<const i32, 1>(order, extents(k)) : tensor_view<const i32, 1>();
    switch (format) {
      case w4_format::gptq:
      case w4_format::gptq_v2:
        repack(s,
               gptq_w4{.qweight = words_view(words, k8, n),
                       .qzeros = of_groups,
                       .scales = scales_view(scales, groups, n),
                       .g_idx = of_order,
                       .v2 = format == w4_format::gptq_v2},
               weights());
        break;
      case w4_format::awq:
        repack(s,
               awq_w4{.qweight = words_view(words, k, n8),
                      .qzeros = of_groups,
                      .scales = scales_view(scales, groups, n)},
               weights());
        break;
      case w4_format::compressed_tensors:
        repack(s,
               compressed_tensors_w4{.weight_packed = words_view(words, n, k8),
                                     .weight_zero_point = turned,
                                     .weight_scale = scales_view(scales, n, groups),
                                     .weight_g_idx = of_order},
               weights());
        break;
      case w4_format::kaio:
        repack(s, kaio_int4{.packed = words_view(words, n, k8), .scales = scales_view(scales, groups, n)},
               weights());
        break;
    }
    s.synchronize();
  }
};

// W as (n, k) in memory of [k][n].
template <class T, class S>
std::vector<T> dequantised(const w4_on_device<S>& w) {
  buffer<T> memory = under_test().allocate<T>(static_cast<std::size_t>(w.shape.n * w.shape.k));
  dequantise(under_test().stream(), w.weights(),
             tensor_view<T, 2>(memory, extents(w.shape.n, w.shape.k), strides(i64{1}, w.shape.n)));
  return memory.download();
}

// zlib's CRC-32 of an array in memory.
template <class T>
u32 crc32_of(const std::vector<T>& x) {
  u32 crc = ~0u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(x.data());
  for (std::size_t i = 0; i < x.size() * sizeof(T); ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

}  // namespace kaio::tests
