#pragma once
// A mask: the keys that a query attends to. It is a class without members. Its operator() states its
// parameters: the thread, the place, and then its own kernel parameters. True keeps the score.
//
//   struct same_document {
//     static constexpr fixed_string name = "same_document";
//     constexpr val<bool> operator()(thread t, ops::attention_place at, in<u32> document) const {
//       return t.let(document[at.query] == document[at.key]);
//     }
//   };
//
// It is called for places that exist. A mask that knows the range of keys of a tile of queries reports it by
// a function `keys`, as band_mask does. Tiles of keys outside of the range are skipped; tiles inside of
// `whole` run without the mask.

#include <kaio/ops/attention/common/score.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

namespace detail {
template <class Call>
struct mask_signature {
  static_assert(dsl::never<Call>,
                "kaio: a mask is called as val<bool> operator()(thread t, attention_place at, ...) const");
};
template <class M, class... Extra>
struct mask_signature<val<bool> (M::*)(thread, attention_place, Extra...) const> {
  static_assert((dsl::is_parameter<Extra> && ...),
                "kaio: the further parameters of a mask are in<T>, inout<T> and val<T>, by value");
  using parameters = attention_parameters<Extra...>;
};
}  // namespace detail

template <class M>
using parameters_of_mask = typename detail::mask_signature<decltype(&M::operator())>::parameters;

template <class M>
concept attention_mask =
    detail::require_no_members<M>().value && requires { typename parameters_of_mask<M>; };

// The keys of some queries. Any of the queries may attend to the keys from first to before last; all of them
// attend to those from whole_first to before whole_last.
struct key_range {
  val<u32> first, last, whole_first, whole_last;
};

// The keys of the existing queries first_query to last_query. `offset` is keys - queries.
template <class Mask, class... Extra>
constexpr key_range keys_of(thread t, const val<u32>& first_query, const val<u32>& last_query,
                            const val<u32>& keys, const val<i32>& offset, const Extra&... extra) {
  if constexpr (requires { Mask::keys(t, first_query, last_query, keys, offset, extra...); })
    return Mask::keys(t, first_query, last_query, keys, offset, extra...);
  else
    return {t.let(0u), keys, t.let(0u), t.let(0u)};
}

// The queries of some keys: those that attend to any of the keys, and those that attend to all.
struct query_range {
  val<u32> first, last, whole_first, whole_last;
};

// The queries of the existing keys first_key to last_key. A mask without a function `queries` (band_mask has
// it) is called for every query.
template <class Mask, class... Extra>
constexpr query_range queries_of(thread t, const val<u32>& first_key, const val<u32>& last_key,
                                 const val<u32>& queries, const val<i32>& offset, const Extra&... extra) {
  if constexpr (requires { Mask::queries(t, first_key, last_key, queries, offset, extra...); })
    return Mask::queries(t, first_key, last_key, queries, offset, extra...);
  else
    return {t.let(0u), queries, t.let(0u), t.let(0u)};
}

// Scores of masked or missing keys become -inf. A mask with a function `tile` processes them together.
template <class Mask, class Scores, std::uint32_t Rows, class... Extra>
constexpr void apply_mask(thread t, Scores& s, const score_origin<Rows>& origin, const Extra&... extra) {
  if constexpr (requires { Mask::tile(t, s, origin, extra...); }) {
    Mask::tile(t, s, origin, extra...);
  } else {
    const score_origin<Rows> from = origin_for<Mask>(t, origin);
    for (std::uint32_t i = 0; i < s.size(); ++i)
      s[i] = select(all_of(Mask{}(t, place_for<Mask>(t, s, from, i), extra...),
                           origin.key + s.column(i) <= origin.last_key),
                    s[i], -std::numeric_limits<f32>::infinity());
  }
}

// Keeps every key.
struct every_key {
  static constexpr fixed_string name = "every_key";
  static constexpr bool reads_nothing = true;
  constexpr val<bool> operator()(thread t, attention_place at) const { return t.let(at.key == at.key); }
  static constexpr key_range keys(thread t, const val<u32>&, const val<u32>&, const val<u32>& keys,
                                  const val<i32>&) {
    return {t.let(0u), keys, t.let(0u), keys};
  }
  static constexpr query_range queries(thread t, const val<u32>&, const val<u32>&, const val<u32>& queries,
                                       const val<i32>&) {
    return {t.let(0u), queries, t.let(0u), queries};
  }
};

