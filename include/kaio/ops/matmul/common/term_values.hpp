#pragma once
// Loads of a matmul_term, a tensor that the call adds, for several places of C at once. The call gives the
// element type and the strides; they are uniform across threads.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/strip.hpp>
#include <kaio/ops/matmul/common/terms.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

// inout, because the C that is read may be the C that is written.
template <class Word>
constexpr inout<Word> term_memory(thread t, const val<u64>& address) {
  return pointer_at<inout<Word>>(t, address);
}

template <class Term>
constexpr val<i64> term_offset(thread t, const Term& term, const place& at) {
  return t.let(cast<i64>(at.batch) * term[&matmul_term::batch] + cast<i64>(at.row) * term[&matmul_term::row] +
               cast<i64>(at.column) * term[&matmul_term::column]);
}

// Loads to[i], an element of 32 or 16 bits, for each place.
template <class Word, class Term, std::uint32_t N>
constexpr void load_term(thread t, const Term& term, const places<N>& at,
                         dsl::register_array<var<Word>, N>& to) {
  const inout memory = term_memory<Word>(t, t.let(term[&matmul_term::address]));
  const auto offset = array_of<N>([&](u32 i) { return term_offset(t, term, at[i]); });
  for (u32 i = 0; i < N; ++i) to[i] = memory[offset[i]];
}

// Loads four columns together if they are neighbours in the tensor and begin at a multiple of their size.
template <class Word, class Term, std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes,
          std::uint32_t Columns>
constexpr void load_term(thread t, const Term& term, const strip<Rows, Apart, Lanes, Columns>& at,
                         dsl::register_array<var<Word>, Rows * Columns>& to) {
  const val address =
      t.let(term[&matmul_term::address] + cast<u64>(term_offset(t, term, at.first)) * u64{sizeof(Word)});
  const val step = t.let(cast<u64>(term[&matmul_term::row]) * u64{Apart * sizeof(Word)});
  const auto exists = array_of<Rows>([&](u32 i) { return t.let(all_of(at.exists[i], at.has_columns())); });
  const auto row = array_of<Rows>([&](u32 i) { return i == 0 ? address : t.let(address + step * u64{i}); });
  const auto one_by_one = [&] {
    const val column = t.let(cast<u64>(term[&matmul_term::column]) * u64{sizeof(Word)});
    const val last = t.let(at.columns_left - 1u);
    const auto offset = array_of<Columns>([&](u32 j) { return t.let(cast<u64>(min(last, j)) * column); });
    for (u32 i = 0; i < Rows; ++i)
      if (auto there = t.when(exists[i]))
        for (u32 j = 0; j < Columns; ++j)
          to[Columns * i + j] = term_memory<Word>(t, t.let(row[i] + offset[j]))[0];
  };
  if constexpr (Columns != 4) {
    one_by_one();
  } else {
    const val places = Rows == 1 ? address : t.let(address | step);
    const val aligned = t.let((places & u64{4 * sizeof(Word) - 1}) == u64{0});
    const val at_once = t.let(all_of(at.is_whole, term[&matmul_term::column] == i64{1}, aligned));
    if (auto vectors = t.when(at_once))
      for (u32 i = 0; i < Rows; ++i)
        if (auto there = t.when(exists[i])) {
          const val four = load_vec<4>(term_memory<Word>(t, row[i])[0]);
          for (u32 j = 0; j < 4; ++j) to[4 * i + j] = four[j];
        }
    if (auto single = t.otherwise()) one_by_one();
  }
}

template <class At>
inline constexpr std::uint32_t places_of = At::size;
template <std::uint32_t N>
inline constexpr std::uint32_t places_of<places<N>> = N;

}  // namespace detail

