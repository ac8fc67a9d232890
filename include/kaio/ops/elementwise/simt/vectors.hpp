#pragma once
// elementwise where all operands are contiguous along one dimension, or have one element for all of it, and
// begin at multiples of 16 bytes. An item is `width` neighbours, which one access of at most 16 bytes moves
// (8-byte elements: two). A thread has two items if the function has one tensor and no variants, else one.
//
//   block b, two items    thread i: items 512 b + i and 512 b + 256 + i

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/function.hpp>
#include <kaio/ops/elementwise/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 elementwise_threads = 256;

template <class Signature, u32 Sm>
struct elementwise_vectors {
  using problem_type = elementwise_problem<Signature::operands>;
  static constexpr u32 width = Signature::width;
  static constexpr u32 items_of_thread = Signature::tensors == 1 && !Signature::has_variants ? 2 : 1;
  static constexpr u32 items_of_block = elementwise_threads * items_of_thread;
  template <u32 I>
  using words = detail::element_words<detail::stored_operand<typename Signature::template input<I>>, width>;

  // The first word of input I.
  template <u32 I>
  static constexpr u32 first_word() {
    if constexpr (I == 0) {
      return 0;
    } else if constexpr (Signature::template is_number<I - 1>) {
      return first_word<I - 1>();
    } else {
      return first_word<I - 1>() + words<I - 1>::count;
    }
  }
  static constexpr u32 all_words = first_word<Signature::inputs>();

  static constexpr void run(thread t, const val<problem_type>& problem) {
    const val first = t.let(block_idx_x() * items_of_block + thread_idx_x());
    const val items = t.let(problem[&problem_type::items]);
    if (auto exists = t.when(first < items)) {
      // A thread without a second item loads its first one again.
      const auto item = array_of<items_of_thread>([&](u32 n) {
        const val later = t.let(first + n * elementwise_threads);
        return t.let(select(later < items, later, first));
      });
      const auto at = array_of<items_of_thread>(
          [&](u32 n) { return detail::places_of_item<Signature::operands>(t, problem, item[n]); });
      const auto x = array_of<items_of_thread>([&](u32 n) { return load(t, problem, at[n]); });
      for (u32 n = 0; n < items_of_thread; ++n)
        if (auto own = t.when(first + n * elementwise_threads < items))
          with_variant(t, problem, [&](auto variant) { compute<variant()>(t, problem, at[n], x[n]); });
    }
    const val one = t.let(first);
    if (auto in_rest = t.when(one < problem[&problem_type::rest]))
      with_variant(t, problem, [&](auto variant) { compute_rest<variant()>(t, problem, one, items); });
  }

 private:
  template <class F>
  static constexpr void with_variant(thread t, const val<problem_type>& problem, const F& f) {
    Signature::with_variant(t, problem[&problem_type::addresses], f);
  }
  template <class At>
  static constexpr auto load(thread t, const val<problem_type>& problem, const At& at) {
    auto x = array_of<(all_words == 0 ? 1 : all_words)>([&](u32) { return var(t, 0u); });
    Signature::each_input([&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (!Signature::template is_number<I>) {
        constexpr u32 operand = Signature::outputs + I;
        const val is_repeated = t.let((problem[&problem_type::repeated] >> operand & 1u) != 0u);
        if (auto repeated = t.when(is_repeated)) words<I>::load_repeated(t, at[operand], x, first_word<I>());
        if (auto own = t.otherwise()) words<I>::load(t, at[operand], x, first_word<I>());
      }
    });
    return x;
  }
  template <u32 Variant, class At, class X>
  static constexpr void compute(thread t, const val<problem_type>& problem, const At& at, const X& x) {
    if constexpr (Signature::copies) return words<0>::store(t, at[0], x);
    const auto results = array_of<width>([&](u32 e) {
      return Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
        if constexpr (Signature::template is_number<I>)
          return number<I>(t, problem);
        else
          return words<I>::value(t, x, first_word<I>(), e);
      });
    });
    Signature::each_output([&]<u32 O>(std::integral_constant<u32, O>) {
      const auto y = array_of<width>([&](u32 e) { return t.let(results[e][O]); });
      detail::store_elements<typename Signature::template output<O>, Sm>(t, at[O], y);
    });
  }
  // The elements after the last item, of a single dimension: thread i has element i of them.
  template <u32 Variant>
  static constexpr void compute_rest(thread t, const val<problem_type>& problem, const val<u32>& i,
                                     const val<u32>& items) {
    const auto place = [&](u32 operand, u32 bytes) {
      constexpr u32 outermost = elementwise_dimensions - 1;
      const val stride = t.let(problem[&problem_type::strides][operand * elementwise_dimensions + outermost]);
      const val is_repeated = t.let((problem[&problem_type::repeated] >> operand & 1u) != 0u);
      const val begin = t.let(mad_wide(items, stride, problem[&problem_type::addresses][operand]));
      return t.let(begin + cast<u64>(select(is_repeated, 0u, i * bytes)));
    };
    const auto results = Signature::template apply<Variant>(t, [&]<u32 I>(std::integral_constant<u32, I>) {
      if constexpr (Signature::template is_number<I>) {
        return number<I>(t, problem);
      } else {
        using stored = detail::stored_operand<typename Signature::template input<I>>;
        const val from = place(Signature::outputs + I, sizeof(stored));
        const val one = pointer_at<inout<stored>>(t, from)[0];
        return detail::value_of_stored<stored>(t, one);
      }
    });
    Signature::each_output([&]<u32 O>(std::integral_constant<u32, O>) {
      using stored = typename Signature::template output<O>;
      const val to = place(O, sizeof(stored));
      pointer_at<out<stored>>(t, to)[0] = detail::rounded_to<stored>(t, results[O]);
    });
  }
  template <u32 I>
  static constexpr auto number(thread t, const val<problem_type>& problem) {
    using stored = detail::stored_operand<typename Signature::template input<I>>;
    return detail::value_of_bits<stored>(t, t.let(problem[&problem_type::addresses][Signature::outputs + I]));
  }
};

template <dsl::fixed_string Name, class Signature, u32 Sm>
inline constexpr auto elementwise_vectors_kernel =
    kaio::kernel<Name + "_vectors_sm" + decimal<Sm>, elementwise_threads,
                 kernel_options{.target = {Sm, false}}>(
        [](thread t, val<elementwise_problem<Signature::operands>> problem) {
          elementwise_vectors<Signature, Sm>::run(t, problem);
        });

}  // namespace kaio::ops
