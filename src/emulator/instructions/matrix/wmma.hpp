#pragma once
// The fragments of wmma: the matrix element in each register of each lane. The PTX ISA leaves this open. Here
// it is as on GPUs from sm_75 on: a fragment consists of mma.sync fragments, which are blocks of 8 rows (of
// A, or columns of B) by 4 registers of K, four lanes per row. It does not depend on the matrix's layout in
// memory.
//
//   const wmma_form f{wmma_shape::m16n16k16, wmma_matrix::a, wmma_element::f16, false};
//   const matrix_place p = address_operand_of(f, lane, 3, 1);  // the second half of the fourth register

#include "emulator/program/program.hpp"

namespace kaio::emulator {

class instruction_decoder;

enum class wmma_shape : u8 { m16n16k16, m8n32k16, m32n8k16, m16n16k8, m8n8k4, m8n8k32, m8n8k128 };
enum class wmma_matrix : u8 { a, b, accumulator };
enum class wmma_element : u8 { f16, bf16, tf32, f64_, s8_, u8_, s4, u4, b1, f32_, s32_ };

struct matrix_extent {
  u32 m, n, k;
};

constexpr matrix_extent extent_of(wmma_shape shape) {
  constexpr matrix_extent extents[] = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}, {16, 16, 8},
                                       {8, 8, 4},    {8, 8, 32},  {8, 8, 128}};
  return extents[static_cast<unsigned>(shape)];
}

constexpr u32 bits_of(wmma_element element) {
  constexpr u32 bits[] = {16, 16, 32, 64, 8, 8, 4, 4, 1, 32, 32};
  return bits[static_cast<unsigned>(element)];
}

// The matrix of a load or a store: the contents of instruction::detail.
struct wmma_form {
  wmma_shape shape;
  wmma_matrix matrix;
  wmma_element element;
  bool column_major;
};

// A multiplication: the contents of instruction::detail. A and B have one element type.
struct wmma_product {
  wmma_shape shape;
  wmma_element element, c, d;
};

struct matrix_place {
  u32 row, column;
};

// Registers per lane, 32 bits wide, or 64 for f64. `distinct`: f16 fragments may hold every element more than
// once.
u32 registers_of(wmma_form f);
u32 distinct_registers_of(wmma_form f);
inline u32 elements_of_register(wmma_element element) {
  return element == wmma_element::f64_ ? 1 : 32 / bits_of(element);
}

// The place of a register's element. Rows and columns are the matrix's: m and k for A, k and n for B.
matrix_place address_operand_of(wmma_form f, u32 lane, u32 index, u32 element);

void decode_wmma(instruction_decoder& f);
handler wmma_handler(const instruction& i);

}  // namespace kaio::emulator
