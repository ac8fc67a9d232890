#pragma once
// The forms of the instruction families for f16, bf16 and pairs of them, and for pairs of 16-bit integers.
// Each function is called once the types are read, and checks what may follow.
//
//   f.types(1);
//   if (is_half(f.type(0))) return decode_half_sign(f, operation::neg);

#include "emulator/decode/instruction_decoder.hpp"

namespace kaio::emulator {

constexpr bool is_brain(ptx::type t) { return t == ptx::type::bf16 || t == ptx::type::bf16x2; }

void decode_half_arithmetic(instruction_decoder& f, operation op);  // add, sub, mul
void decode_half_fma(instruction_decoder& f);
void decode_half_sign(instruction_decoder& f, operation op);  // abs, neg
void decode_half_extreme(instruction_decoder& f, operation op);
void decode_half_ex2(instruction_decoder& f);
void decode_half_tanh(instruction_decoder& f);
void decode_half_conversion(instruction_decoder& f);  // cvt of scalar types

// Fails for add.f32.f16, add.f32x2 and the like, which begin with sm_100.
void reject_mixed_precision(const instruction_decoder& f);

// Decodes add, min and max for .u16x2 and .s16x2; false if the instruction is none of them.
bool decode_integer_twins(instruction_decoder& f, operation op);

// Decodes the forms of cvt with a type of their own: .tf32, .e4m3x2, .pack ...; false if it is none of them.
bool decode_special_conversion(instruction_decoder& f);

}  // namespace kaio::emulator
