#pragma once
// Dequantises separate tensors of codes and scales into a matrix. A thread decodes eight neighbours of a row;
// if all exist and are aligned, it loads and stores them at once. One kernel serves all formats:
// code_problem.hpp describes them in numbers.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/formats/code_values.hpp>
#include <kaio/ops/weight_only/formats/store_eight.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

// Eight codes: nibbles at a multiple of four bytes, or bytes at a multiple of eight.
template <class Problem, class Table>
constexpr void decode_eight(thread t, const Problem& p, const Table& table, const val<i64>& at,
                            dsl::register_array<var<f32>, 8>& x) {
  const val kind = t.let(p[&code_problem::codes_kind]);
  const val codes = t.let(p[&code_problem::codes]);
  if (auto nibbles = t.when(kind <= u32{code_kind::nibbles_high_first})) {
    const val word = t.let(pointer_at<in<u32>>(t, codes)[at >> 3u]);
    const val turned = t.let((word & 0x0f0f0f0fu) << 4 | (word >> 4 & 0x0f0f0f0fu));
    const val ordered = t.let(select(kind == u32{code_kind::nibbles}, word, turned));
    for (u32 i = 0; i < 8; ++i) x[i] = table[ordered >> (4 * i) & 15u];
  }
  if (auto bytes = t.when(kind >= u32{code_kind::i8})) {
    const val both = load_vec<2>(pointer_at<in<u32>>(t, codes).from(at >> 2u)[0]);
    const auto code =
        array_of<8>([&](u32 i) { return t.let((i < 4 ? both[0] : both[1]) >> (8 * (i % 4)) & 0xffu); });
    if (auto is = t.when(kind == u32{code_kind::i8}))
      for (u32 i = 0; i < 8; ++i) x[i] = number_of_i8(t, code[i]);
    if (auto is = t.when(kind == u32{code_kind::e4m3}))
      for (u32 i = 0; i < 8; ++i) x[i] = number_of_e4m3(t, code[i]);
    if (auto is = t.when(kind == u32{code_kind::e5m2}))
      for (u32 i = 0; i < 8; ++i) x[i] = number_of_e5m2(t, code[i]);
  }
}

template <class Problem, class Table>
constexpr val<f32> decode_one(thread t, const Problem& p, const Table& table, const val<i64>& at) {
  var<f32> x(t, 0.0f);
  const val kind = t.let(p[&code_problem::codes_kind]);
  const auto bytes = pointer_at<in<u8>>(t, t.let(p[&code_problem::codes]));
  if (auto nibbles = t.when(kind <= u32{code_kind::nibbles_high_first})) {
    const val pair = t.let(cast<u32>(bytes[at >> 1u]));
    const val odd = t.let(cast<u32>(at) & 1u);
    const val upper = t.let(odd ^ kind);
    x = table[pair >> (upper * 4u) & 15u];
  }
  if (auto whole = t.when(kind >= u32{code_kind::i8})) {
    const val code = t.let(cast<u32>(bytes[at]));
    if (auto is = t.when(kind == u32{code_kind::i8})) x = number_of_i8(t, code);
    if (auto is = t.when(kind == u32{code_kind::e4m3})) x = number_of_e4m3(t, code);
    if (auto is = t.when(kind == u32{code_kind::e5m2})) x = number_of_e5m2(t, code);
  }
  return t.let(x);
}

}  // namespace detail

inline constexpr u32 dequantise_codes_threads = 256;

// Launched with one thread per eight elements.
template <std::uint16_t Sm>
inline constexpr auto dequantise_codes =
    kaio::kernel<"dequantise_codes_sm" + decimal<Sm>, block_size{dequantise_codes_threads},
                 kernel_options{.contract = false, .target = {Sm}}>([](thread t, val<code_problem> p) {
      shared<f32, 16> table(t);
      if (auto first = t.when(t.thread_rank() == 0u))
        for (u32 i = 0; i < 16; ++i) table[i] = p[&code_problem::table][i];
      t.barrier();
      const val index = t.global_id();
      if (auto in_range = t.when(index < p[&code_problem::eights])) {
        const quotient place = divide(t, index, p[&code_problem::row_eights]);
        const val row = place.whole, column = t.let(place.rest * 8u);
        const val columns = t.let(p[&code_problem::columns]);
        const val at = t.let(cast<i64>(row) * p[&code_problem::codes_row] + cast<i64>(column));
        const val to = t.let(cast<i64>(row) * p[&code_problem::out_row] + cast<i64>(column));
        const val type = t.let(p[&code_problem::type]);
        const val out = t.let(p[&code_problem::out]);
        const last_step last = load_last_step(t, p);
        if (auto whole = t.when(all_of(p[&code_problem::whole] != 0u, column + 8u <= columns))) {
          auto x = array_of<8>([&](u32) { return var(t, 0.0f); });
          const val scale = with_factor(t, last, scale_of(t, p, row, column));
          detail::decode_eight(t, p, table, at, x);
          for (auto& one : x) one = one * scale;
          apply(t, last, x);
          store_eight<Sm>(t, out, to, type, t.let(1u), x);
        }
        if (auto split = t.otherwise()) {
          const val count = t.let(min(columns - column, 8u));
          for (auto i : t.range(0u, count)) {
            auto x = array_of<1>([&](u32) { return var(t, 0.0f); });
            const val scale = with_factor(t, last, scale_of(t, p, row, t.let(column + i)));
            x[0] = detail::decode_one(t, p, table, t.let(at + cast<i64>(i))) * scale;
            apply(t, last, x);
            with_any_element(t, type, [&]<class A>(A) {
              const auto memory = pointer_at<kaio::out<typename A::stored>>(t, out);
              memory[to + cast<i64>(i)] = A::write(t, t.let(x[0]));
            });
          }
        }
      }
    });

}  // namespace kaio::ops
