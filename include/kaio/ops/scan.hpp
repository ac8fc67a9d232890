#pragma once
// Scans the rows of a tensor: sums, or an operator of your own, of all elements up to each one.
//
//   scan(s, x, y);                                             // y[r, i] = x[r, 0] + ... + x[r, i]
//   scan(s, x, y, {.exclusive = true});                        // y[r, i] = x[r, 0] + ... + x[r, i - 1]; y[r, 0] = 0
//   scan(s, maximum{}, std::numeric_limits<f32>::lowest(), x, y);
//   scan(s, [](const auto& a, const auto& b) { return select(b != 0, b, a); }, i32{0}, x, y);  // fills gaps
//
// The operator is associative; it need not commute. The order of combination depends on the size of a row
// alone: a row has the same bits alone and among others. Nothing is allocated, read back or waited for, so a
// call may be captured into a graph; a kernel is loaded when it is first used on a device (scan_warmup).
// Throws invalid_argument, which names the argument, before anything runs; and what a launch throws.
//
// Source: Dotsenko et al., "Fast Scan Algorithms on Graphics Processors", 2008 (reduce, then scan).

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/scan/call/plan.hpp>
#include <kaio/ops/scan/simt/kernel.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {

void run_scan(const stream& s, const any_view& x, const any_view& out, const scan_options& options);

template <class T>
concept scan_element = std::is_same_v<T, f32> || std::is_same_v<T, f64> || std::is_same_v<T, i32> ||
                       std::is_same_v<T, u32> || std::is_same_v<T, i64> || std::is_same_v<T, u64>;

template <class X, class Out, std::size_t Rank>
constexpr void require_scan_types() {
  static_assert(scan_element<std::remove_const_t<X>>,
                "kaio: the elements of scan are f32, f64, i32, u32, i64 or u64");
  static_assert(std::is_same_v<std::remove_const_t<X>, Out>,
                "kaio: the output of scan has the element type of x, and is not const");
  static_assert(Rank <= 5, "kaio: scan takes views of one to five dimensions");
}

template <class T, class Combine>
void launch_scan(const stream& s, const std::vector<scan_launch>& launches, T identity) {
  for (const scan_launch& one : launches)
    scan_rows<T, Combine>.launch(s, grid(one.blocks, one.splits), one.problem, identity);
}

}  // namespace detail

// Sums along the last dimension. x, out: one to five dimensions of equal extents, any strides; f32, i32, u32,
// i64 or u64, whose integers wrap. out is x itself, element by element, or apart from it. Fewer than 2^31 rows.
// Fastest if rows begin at multiples of 16 bytes.
template <class X, class Out, std::size_t Rank>
void scan(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Out, Rank>& out,
          const scan_options& options = {}) {
  detail::require_scan_types<X, Out, Rank>();
  static_assert(!std::is_same_v<Out, f64>, "kaio: sums of f64 are scan(s, plus{}, f64{0}, x, out)");
  detail::run_scan(s, x, out, options);
}

// scan with an associative operator of your own, without captures. combine(identity, a) and combine(a, identity)
// are a; identity has the type of the elements, f64 included. One kernel is compiled where the call is written.
template <class Combine, class T, class X, class Out, std::size_t Rank>
void scan(const stream& s, Combine, T identity, const tensor_view<X, Rank>& x,
          const tensor_view<Out, Rank>& out, const scan_options& options = {}) {
  const detail::operation_scope traced("scan");
  detail::require_scan_types<X, Out, Rank>();
  static_assert(std::is_same_v<T, Out>, "kaio: the identity of scan has the type of the elements");
  static_assert(std::is_empty_v<Combine>,
                "kaio: the operator of scan captures nothing; it becomes part of a kernel");
  detail::launch_scan<T, Combine>(s, detail::plan_scan(s.device_identity(), "scan", x, out, options),
                                  identity);
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!detail::views<0, X, Out>)
void scan(const stream&, const X&, const Out&, const scan_options& = {}) {
  detail::refuse_views<X, Out>();
}

// The bytes of workspace that a call needs: 0 for rows of up to 16,384 elements.
template <class X, class Out, std::size_t Rank>
std::uint64_t scan_workspace_bytes(const tensor_view<X, Rank>& x, const tensor_view<Out, Rank>& out) {
  detail::require_scan_types<X, Out, Rank>();
  return detail::scan_bytes(x, out);
}

// Loads the kernel of sums of `kind` ahead of its first use: f32, i32 (u32) or i64 (u64).
void scan_warmup(const runtime::device& gpu, element_kind kind);

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::scan;
using ops::scan_options;
using ops::scan_warmup;
using ops::scan_workspace_bytes;
}  // namespace kaio
