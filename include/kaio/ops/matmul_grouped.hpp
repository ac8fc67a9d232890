#pragma once
// Products of groups of rows, each with a matrix of its own: the experts of a mixture.
//
//   sort_by_expert(s, indices, offsets, {.tokens = tokens, .positions = positions});
//   matmul_grouped(s, x, w.transposed(), offsets, y, {.rows = tokens});
//                               // y[r, :] = x[tokens[r], :] * w[g]^T where offsets[g] <= r < offsets[g + 1]
//   combine_experts(s, y, weights, positions, out);
//
// The offsets are read on the device alone: nothing is allocated, read back or waited for, so a call may be captured
// into a graph and replayed with other groups. Groups have any number of rows, 0 too. Sums are f32, in a fixed order,
// and are rounded once: equal calls give equal bits. A kernel is loaded when it is first used on a device
// (matmul_grouped_warmup). Throws invalid_argument, which names the argument, before anything runs; and what a
// launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct matmul_grouped_options {
  // (rows), i32, neighbours adjacent: row r of c is of row rows[r] of a. Without it, of row r of a. An index that is
  // no row of a counts as a row of zeros.
  tensor_view<const i32, 1> rows{};
  // (groups, n), f32, neighbours adjacent: added to the sums of a group before they are rounded.
  tensor_view<const f32, 2> bias{};
};

namespace detail {
void run_matmul_grouped(const stream& s, const any_view& a, const any_view& b, const any_view& offsets,
                        const any_view& c, const matmul_grouped_options& options = {});
}  // namespace detail

// a: (rows, k), f16 or bf16; with options.rows of any number of rows. b: (groups, k, n), of a's type; weights (groups, n, k) are transposed(). offsets:
// (groups + 1), i32, neighbours adjacent, not decreasing; group g has the rows offsets[g] to offsets[g + 1] - 1.
// Offsets beyond the rows count as their number, negative ones too. c: (rows, n), of a's type or f32, apart from
// everything else; rows of no group are not written. Any strides; fewer than 2^31 rows, columns and k. Fastest, from
// sm_80 on, if a has neighbours along k, b along k or n, c along n, and lines of a and b begin at multiples of 16
// bytes.
template <class A, class B, class Offset, class C>
void matmul_grouped(const stream& s, const tensor_view<A, 2>& a, const tensor_view<B, 3>& b,
                    const tensor_view<Offset, 1>& offsets, const tensor_view<C, 2>& c,
                    const matmul_grouped_options& options = {}) {
  using element = std::remove_const_t<A>;
  static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                "kaio: the elements of matmul_grouped are f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<B>>,
                "kaio: a and b of matmul_grouped have the same element type");
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>,
                "kaio: the offsets of matmul_grouped are i32");
  static_assert(std::is_same_v<C, element> || std::is_same_v<C, f32>,
                "kaio: the output of matmul_grouped has the element type of a, or f32, and is not const");
  detail::run_matmul_grouped(s, a, b, offsets, c, options);
}
// Refuses arguments that are no such views.
template <class A, class B, class Offset, class C>
  requires(!(detail::views<2, A, C> && detail::views<3, B> && detail::views<1, Offset>))
void matmul_grouped(const stream&, const A&, const B&, const Offset&, const C&,
                    const matmul_grouped_options& = {}) {
  detail::refuse_views<A, B, Offset, C>();
}

// Loads the kernels that the device may run ahead of their first use.
void matmul_grouped_warmup(const runtime::device& gpu);

// The images of the kernels of matmul_grouped.
std::vector<const ptx::kernel_image*> matmul_grouped_kernels();

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_grouped;
using ops::matmul_grouped_options;
using ops::matmul_grouped_warmup;
}  // namespace kaio