// The mask of the prebuilt attention: an attention_band.
struct band_mask {
  static constexpr fixed_string name = "band";
  static constexpr bool reads_nothing = true;

  constexpr val<bool> operator()(thread t, attention_place at, val<attention_band> band) const {
    const val apart = t.let(cast<i32>(at.key) - (cast<i32>(at.query) + shift(t, at.offset, band)));
    return t.let(all_of(apart >= band[&attention_band::low], apart <= band[&attention_band::high]));
  }

  // Keeps columns `from` to `to` of each row: one comparison per score, and another one if the band has a
  // lower end.
  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread t, Scores& s, const score_origin<Rows>& origin,
                             const val<attention_band>& band) {
    if constexpr (requires { Scores::keys; }) return tile_by_keys(t, s, origin, band);
    const val low = t.let(band[&attention_band::low]), high = t.let(band[&attention_band::high]);
    const val own = t.let(shift(t, origin.offset, band));
    // A tile has few columns, so clamped numbers compare alike, and differences stay within 32 bits.
    const auto column = [&](const val<i32>& apart, u32 r) {
      const val key = t.let(cast<i64>(origin.query[r]) + cast<i64>(own) + cast<i64>(apart));
      return t.let(cast<i32>(min(max(key - cast<i64>(origin.key), i64{-1}), i64{1} << 30)));
    };
    const val last = t.let(cast<i32>(origin.last_key) - cast<i32>(origin.key));
    const val open_high = t.let(high == std::numeric_limits<i32>::max());
    const auto to =
        array_of<Rows>([&](u32 r) { return t.let(select(open_high, last, min(last, column(high, r)))); });
    if constexpr (requires { Scores::in_pairs; })
      return keep_pairs<Rows>(
          t, s, to, [&](u32 r) { return column(low, r); }, t.let(low != std::numeric_limits<i32>::min()));
    for (std::uint32_t i = 0; i < s.size(); ++i)
      s[i] =
          select(to[s.row(i)] >= static_cast<i32>(s.column(i)), s[i], -std::numeric_limits<f32>::infinity());
    if (auto has_low = t.when(low != std::numeric_limits<i32>::min())) {
      const auto from = array_of<Rows>([&](u32 r) { return column(low, r); });
      for (std::uint32_t i = 0; i < s.size(); ++i)
        s[i] = select(from[s.row(i)] <= static_cast<i32>(s.column(i)), s[i],
                      -std::numeric_limits<f32>::infinity());
    }
  }

  // tile() for rows with columns 0, 1, 8, 9, 16, 17 ..: a bit for each score of a row. ptxas makes predicates
  // of several bits at once.
  template <std::uint32_t Rows, class Scores, class To, class From>
  static constexpr void keep_pairs(thread t, Scores& s, const To& to, const From& from,
                                   const val<bool>& has_low) {
    constexpr u32 of_row = Scores::size() / Rows, words = (of_row + 31) / 32;
    // Number of a row's scores in columns before `column`.
    const auto before = [&](const val<i32>& column) {
      const val nearby = t.let(min(cast<u32>(column), 4 * of_row));
      return t.let(nearby / 8u * 2u + min(nearby % 8u, 2u));
    };
    // The first n bits of word w.
    const auto first = [&](const val<u32>& n, u32 w) {
      if (w == 0) return t.let((1u << n) - 1u);
      return t.let((1u << (max(n, 32 * w) - 32 * w)) - 1u);
    };
    for (u32 r = 0; r < Rows; ++r) {
      const val end = before(t.let(max(to[r] + 1, 0)));
      var<u32> begin(t, 0u);
      if (auto some = t.when(has_low)) begin = before(t.let(max(from(r), 0)));
      const auto kept = array_of<words>([&](u32 w) {
        const val up_to_end = first(end, w), before_begin = first(t.let(begin), w);
        return t.let(up_to_end & ~before_begin);
      });
      u32 n = 0;
      for (std::uint32_t i = 0; i < s.size(); ++i)
        if (s.row(i) == r) {
          s[i] = select((kept[n / 32] & 1u << n % 32) != 0u, s[i], -std::numeric_limits<f32>::infinity());
          ++n;
        }
    }
  }

  // tile() for scores of few keys and many queries: keeps queries `from` to `to` of each key, counted from
  // the thread's first query.
  template <class Scores, std::uint32_t Rows>
  static constexpr void tile_by_keys(thread t, const Scores& s, const score_origin<Rows>& origin,
                                     const val<attention_band>& band) {
    const val low = t.let(band[&attention_band::low]), high = t.let(band[&attention_band::high]);
    const val first =
        t.let(cast<i64>(origin.key) - cast<i64>(shift(t, origin.offset, band)) - cast<i64>(origin.query[0]));
    const auto query = [&](const val<i32>& apart, u32 column) {
      return t.let(cast<i32>(min(max(first + i64{column} - cast<i64>(apart), i64{-1}), i64{1} << 30)));
    };
    const auto exists =
        array_of<Scores::keys>([&](u32 k) { return t.let(origin.key + Scores::key(k) <= origin.last_key); });
    const val open_high = t.let(high == std::numeric_limits<i32>::max());
    const auto from = array_of<Scores::keys>([&](u32 k) {
      return t.let(select(exists[k], select(open_high, -1, query(high, Scores::key(k))), 1 << 30));
    });
    for (std::uint32_t i = 0; i < s.size(); ++i)
      s[i] = select(from[s.key_number(i)] <= static_cast<i32>(s.query(s.row(i))), s[i],
                    -std::numeric_limits<f32>::infinity());
    if (auto has_low = t.when(low != std::numeric_limits<i32>::min())) {
      const auto to = array_of<Scores::keys>([&](u32 k) { return query(low, Scores::key(k)); });
      for (std::uint32_t i = 0; i < s.size(); ++i)
        s[i] = select(to[s.key_number(i)] >= static_cast<i32>(s.query(s.row(i))), s[i],
                      -std::numeric_limits<f32>::infinity());
    }
  }

  static constexpr key_range keys(thread t, const val<u32>& first_query, const val<u32>& last_query,
                                  const val<u32>& keys, const val<i32>& offset,
                                  const val<attention_band>& band) {
    const val own = t.let(cast<i64>(shift(t, offset, band)));
    const val low = t.let(cast<i64>(band[&attention_band::low]) + own);
    const val high = t.let(cast<i64>(band[&attention_band::high]) + 1 + own);
    const val count = t.let(cast<i64>(keys));
    const auto within = [&](const val<i64>& key) { return t.let(cast<u32>(min(max(key, i64{0}), count))); };
    const val top = t.let(cast<i64>(first_query)), bottom = t.let(cast<i64>(last_query));
    const val none = t.let(cast<i64>(keys) * 0);
    const val open_low = t.let(band[&attention_band::low] == std::numeric_limits<i32>::min());
    const val open_high = t.let(band[&attention_band::high] == std::numeric_limits<i32>::max());
    const val first = within(t.let(select(open_low, none, top + low)));
    const val last = within(t.let(select(open_high, count, bottom + high)));
    return {first, t.let(max(first, last)), within(t.let(select(open_low, none, bottom + low))),
            within(t.let(select(open_high, count, top + high)))};
  }

  // Solves low <= key - own <= high for the query.
  static constexpr query_range queries(thread t, const val<u32>& first_key, const val<u32>& last_key,
                                       const val<u32>& queries, const val<i32>& offset,
                                       const val<attention_band>& band) {
    const val own = t.let(cast<i64>(shift(t, offset, band)));
    const val low = t.let(1 - cast<i64>(band[&attention_band::low]) - own);
    const val high = t.let(-cast<i64>(band[&attention_band::high]) - own);
    const val count = t.let(cast<i64>(queries));
    const auto within = [&](const val<i64>& q) { return t.let(cast<u32>(min(max(q, i64{0}), count))); };
    const val left = t.let(cast<i64>(first_key)), right = t.let(cast<i64>(last_key));
    const val none = t.let(cast<i64>(queries) * 0);
    const val open_low = t.let(band[&attention_band::low] == std::numeric_limits<i32>::min());
    const val open_high = t.let(band[&attention_band::high] == std::numeric_limits<i32>::max());
    const val first = within(t.let(select(open_high, none, left + high)));
    const val last = within(t.let(select(open_low, count, right + low)));
    return {first, t.let(max(first, last)), within(t.let(select(open_high, none, right + high))),
            within(t.let(select(open_low, count, left + low)))};
  }

 private:
  static constexpr val<i32> shift(thread t, const val<i32>& offset, const val<attention_band>& band) {
    return t.let(select(band[&attention_band::top_left] != 0u, 0, offset));
  }
};

}  // namespace kaio::ops
