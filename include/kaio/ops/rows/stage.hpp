#pragma once
// A row in shared memory, in pieces of 16 bytes. A thread has some of its elements, and passes over them as often as an
// operation needs:
//
//   auto stage = stage_row<T, Sm, Vectors>(t, problem[&my_problem::rows], problem[&my_problem::x]);
//   stage.each_piece(stage.address(), [&](const auto& p, auto& bits) {
//     using words = words_of<decltype(p)>;
//     const val first = words::value(t, bits, 0);   // of words::width elements
//     stage.emit(to, p, words::rounded(t, y));
//   });
//   stage.flush(to);
//
//   Vectors     rows begin at multiples of 16 bytes and have whole pieces     vectors.hpp
//   otherwise   rows begin at any element                                     elements.hpp
//
// If a row is longer than shared memory, its last elements are far: each pass reads them again.
//
//   each_piece(line, f)        far elements come from the row at `line`
//   each_with_factors(line, f) f(p, bits, factors): with those of the piece, or 0 if there are none
//   each_pair(f)               of the rows of two tensors
//   put(p, bits)               replaces a piece, unless it is far
//   emit(to, p, bits)          a piece of the result; no pass follows. After the loop: flush(to)
//   keep(to, writes, p, bits)  replaces a piece; far ones are written to the row at `to`, the others are if `writes`.
//                              After the loop: flush, if `writes`
//   load(row, p, bits)         a piece of another row of this size and, for Vectors, this alignment

#include <kaio/ops/rows/elements.hpp>
#include <kaio/ops/rows/vectors.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem>
using row_stage = std::conditional_t<Vectors, vector_stage<T, Sm, Problem>, element_stage<T, Sm, Problem>>;

// The end of a kernel's name.
template <bool Vectors>
inline constexpr auto row_kernel_suffix = [] {
  if constexpr (Vectors)
    return dsl::fixed_string("_vectors");
  else
    return dsl::fixed_string("_elements");
}();

// Finds the row of this thread in x, and copies it to shared memory. factors: the address of numbers of x's type, one for
// each element of a row; 0: there are none.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor>
constexpr auto stage_row(thread t, const Problem& problem, const Tensor& x, const val<u64>& factors) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, factors);
}
template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor>
constexpr auto stage_row(thread t, const Problem& problem, const Tensor& x) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, t.let(val<u64>(u64{0})));
}
// Copies a row of `second` too, to the slots that follow x's: the launch has twice the shared memory.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors, class Problem, class Tensor, class Second>
constexpr auto stage_rows(thread t, const Problem& problem, const Tensor& x, const Second& second) {
  return row_stage<T, Sm, Vectors, Problem>(t, problem, x, t.let(val<u64>(u64{0})), second);
}

}  // namespace kaio::ops
