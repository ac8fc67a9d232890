#pragma once
// The source of recompute_rows_of for caches of 8-bit codes: the rows of a warp in memory, and its keys of a
// split.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/codes.hpp>
#include <kaio/ops/attention/decode/common/recompute.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C>
struct quantised_rows_of_part {
  struct row_of_queries {
    thread t;
    const val<attention_problem>& problem;
    const val<attention_split>& split;
    const decode_block& block;
    decode_row at;
    constexpr val<f32> operator[](const auto& column) const {
      const val index = t.let(column);
      var x(t, 0.0f);
      with_any_element(t, t.let(split[&attention_split::type]), [&]<class A>(A) {
        x = A::read(queries_of<typename A::stored>(t, problem, block, at)[index]);
      });
      return t.let(x);
    }
  };
  struct row_of_part {
    row_of_queries q;
    constexpr score_origin<1> origin(const val<u32>& key) const {
      return origin_of_row(q.t, q.block, q.at, key);
    }
  };
  thread t;
  const val<attention_problem>& problem;
  const val<attention_split>& split;
  const val<attention_codes>& codes;
  const decode_block& block;
  const val<u32>& warp_row;
  const val<u32>& key_warp;
  val<u32> qk_size, v_size;
  val<f32> scale;
  cached_places places;

  constexpr row_of_part row(const val<u32>& r) const {
    return {{t, problem, split, block, find_row(t, split, block, t.let(block.first_row + warp_row + r))}};
  }
  constexpr row_of_codes key(const val<u32>& j) const {
    return row_of(&attention_problem::k, &attention_codes::k, j);
  }
  constexpr row_of_codes value(const val<u32>& j) const {
    return row_of(&attention_problem::v, &attention_codes::v, j);
  }
  template <class Visit>
  constexpr void each_key(const Visit& visit) const {
    each_key_of_warp(t, C, block, key_warp, visit);
  }

 private:
  constexpr row_of_codes row_of(auto member, auto scale_member, const val<u32>& j) const {
    const auto strides = problem[member];
    var page(t, 0u), row(t, 0u);
    places.with([&](const auto& find) {
      const auto found = find(j);
      page = found.page;
      row = found.row;
    });
    const val at =
        t.let(offset_of(t, strides, page, row) + cast<i64>(block.group) * strides[&attention_strides::head]);
    return {t, t.let(codes[&attention_codes::kept]),
            t.let(strides[&attention_strides::address] + cast<u64>(at)),
            scale_at(t, codes[scale_member], block.batch, page, row, block.group)};
  }
};

}  // namespace kaio::ops
