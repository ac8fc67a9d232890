#pragma once
// Four neighbours of a row of the output, of any of its element types.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/any_element.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>

#include <cstdint>

namespace kaio::ops {

// An access of any_element, of a type that the kernel is made for.
template <scalar T>
struct stored_as {
  using stored = T;
  static constexpr val<T> write(thread t, const val<f32>& x) { return t.let(cast<T>(x)); }
};

// `at`: in elements from `address`; those from `left` on do not exist. `whole`: all four do, at a multiple of
// their size together.
template <class Access, class Four>
constexpr void store_four(thread t, const val<u64>& address, const val<i64>& at, const val<u32>& left,
                          const val<bool>& whole, const Four& x) {
  const auto to = pointer_at<out<typename Access::stored>>(t, address).from(at);
  const auto y = array_of<4>([&](u32 e) { return Access::write(t, t.let(x[e])); });
  if (auto together = t.when(whole)) store_vec(to[0], make_vec(y[0], y[1], y[2], y[3]));
  if (auto single = t.otherwise())
    for (u32 e = 0; e < 4; ++e)
      if (auto has = t.when(e < left)) to[e] = y[e];
}

// Where column `column` of a row of O is, in elements from its address.
constexpr val<i64> offset_of_output(thread t, const val<attention_problem>& problem, const val<u32>& batch,
                                    const decode_row& row, const val<u32>& column) {
  const auto strides = problem[&attention_problem::o];
  return t.let(cast<i64>(batch) * strides[&attention_strides::batch] +
               cast<i64>(row.head) * strides[&attention_strides::head] +
               cast<i64>(row.query) * strides[&attention_strides::row] + cast<i64>(column));
}

// Columns `column` to column + 3 of a row of O, which has `size`.
template <class Access, class Four>
constexpr void store_output(thread t, const val<attention_problem>& problem, const val<u32>& batch,
                            const decode_row& row, const val<u32>& column, const val<u32>& size,
                            const Four& x) {
  const auto strides = problem[&attention_problem::o];
  const val at = offset_of_output(t, problem, batch, row, column);
  const val address = t.let(strides[&attention_strides::address]);
  const val left = t.let(size - column);
  const val by_16 = t.let(strides[&attention_strides::by_16] != 0u);
  store_four<Access>(t, address, at, left, by_16, x);
}

}  // namespace kaio::ops
