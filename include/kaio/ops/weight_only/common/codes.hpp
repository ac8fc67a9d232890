#pragma once
// The kinds of codes and scales of packed weights, and the numbers of the code tables.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

// The number that a code means; the scale of its group multiplies this number:
//
//   int4        code - 8, or code - zero point of its group
//   nf4, fp4    from the tables of bitsandbytes
//   e2m1        0, 0.5, 1, 1.5, 2, 3, 4, 6, and the negatives: MXFP4, NVFP4
//   own         the user's, see matmul_w4_with
//
// int8 and e4m3 belong to matmul_w8.
enum class w4_codes : std::uint8_t { int4, nf4, fp4, e2m1, own, int8, e4m3 };

enum class w4_scale_type : std::uint8_t { f16, bf16, f32, e8m0, e4m3 };

constexpr std::uint32_t bytes_of(w4_scale_type type) {
  return type == w4_scale_type::f16 || type == w4_scale_type::bf16 ? 2 : type == w4_scale_type::f32 ? 4 : 1;
}
constexpr std::uint32_t bits_of(w4_codes codes) {
  return codes == w4_codes::int8 || codes == w4_codes::e4m3 ? 8 : 4;
}

// Source: Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", 2023; bitsandbytes, 2026.
inline constexpr float nf4_numbers[16] = {-1.0f,
                                          -0.6961928009986877f,
                                          -0.5250730514526367f,
                                          -0.39491748809814453f,
                                          -0.28444138169288635f,
                                          -0.18477343022823334f,
                                          -0.09105003625154495f,
                                          0.0f,
                                          0.07958029955625534f,
                                          0.16093020141124725f,
                                          0.24611230194568634f,
                                          0.33791524171829224f,
                                          0.44070982933044434f,
                                          0.5626170039176941f,
                                          0.7229568362236023f,
                                          1.0f};
// fp4 of bitsandbytes, times 12.
inline constexpr float fp4_numbers_by_12[16] = {0,     0.0625f,  8,  12,  4,  6,  2,  3,
                                                -0.0f, -0.0625f, -8, -12, -4, -6, -2, -3};
inline constexpr float fp4_numbers[16] = {0.0f,
                                          0.0052083334885537624f,
                                          0.6666666865348816f,
                                          1.0f,
                                          0.3333333432674408f,
                                          0.5f,
                                          0.1666666716337204f,
                                          0.25f,
                                          -0.0f,
                                          -0.0052083334885537624f,
                                          -0.6666666865348816f,
                                          -1.0f,
                                          -0.3333333432674408f,
                                          -0.5f,
                                          -0.1666666716337204f,
                                          -0.25f};
inline constexpr float e2m1_numbers[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                           -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

}  // namespace kaio::ops
