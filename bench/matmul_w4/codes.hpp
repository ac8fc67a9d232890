#pragma once
// Random weights of four or eight bits of any codes: on the host as they are in files, packed on the device, and
// their values.

#include <kaio/kaio.hpp>
#include <kaio/ops/matmul_w8.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <variant>
#include <vector>

namespace kaio::bench {

// q4_1 and q5_1 are blocks of GGUF. Packed, they have an f32 offset for each group, as Q4_K and Q5_K do.
enum class bench_codes { int4, nf4, fp4, mxfp4, nvfp4, q4_1, int8, e4m3, q5_1 };
inline constexpr std::string_view names_of_codes[] = {"int4", "nf4",  "fp4",  "mxfp4", "nvfp4",
                                                      "q4_1", "int8", "e4m3", "q5_1"};
constexpr bool is_blocks(bench_codes codes) {
  return codes == bench_codes::q4_1 || codes == bench_codes::q5_1;
}

constexpr bench_codes codes_of(std::string_view name) {
  u32 i = 0;
  while (i + 1 < std::size(names_of_codes) && names_of_codes[i] != name) ++i;
  return static_cast<bench_codes>(i);
}
// The format's own group, or `asked` if it has none.
constexpr u32 group_of(bench_codes codes, u32 asked) {
  return codes == bench_codes::mxfp4 || is_blocks(codes) ? 32 : codes == bench_codes::nvfp4 ? 16 : asked;
}
// Bytes of a code and of its share of a scale.
constexpr double bytes_of_weight(bench_codes codes, u32 group) {
  const bool eight = codes >= bench_codes::int8;
  const double scale = codes == bench_codes::int4                                   ? 2
                       : codes == bench_codes::mxfp4 || codes == bench_codes::nvfp4 ? 1
                       : is_blocks(codes)                                           ? 8
                                                                                    : 4;
  return (eight ? 1.0 : 0.5) + scale / group;
}

// Bytes of two codes, or of one, [n][k], and scales, [n][group].
template <class T>
class bench_weights {
 public:
  bench_weights(device& gpu, bench_codes codes, u32 n, u32 k, u32 group)
      : codes_(codes), n_(n), k_(k), group_(group) {
    std::mt19937 engine(n + k);
    bytes_.resize(is_blocks(codes) ? packed_bytes(format(), i64{n} * k) : u64{n} * k / (eight() ? 1 : 2));
    for (u8& byte : bytes_) {
      byte = static_cast<u8>(engine());
      if (codes == bench_codes::e4m3 && (byte & 0x7f) == 0x7f) byte = 0;
    }
    for (u64 i = 0; is_blocks(codes) && i < bytes_.size(); i += block_bytes()) {
      put_half(i, 0.02f + static_cast<f32>(engine() % 256) / 16384.0f);
      put_half(i + 2, -0.25f - static_cast<f32>(engine() % 256) / 2048.0f);
    }
    for (u64 i = 0; i < u64{n} * (k / group); ++i) {
      scales_.push_back((1.0f + static_cast<f32>(engine() % 256) / 256.0f) / 64.0f);
      halves_.push_back(T(scales_.back()));
      scale_bytes_.push_back(
          static_cast<u8>(codes == bench_codes::mxfp4 ? 118 + engine() % 4 : 40 + engine() % 20));
    }
    on_bytes_ = gpu.upload(bytes_);
    on_scales_ = gpu.upload(scales_);
    on_halves_ = gpu.upload(halves_);
    on_scale_bytes_ = gpu.upload(scale_bytes_);
  }

  bool eight() const { return codes_ >= bench_codes::int8; }
  block_format format() const {
    return codes_ == bench_codes::q4_1 ? block_format::q4_1 : block_format::q5_1;
  }
  u64 block_bytes() const { return ops::facts(format()).bytes; }
  w4_shape four_bits() const {
    if (is_blocks(codes_)) return w4_shape_of(format(), n_, k_);
    using type = w4_scale_type;
    constexpr type of_halves = std::is_same_v<T, f16> ? type::f16 : type::bf16;
    const w4_codes of[] = {w4_codes::int4, w4_codes::nf4, w4_codes::fp4, w4_codes::e2m1, w4_codes::e2m1};
    const type scales[] = {of_halves, type::f32, type::f32, type::e8m0, type::e4m3};
    const auto i = static_cast<std::size_t>(codes_);
    return {.n = n_, .k = k_, .group = group_, .scales = scales[i], .codes = of[i]};
  }
  w8_shape eight_bits() const {
    if (is_blocks(codes_)) return w8_shape_of(format(), n_, k_);
    return {.n = n_,
            .k = k_,
            .group = group_,
            .codes = codes_ == bench_codes::int8 ? w8_codes::int8 : w8_codes::e4m3};
  }
  u64 packed() const { return eight() ? packed_bytes(eight_bits()) : packed_bytes(four_bits()); }

