#pragma once
// Loads eight bytes. The launch gives the alignment of the address: 1, 2, 4 or 8, for 8, 4, 2 or 1 loads.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

struct eight_bytes {
  var<u32> low, high;
};

// The greatest of 1, 2, 4 and 8 that divides every number whose bitwise OR is `offsets`.
constexpr u32 common_alignment(u64 offsets) {
  return offsets % 8 == 0 ? 8 : offsets % 4 == 0 ? 4 : offsets % 2 == 0 ? 2 : 1;
}

constexpr eight_bytes load_eight(thread t, const val<u64>& address, const val<u32>& alignment) {
  eight_bytes result{var(t, 0u), var(t, 0u)};
  if (auto by_8 = t.when(alignment == 8u)) {
    const val both = load_vec<2>(pointer_at<in<u32>>(t, address)[0]);
    result.low = both[0];
    result.high = both[1];
  }
  if (auto by_4 = t.when(alignment == 4u)) {
    const auto words = pointer_at<in<u32>>(t, address);
    const val low = t.let(words[0]), high = t.let(words[1]);
    result.low = low;
    result.high = high;
  }
  if (auto by_2 = t.when(alignment == 2u)) {
    const auto halves = pointer_at<in<u16>>(t, address);
    const auto each = array_of<4>([&](u32 i) { return t.let(cast<u32>(halves[i])); });
    result.low = each[0] | each[1] << 16;
    result.high = each[2] | each[3] << 16;
  }
  if (auto by_1 = t.when(alignment == 1u)) {
    const auto bytes = pointer_at<in<u8>>(t, address);
    const auto each = array_of<8>([&](u32 i) { return t.let(cast<u32>(bytes[i])); });
    result.low = each[0] | each[1] << 8 | each[2] << 16 | each[3] << 24;
    result.high = each[4] | each[5] << 8 | each[6] << 16 | each[7] << 24;
  }
  return result;
}

}  // namespace kaio::ops
