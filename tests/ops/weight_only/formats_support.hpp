#pragma once
// Bytes of blocks, what the host decodes of them, and the inputs of docs: x[i] = ((37 i + 11) % 101 - 50) /
// 16, byte i of a body = 73 i + 19.

#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/support.hpp"

#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/weight_only/formats/block_layout.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kaio::tests {

inline std::vector<u8> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<u8> bytes(count);
  for (u8& b : bytes) b = static_cast<u8>(engine());
  return bytes;
}

// Blocks of random bytes; numbers of 16 bits are finite.
inline std::vector<u8> random_blocks(block_format format, std::size_t blocks, std::uint64_t seed) {
  const ops::block_layout layout = ops::layout_of(format);
  std::vector<u8> bytes = random_bytes(blocks * layout.bytes, seed);
  const bool has_d = layout.scales != ops::block_scales::e8m0 && layout.scales != ops::block_scales::ue4m3;
  if (has_d)
    for (std::size_t b = 0; b < blocks; ++b)
      for (const u32 at : {layout.d_at, layout.m_at}) {
        u8& upper = bytes[b * layout.bytes + at + 1];
        if ((upper & 0x7cu) == 0x7cu) upper = static_cast<u8>(upper & ~0x04u);
      }
  return bytes;
}

inline std::vector<f32> documented_inputs(u32 count) {
  std::vector<f32> x;
  for (u32 i = 0; i < count; ++i)
    x.push_back(static_cast<f32>(static_cast<int>((37 * i + 11) % 101) - 50) / 16);
  return x;
}
inline std::vector<u8> body(u32 count) {
  std::vector<u8> bytes;
  for (u32 i = 0; i < count; ++i) bytes.push_back(static_cast<u8>(73 * i + 19));
  return bytes;
}

// Requires equal bits, or two NaN.
template <class T>
void require_values(const std::vector<T>& got, const std::vector<f32>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T rounded = from_float<T>(want[i]);
    if (std::isnan(to_double(got[i])) && std::isnan(to_double(rounded))) continue;
    if (std::memcmp(&got[i], &rounded, sizeof(T)) == 0) continue;
    CAPTURE(i, to_double(got[i]), to_double(rounded));
    REQUIRE(std::memcmp(&got[i], &rounded, sizeof(T)) == 0);
  }
}

// The n x k elements that call(view) writes. Rows are `pad` elements longer, and nothing is written there. The
// matrix begins `first` elements after an address of 256 bytes.
template <class T, class Call>
std::vector<T> matrix_of(i64 n, i64 k, i64 pad, i64 first, const Call& call) {
  T pattern = from_float<T>(0.0f);
  std::memset(static_cast<void*>(&pattern), 0xa5, sizeof(T));
  const auto size = static_cast<std::size_t>(n * (k + pad) + first);
  auto memory = upload(std::vector<T>(size, pattern));
  call(
      tensor_view<T, 2>(memory.slice(static_cast<std::size_t>(first), size - static_cast<std::size_t>(first)),
                        ops::extents<2>(n, k), ops::strides<2>(k + pad, 1)));
  const std::vector<T> all = memory.download();
  std::vector<T> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<i64>(i) - first;
    if (at >= 0 && at % (k + pad) < k) {
      result.push_back(all[i]);
    } else if (std::memcmp(&all[i], &pattern, sizeof(T)) != 0) {
      CAPTURE(i);
      REQUIRE(std::memcmp(&all[i], &pattern, sizeof(T)) == 0);
    }
  }
  return result;
}

}  // namespace kaio::tests
