#pragma once
// Numbers from their 8-bit codes: y = scale * code. Four codes are packed into each word, the lowest byte first:
//
//   word   | code 3 | code 2 | code 1 | code 0 |      y[4 w + k] = scale * code k of word w
//           31    24 23    16 15     8 7      0
//
// A thread takes a word and writes its four numbers at once. bit_extract of a signed word extends the sign, in one
// instruction; in C++ it would be word << (24 - 8 * k) >> 24.

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr auto int8_dequant =
    kernel<"int8_dequant", 256>([](thread t, in<i32> words, out<f32x4> y, val<f32> scale, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val word = words[i];
        const auto number = [&](u32 k) { return cast<f32>(bit_extract(word, 8 * k, 8)) * scale; };
        y[i] = make_vec(number(0), number(1), number(2), number(3));
      }
    });

static_assert(int8_dequant.ptx().contains("bfe.s32") && int8_dequant.ptx().contains("st.global.v4.f32"));

}  // namespace kaio::showcase