  void pack(const stream& s, const buffer<u8>& to) const {
    const i64 n = n_, groups = k_ / group_;
    const tensor_view<const u8, 2> bytes(on_bytes_, n, static_cast<i64>(bytes_.size() / n_)),
        scale_bytes(on_scale_bytes_, n, groups);
    const tensor_view<const f32, 2> scales(on_scales_, n, groups);
    const gguf_blocks blocks{format(), tensor_view<const u8, 1>(on_bytes_, static_cast<i64>(bytes_.size()))};
    switch (codes_) {
      case bench_codes::q4_1: return repack(s, blocks, w4_weights{four_bits(), to});
      case bench_codes::q5_1: return repack(s, blocks, w8_weights{eight_bits(), to});
      case bench_codes::int4: {
        const device_pointer<u32> pointer(on_bytes_.as_argument().bits, bytes_.size() / 4);
        const tensor_view<const u32, 2> words(pointer, n, static_cast<i64>(k_ / 8));
        return repack(s,
                      compressed_tensors_w4{.weight_packed = words,
                                            .weight_scale = tensor_view<const T, 2>(on_halves_, n, groups)},
                      w4_weights{four_bits(), to});
      }
      case bench_codes::nf4:
      case bench_codes::fp4:
        return repack(s, bitsandbytes_w4{.weight = bytes, .absmax = scales}, w4_weights{four_bits(), to});
      case bench_codes::mxfp4:
        return repack(s, mxfp4_w4{.blocks = bytes, .scales = scale_bytes}, w4_weights{four_bits(), to});
      case bench_codes::nvfp4:
        return repack(s, nvfp4_w4{.weight = bytes, .scales = scale_bytes}, w4_weights{four_bits(), to});
      case bench_codes::int8:
        return repack(s, int8_w8{.weight = bytes, .scales = scales}, w8_weights{eight_bits(), to});
      case bench_codes::e4m3:
        return repack(s, e4m3_w8{.weight = bytes, .scales = scales}, w8_weights{eight_bits(), to});
    }
  }

  double value(u32 n, u32 k) const {
    if (is_blocks(codes_)) return value_of_block((u64{n} * k_ + k) / 32 * block_bytes(), k % 32);
    const u64 at = u64{n} * k_ + k, fact = u64{n} * (k_ / group_) + k / group_;
    const u32 byte = bytes_[eight() ? at : at / 2];
    const bool high_first = codes_ == bench_codes::nf4 || codes_ == bench_codes::fp4;
    const u32 code = byte >> ((k % 2 == 1) != high_first ? 4 : 0) & 15u;
    switch (codes_) {
      case bench_codes::int4: return (code - 8.0) * static_cast<f32>(halves_[fact]);
      case bench_codes::nf4: return double{ops::nf4_numbers[code]} * scales_[fact];
      case bench_codes::fp4: return double{ops::fp4_numbers[code]} * scales_[fact];
      case bench_codes::mxfp4: return ops::e2m1_numbers[code] * std::exp2(scale_bytes_[fact] - 127.0);
      case bench_codes::nvfp4: return ops::e2m1_numbers[code] * number_of_e4m3(scale_bytes_[fact]);
      case bench_codes::int8: return static_cast<i8>(byte) * double{scales_[fact]};
      default: return number_of_e4m3(byte) * scales_[fact];
    }
  }

 private:
  void put_half(u64 at, f32 value) {
    const f16 half(value);
    std::memcpy(&bytes_[at], &half, sizeof half);
  }
  // code * d + m; in Q5_1 the four bytes before the others have the highest bits of the codes.
  double value_of_block(u64 block, u32 e) const {
    f16 d, m;
    std::memcpy(&d, &bytes_[block], sizeof d);
    std::memcpy(&m, &bytes_[block + 2], sizeof m);
    const bool five = codes_ == bench_codes::q5_1;
    u32 code = bytes_[block + (five ? 8 : 4) + e % 16] >> (e < 16 ? 0 : 4) & 15u;
    if (five) code |= (bytes_[block + 4 + e / 8] >> (e % 8) & 1u) << 4;
    return static_cast<double>(static_cast<f32>(d)) * code + static_cast<double>(static_cast<f32>(m));
  }
  static double number_of_e4m3(u32 byte) {
    return static_cast<double>(static_cast<f32>(__builtin_bit_cast(e4m3, static_cast<u8>(byte))));
  }

  bench_codes codes_;
  u32 n_, k_, group_;
  std::vector<u8> bytes_, scale_bytes_;
  std::vector<f32> scales_;
  std::vector<T> halves_;
  buffer<u8> on_bytes_, on_scale_bytes_;
  buffer<f32> on_scales_;
  buffer<T> on_halves_;
};

}  // namespace kaio::bench
