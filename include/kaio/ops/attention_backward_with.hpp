#pragma once
// The gradients of an attention with a score or a mask of your own, in the library's kernels of
// attention_backward, compiled where they are used.
//
//   struct distance_penalty {                              // x -= slope * |query - key|
//     static constexpr fixed_string name = "distance_penalty";
//     constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, val<f32> slope) const {
//       return t.let(x - slope * cast<f32>(abs_diff(at.query, at.key)));
//     }
//   };
//   attention_backward_with<128>(s, dout, q, k, v, out, lse, dq, dk, dv, distance_penalty{},
//                                ops::band_mask{},
//                                {.forward = {.causal = causal_alignment::bottom_right}}, 0.5f);
//
// The score is differentiated by x (kaio::derivative). If it has a member `derivative` with the same
// parameters, that member is used instead. The first template argument is the largest row that kernels are
// compiled for, in elements: 64, 128 or 256. The kernels:
//
//   sm_90a             f16 and bf16, rows up to 128    one
//   sm_80 and later    f16 and bf16                    two
//   multiply-adds      all types                       two
//
// A mask with a function `queries`, as in ops::band_mask, leaves out the tiles of queries that attend to none
// of some keys; without it all tiles are visited. attention_with.hpp describes the arguments after the
// options.

#include <kaio/ops/attention/backward/mma_sync/table_row.hpp>
#include <kaio/ops/attention/backward/simt/table_row.hpp>
#include <kaio/ops/attention/backward/sm90/table_row.hpp>
#include <kaio/ops/attention_backward.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

namespace detail {
template <class Dout, class Q, class K, class V>
constexpr void require_backward_types() {
  using element = std::remove_const_t<Q>;
  static_assert(is_attention_element<element>, "kaio: the elements of an attention are f32, f16 or bf16");
  static_assert(std::is_same_v<element, std::remove_const_t<K>> &&
                    std::is_same_v<element, std::remove_const_t<V>> &&
                    std::is_same_v<element, std::remove_const_t<Dout>>,
                "kaio: dout, q, k and v of an attention have the same element type; cast one of them");
}
template <std::uint32_t Depth>
constexpr auto require_backward_with_depth() {
  static_assert(Depth == 64 || Depth == 128 || Depth == 256,
                "kaio: attention_backward_with is compiled for head sizes up to 64, 128 or 256");
}

template <class Score, class Mask>
attention_backward_arguments attention_backward_with_arguments(
    std::string_view operation, const attention_view& dout, const attention_view& q, const attention_view& k,
    const attention_view& v, const attention_view& out, const attention_row_input& lse,
    const attention_gradient& dq, const attention_gradient& dk, const attention_gradient& dv,
    const attention_backward_options& options) {
  return {operation,
          dout,
          q,
          k,
          v,
          out,
          lse.view,
          dq.view,
          dk.view,
          dv.view,
          &options,
          !std::is_same_v<Score, general_score>,
          !std::is_same_v<Mask, band_mask>,
          nullptr,
          true};
}

// Above 128, a kernel for sm_90a is more than clang evaluates without flags.
template <std::uint32_t Depth>
inline constexpr bool attention_backward_with_has_sm90 = Depth <= 128;

// The kernels of one score and one mask: for sm_90a, by mma.sync, by multiply-adds; for f32 only the last.
// After the others, the multiply-add kernels compute again what these have flagged.
template <std::uint32_t Depth, class T, class Score, class Mask>
auto attention_backward_with_variants() {
  const attention_backward_variant simt =
      describe_attention_backward_simt<attention_backward_simt_for(Depth), Score, Mask>();
  if constexpr (std::is_same_v<T, f32>) {
    return std::array{simt};
  } else {
    const auto and_simt = [&](attention_backward_variant v) {
      v.images[2] = simt.images[0];
      v.images[3] = simt.images[1];
      return v;
    };
    const attention_backward_variant mma =
        and_simt(describe_attention_backward_mma<attention_backward_mma_keys(Depth),
                                                 attention_backward_mma_queries(Depth), T, Score, Mask>());
    if constexpr (attention_backward_with_has_sm90<Depth>) {
      attention_backward_variant sm90 = and_simt(
          describe_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, T, Score, Mask>());
      // The argument depends on T, so that clang traces the kernel where this is instantiated, and not here.
      sm90.images[1] = &attention_backward_sm90_finish<std::enable_if_t<scalar<T>>>.image();
      return std::array{sm90, mma, simt};
    } else {
      return std::array{mma, simt};
    }
  }
}

}  // namespace detail

