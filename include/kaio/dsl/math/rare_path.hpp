#pragma once
// Branches inside a mathematical function. A rule has the tracer at hand, so it may jump. `rare` jumps over
// code that few arguments need, huge or subnormal ones. `either` takes one of two paths that are too
// expensive to compute both. Results inside are not reused outside. The result is a value like any other, and
// the rule remains a pure function of its operands.
//
//   const value r = rare(t, is_huge, quick, [&] { return exact_reduction(t, x); });
//   const auto [s, c] = rare(t, is_huge, std::array{s0, c0}, [&] { return std::array{s1, c1}; });
//   const value y = either(t, is_small, [&] { return series(t, x); }, [&] { return quotient(t, x); });

#include <kaio/dsl/trace/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::dsl::detail {

// `common`; if `condition` holds, the result of `path` instead: equally many values, of the same types.
template <std::size_t N, class Path>
constexpr std::array<value, N> rare(tracer& t, value condition, const std::array<value, N>& common,
                                    const Path& path) {
  if (t.is_constant(condition)) return t.bits_of(condition) != 0 ? path() : common;
  std::array<std::uint32_t, N> variables{};
  for (std::size_t i = 0; i < N; ++i) {
    variables[i] = t.new_variable(t.type_of(common[i]));
    t.assign(variables[i], common[i], t.position());
  }
  const std::uint32_t after = t.new_label();
  t.branch_if(condition, true, after);
  t.enter_scope();
  const std::array<value, N> other = path();
  for (std::size_t i = 0; i < N; ++i) t.assign(variables[i], other[i], t.position());
  t.leave_scope();
  t.place(after);
  std::array<value, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = t.snapshot(variables[i]);
  return result;
}

template <class Path>
constexpr value rare(tracer& t, value condition, value common, const Path& path) {
  return rare(t, condition, std::array<value, 1>{common}, [&] { return std::array<value, 1>{path()}; })[0];
}

// The result of `first` if `condition` holds, else that of `second`. Both have the same types.
template <class First, class Second>
constexpr auto either(tracer& t, value condition, const First& first, const Second& second)
    -> decltype(first()) {
  if constexpr (std::is_same_v<decltype(first()), value>) {
    return either(
        t, condition, [&] { return std::array{first()}; }, [&] { return std::array{second()}; })[0];
  } else {
    if (t.is_constant(condition)) return t.bits_of(condition) != 0 ? first() : second();
    const std::uint32_t other = t.new_label();
    const std::uint32_t after = t.new_label();
    t.branch_if(condition, true, other);
    t.enter_scope();
    auto result = first();
    std::array<std::uint32_t, std::tuple_size_v<decltype(result)>> variables{};
    for (std::size_t i = 0; i < result.size(); ++i) {
      variables[i] = t.new_variable(t.type_of(result[i]));
      t.assign(variables[i], result[i], t.position());
    }
    t.leave_scope();
    t.branch(after);
    t.place(other);
    t.enter_scope();
    result = second();
    for (std::size_t i = 0; i < result.size(); ++i) t.assign(variables[i], result[i], t.position());
    t.leave_scope();
    t.place(after);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = t.snapshot(variables[i]);
    return result;
  }
}

}  // namespace kaio::dsl::detail
