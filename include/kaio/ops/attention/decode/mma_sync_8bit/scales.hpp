#pragma once
// The scales of keys and values next to a ring of tiles. Scales that differ from key to key arrive by
// asynchronous copies, in their own rows of f32. Others are read once, when the previous kernel has ended.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/common/codes.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_decode_config C>
class attention_decode_scales {
 public:
  using memory = shared<f32, 2 * C.stages, C.keys>;  // row 2 * stage + is_v

  constexpr attention_decode_scales(thread t, const memory& to, const val<attention_codes>& codes,
                                    const decode_block& block)
      : t_(t),
        memory_(to),
        codes_(codes),
        sequence_(block.batch),
        head_(block.group),
        k_by_key(t.let(codes[&attention_codes::k][&cache_scale::by_key] != 0u)),
        v_by_key(t.let(codes[&attention_codes::v][&cache_scale::by_key] != 0u)) {}

  // Scales that are read once; 1 if scales are by key.
  constexpr val<f32> k_of_all() const { return of_all(&attention_codes::k, k_by_key); }
  constexpr val<f32> v_of_all() const { return of_all(&attention_codes::v, v_by_key); }

  // Copies the scales of a key of the tile. The threads that copy the key's first and second piece do it.
  constexpr void copy(const val<u32>& stage, const val<u32>& key, const val<u32>& page, const val<u32>& row,
                      const val<bool>& exists, const val<u32>& piece) const {
    const auto one = [&](auto member, const val<bool>& by_key, u32 is_v) {
      if (auto own = t_.when(all_of(by_key, piece == is_v))) {
        const auto scale = codes_[member];
        const val at = scale_offset(t_, scale, page, row, head_);
        const auto from = pointer_at<in<f32>>(t_, t_.let(scale[&cache_scale::address]));
        cp_async<4>(memory_[stage * 2u + is_v][key], from[at], exists);
      }
    };
    one(&attention_codes::k, k_by_key, 0);
    one(&attention_codes::v, v_by_key, 1);
  }

  // The scales of keys `key` and key + 1 of a stage.
  constexpr auto pair(const val<u32>& stage, u32 is_v, const val<u32>& key) const {
    return array_of<2>([&](u32 e) { return t_.let(memory_[stage * 2u + is_v][key + e]); });
  }

 private:
  constexpr val<f32> of_all(auto member, const val<bool>& by_key) const {
    var result(t_, 1.0f);
    const val none = t_.let(0u);
    if (auto same = t_.when(!by_key)) result = scale_at(t_, codes_[member], sequence_, none, none, head_);
    return t_.let(result);
  }

  thread t_;
  memory memory_;
  const val<attention_codes>& codes_;
  val<u32> sequence_, head_;

 public:
  val<bool> k_by_key, v_by_key;
};

}  // namespace kaio::ops
