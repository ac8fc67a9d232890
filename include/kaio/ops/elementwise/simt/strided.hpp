#pragma once
// elementwise for any strides and addresses. Neighbouring threads, 1 to 256 lanes, have a piece of dimension 0;
// a thread has four elements of it, or two if the function has variants:
//
//   64 lanes     lane 0: elements 0, 64, 128, 192     lane 1: 1, 65, 129, 193     ...
//
// So the place of a row is found once for all elements of a thread.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/function.hpp>
#include <kaio/ops/elementwise/common/place.hpp>
#include <kaio/ops/elementwise/simt/vectors.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ops {

template <class Signature>
struct elementwise_strided {
  using problem_type = elementwise_strided_problem<Signature::operands>;
  using pieces_type = elementwise_problem<Signature::operands>;
  static constexpr u32 elements_of_thread = Signature::has_variants ? 2 : 4;

  static constexpr void run(thread t, const val<problem_type>& problem) {
    const auto pieces = problem[&problem_type::pieces];
    const val lanes_log = t.let(problem[&problem_type::lanes_log]);
    const val lanes = t.let(1u << lanes_log);
    const val lane = t.let(thread_idx_x() & (lanes - 1u));
    const val piece = t.let((block_idx_x() * elementwise_threads + thread_idx_x()) >> lanes_log);
    if (auto inside = t.when(piece < pieces[&pieces_type::items])) {
      const quotient by_0 = divide(t, piece, pieces[&pieces_type::extents][0]);
      const val first = t.let((by_0.rest << lanes_log) * elements_of_thread);
      const val left = t.let(problem[&problem_type::extent] - first);  // elements from the piece on
      if (auto exists = t.when(lane < left)) {
        auto begin = array_of<Signature::operands>(
            [&](u32 i) { return var(t, t.let(pieces[&pieces_type::addresses][i])); });
        detail::move_places<pieces_type>(t, pieces, by_0.rest, 0, begin);
        var rest(t, by_0.whole);
        detail::place_outer<pieces_type, 1>(t, pieces, begin, rest);
        const val outermost = t.let(rest);
        detail::move_places<pieces_type>(t, pieces, outermost, elementwise_dimensions - 1, begin);
        // A thread without all of its elements loads its first one again.
        const auto at = array_of<elements_of_thread>([&](u32 n) {
          const val later = t.let(lane + lanes * n);
          const val place = t.let(select(later < left, later, lane));
          return array_of<Signature::operands>(
              [&](u32 i) { return t.let(mad_wide(place, problem[&problem_type::steps][i], begin[i])); });
        });
        const auto x = array_of<elements_of_thread>(
            [&](u32 n) { return load(t, problem, at[n], std::make_index_sequence<Signature::inputs>()); });
        Signature::with_variant(t, pieces[&pieces_type::addresses], [&](auto variant) {
          const auto results =
              array_of<elements_of_thread>([&](u32 n) { return compute<variant()>(t, x[n]); });
          for (u32 n = 0; n < elements_of_thread; ++n)
            if (auto own = t.when(lane + lanes * n < left)) store(t, at[n], results[n]);
        });
      }
    }
  }

 private:
  template <u32 I>
  using stored = detail::stored_operand<typename Signature::template input<I>>;

  // The element of input I; of a number of the host, its value.
  template <u32 I, class At>
  static constexpr auto load_one(thread t, const val<problem_type>& problem, const At& at) {
    constexpr u32 operand = Signature::outputs + I;
    if constexpr (Signature::template is_number<I>) {
      return detail::value_of_bits<stored<I>>(
          t, t.let(problem[&problem_type::pieces][&pieces_type::addresses][operand]));
    } else {
      const val one = pointer_at<inout<stored<I>>>(t, at[operand])[0];
      return t.let(one);
    }
  }
  template <class At, std::size_t... I>
  static constexpr auto load(thread t, const val<problem_type>& problem, const At& at,
                             std::index_sequence<I...> places) {
    using list =
        detail::value_list<decltype(places), decltype(load_one<static_cast<u32>(I)>(t, problem, at))...>;
    return list{{load_one<static_cast<u32>(I)>(t, problem, at)}...};
  }
  template <u32 Variant, class X>
  static constexpr auto compute(thread t, const X& x) {
    return Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
      const auto& one = part_of<I>(x);
      if constexpr (Signature::template is_number<I>)
        return t.let(one);
      else
        return detail::value_of_stored<stored<I>>(t, one);
    });
  }
  template <class At, class Results>
  static constexpr void store(thread t, const At& at, const Results& results) {
    Signature::each_output([&]<u32 O>(std::integral_constant<u32, O>) {
      using type = typename Signature::template output<O>;
      pointer_at<out<type>>(t, at[O])[0] = detail::rounded_to<type>(t, results[O]);
    });
  }
  template <u32 I, class V>
  static constexpr const V& part_of(const detail::value_part<I, V>& part) {
    return part.value;
  }
};

template <dsl::fixed_string Name, class Signature>
inline constexpr auto elementwise_strided_kernel = kaio::kernel<Name + "_strided", elementwise_threads>(
    [](thread t, val<elementwise_strided_problem<Signature::operands>> problem) {
      elementwise_strided<Signature>::run(t, problem);
    });

}  // namespace kaio::ops
