#pragma once
// attention_decode with a score or a mask of your own, in the library's kernels, compiled where they are
// used. The classes are those that attention_with takes.
//
//   struct sinks_and_window {                 // the first 4 keys, and the last 1024 of each query
//     static constexpr fixed_string name = "sinks_and_window";
//     static constexpr bool reads_nothing = true;
//     constexpr val<bool> operator()(thread t, ops::attention_place at) const {
//       const val apart = t.let(cast<i32>(at.query) + at.offset - cast<i32>(at.key));
//       return t.let(all_of(apart >= 0, any_of(at.key < 4u, apart < 1024)));
//     }
//   };
//   buffer<u8> memory = gpu.allocate<u8>(attention_decode_with_workspace_bytes<128>(
//       s, q, cache, ops::general_score{}, sinks_and_window{}));
//   attention_decode_with<128>(s, q, cache, o, ops::general_score{}, sinks_and_window{},
//                              {.workspace = memory});
//
// A place counts keys from 0 in their sequence, including its left padding, and queries from 0 in the call:
// at.query + at.offset is the number of the query's own key. The first template argument is the largest row
// that kernels are compiled for, in elements: 64, 128 or 256. The kernels:
//
//   f16, bf16         two with matrix instructions for sm_80 and later, for few and for many rows
//   caches of 8 bits  one for sm_89 and one for sm_80
//   everything else   one of multiply-adds, also for f32
//
// ops::general_score and ops::band_mask are the library's own: they take soft cap and ALiBi, causal and
// window from the options. All keys of a sequence are read, unless the mask has a function `keys`, as
// band_mask in <kaio/ops/attention/common/mask.hpp>. The arguments after the options are those of your score,
// then those of your mask, as a launch takes them: buffers or device_pointers for in<T> and inout<T>, exact
// types for val<T>. The memory that they point to is not checked.

#include <kaio/ops/attention/decode/mma_sync/table_row.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/table_row.hpp>
#include <kaio/ops/attention/decode/simt/table_row.hpp>
#include <kaio/ops/attention_decode.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

namespace detail {

// The kernels of one score and one mask, with their launchers. Q is of T, the cache of C.
template <std::uint32_t Depth, class T, class C, class Score, class Mask, class... Extra>
struct attention_decode_with_table {
  static constexpr attention_decode_config few = attention_decode_few(Depth),
                                           many = attention_decode_many(Depth),
                                           codes = attention_decode_codes(Depth);
  using launcher = void (*)(const stream&, const attention_decode_call&, std::uint64_t, const Extra&...);
  static constexpr bool is_wide = std::is_same_v<T, f32>, is_coded = !std::is_same_v<T, C>;

  static auto variants() {
    attention_decode_variant simt = describe_attention_decode_simt<256, Score, Mask>();
    simt.depth = Depth;
    if constexpr (is_wide)
      return std::array{simt};
    else if constexpr (is_coded)
      return std::array{describe_attention_decode_quantised<codes, 89, Score, Mask>(),
                        describe_attention_decode_quantised<codes, 80, Score, Mask>(), simt};
    else
      return std::array{describe_attention_decode_mma<few, T, Score, Mask>(),
                        describe_attention_decode_mma<many, T, Score, Mask>(), simt};
  }
  static auto launchers() {
    constexpr launcher simt = launch_attention_decode_simt<256, Score, Mask, Extra...>;
    if constexpr (is_wide)
      return std::array<launcher, 1>{simt};
    else if constexpr (is_coded)
      return std::array<launcher, 3>{launch_attention_decode_quantised<codes, 89, Score, Mask, Extra...>,
                                     launch_attention_decode_quantised<codes, 80, Score, Mask, Extra...>,
                                     simt};
    else
      return std::array<launcher, 3>{launch_attention_decode_mma<few, T, Score, Mask, Extra...>,
                                     launch_attention_decode_mma<many, T, Score, Mask, Extra...>, simt};
  }
};

template <std::uint32_t Depth, class Score, class Mask>
constexpr attention_decode_arguments attention_decode_with_arguments(
    std::string_view operation, const attention_view& q, const attention_cache_view& cache,
    const attention_view& out, const attention_decode_options& options) {
  static_assert(Depth == 64 || Depth == 128 || Depth == 256,
                "kaio: attention_decode_with is compiled for head sizes up to 64, 128 or 256");
  return {operation,
          q,
          cache,
          out,
          &options,
          !std::is_same_v<Score, general_score>,
          !std::is_same_v<Mask, band_mask>,
          true};
}

}  // namespace detail

