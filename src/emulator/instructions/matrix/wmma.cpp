#include "emulator/instructions/matrix/wmma.hpp"

#include <utility>

namespace kaio::emulator {
namespace {

// Adjacent registers in K within a block of 8 rows.
u32 parts_of_k(wmma_form f) { return extent_of(f.shape).k / (4 * elements_of_register(f.element)); }

u32 outer_extent(wmma_form f) {
  const matrix_extent e = extent_of(f.shape);
  return f.matrix == wmma_matrix::a ? e.m : e.n;
}

// m8n32k16 is computed as the transposed product: B takes A's place.
bool is_first_factor(wmma_form f) {
  return (f.matrix == wmma_matrix::a) != (f.shape == wmma_shape::m8n32k16);
}

}  // namespace

u32 distinct_registers_of(wmma_form f) {
  const matrix_extent e = extent_of(f.shape);
  if (f.matrix == wmma_matrix::accumulator) return e.m * e.n / warp_lanes / elements_of_register(f.element);
  return outer_extent(f) / 8 * parts_of_k(f);
}

u32 registers_of(wmma_form f) {
  return f.matrix != wmma_matrix::accumulator && f.element == wmma_element::f16 ? 8
                                                                                : distinct_registers_of(f);
}

matrix_place address_operand_of(wmma_form f, u32 lane, u32 index, u32 element) {
  const u32 group = lane / 4, in_group = lane % 4;
  const u32 per_register = elements_of_register(f.element);
  if (f.matrix == wmma_matrix::accumulator) {
    const u32 e = index * per_register + element;
    const bool square = extent_of(f.shape).m == extent_of(f.shape).n && extent_of(f.shape).m == 16;
    const u32 block = square ? e / 2 % 2 : e / 2;
    matrix_place p{block * 8 + group, (square ? e / 4 * 8 : 0) + in_group * 2 + e % 2};
    if (f.shape == wmma_shape::m8n32k16) std::swap(p.row, p.column);
    return p;
  }
  const u32 parts = parts_of_k(f);
  const u32 r = index % distinct_registers_of(f);
  // First factor: two blocks of rows, then the next part of K. Second factor: all parts of a block first.
  const bool pairs = is_first_factor(f) && outer_extent(f) > 8;
  const u32 block = pairs ? r / (2 * parts) * 2 + r % 2 : r / parts;
  const u32 part = pairs ? r / 2 % parts : r % parts;
  const u32 outer = block * 8 + group, k = (part * 4 + in_group) * per_register + element;
  return f.matrix == wmma_matrix::a ? matrix_place{outer, k} : matrix_place{k, outer};
}

}  // namespace kaio::emulator
