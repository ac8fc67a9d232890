#pragma once
// Arguments of qkv_project: weights, destinations of the heads, and options.

#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// The weights of Q, K and V: one weight with the outputs of Q first, then K's, then V's; or three weights.
struct qkv_weights {
  std::array<projection_weight, 3> of{};
  std::uint32_t count = 1;
  qkv_weights(const projection_weight& all) : of{all} {}
  template <class W>
    requires std::is_constructible_v<projection_weight, const W&>
  qkv_weights(const W& all) : of{projection_weight(all)} {}
  qkv_weights(const projection_weight& q, const projection_weight& k, const projection_weight& v)
      : of{q, k, v}, count(3) {}
};

// Destinations of the heads: tensors of (batches, tokens, heads, size) or (tokens, heads, size), f16 or bf16.
// K and V go into such tensors, or into a cache.
struct qkv_outputs {
  any_view q{}, k{}, v{};
  std::optional<detail::any_cache> cache{};

  template <class T, std::size_t Rank>
  qkv_outputs(const tensor_view<T, Rank>& q_out, const tensor_view<T, Rank>& k_out,
              const tensor_view<T, Rank>& v_out)
      : q(q_out), k(k_out), v(v_out) {
    require<T, Rank>();
  }
  template <class T, std::size_t Rank, class C>
  qkv_outputs(const tensor_view<T, Rank>& q_out, const kv_cache<C>& kv) : q(q_out), cache(kv) {
    require<T, Rank>();
    static_assert(std::is_same_v<T, C> || is_quantised(element_kind_of<C>()),
                  "kaio: the elements of the cache of qkv_project are those of q, or e4m3, e5m2 or i8");
    static_assert(!std::is_const_v<C>, "kaio: qkv_project writes the cache, whose elements are not const");
  }

 private:
  template <class T, std::size_t Rank>
  static constexpr void require() {
    static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16>,
                  "kaio: the outputs of qkv_project are f16 or bf16, and not const");
    static_assert(
        Rank == 3 || Rank == 4,
        "kaio: the outputs of qkv_project are (batches, tokens, heads, size) or (tokens, heads, size)");
  }
};

// A vector of f16 or bf16, the element type of the outputs.
struct qkv_vector {
  any_view view;
  qkv_vector() = default;
  template <detail::without_view M>
  qkv_vector(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  qkv_vector(const tensor_view<T, 1>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                  "kaio: biases and norms of qkv_project have the element type of its outputs");
  }
};

// Rotates Q and K by the positions of their tokens, as rotary does. The position of a token is
//
//   positions[token]                                   if they are given
//   number of its key - left padding of its sequence   else, with a cache
//   number in its sequence + offset of its sequence    else, without a cache
struct qkv_rotary {
  rotary_table_input cos{}, sin{};
  bool interleaved = false;
  token_number_input positions{};
  tensor_view<const i32, 1> offsets{};  // (sequences), only without a cache
};

struct qkv_project_options {
  qkv_vector q_bias{}, k_bias{}, v_bias{};  // (heads * size)
  qkv_vector q_norm{}, k_norm{};            // (size): weights of the RMS norm of each head
  f32 epsilon = 1e-6f;
  f32 norm_offset = 0;   // added to the weights of both norms: 1 for Gemma
  ops::x_norm x_norm{};  // norm of x before the product
  qkv_rotary rotary{};
  f32 q_scale = 1;
  // As in append_kv: sequences of (tokens, heads, size), slots of tokens, scales of an 8-bit cache.
  tensor_view<const i32, 1> cu_seqlens{};
  token_number_input slots{};
  append_scale_input k_scale{}, v_scale{};
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};
  tensor_view<const f32, 1> x_scale{};   // scale of 8-bit x: one for each row, or one for all
  tensor_view<const f32, 2> x_groups{};  // scales of fp8 x, (rows, ceil(K / 128)): with weights in blocks
  workspace_view workspace{};            // qkv_project_workspace_bytes bytes, aligned to 16 bytes
  // With weights, no work in the stream before this call writes the weights, their scales or the weight of
  // x_norm. Products may read them before that work has ended (constant_inputs::b of matmul). A hint; results
  // do not depend on it.
  constant_inputs constant = constant_inputs::none;  // weights
  // The kernel to run, by a name that qkv_project_choice gives; "separate": a product, and then the heads;
  // empty: the best one.
  std::string_view variant{};
  // Parts of K in the kernels for few rows: this many blocks of a cluster divide K. 1, 2 or 4; 0: automatic.
  std::uint32_t splits = 0;
  // If true, packed weights are not rounded to the type of x before they are multiplied (matmul_w4_options).
  bool exact_weights = false;
};

namespace detail {

// Arguments of a qkv_project, not checked yet.
struct qkv_arguments {
  std::string_view operation;
  any_view x;
  const qkv_weights* weights;
  const qkv_outputs* outputs;
  const qkv_project_options* options;
  bool has_own = false;  // has a head function, which may see positions without tables
};

}  // namespace detail

}  // namespace kaio::ops
