#pragma once
// attention with a score or a mask of your own, in the library's kernels, compiled where they are used.
//
//   struct distance_penalty {                              // x -= slope * |query - key|
//     static constexpr fixed_string name = "distance_penalty";
//     constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, val<f32> slope) const {
//       return t.let(x - slope * cast<f32>(abs_diff(at.query, at.key)));
//     }
//   };
//   attention_with<128>(s, q, k, v, out, distance_penalty{}, ops::band_mask{},
//                       {.causal = causal_alignment::bottom_right}, 0.5f);
//
// A lambda without captures may be the score or the mask; its kernels have the name `custom`.
//
// The first template argument is the largest row that kernels are compiled for, in elements: 64, 128, 256 or
// 512; or <192, 128> if rows of v have at most 128. The kernels:
//
//   f16, bf16    one for sm_90a, one for sm_80 and later
//                (512: two for sm_80 and later, for blocks of 99 and of 163 KB of shared memory)
//   f32          one of multiply-adds
//
// ops::general_score and ops::band_mask are the library's own: they take soft cap and ALiBi, causal and
// window from the options. With general_score, kernels for sm_90a have about 4,000 instructions, close to
// what clang evaluates without flags. A mask of your own next to it may need -fconstexpr-steps=16777216. The
// arguments after the options are those of your score, then those of your mask, as a launch takes them:
// buffers or device_pointers for in<T> and inout<T>, exact types for val<T>. The memory that they point to is
// not checked.
//
// With ops::block_sparse<M> in place of a mask M, the kernels visit only the blocks of keys that the option
// `blocks` lists; M runs in the partial ones. <kaio/ops/make_block_mask.hpp> makes the lists of M. If score
// and mask both read memory, clang needs -fconstexpr-steps for them too.

#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention/forward/mma_sync/table_row.hpp>
#include <kaio/ops/attention/forward/simt/table_row.hpp>
#include <kaio/ops/attention/forward/sm90/table_row.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

namespace detail {

// The kernels of one score and one mask, with their launchers.
template <std::uint32_t Depth, std::uint32_t DepthV, class T, class Score, class Mask, class... Extra>
struct attention_with_table {
  using launcher = void (*)(const stream&, const attention_call&, const Extra&...);
  static constexpr attention_sm90_config sm90 =
      attention_sm90_for(Depth, DepthV, false, is_block_sparse<Mask>);
  static auto variants() {
    if constexpr (std::is_same_v<T, f32>)
      return std::array{describe_attention_simt<attention_simt_for(Depth), f32, Score, Mask>()};
    else if constexpr (Depth == 512)
      return std::array{describe_attention_mma<attention_mma_for(Depth, DepthV), T, Score, Mask>(),
                        describe_attention_mma<attention_mma_512_small, T, Score, Mask>()};
    else
      return std::array{describe_attention_sm90<sm90, T, Score, Mask>(),
                        describe_attention_mma<attention_mma_for(Depth, DepthV), T, Score, Mask>()};
  }
  static auto launchers() {
    if constexpr (std::is_same_v<T, f32>)
      return std::array<launcher, 1>{
          launch_attention_simt<attention_simt_for(Depth), f32, Score, Mask, Extra...>};
    else if constexpr (Depth == 512)
      return std::array<launcher, 2>{
          launch_attention_mma<attention_mma_for(Depth, DepthV), T, Score, Mask, Extra...>,
          launch_attention_mma<attention_mma_512_small, T, Score, Mask, Extra...>};
    else
      return std::array<launcher, 2>{
          launch_attention_sm90<sm90, T, Score, Mask, Extra...>,
          launch_attention_mma<attention_mma_for(Depth, DepthV), T, Score, Mask, Extra...>};
  }
};

template <std::uint32_t Depth, std::uint32_t DepthV>
constexpr auto require_attention_with_depths() {
  static_assert((Depth == DepthV && (Depth == 64 || Depth == 128 || Depth == 256 || Depth == 512)) ||
                    (Depth == 192 && DepthV == 128),
                "kaio: attention_with is compiled for head sizes up to 64, 128, 256 or 512, or <192, 128>");
}

template <class Score, class Mask>
constexpr attention_arguments attention_with_arguments(std::string_view operation, const attention_view& q,
                                                       const attention_view& k, const attention_view& v,
                                                       const attention_view& out,
                                                       const attention_options& options) {
  return {operation,
          q,
          k,
          v,
          out,
          &options,
          !std::is_same_v<Score, general_score>,
          !std::is_same_v<mask_of_blocks<Mask>, band_mask>,
          nullptr,
          is_block_sparse<Mask> ? use_of_blocks::required : use_of_blocks::none,
          true};
}

}  // namespace detail

// attention with score(scale * q . k) and mask in place of its own. Throws what attention does. Also throws
// invalid_argument if the options set what the given score or mask would ignore, have blocks with a mask that
// is not in block_sparse, or none with one that is. And unsupported_device if a head size is above Depth or
// DepthV.
template <std::uint32_t Depth, std::uint32_t DepthV = Depth, class Q, class K, class V, class O,
          attention_score Score, attention_mask Mask, class... Extra>
void attention_with(const stream& s, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                    const tensor_view<V, 4>& v, const tensor_view<O, 4>& out, Score, Mask,
                    const attention_options& options, const Extra&... extra) {
  const detail::operation_scope traced("attention_with");
  detail::require_attention_with_depths<Depth, DepthV>();
  detail::require_attention_types<Q, K, V, O>();
  using table = detail::attention_with_table<Depth, DepthV, std::remove_const_t<Q>, Score, Mask, Extra...>;
  const device_properties& device = s.properties();
  const attention_call call = detail::resolve_attention(
      s.device_identity(),
      detail::attention_with_arguments<Score, Mask>("attention_with", q, k, v, out, options));
  if (call.empty()) return;
  static const auto variants = table::variants();
  const std::size_t chosen = detail::choose_attention("attention_with", call, variants, device);
  table::launchers()[chosen](s, call, extra...);
}

// Loads what such a call launches, like attention_warmup: the call may then be captured into a graph.
template <std::uint32_t Depth, std::uint32_t DepthV = Depth, class Q, class K, class V, class O,
          attention_score Score, attention_mask Mask>
void attention_with_warmup(const runtime::device& gpu, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                           const tensor_view<V, 4>& v, const tensor_view<O, 4>& out, Score, Mask,
                           const attention_options& options = {}) {
  detail::require_attention_with_depths<Depth, DepthV>();
  detail::require_attention_types<Q, K, V, O>();
  static const auto variants =
      detail::attention_with_table<Depth, DepthV, std::remove_const_t<Q>, Score, Mask>::variants();
  detail::warm_up_attention(
      gpu, detail::attention_with_arguments<Score, Mask>("attention_with_warmup", q, k, v, out, options),
      variants);
}

}  // namespace kaio::ops

namespace kaio {
using ops::attention_with;
using ops::attention_with_warmup;
}  // namespace kaio
