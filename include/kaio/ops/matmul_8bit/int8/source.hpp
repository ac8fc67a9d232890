#pragma once
// Loads i8 numbers for dp4a: four along K are one word.

#include <kaio/ops/matmul_8bit/common/simt.hpp>

namespace kaio::ops {

struct int8_fours {
  using element = i32;
  static constexpr std::uint32_t width = 4;
  static constexpr fixed_string name = "i8";

  static constexpr val<i32> load(thread t, const in<u8>& x, const val<byte_matrix>& matrix,
                                 const val<i64>& line, const val<u32>& k, const val<u32>& end) {
    const val first = t.let(line * matrix[&byte_matrix::line] + cast<i64>(k) * matrix[&byte_matrix::k]);
    var<u32> word(t, cast<u32>(x[first]));
    for (u32 i = 1; i < width; ++i)
      if (auto exists = t.when(k + i < end))
        word = word | cast<u32>(x[first + i64{i} * matrix[&byte_matrix::k]]) << (8 * i);
    return t.let(bit_cast<i32>(word));
  }
  static constexpr val<i32> add(thread t, const val<i32>& sum, const val<i32>& a, const val<i32>& b) {
    return t.let(dp4a(a, b, sum));
  }
};

}  // namespace kaio::ops
