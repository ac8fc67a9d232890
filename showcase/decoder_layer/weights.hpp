#pragma once
// The weights of a linear layer, random: of f16, or of four bits in groups of 128 with a scale each. The host
// keeps what the device gets, so that every element can be looked up.

#include <kaio/kaio.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/qkv_project.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace kaio::showcase {

// Numbers of 64 bits that follow from a seed: splitmix64.
class random_bits {
 public:
  explicit random_bits(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [-1, 1).
  f32 number() { return static_cast<f32>(static_cast<i32>(next() >> 32)) * 0x1p-31f; }

 private:
  u64 state_;
};

inline std::vector<f16> random_numbers(std::size_t count, u64 seed, f32 middle, f32 range) {
  random_bits bits(seed);
  std::vector<f16> values(count);
  for (f16& one : values) one = f16(middle + range * bits.number());
  return values;
}

class linear {
 public:
  linear() = default;
  // (n, k); elements of a deviation of 1 / sqrt(k), so that outputs are about as large as inputs.
  linear(const device& gpu, u32 n, u32 k, bool four_bits, u64 seed) : n_(n), k_(k), four_bits_(four_bits) {
    if (four_bits) {
      random_bits bits(seed);
      words_.resize(std::size_t{n} * k / 8);
      for (i32& one : words_) one = static_cast<i32>(bits.next() >> 32);
      // Codes of -8 to 7 have a deviation of 4.6.
      scales_ = random_numbers(std::size_t{k / group} * n, seed + 1, 0.22f / std::sqrt(static_cast<f32>(k)),
                               0.02f / std::sqrt(static_cast<f32>(k)));
      shape_ = {.n = n, .k = k, .group = group};
      packed_ = gpu.allocate<u8>(packed_bytes(shape_));
      const auto on_words = gpu.upload(words_);
      const auto on_scales = gpu.upload(scales_);
      repack(gpu.stream(),
             kaio_int4{.packed = tensor_view<const i32, 2>(on_words, n, k / 8),
                       .scales = tensor_view<const f16, 2>(on_scales, k / group, n)},
             packed());
      gpu.stream().synchronize();
    } else {
      values_ = random_numbers(std::size_t{n} * k, seed, 0, 1.73f / std::sqrt(static_cast<f32>(k)));
      on_device_ = gpu.upload(values_);
    }
  }

  double weight(u32 n, u32 k) const {
    if (!four_bits_) return static_cast<double>(f32(values_[std::size_t{n} * k_ + k]));
    const auto word = static_cast<u32>(words_[std::size_t{n} * (k_ / 8) + k / 8]);
    const u32 code = word >> (4 * (k % 8)) & 15u;
    const f16 scale = scales_[std::size_t{k / group} * n_ + n];
    return (code < 8 ? static_cast<double>(code) : static_cast<double>(code) - 16) *
           static_cast<double>(f32(scale));
  }
  u32 n() const { return n_; }
  u32 k() const { return k_; }
  bool four_bits() const { return four_bits_; }
  double bytes() const {
    const double elements = static_cast<double>(n_) * k_;
    return four_bits_ ? elements / 2 + elements / group * 2 : elements * 2;
  }

  tensor_view<const f16, 2> matrix() const { return {on_device_, n_, k_}; }
  w4_weights packed() const { return {shape_, packed_}; }
  // As the fused operations take it.
  qkv_weights of_qkv() const { return four_bits_ ? qkv_weights(packed()) : qkv_weights(matrix()); }
  gate_up_weights of_gate_up() const {
    return four_bits_ ? gate_up_weights(packed()) : gate_up_weights(matrix());
  }

 private:
  static constexpr u32 group = 128;
  u32 n_ = 0, k_ = 0;
  bool four_bits_ = false;
  std::vector<f16> values_, scales_;
  std::vector<i32> words_;
  w4_shape shape_;
  buffer<f16> on_device_;
  buffer<u8> packed_;
};

}  // namespace kaio::showcase
