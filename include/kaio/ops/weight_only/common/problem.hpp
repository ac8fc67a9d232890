#pragma once
// What the kernels on weights of four bits take: checked, and without types.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/matmul/common/tile_walk.hpp>

namespace kaio::ops {

// Packed weights in device memory (layout.hpp).
struct w4_packed {
  u64 codes, scales;
  u64 zeros, rows;  // 0: there are none; `zeros` are f32 where there are offsets
  u32 n, k, groups;
  u32 tiles_n, tiles_k;
  divisor group;
  u32 slots;        // groups that a tile may have part of: 1, where they are multiples of 64; or 2, or 4
  u32 scales_bf16;  // of scales of 2 bytes: else f16
  u32 codes_type;   // a w4_codes
  u32 scale_type;   // a w4_scale_type
  u32 neighbours;   // the order of codes in a word (layout.hpp)
  u64 factors;      // f32, of each n; 0: there are none
  u32 offsets;      // of groups and columns
  u32 zero;         // of codes of four bits, where there are no zero points
};

// Sixteen numbers of 16 bits: bytes of them, the lower and the upper ones, four in a word.
struct w4_table_words {
  u32 low0, low1, low2, low3, high0, high1, high2, high3;
};

// A matmul_w4. Sums of its parts: f32, [parts][m][tiles_n * 32].
struct w4_problem {
  w4_packed w;
  u64 x;
  i64 x_row;    // in elements
  u32 x_by_16;  // rows begin at multiples of 16 bytes, and no order is to be followed
  u32 m;
  u64 out;
  i64 out_row;
  u32 out_type;     // an element_type: that of x, or f32
  u32 out_by_four;  // four neighbours are one access, where all exist
  u64 bias;         // of the element type of x; 0: there is none
  u32 type;         // of x, an element_type
  f32 unit;         // y is multiplied by it
  w4_table_words table;
  u32 constant;  // the weights: no work before this one writes them
  u64 sums;
  u32 parts;        // of K
  u32 cluster;      // blocks of a cluster, which have all parts; 1: without clusters
  u32 steps, rest;  // tiles of a part; the first `rest` parts have one more
  divisor m_tiles, n_tiles;
};

// Where the number of (row, column) is in a packed tensor: in units of 2^unit_log2 bits, of which there are
// so many from unit to unit,
//
//   (row >> row_bits) * row_units + (column >> column_bits) * column_units + bit / 2^unit_log2 * unit
//   bit = bits * (sum of of_row[i] over the bits i of the row, and of of_column[i] over those of the column)
//
// in the bits from bit % 2^unit_log2 on, and in the next unit what goes beyond. That is every layout of the
// files, and those of the kernels of others. 8 of row_bits or column_bits at most.
struct w4_place {
  u64 address;
  u32 of_row[8], of_column[8];
  u32 row_bits, column_bits;
  u32 bits, unit_log2;  // of a unit: 4 or 5; 0: numbers are units
  i64 row_units, column_units, unit;
};

// What a file has of weights, and where they go: codes by (k, n), all else by (group, n).
struct w4_source {
  w4_packed w;
  w4_place codes;
  u32 flip;                   // exclusive or of each code
  u32 add;                    // to each code and zero point, then: of fewer bits than four
  w4_place scales;            // f16 or bf16
  u32 scales_type;            // a w4_scale_type
  w4_place zeros;             // where the packed weights have them
  u32 zeros_add, zeros_mask;  // before `add`
  w4_place offsets;           // of the type of the scales, where the packed weights have offsets
  u64 order;                  // i32, the group of each k; 0: k / group
};

// Weights in bytes. The code of (k, n) is in byte b = k * bits / 8 of line n, which is at codes + n * codes_n +
// b / block * codes_block + b % block.
struct w4_bytes_source {
  w4_packed w;
  u64 codes;
  i64 codes_block, codes_n;
  divisor block;
  u32 bits;
  u32 high_first;  // of codes of four bits: the even k in the upper half of a byte
  u32 flip;        // exclusive or of each code
  // Scales: element [group][n / scales_columns], by scale_factor where they become f32.
  u64 scales;
  i64 scales_group, scales_n;
  divisor scales_columns;
  u32 scales_type;  // a w4_scale_type
  f32 scale_factor;
  // Nested scales: codes of 8 bits of a table, by the scale of nested_block of them, and an offset; else 0.
  u64 nested_table, nested_scales;
  f32 nested_offset;
  divisor nested_block;
  // Zero points of eight bits: byte [group][n / zeros_block * zeros_n + n % zeros_block]; 0: there are none.
  u64 zeros;
  i64 zeros_group, zeros_n;
  divisor zeros_block;
  u32 zeros_add;  // modulo 256
  u64 order;      // i32, the group of each k; 0: k / group
  u64 factors;    // f32, of each n with stride factors_n; 0: there are none
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
