#pragma once
// What the kernels of reduce share: loads of mapped elements, the accumulators of a thread, and the result.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/reduce/common/problem.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <type_traits>

namespace kaio::ops {

// The default of `map` and of `finish`.
struct unchanged {
  template <class X>
  constexpr auto operator()(const X& x) const {
    return x;
  }
  template <class X>
  constexpr auto operator()(const X& x, const val<u64>&) const {
    return x;
  }
};

// T: the type in memory. Acc: that of the accumulators. `combine`, `map` and `finish` have no state.
template <class T, class Acc, class Combine, class Map, class Finish>
struct reduce_elements {
  static constexpr u32 width = 16 / sizeof(T);  // elements of a vector
  using vector = vec<T, width>;

  template <class X>
  static constexpr val<Acc> mapped(thread t, const X& x) {
    const val wide = t.let(cast<Acc>(x));
    return t.let(cast<Acc>(Map{}(wide)));
  }
  static constexpr void add(thread t, var<Acc>& sum, const val<Acc>& x) {
    if constexpr (std::is_invocable_v<const Combine&, const var<Acc>&, const val<Acc>&>) {
      sum = Combine{}(sum, x);
    } else {
      const val before = t.let(sum);
      sum = Combine{}(before, x);
    }
  }
  static constexpr val<Acc> combined(thread t, const val<Acc>& a, const val<Acc>& b) {
    return t.let(Combine{}(a, b));
  }
  static constexpr void add_vector(thread t, auto& sums, const auto& x) {
    for (u32 i = 0; i < width; ++i) {
      const val one = mapped(t, x[i]);
      add(t, sums[i], one);
    }
  }
  static constexpr auto sums_of(thread t, const val<Acc>& identity) {
    return array_of<width>([&](u32) { return var(t, identity); });
  }
  // The accumulators of a thread as one.
  static constexpr val<Acc> sum_of(thread t, const auto& sums) {
    var sum(t, sums[0]);
    for (u32 i = 1; i < width; ++i) add(t, sum, t.let(sums[i]));
    return t.let(sum);
  }
  // Element `offset` of the output.
  template <class Problem>
  static constexpr void write(thread t, const Problem& problem, const val<i64>& offset, const val<Acc>& sum) {
    const val to = t.let(problem[&reduce_problem::to]);
    if (auto finished = t.when(problem[&reduce_problem::finished] != 0u)) {
      const val result = t.let(Finish{}(sum, t.let(problem[&reduce_problem::count])));
      if constexpr (std::is_same_v<Acc, f32>) {
        with_any_element(t, t.let(problem[&reduce_problem::out_type]), [&]<class Access>(Access) {
          const val rounded = t.let(Access::write(t, result));
          pointer_at<out<typename Access::stored>>(t, to)[offset] = rounded;
        });
      } else {
        pointer_at<out<Acc>>(t, to)[offset] = result;
      }
    }
    if (auto partial = t.otherwise()) pointer_at<out<Acc>>(t, to)[offset] = sum;
  }
};

}  // namespace kaio::ops