// attention_decode with score(scale * q . k) and mask in place of its own. Throws what attention_decode does.
// Also throws invalid_argument if the options set what the given score or mask would ignore, or name a
// variant. And unsupported_device if a head size is above Depth.
template <std::uint32_t Depth, class Q, class C, class O, attention_score Score, attention_mask Mask,
          class... Extra>
void attention_decode_with(const stream& s, const tensor_view<Q, 4>& q, const kv_cache<C>& cache,
                           const tensor_view<O, 4>& out, Score, Mask, const attention_decode_options& options,
                           const Extra&... extra) {
  const detail::operation_scope traced("attention_decode_with");
  detail::require_attention_decode_types<Q, C, O>();
  using table = detail::attention_decode_with_table<Depth, std::remove_const_t<Q>, std::remove_const_t<C>,
                                                    Score, Mask, Extra...>;
  static const auto variants = table::variants();
  const detail::planned_attention_decode planned =
      detail::prepare_attention_decode(s,
                                       detail::attention_decode_with_arguments<Depth, Score, Mask>(
                                           "attention_decode_with", q, cache, out, options),
                                       variants);
  if (planned.blocks == 0) return;
  table::launchers()[planned.chosen](s, planned.call, planned.blocks, extra...);
  detail::combine_attention_decode(s, planned.call);
}

// Loads what such a call launches, like attention_decode_warmup: the call may then be captured into a graph.
template <std::uint32_t Depth, class Q, class C, class O, attention_score Score, attention_mask Mask>
void attention_decode_with_warmup(const runtime::device& gpu, const tensor_view<Q, 4>& q,
                                  const kv_cache<C>& cache, const tensor_view<O, 4>& out, Score, Mask,
                                  const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, O>();
  static const auto variants =
      detail::attention_decode_with_table<Depth, std::remove_const_t<Q>, std::remove_const_t<C>, Score,
                                          Mask>::variants();
  detail::warm_up_attention_decode(gpu,
                                   detail::attention_decode_with_arguments<Depth, Score, Mask>(
                                       "attention_decode_with_warmup", q, cache, out, options),
                                   variants);
}

// The bytes of workspace that such a call takes, like attention_decode_workspace_bytes.
template <std::uint32_t Depth, class Q, class C, attention_score Score, attention_mask Mask>
std::uint64_t attention_decode_with_workspace_bytes(const stream& s, const tensor_view<Q, 4>& q,
                                                    const kv_cache<C>& cache, Score, Mask,
                                                    const attention_decode_options& options = {}) {
  detail::require_attention_decode_types<Q, C, std::remove_const_t<Q>>();
  static const auto variants =
      detail::attention_decode_with_table<Depth, std::remove_const_t<Q>, std::remove_const_t<C>, Score,
                                          Mask>::variants();
  const device_properties& device = s.properties();
  attention_decode_options alone = options;
  alone.workspace = {};
  return detail::plan_attention_decode(s.device_identity(), device,
                                       detail::attention_decode_with_arguments<Depth, Score, Mask>(
                                           "attention_decode_with_workspace_bytes", q, cache, {}, alone),
                                       variants)
      .workspace_bytes();
}

}  // namespace kaio::ops

namespace kaio {
using ops::attention_decode_with;
using ops::attention_decode_with_warmup;
using ops::attention_decode_with_workspace_bytes;
}  // namespace kaio