// attention_backward for attention_with(score, mask). Throws what attention_backward does. Also throws
// invalid_argument if the options set what the given score or mask would ignore, or ask for dbias: what a
// score reads gets no gradient. And unsupported_device if a head size is above Depth.
template <std::uint32_t Depth, class Dout, class Q, class K, class V, class O, attention_score Score,
          attention_mask Mask, class... Extra>
void attention_backward_with(const stream& s, const tensor_view<Dout, 4>& dout, const tensor_view<Q, 4>& q,
                             const tensor_view<K, 4>& k, const tensor_view<V, 4>& v,
                             const tensor_view<O, 4>& out, const attention_row_input& lse,
                             const attention_gradient& dq, const attention_gradient& dk,
                             const attention_gradient& dv, Score, Mask,
                             const attention_backward_options& options, const Extra&... extra) {
  const detail::operation_scope traced("attention_backward_with");
  detail::require_backward_with_depth<Depth>();
  detail::require_backward_types<Dout, Q, K, V>();
  using element = std::remove_const_t<Q>;
  const device_properties& device = s.properties();
  const detail::attention_backward_arguments arguments =
      detail::attention_backward_with_arguments<Score, Mask>("attention_backward_with", dout, q, k, v, out,
                                                             lse, dq, dk, dv, options);
  attention_backward_call call = detail::resolve_attention_backward(s.device_identity(), arguments);
  static const auto variants = detail::attention_backward_with_variants<Depth, element, Score, Mask>();
  const std::size_t chosen =
      detail::choose_attention_backward("attention_backward_with", call, variants, device);
  const auto bytes = variants[chosen].workspace_bytes;
  detail::check_backward_workspace(s.device_identity(), arguments, bytes == nullptr ? 0 : bytes(call));
  if (const auto place = variants[chosen].place_workspace; place != nullptr) place(call);
  detail::prepare_attention_backward(s, call);
  if constexpr (!std::is_same_v<element, f32>) {
    constexpr bool has_sm90 = detail::attention_backward_with_has_sm90<Depth>;
    if constexpr (has_sm90)
      if (chosen == 0) {
        launch_attention_backward_sm90<attention_backward_sm90_shape<Depth, Score>, element, Score, Mask>(
            s, call, extra...);
        launch_attention_backward_sm90_finish(s, call);
      }
    if (chosen == (has_sm90 ? 1 : 0))
      call = launch_attention_backward_mma<attention_backward_mma_keys(Depth),
                                           attention_backward_mma_queries(Depth), element, Score, Mask>(
          s, call, extra...);
  }
  launch_attention_backward_simt<attention_backward_simt_for(Depth), Score, Mask>(s, call, extra...);
}

// Loads what such a call launches, like attention_backward_warmup: the call may then be captured into a
// graph.
template <std::uint32_t Depth, class Dout, class Q, class K, class V, class O, attention_score Score,
          attention_mask Mask>
void attention_backward_with_warmup(const runtime::device& gpu, const tensor_view<Dout, 4>& dout,
                                    const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                                    const tensor_view<V, 4>& v, const tensor_view<O, 4>& out,
                                    const attention_row_input& lse, const attention_gradient& dq,
                                    const attention_gradient& dk, const attention_gradient& dv, Score, Mask,
                                    const attention_backward_options& options = {}) {
  detail::require_backward_with_depth<Depth>();
  detail::require_backward_types<Dout, Q, K, V>();
  static const auto variants =
      detail::attention_backward_with_variants<Depth, std::remove_const_t<Q>, Score, Mask>();
  detail::warm_up_attention_backward(
      gpu,
      detail::attention_backward_with_arguments<Score, Mask>("attention_backward_with_warmup", dout, q, k, v,
                                                             out, lse, dq, dk, dv, options),
      variants);
}

}  // namespace kaio::ops

namespace kaio {
using ops::attention_backward_with;
using ops::attention_backward_with_warmup;
}  // namespace kaio
