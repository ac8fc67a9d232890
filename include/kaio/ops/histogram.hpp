#pragma once
// Counts the elements of a tensor in bins.
//
//   histogram(s, bytes, counts);                               // counts[v] = elements equal to v
//   histogram(s, tokens, counts, {.first = 1000});             // counts[b] = elements equal to 1000 + b
//   histogram(s, x, counts, {.low = -1, .high = 1});           // f32: bins of equal width from low to high
//
// Counts are u32 and exact in any order, so equal calls give equal counts; they wrap at 2^32. Nothing is
// allocated, read back or waited for, so a call may be captured into a graph; a kernel is loaded when it is first
// used on a device (histogram_warmup). Throws invalid_argument, which names the argument, before anything runs;
// and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct histogram_options {
  std::int64_t first = 0;   // integers: the value of the first bin
  f32 low = 0, high = 0;    // f32: the edges; both finite, low below high
  bool accumulate = false;  // adds to the counts
  // (3) of u32: gets the number of elements below the first bin, above the last one, and of NaN.
  output_view outside{};
};

namespace detail {
void run_histogram(const stream& s, const any_view& x, const any_view& counts,
                   const histogram_options& options);

template <class X>
inline constexpr bool is_histogram_element =
    std::is_same_v<X, u8> || std::is_same_v<X, i32> || std::is_same_v<X, u32> || std::is_same_v<X, f32>;
}  // namespace detail

// x: one to five dimensions, u8, i32, u32 or f32, any strides. counts: (bins) of u32, any stride. Elements outside
// of the bins are not counted there.
//
//   integers    bin x - first
//   f32         bin floor((x - low) * (bins / (high - low))) in f32, at most the last one: it includes high
//
// Fastest with up to 4096 bins, and if rows begin at multiples of 16 bytes.
template <class X, class Counts, std::size_t Rank>
void histogram(const stream& s, const tensor_view<X, Rank>& x, const tensor_view<Counts, 1>& counts,
               const histogram_options& options = {}) {
  static_assert(detail::is_histogram_element<std::remove_const_t<X>>,
                "kaio: the elements of histogram are u8, i32, u32 or f32");
  static_assert(std::is_same_v<Counts, u32>, "kaio: the counts of histogram are u32, and not const");
  static_assert(Rank <= 5, "kaio: histogram takes views of one to five dimensions");
  detail::run_histogram(s, x, counts, options);
}
// Refuses arguments that are no such views.
template <class X, class Counts>
  requires(!(detail::views<0, X> && detail::views<1, Counts>))
void histogram(const stream&, const X&, const Counts&, const histogram_options& = {}) {
  detail::refuse_views<X, Counts>();
}

// Loads the kernels ahead of their first use.
void histogram_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::histogram;
using ops::histogram_options;
using ops::histogram_warmup;
}  // namespace kaio
