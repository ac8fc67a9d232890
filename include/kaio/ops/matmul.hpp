#pragma once
// C = activation(alpha * A * B + beta * C + bias) + residual, on the fastest kernel that fits the device, the
// types, the layouts and the shape.
//
//   tensor_view a(x, m, k), b(w, k, n), c(y, m, n);                  // row by row
//   matmul(gpu.stream(), a, b, c);                                   // C = A * B
//   matmul(gpu.stream(), a, b_rows.transposed(), c,                  // weights stored N x K, read in place
//          {.bias = per_column(bias), .activation = matmul_activation::gelu});
//
// Elements: A and B both f32, f16, bf16, e4m3 or e5m2; C f32, f16 or bf16. Sums are kept in f32, results are
// rounded once, and the same call gives the same bits every time. Batches: views of three dimensions; an input
// of two dimensions, or with stride 0 or extent 1 in the first, is used for every product of the batch.
//
// Layouts: in A, in B and in C one of the last two strides is 1, the other any that is large enough
// (inputs may repeat: stride 0). So A, B or C may be transposed() or slice()d. An extent of 0 along M, N or the
// batch does nothing; K = 0 is a product of zeros. alpha = 0 does not read A and B, beta = 0 does not read C.
//
// Nothing is allocated, copied or waited for; a kernel is loaded when it is used for the first time on a
// device. Throws invalid_argument, by the name of the argument, before anything runs; unsupported_device where
// no kernel is made for the device; and what a launch throws.

#include <kaio/dsl/float8.hpp>
#include <kaio/dsl/half.hpp>
#include <kaio/ops/matmul/terms.hpp>
#include <kaio/ops/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::ops {

// How products of f32 numbers are computed; other types have one way.
//   ieee    multiply-adds in f32
//   tf32    tensor cores, inputs rounded to 11 significant bits, sums in f32
//   tf32x3  tensor cores, inputs as the sum of two such numbers: about 22 significant bits, three products
enum class matmul_precision : std::uint8_t { ieee, tf32, tf32x3 };

// The element types of matrices.
enum class matmul_type : std::uint8_t { f32, f16, bf16, e4m3, e5m2 };

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
                                   : matmul_type::e5m2;
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
    static_assert(detail::is_matmul_operand<std::remove_const_t<T>>,
                  "kaio: the elements of a matmul are f32, f16, bf16, e4m3 or e5m2");
    static_assert(Rank <= 3, "kaio: a matmul takes views of two dimensions, and of three for a batch");
    for (std::size_t d = 0; d < Rank; ++d) {
      extents[d] = view.extent(d);
      strides[d] = view.stride(d);
    }
  }
  bool exists() const noexcept { return rank != 0; }
  detail::view_facts facts() const noexcept {
    const std::uint32_t size = type == matmul_type::f32 ? 4 : type <= matmul_type::bf16 ? 2 : 1;
    return {address, bytes, device, size, rank, extents.data(), strides.data()};
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
  std::string_view variant{};  // the kernel to run, by a name that matmul_variants tells; empty: the best one
};

namespace detail {

// A call that was not checked yet.
struct matmul_arguments {
  std::string_view operation;
  matmul_view a, b, c;
  const matmul_options* options;
};
void run_matmul(const stream& s, const matmul_arguments& arguments);
void run_matmul_batch(const stream& s, std::string_view operation, std::span<const matmul_view> a,
                      std::span<const matmul_view> b, std::span<const matmul_view> c,
                      const matmul_options& options);

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

// A: M x K, B: K x N, C: M x N; with three dimensions the batch comes first. Asynchronous, in the order of the
// stream. C shares no memory with A, B or bias; the residual may be C itself or lies apart from it.
template <class A, class B, class C, std::size_t RankA, std::size_t RankB, std::size_t RankC>
void matmul(const stream& s, const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b,
            const tensor_view<C, RankC>& c, const matmul_options& options = {}) {
  detail::require_matmul_types<A, B, C, RankA, RankB, RankC>();
  detail::run_matmul(s, {"matmul", a, b, c, &options});
}

// C[i] = epilogue(A[i] * B[i]) for matrices that lie anywhere, by host arrays of their views: as many products
// as there are views of C, each of its own shape. The arrays may be reused when the call returns. Products whose
// views are equal but for addresses that are equally far apart become one launch, as a strided batch would;
// other products one launch each. No output shares memory with another or with any input. Bias and residual are
// those of every product, and so have two dimensions at most and fit each shape.
template <class A, class B, class C>
void matmul_batch(const stream& s, std::span<const tensor_view<A, 2>> a, std::span<const tensor_view<B, 2>> b,
                  std::span<const tensor_view<C, 2>> c, const matmul_options& options = {}) {
  detail::require_matmul_types<A, B, C, 2, 2, 2>();
  detail::run_matmul_batch(s, "matmul_batch", std::vector<matmul_view>(a.begin(), a.end()),
                           std::vector<matmul_view>(b.begin(), b.end()),
                           std::vector<matmul_view>(c.begin(), c.end()), options);
}

// The workspace that makes this call as fast as it can be; 0 where it needs none. The contents of the views are
// not looked at.
std::uint64_t matmul_workspace_bytes(const stream& s, const matmul_view& a, const matmul_view& b,
                                     const matmul_view& c, const matmul_options& options = {});

// A kernel for these types and layouts, and what is known of it for this call.
struct matmul_variant_info {
  std::string name;
  std::string refusal;                // why it cannot run this call on this device; empty where it can
  double seconds = 0;                 // as the cost model sees it; 0 where it cannot run
  std::uint64_t workspace_bytes = 0;  // that it needs
};
// All kernels for the types and layouts of a call, the fastest by the cost model first, those that cannot run
// it last. The one that matmul takes is the first, unless `tune` has found a better one.
std::vector<matmul_variant_info> matmul_variants(const stream& s, const matmul_view& a, const matmul_view& b,
                                                 const matmul_view& c, const matmul_options& options = {});

// The name of the variant that a call takes: the cost model's, or the one that `tune` has found. Throws what
// the call itself would.
std::string matmul_choice(const stream& s, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                          const matmul_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::constant_operands;
using ops::matmul;
using ops::matmul_activation;
using ops::matmul_batch;
using ops::matmul_options;
using ops::matmul_precision;
using ops::per_column;
using ops::per_row;
}  // namespace kaio
