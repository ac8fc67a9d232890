#pragma once
// The source of recompute_rows_of_part (common/recompute.hpp) for a warp of a 16-bit kernel: its rows, and
// its keys of the split.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

// The rows begin at warp_row of the tile.
template <attention_decode_config C, class T>
class rows_of_decode_part {
  using elements = decltype(detail::row_at<T>(std::declval<thread>(), std::declval<val<u64>>(),
                                              std::declval<val<bool>>()));
  struct row_of_part {
    thread t;
    const val<attention_problem>& problem;
    const decode_block& block;
    decode_row at;
    elements q;
    constexpr score_origin<1> origin(const val<u32>& key) const { return origin_of_row(t, block, at, key); }
  };

  thread t_;
  const val<attention_problem>& problem_;
  const val<attention_split>& split_;
  const decode_block& block_;
  const val<u32>& warp_row_;
  const val<u32>& key_warp_;
  cached_places places_;

 public:
  val<u32> qk_size, v_size;
  val<f32> scale;
  val<bool> is_bf16;

  constexpr rows_of_decode_part(thread t, const val<attention_problem>& problem,
                                const val<attention_cache>& cache, const val<attention_split>& split,
                                const decode_block& block, const val<u32>& warp_row, const val<u32>& key_warp)
      : t_(t),
        problem_(problem),
        split_(split),
        block_(block),
        warp_row_(warp_row),
        key_warp_(key_warp),
        places_(t, cache, block.sequence),
        qk_size(t.let(problem[&attention_problem::qk_size])),
        v_size(t.let(problem[&attention_problem::v_size])),
        scale(t.let(problem[&attention_problem::scale])),
        is_bf16(operands_are_bf16(t, split)) {}

  constexpr row_of_part row(const val<u32>& r) const {
    const decode_row at = find_row(t_, split_, block_, t_.let(block_.first_row + warp_row_ + r));
    return {t_, problem_, block_, at,
            elements_at(&attention_problem::q, offset_of_queries(t_, problem_, block_, at))};
  }
  constexpr elements key(const val<u32>& j) const { return row_of(&attention_problem::k, j); }
  constexpr elements value(const val<u32>& j) const { return row_of(&attention_problem::v, j); }
  template <class Visit>
  constexpr void each_key(const Visit& visit) const {
    each_key_of_warp(t_, C, block_, key_warp_, visit);
  }

 private:
  constexpr elements elements_at(auto member, const val<i64>& offset) const {
    return detail::row_at<T>(t_, t_.let(problem_[member][&attention_strides::address]), is_bf16).from(offset);
  }
  constexpr elements row_of(auto member, const val<u32>& j) const {
    const auto strides = problem_[member];
    var at(t_, cast<i64>(block_.group) * strides[&attention_strides::head]);
    places_.with([&](const auto& find) {
      const auto found = find(j);
      at += offset_of(t_, strides, found.page, found.row);
    });
    return elements_at(member, t_.let(at));
  }
};

}  // namespace kaio::ops
