#pragma once
// Reduces a tensor along one dimension, or along all, with an operator of the library or of your own.
//
//   reduce(s, reduction::sum, x, y);                                  // y[i] = sum of x[i, :]
//   reduce(s, reduction::max, x, y, {.axis = 0});                     // y[j] = max of x[:, j]
//   reduce(s, reduction::mean, x, y, {.all = true, .workspace = w});  // y[0] = mean of x
//
//   reduce(s, plus{}, 0.0f, x, y, {}, [](const auto& a) { return a * a; });             // sum of squares
//   reduce(s, [](const auto& a, const auto& b) { return a * b; }, 1.0f, x, y);          // product
//   reduce(s, plus{}, 0.0f, x, y, {}, [](const auto& a) { return a * a; },
//          [](const auto& a, const auto& n) { return sqrt(a / cast<f32>(n)); });        // root mean square
//
//   y = finish(combine(map(x0), map(x1), ...), n)
//
// The order in which elements are combined depends on the extents and on which strides are 1, so equal calls
// give equal bits, and a row that is reduced along its neighbours has the same bits alone and among others. An
// axis of extent 0 gives finish(identity, 0). Nothing is allocated, read back or waited for, so a call may be
// captured into a graph; a kernel is loaded when it is first used on a device (reduce_warmup). Throws
// invalid_argument, which names the argument, before anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/reduce/call/plan.hpp>
#include <kaio/ops/reduce/simt/columns.hpp>
#include <kaio/ops/reduce/simt/rows.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

// max and min of an empty axis are -infinity and infinity, and a NaN among the elements is the result.
enum class reduction : std::uint8_t { sum, mean, max, min };

namespace detail {

void run_reduce(const stream& s, reduction how, const any_view& x, const any_view& out,
                const reduce_options& options);

template <class T>
concept reduce_accumulator = std::is_same_v<T, f32> || std::is_same_v<T, f64> || std::is_same_v<T, i32> ||
                             std::is_same_v<T, u32> || std::is_same_v<T, i64> || std::is_same_v<T, u64>;

template <class X, class Out, std::size_t Rank>
constexpr void require_reduce_types() {
  static_assert(
      is_wide(element_kind_of<X>()) &&
          (std::is_same_v<std::remove_const_t<X>, Out> || std::is_same_v<Out, f32>),
      "kaio: reduce by a reduction takes elements of f32, f16 or bf16, and writes their type or f32; "
      "for others write the operator and its identity: reduce(s, plus{}, 0, x, y)");
  static_assert(Rank <= 5, "kaio: reduce takes views of one to five dimensions");
}
template <class X, class Out, class Acc, std::size_t Rank>
constexpr void require_own_reduce_types() {
  static_assert(
      reduce_accumulator<Acc>,
      "kaio: the identity of reduce is f32, f64, i32, u32, i64 or u64; it is the type in which elements "
      "are combined");
  static_assert(std::is_same_v<Acc, Out> || (std::is_same_v<Acc, f32> && is_wide(element_kind_of<Out>())),
                "kaio: the output of reduce has the type of the identity; if that is f32, also f16 or bf16");
  static_assert(!is_quantised(element_kind_of<X>()) || std::is_same_v<std::remove_const_t<X>, i8>,
                "kaio: reduce takes no elements of 8-bit floats; dequantise them");
  static_assert(Rank <= 5, "kaio: reduce takes views of one to five dimensions");
}
template <class Combine, class Map, class Finish>
constexpr void require_reduce_functions() {
  static_assert(std::is_empty_v<Combine> && std::is_empty_v<Map> && std::is_empty_v<Finish>,
                "kaio: the functions of reduce capture nothing; they become part of a kernel");
}

template <class T, class Acc, class Combine, class Map, class Finish>
void launch_reduce(const stream& s, const std::vector<reduce_step>& steps, Acc identity) {
  for (const reduce_step& step : steps) {
    const grid blocks(step.blocks, step.splits);
    switch (step.kernel) {
      case reduce_kernel::rows:
        reduce_rows<T, Acc, Combine, Map, Finish>.launch(s, blocks, step.problem, identity);
        break;
      case reduce_kernel::columns:
        reduce_columns<T, Acc, Combine, Map, Finish>.launch(s, blocks, step.problem, identity);
        break;
      case reduce_kernel::final:
        reduce_rows<Acc, Acc, Combine, unchanged, Finish>.launch(s, blocks, step.problem, identity);
        break;
    }
  }
}

}  // namespace detail

