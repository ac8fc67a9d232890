#pragma once
// The scores of a thread in parts, one after the other. The derivatives of all scores, or the tensor rows
// that they read, may need more registers than a thread has.
//
//   for_score_parts<2>(scores, [&](const auto& part) { f(part, derivatives); });

#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// `Count` scores of a thread, from score `First` on.
template <class Scores, std::uint32_t First, std::uint32_t Count>
struct scores_part {
  using element = typename Scores::element;
  static constexpr std::uint32_t first = First, rows = Scores::rows, keys = Scores::keys;
  Scores whole;
  static constexpr std::uint32_t size() { return Count; }
  static constexpr std::uint32_t row(std::uint32_t i) { return Scores::row(First + i); }
  static constexpr std::uint32_t column(std::uint32_t i) { return Scores::column(First + i); }
  static constexpr std::uint32_t query(std::uint32_t r) { return Scores::query(r); }
  static constexpr std::uint32_t key_number(std::uint32_t i) { return Scores::key_number(First + i); }
  static constexpr std::uint32_t key(std::uint32_t k) { return Scores::key(k); }
  constexpr auto& operator[](std::uint32_t i) const { return whole[First + i]; }
};

// Calls f(scores_part) for one part after the other.
template <std::uint32_t Parts, class Scores, class F>
constexpr void for_score_parts(const Scores& scores, const F& f) {
  constexpr std::uint32_t count = Scores::size() / Parts;
  static_assert(count * Parts == Scores::size());
  [&]<std::uint32_t... Part>(std::integer_sequence<std::uint32_t, Part...>) {
    (f(scores_part<Scores, Part * count, count>{scores}), ...);
  }(std::make_integer_sequence<std::uint32_t, Parts>{});
}

}  // namespace kaio::ops