// The elements of a term at these places, as f32; 0 for places that do not exist. The term itself must exist.
template <class Term, class At>
constexpr auto term_values(thread t, const Term& term, const At& at) {
  constexpr std::uint32_t n = detail::places_of<At>;
  auto x = array_of<n>([&](u32) { return var(t, 0.0f); });
  const val type = t.let(term[&matmul_term::type]);
  if (auto single = t.when(type == static_cast<u32>(term_type::f32))) detail::load_term(t, term, at, x);
  if (auto half = t.otherwise()) {
    auto bits = array_of<n>([&](u32) { return var(t, u16{0}); });
    detail::load_term(t, term, at, bits);
    if (auto f = t.when(type == static_cast<u32>(term_type::f16)))
      for (u32 i = 0; i < n; ++i) x[i] = cast<f32>(bit_cast<f16>(bits[i]));
    if (auto b = t.otherwise())
      for (u32 i = 0; i < n; ++i) x[i] = bit_cast<f32>(cast<u32>(bits[i]) << 16);
  }
  return array_of<n>([&](u32 i) { return t.let(x[i]); });
}

// The number in half `half` of a word, f16 or bf16, as f32.
constexpr val<f32> number_of_half(thread t, const val<bool>& is_f16, const val<u32>& word, u32 half) {
  const val bits = t.let(word >> (16 * half));
  const val upper = half == 0 ? t.let(word << 16) : t.let(word & 0xffff0000u);
  return t.let(select(is_f16, cast<f32>(bit_cast<f16>(cast<u16>(bits))), bit_cast<f32>(upper)));
}

// Four neighbours of a per-column bias, which begin at a multiple of their size. If there is no bias: -0,
// which changes no sum.
template <class Term>
constexpr auto four_of_bias(thread t, const Term& term, const place& first) {
  const val type = t.let(term[&matmul_term::type]);
  const val is_f32 = t.let(type == static_cast<u32>(term_type::f32));
  const val is_f16 = t.let(type == static_cast<u32>(term_type::f16));
  const val offset =
      t.let(cast<u64>(cast<i64>(first.batch) * term[&matmul_term::batch]) + cast<u64>(first.column));
  const val address = t.let(term[&matmul_term::address] + offset * select(is_f32, u64{4}, u64{2}));
  auto words = array_of<4>([&](u32) { return var(t, 0x80000000u); });
  auto halves = array_of<2>([&](u32) { return var(t, 0u); });
  if (auto single = t.when(is_f32)) {
    const val four = load_vec<4>(pointer_at<in<u32>>(t, address)[0]);
    for (u32 j = 0; j < 4; ++j) words[j] = four[j];
  }
  if (auto half = t.when(all_of(type != 0u, !is_f32))) {
    const val two = load_vec<2>(pointer_at<in<u32>>(t, address)[0]);
    for (u32 j = 0; j < 2; ++j) halves[j] = two[j];
  }
  const val is_half = t.let(type > static_cast<u32>(term_type::f32));
  return array_of<4>([&](u32 j) {
    return t.let(
        select(is_half, number_of_half(t, is_f16, t.let(halves[j / 2]), j % 2), bit_cast<f32>(words[j])));
  });
}

// Four neighbours of each row of a 16-bit residual, two per word.
template <class Term, std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes>
constexpr auto words_of_residual(thread t, const Term& term, const strip<Rows, Apart, Lanes>& at,
                                 const val<bool>& exists) {
  const val address =
      t.let(term[&matmul_term::address] + cast<u64>(detail::term_offset(t, term, at.first)) * u64{2});
  const val step = t.let(cast<u64>(term[&matmul_term::row]) * u64{Apart * 2});
  auto words = array_of<2 * Rows>([&](u32) { return var(t, 0u); });
  for (u32 i = 0; i < Rows; ++i)
    if (auto row = t.when(all_of(exists, at.exists[i]))) {
      // The residual may be the C that is written.
      const val two =
          load_vec<2>(detail::term_memory<u32>(t, i == 0 ? address : t.let(address + step * u64{i}))[0]);
      for (u32 j = 0; j < 2; ++j) words[2 * i + j] = two[j];
    }
  return words;
}

// The elements of a term of 32-bit integers, whose type says f32.
template <class Term, class At>
constexpr auto term_integers(thread t, const Term& term, const At& at) {
  constexpr std::uint32_t n = detail::places_of<At>;
  auto x = array_of<n>([&](u32) { return var(t, i32{0}); });
  detail::load_term(t, term, at, x);
  return array_of<n>([&](u32 i) { return t.let(x[i]); });
}

}  // namespace kaio::ops
