#pragma once
// The functions that the kernels of attention_decode call: a score and a mask, bound to their parameters.

#include <kaio/ops/attention/common/block_sparse.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

template <class Mask, class ApplyScore, class Factor, class ApplyMask, class KeysOf>
struct decode_functions {
  using mask_class = Mask;
  ApplyScore score;  // score(s, origin, scale)
  Factor factor;     // factor(scale)
  ApplyMask mask;    // mask(s, origin)
  KeysOf keys;       // keys(first query, last query, keys, keys - queries)

  template <class Keys>
  constexpr auto with_keys(const Keys& other) const {
    return decode_functions<Mask, ApplyScore, Factor, ApplyMask, Keys>{score, factor, mask, other};
  }
};

// The keys of a band. It is nearly always open on both sides, and then has all keys.
constexpr key_range keys_of_band(thread t, const val<u32>& first, const val<u32>& last, const val<u32>& count,
                                 const val<i32>& offset, const val<attention_band>& band) {
  var from(t, 0u), to(t, count), whole_from(t, 0u), whole_to(t, count);
  const val closed = t.let(any_of(band[&attention_band::low] != std::numeric_limits<i32>::min(),
                                  band[&attention_band::high] != std::numeric_limits<i32>::max()));
  if (auto narrower = t.when(closed)) {
    const key_range range = keys_of<band_mask>(t, first, last, count, offset, band);
    from = range.first;
    to = range.last;
    whole_from = range.whole_first;
    whole_to = range.whole_last;
  }
  return {t.let(from), t.let(to), t.let(whole_from), t.let(whole_to)};
}

// of(thread, score parameters, mask parameters).
template <class Score, class Mask, class OfScore = parameters_of_score<Score>,
          class OfMask = parameters_of_mask<Mask>>
struct decode_functions_of;

template <class Score, class Mask, class... OfScore, class... OfMask>
struct decode_functions_of<Score, Mask, attention_parameters<OfScore...>, attention_parameters<OfMask...>> {
  static_assert(!is_block_sparse<Mask>,
                "kaio: attention_decode reads no lists of blocks; give it the mask itself");
  static constexpr auto of(thread t, const OfScore&... of_score, const OfMask&... of_mask) {
    const auto score = [t, &of_score...](const auto& s, const auto& origin, const val<f32>& scale) {
      apply_score<Score>(t, s, origin, scale, of_score...);
    };
    const auto factor = [t, &of_score...](const val<f32>& scale) {
      return exponent_factor<Score>(t, scale, of_score...);
    };
    const auto mask = [t, &of_mask...](const auto& s, const auto& origin) {
      apply_mask<Mask>(t, s, origin, of_mask...);
    };
    const auto keys = [t, &of_mask...](const val<u32>& first, const val<u32>& last, const val<u32>& count,
                                       const val<i32>& offset) -> key_range {
      if constexpr (std::is_same_v<Mask, band_mask>)
        return keys_of_band(t, first, last, count, offset, of_mask...);
      else
        return keys_of<Mask>(t, first, last, count, offset, of_mask...);
    };
    return decode_functions<Mask, decltype(score), decltype(factor), decltype(mask), decltype(keys)>{
        score, factor, mask, keys};
  }
};

// Kernels with other functions than the library's have them in their names.
template <class Score, class Mask>
inline constexpr auto decode_functions_name = [] {
  if constexpr (std::is_same_v<Score, general_score> && std::is_same_v<Mask, band_mask>)
    return fixed_string("");
  else
    return "_" + attention_function_name<Score> + "_" + attention_function_name<Mask>;
}();

// Blocks that a multiprocessor holds at once. Functions of users need registers, so they get one less.
template <class Score, class Mask>
constexpr std::uint32_t decode_min_blocks(std::uint32_t of_library) {
  const bool own = !std::is_same_v<Score, general_score> || !std::is_same_v<Mask, band_mask>;
  return own && of_library > 1 ? of_library - 1 : of_library;
}

}  // namespace kaio::ops
