// Every operation that takes views has an overload for arguments that are none: it refuses them with a message of kaio.
// Calls with views do not reach it.
#include <kaio/ops/ops.hpp>

#include <type_traits>
#include <utility>
using namespace kaio;
using namespace kaio::ops;

namespace {

template <class T, std::size_t Rank>
using view = const tensor_view<T, Rank>&;
using memory = const buffer<f16>&;
using gpu = const stream&;

// A call compiles up to the body of the operation, where the message is.
template <class X>
constexpr bool is_refused = requires(
    gpu s, X x, view<f16, 4> v4, view<f16, 3> v3, view<f16, 2> v2, view<f16, 1> v1, view<f32, 2> f2,
    view<f32, 3> f3, view<i32, 1> n, const kv_cache<f16>& cache, const attention_sequences& sequences,
    const w4_weights& w4, const w8_weights& w8, const qkv_weights& qkv, const qkv_outputs& heads,
    const gate_up_weights& gate_up, view<const i32, 2> pairs, view<i8, 2> codes) {
  attention(s, v4, x, v4, v4, {.softcap = 1});
  attention_varlen(s, x, v3, v3, v3, sequences, {.softcap = 1});
  attention_decode(s, v4, cache, x, {.softcap = 1});
  attention_decode_varlen(s, x, cache, v3, sequences, {.softcap = 1});
  matmul(s, v2, x, v2, {.alpha = 2});
  matmul_fp8(s, v2, v2, x, {.alpha = 2});
  matmul_int8(s, x, v2, v2, {.alpha = 2});
  int8_column_sums(s, x, n);
  matmul_w4(s, x, w4, v2, {.variant = ""});
  matmul_w8(s, v2, w8, x, {.variant = ""});
  rms_norm(s, v2, x, v2, {.epsilon = 1});
  rms_norm(s, x, v1, codes, 1.0f, {.epsilon = 1});
  rms_norm(s, v2, v1, codes, x);
  rotary(s, v4, v4, x, v2, {.interleaved = true});
  rotary_varlen(s, v3, x, v2, v2, {.interleaved = true});
  rotary_table(s, x, f2, {.base = 2});
  qkv_project(s, x, qkv, heads, {.variant = ""});
  gate_up_project(s, v2, gate_up, x, {.variant = ""});
  merge_states(s, v4, f3, x, f3, v4, f3);
  append_kv(s, v4, x, cache, {.cu_seqlens = {}});
  append_kv_varlen(s, x, v3, cache, {.cu_seqlens = {}});
  copy_pages(s, x, pairs);
  gather_kv(s, cache, v4, x);
  gather_kv_varlen(s, cache, x, v3, {});
  per_column(x);
  per_row(x);
};
static_assert(is_refused<memory>);
static_assert(is_refused<const std::vector<f16>&>);

// Views, options and weights accept memory, to refuse it; nothing else became convertible.
template <class... To>
constexpr bool take_memory =
    (std::is_convertible_v<memory, To> && ...) && (std::is_convertible_v<f32*, To> && ...) &&
    !(std::is_convertible_v<std::vector<f16>, To> || ...) &&
    !(std::is_convertible_v<const kv_cache<f16>&, To> || ...);
static_assert(
    take_memory<tensor_view<f16, 4>, any_view, output_view, matmul_view, attention_view, attention_sinks,
                attention_bias, attention_keep, attention_alibi, attention_lse, attention_i32_input,
                attention_gradient, attention_row_input, attention_cache_scale, attention_new_rows,
                attention_value_queries, token_number_input, append_scale_input, rotary_table_input,
                gate_up_vector, qkv_vector, projection_weight, block_mask_input<3>, block_mask_numbers<3>,
                w4_bytes, w4_scales, w4_words, w8_bytes, w8_scales, fp8_matrix, byte_codes, scales_of_bytes>);
static_assert(!std::is_convertible_v<view<f16, 3>, tensor_view<f16, 4>>);
static_assert(!std::is_convertible_v<view<const f16, 4>, tensor_view<f16, 4>>);
static_assert(std::is_convertible_v<view<f16, 4>, tensor_view<const f16, 4>>);

// Calls with views, of which g++ and clang compile the bodies.
[[maybe_unused]] void calls(gpu s, view<f16, 4> v4, view<f16, 2> v2, view<f16, 1> v1, view<i8, 2> codes,
                            view<f32, 1> scales, const kv_cache<f16>& cache) {
  const attention_options causal{.causal = causal_alignment::top_left, .lse = tensor_view<f32, 3>()};
  attention(s, v4, tensor_view<const f16, 4>(v4), v4, v4, causal);
  attention_decode(s, v4, cache, v4);
  matmul(s, v2, v2.transposed(), v2);
  const rms_norm_options options{};
  rms_norm(s, v2, v1, v2, options);
  rms_norm(s, v2, v1, codes, scales, options);
  rms_norm(s, v2, v1, codes, 2);
  static_assert(causal_option(causal_alignment::top_left) == causal_alignment::top_left);
}

}  // namespace