// x: one to five dimensions, f32, f16 or bf16, any strides. out: the extents of x without the axis, or with 1
// in its place; with .all, one element. Its type is that of x, or f32. Sums are f32, rounded once. out is
// apart from x. Fastest if rows begin at multiples of 16 bytes.
template <class X, class Out, std::size_t Rank, std::size_t OutRank>
void reduce(const stream& s, reduction how, const tensor_view<X, Rank>& x,
            const tensor_view<Out, OutRank>& out, const reduce_options& options = {}) {
  detail::require_reduce_types<X, Out, Rank>();
  detail::run_reduce(s, how, x, out, options);
}

// reduce with functions of your own, without captures, over values of the type of `identity`:
//
//   combine(a, b)    associative and commutative; plus{}, maximum{}, a lambda, a class
//   identity         combine(identity, a) is a. f32, f64, i32, u32, i64 or u64
//   map(a)           of each element, converted to that type, before it is combined
//   finish(a, n)     of each result; n is the number of elements, a u64
//
// x: f32, f64, f16, bf16 or integers. out has the type of `identity`; if that is f32, out may be f16 or bf16.
// Up to three kernels are compiled where the call is written.
template <class Combine, class Acc, class X, class Out, std::size_t Rank, std::size_t OutRank,
          class Map = unchanged, class Finish = unchanged>
void reduce(const stream& s, Combine, Acc identity, const tensor_view<X, Rank>& x,
            const tensor_view<Out, OutRank>& out, const reduce_options& options = {}, Map = {}, Finish = {}) {
  const detail::operation_scope traced("reduce");
  detail::require_own_reduce_types<X, Out, Acc, Rank>();
  detail::require_reduce_functions<Combine, Map, Finish>();
  const auto steps = detail::plan_reduce(s.device_identity(), {"reduce", x, out, &options, sizeof(Acc)});
  detail::launch_reduce<std::remove_const_t<X>, Acc, Combine, Map, Finish>(s, steps, identity);
}
// Refuses arguments that are no such views.
template <class X, class Out>
  requires(!detail::views<0, X, Out>)
void reduce(const stream&, reduction, const X&, const Out&, const reduce_options& = {}) {
  detail::refuse_views<X, Out>();
}

// The bytes of workspace that a call needs; 0 if it needs none.
template <class X, class Out, std::size_t Rank, std::size_t OutRank>
std::uint64_t reduce_workspace_bytes(reduction, const tensor_view<X, Rank>& x,
                                     const tensor_view<Out, OutRank>& out,
                                     const reduce_options& options = {}) {
  detail::require_reduce_types<X, Out, Rank>();
  return detail::reduce_bytes({"reduce_workspace_bytes", x, out, &options, sizeof(f32)});
}
template <class Combine, class Acc, class X, class Out, std::size_t Rank, std::size_t OutRank>
std::uint64_t reduce_workspace_bytes(const Combine&, Acc, const tensor_view<X, Rank>& x,
                                     const tensor_view<Out, OutRank>& out,
                                     const reduce_options& options = {}) {
  return detail::reduce_bytes({"reduce_workspace_bytes", x, out, &options, sizeof(Acc)});
}

// Loads the kernels of a reduction of elements of `kind` ahead of their first use.
void reduce_warmup(const runtime::device& gpu, reduction how, element_kind kind);

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::reduce;
using ops::reduce_options;
using ops::reduce_warmup;
using ops::reduce_workspace_bytes;
using ops::reduction;
}  // namespace kaio
