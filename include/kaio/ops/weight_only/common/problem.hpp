#pragma once
// The arguments of the kernels for packed weights: checked, and without types.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/shared/element_type.hpp>

namespace kaio::ops {

// Packed weights in device memory (layout.hpp).
struct w4_packed {
  u64 codes, scales;
  u64 zeros, rows;  // 0: none; with offsets, `zeros` are f32
  u32 n, k, groups;
  u32 tiles_n, tiles_k;
  divisor group;
  u32 slots;        // groups that a tile may overlap: 1 (multiples of 64), 2 or 4
  u32 scales_bf16;  // scales of 2 bytes are bf16, else f16
  u32 codes_type;   // a w4_codes
  u32 scale_type;   // a w4_scale_type
  u32 neighbours;   // the order of codes in a word (layout.hpp)
  u64 factors;      // f32 per n; 0: none
  u32 offsets;      // there are offsets per group and column
  u32 zero;         // zero point of codes of four bits, if none are given
};

// Sixteen numbers of 16 bits, as lower and upper bytes: four bytes in a word.
struct w4_table_words {
  u32 low0, low1, low2, low3, high0, high1, high2, high3;
};

// A matmul_w4. `sums` are f32 [splits][m][tiles_n * 32].
struct w4_problem {
  w4_packed w;
  u64 x;
  i64 x_row;    // in elements
  u32 x_by_16;  // rows begin at multiples of 16 bytes, and there is no act-order
  u32 m;
  u64 out;
  i64 out_row;
  u32 out_type;     // an element_type: that of x, or f32
  u32 out_by_four;  // four neighbours are one access, if all exist
  u64 bias;         // element type of x; 0: none
  u32 type;         // element_type of x
  f32 unit;         // multiplies y
  w4_table_words table;
  u32 constant;  // no work before this one writes the weights
  u64 sums;
  u32 splits;   // splits of K (split-K)
  u32 cluster;  // blocks per cluster, which has all splits; 1: no clusters
  u32 steps,
      rest;  // steps of K (sm_90a: several tiles each) per split; the first `rest` splits have one more
  divisor m_tiles, n_tiles;
  u32 tile_rows,
      stages;  // kernels for sm_90a that round weights: rows of x per block, stages of shared memory
};

// The place of number (row, column) in a packed tensor. A unit has 2^unit_log2 bits; row_units, column_units
// and unit are strides, in units. The number begins in unit
//
//   (row >> row_bits) * row_units + (column >> column_bits) * column_units + bit / 2^unit_log2 * unit
//   bit = bits * (sum of of_row[i] over the bits i of the row, and of of_column[i] over those of the column)
//
// at bit (bit % 2^unit_log2), and continues in the next unit. This covers all layouts of files and of other
// libraries' kernels. row_bits and column_bits are at most 8.
struct w4_place {
  u64 address;
  u32 of_row[8], of_column[8];
  u32 row_bits, column_bits;
  u32 bits, unit_log2;  // unit_log2: 4 or 5; 0: each number is a unit
  i64 row_units, column_units, unit;
};

// Weights of a file, and where they go. Places take (k, n) for codes, (group, n) for all else.
struct w4_source {
  w4_packed w;
  w4_place codes;
  u32 flip;                   // exclusive or with each code
  u32 add;                    // then added to codes and zero points of fewer than four bits
  w4_place scales;            // f16 or bf16
  u32 scales_type;            // a w4_scale_type
  w4_place zeros;             // if the packed weights have zero points
  u32 zeros_add, zeros_mask;  // applied to zero points before `add`
  w4_place offsets;           // type of the scales; if the packed weights have offsets
  u64 act_order;              // i32, the group of each k; 0: k / group
};

// Weights in bytes. The code of (k, n) is in byte b = k * bits / 8 of line n, at
//   codes + n * codes_n + b / block * codes_block + b % block
struct w4_bytes_source {
  w4_packed w;
  u64 codes;
  i64 codes_block, codes_n;
  divisor block;
  u32 bits;
  u32 high_first;  // codes of four bits: the even k in the upper half of a byte
  u32 flip;        // exclusive or with each code
  // Scales: element [group][n / scales_columns]. scale_factor multiplies those that become f32.
  u64 scales;
  i64 scales_group, scales_n;
  divisor scales_columns;
  u32 scales_type;  // a w4_scale_type
  f32 scale_factor;
  // Nested scales of 8 bits: nested_table[code i] * nested_scales[i / nested_block] + nested_offset; 0: none.
  u64 nested_table, nested_scales;
  f32 nested_offset;
  divisor nested_block;
  // Zero points of eight bits: byte [group][n / zeros_block * zeros_n + n % zeros_block]; 0: none.
  u64 zeros;
  i64 zeros_group, zeros_n;
  divisor zeros_block;
  u32 zeros_add;  // modulo 256
  u64 act_order;  // i32, the group of each k; 0: k / group
  u64 factors;    // f32 per n, with stride factors_n; 0: none
  i64 factors_n;
  u32 factors_divide;
};

// The matrix of packed weights. Strides in elements.
struct w4_matrix {
  w4_packed w;
  u64 out;
  i64 out_n, out_k;
  u32 type;  // an element_type
};

}  // namespace kaio::ops
