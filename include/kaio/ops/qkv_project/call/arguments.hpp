#pragma once
// What a caller of qkv_project gives: weights, where the heads go, and options.

#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/cache/append/arguments.hpp>
#include <kaio/ops/shared/any_cache.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>
#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// The weights of Q, K and V: one of all of them, those of Q first, then K's, then V's; or three.
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

// Where heads go: tensors of (batches, tokens, heads, size), or (tokens, heads, size), f16 or bf16; K and V
// into such tensors, or into a cache.
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
  template <class T>
  qkv_vector(const tensor_view<T, 1>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, f16> || std::is_same_v<element, bf16>,
                  "kaio: biases and norms of qkv_project have the element type of its outputs");
  }
};

// Of Q and K by their tokens' positions, as rotary has it. Positions: those given; else the number of the
// key that the token becomes, less its sequence's left padding; without a cache the token's own number in
// its sequence, and the sequence's offset.
struct qkv_rotary {
  rotary_table_input cos{}, sin{};
  bool interleaved = false;
  token_number_input positions{};
  tensor_view<const i32, 1> offsets{};  // (sequences), without a cache alone
};

struct qkv_options {
  qkv_vector q_bias{}, k_bias{}, v_bias{};  // (heads * size)
  qkv_vector q_norm{}, k_norm{};            // (size): RMS norm of each head, by these weights
  f32 epsilon = 1e-6f;
  f32 norm_offset = 0;   // added to the weights of both norms: 1 for Gemma
  ops::x_norm x_norm{};  // of x, before it is multiplied
  qkv_rotary rotary{};
  f32 q_scale = 1;
  // As of append_kv: sequences of (tokens, heads, size), places of tokens, scales of a cache of 8 bits.
  tensor_view<const i32, 1> cu_seqlens{};
  token_number_input slots{};
  append_scale_input k_scale{}, v_scale{};
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};
  tensor_view<const f32, 1> x_scale{};   // of x of 8 bits: one for each row, or one for all
  tensor_view<const f32, 2> x_groups{};  // of x of 8-bit floats, (rows, ceil(K / 128)): with blocks
  attention_workspace workspace{};       // of qkv_project_workspace_bytes, at a multiple of 16 bytes
  // The weights, with their scales and that of x_norm, are not written by work that is in the stream before this call: products
  // may read them before it has ended (constant_operands::b of matmul). A hint; results do not depend on it.
  bool constant_weights = false;
  // The kernel to run, by a name that qkv_project_choice gives; "separate": a product, and then the heads;
  // empty: the best one.
  std::string_view variant{};
  // Of K, by the kernels for few rows: blocks of a cluster that divide it, 1, 2 or 4; 0: a choice.
  std::uint32_t parts = 0;
  // Of packed weights: none is rounded to the type of x before it is multiplied (matmul_w4_options).
  bool exact_weights = false;
};

namespace detail {

// A qkv_project that was not checked yet.
struct qkv_arguments {
  std::string_view operation;
  any_view x;
  const qkv_weights* weights;
  const qkv_outputs* outputs;
  const qkv_options* options;
  bool has_own = false;  // a head function: it may see positions without tables
};

}  // namespace detail

}  // namespace kaio::ops
