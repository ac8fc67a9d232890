#pragma once
// What a caller of matmul gives: views, options, and the element types that they may have.

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// How products of f32 numbers are computed; other types have one way.
//   ieee    multiply-adds in f32
//   tf32    tensor cores, inputs rounded to 11 significant bits, sums in f32
//   tf32x3  tensor cores, inputs as the sum of two such numbers: about 22 significant bits, three products
enum class matmul_precision : std::uint8_t { ieee, tf32, tf32x3 };

// The element types of matrices; those of i8 and i32 are for matmul_int8.
enum class matmul_type : std::uint8_t { f32, f16, bf16, e4m3, e5m2, i8, i32 };
constexpr std::uint32_t bytes_of(matmul_type type) {
  if (type == matmul_type::f32 || type == matmul_type::i32) return 4;
  return type <= matmul_type::bf16 ? 2 : 1;
}

namespace detail {

template <class T>
inline constexpr bool is_matmul_operand =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16> || std::is_same_v<T, e4m3> ||
    std::is_same_v<T, e5m2>;
template <class T>
inline constexpr bool is_matmul_output =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
constexpr matmul_type matmul_type_of() {
  return std::is_same_v<T, f32>    ? matmul_type::f32
         : std::is_same_v<T, f16>  ? matmul_type::f16
         : std::is_same_v<T, bf16> ? matmul_type::bf16
         : std::is_same_v<T, e4m3> ? matmul_type::e4m3
         : std::is_same_v<T, e5m2> ? matmul_type::e5m2
         : std::is_same_v<T, i8>   ? matmul_type::i8
                                   : matmul_type::i32;
}

}  // namespace detail

// A view without its type in its type: up to three dimensions of one of matmul_type. Made of a tensor_view.
struct matmul_view {
  matmul_type type = matmul_type::f32;
  std::uint32_t rank = 0;  // 0: there is none
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  std::array<std::int64_t, 3> extents{}, strides{};

  matmul_view() = default;
  template <class T, std::size_t Rank>
  matmul_view(const tensor_view<T, Rank>& view)
      : type(detail::matmul_type_of<std::remove_const_t<T>>()),
        rank(Rank),
        address(view.address()),
        bytes(view.bytes()),
        device(view.device()) {
    static_assert(detail::is_matmul_operand<std::remove_const_t<T>> ||
                      std::is_same_v<std::remove_const_t<T>, i8> ||
                      std::is_same_v<std::remove_const_t<T>, i32>,
                  "kaio: the elements of a matmul are f32, f16, bf16, e4m3 or e5m2, of matmul_int8 i8");
    static_assert(Rank <= 3, "kaio: a matmul takes views of two dimensions, and of three for a batch");
    for (std::size_t d = 0; d < Rank; ++d) {
      extents[d] = view.extent(d);
      strides[d] = view.stride(d);
    }
  }
  bool exists() const noexcept { return rank != 0; }
  detail::view_facts facts() const noexcept {
    return {address, bytes, device, bytes_of(type), rank, extents.data(), strides.data()};
  }
};

// A vector that is added to each row of C (one number a column), or to each column (one number a row); with
// two dimensions, one vector for each product of the batch. f32, f16 or bf16, whatever C is.
struct matmul_bias {
  matmul_view vector;
  bool of_rows = false;
};
template <class T, std::size_t Rank>
matmul_bias per_column(const tensor_view<T, Rank>& vector) {
  static_assert(Rank <= 2, "kaio: a bias is a vector, or one for each product of a batch");
  static_assert(detail::is_matmul_output<std::remove_const_t<T>>, "kaio: a bias is of f32, f16 or bf16");
  return {vector, false};
}
template <class T, std::size_t Rank>
matmul_bias per_row(const tensor_view<T, Rank>& vector) {
  static_assert(Rank <= 2, "kaio: a bias is a vector, or one for each product of a batch");
  static_assert(detail::is_matmul_output<std::remove_const_t<T>>, "kaio: a bias is of f32, f16 or bf16");
  return {vector, true};
}

// Device memory for sums of products whose K is split among blocks: a buffer or device_pointer of any type.
// It may be larger than needed, is written, and must not be used by other work until this one is done.
struct matmul_workspace {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;

  matmul_workspace() = default;
  template <class Memory>
    requires requires(const Memory& m) { m.as_argument().bits; }
  matmul_workspace(const Memory& memory) {
    const ptx::argument argument = memory.as_argument();
    address = argument.bits;
    bytes = argument.bytes;
    device = argument.device;
  }
  workspace_facts facts() const noexcept { return {address, bytes, device}; }
};

// Which operands are not written by work that is in the stream before this call (the weights of a layer): a
// kernel may read them before that work has ended. A hint; results do not depend on it.
enum class constant_operands : std::uint8_t { none, a, b, both };

struct matmul_options {
  f32 alpha = 1;
  f32 beta = 0;
  matmul_bias bias{};
  // Of the extents of C, f32, f16 or bf16; of two dimensions: the same for the whole batch.
  matmul_view residual{};
  matmul_activation activation = matmul_activation::none;
  matmul_precision precision = matmul_precision::ieee;  // of f32 operands
  matmul_workspace workspace{};  // lets shapes with a long K and a small C use the whole device
  constant_operands constant = constant_operands::none;
  std::string_view variant{};  // the kernel to run, by a name that matmul_variants gives; empty: the best one
};

namespace detail {

// A call that was not checked yet.
struct matmul_arguments {
  std::string_view operation;
  matmul_view a, b, c;
  const matmul_options* options;
  bool types_are_checked = false;  // by the operation, which has rules of its own for them
};
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
constexpr void require_matmul_types() {
  using element = std::remove_const_t<A>;
  static_assert(is_matmul_operand<element>,
                "kaio: the operands of a matmul are f32, f16, bf16, e4m3 or e5m2");
  static_assert(std::is_same_v<element, std::remove_const_t<B>>,
                "kaio: both operands of a matmul have the same element type; cast one of them");
  static_assert(!std::is_const_v<C>, "kaio: the output of a matmul is a view of elements that are not const");
  static_assert(is_matmul_output<std::remove_const_t<C>>, "kaio: the output of a matmul is f32, f16 or bf16");
  static_assert(RankC == 2 || RankC == 3,
                "kaio: the output of a matmul has two dimensions, or three with the batch first");
  static_assert((RankA == 2 || RankA == RankC) && (RankB == 2 || RankB == RankC),
                "kaio: the operands of a matmul have two dimensions, or three where the output has three");
}

}  // namespace detail

}  // namespace kaio::ops
