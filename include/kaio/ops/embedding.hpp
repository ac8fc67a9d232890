#pragma once
// Looks up rows of an embedding, and the gradient of its weight.
//
//   embedding(s, tokens, weight, x);                       // x[i, :] = weight[tokens[i], :]
//   embedding_backward(s, dx, tokens, dweight, {.workspace = w});
//                                                          // dweight[v, :] = sum of dx[i, :] where tokens[i] = v
//
// An index that is negative or not below the vocabulary gives a row of zeros, and none to the gradient. The
// gradient adds in f32, in increasing order of tokens, and rounds once: equal calls give equal bits. Nothing is
// allocated, read back or waited for, so calls may be captured into a graph; a kernel is loaded when it is first
// used on a device (embedding_warmup). Throws invalid_argument, which names the argument, before anything runs;
// and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct embedding_options {
  output_view errors{};  // (1) of u32: the number of indices outside of the vocabulary is added to it
};
struct embedding_backward_options {
  std::int64_t padding_index = -1;  // tokens with this index are left out; below 0: none
  bool accumulate = false;          // adds to dweight; rows without tokens are then not written
  workspace_view workspace{};       // embedding_backward_workspace_bytes bytes, at a multiple of 16
};

namespace detail {
void run_embedding(const stream& s, const any_view& indices, const any_view& weight, const any_view& out,
                   const embedding_options& options);
void run_embedding_backward(const stream& s, const any_view& dout, const any_view& indices,
                            const any_view& dweight, const embedding_backward_options& options);
std::uint64_t embedding_backward_bytes(const any_view& indices, const any_view& dweight);

template <class Index, class Weight, class Out, std::size_t Rank, std::size_t OutRank>
constexpr void require_embedding_types() {
  using index = std::remove_const_t<Index>;
  static_assert(std::is_same_v<index, i32> || std::is_same_v<index, i64>,
                "kaio: the indices of embedding are i32 or i64");
  static_assert(is_wide(element_kind_of<Weight>()) && is_wide(element_kind_of<Out>()),
                "kaio: the elements of embedding are f32, f16 or bf16");
  static_assert(Rank <= 4 && OutRank == Rank + 1,
                "kaio: embedding takes one to four dimensions of indices; the other tensor has one more");
}
}  // namespace detail

// indices: (...) of one to four dimensions, i32 or i64, any strides; fewer than 2^31. weight: (vocabulary, size).
// out: (..., size). f32, f16 or bf16; rows of any stride, neighbours adjacent. out is apart from both. Fastest if
// rows begin at multiples of 16 bytes.
template <class Index, class Weight, class Out, std::size_t Rank, std::size_t OutRank>
void embedding(const stream& s, const tensor_view<Index, Rank>& indices, const tensor_view<Weight, 2>& weight,
               const tensor_view<Out, OutRank>& out, const embedding_options& options = {}) {
  detail::require_embedding_types<Index, Weight, Out, Rank, OutRank>();
  static_assert(std::is_same_v<std::remove_const_t<Weight>, Out>,
                "kaio: the output of embedding has the element type of the weight, and is not const");
  detail::run_embedding(s, indices, weight, out, options);
}
// Refuses arguments that are no such views.
template <class Index, class Weight, class Out>
  requires(!(detail::views<0, Index, Out> && detail::views<2, Weight>))
void embedding(const stream&, const Index&, const Weight&, const Out&, const embedding_options& = {}) {
  detail::refuse_views<Index, Weight, Out>();
}

// dout: (..., size), indices: (...), as of embedding. dweight: (vocabulary, size), of the type of dout or f32,
// fewer than 2^31 rows; apart from both.
template <class Dout, class Index, class Dweight, std::size_t Rank, std::size_t OutRank>
void embedding_backward(const stream& s, const tensor_view<Dout, OutRank>& dout,
                        const tensor_view<Index, Rank>& indices, const tensor_view<Dweight, 2>& dweight,
                        const embedding_backward_options& options = {}) {
  detail::require_embedding_types<Index, Dweight, Dout, Rank, OutRank>();
  static_assert(std::is_same_v<std::remove_const_t<Dout>, Dweight> || std::is_same_v<Dweight, f32>,
                "kaio: dweight has the element type of dout, or f32, and is not const");
  detail::run_embedding_backward(s, dout, indices, dweight, options);
}
// Refuses arguments that are no such views.
template <class Dout, class Index, class Dweight>
  requires(!(detail::views<0, Dout, Index> && detail::views<2, Dweight>))
void embedding_backward(const stream&, const Dout&, const Index&, const Dweight&,
                        const embedding_backward_options& = {}) {
  detail::refuse_views<Dout, Index, Dweight>();
}

// The bytes of workspace that embedding_backward needs: about eight for each row of the vocabulary, and four for
// each token.
template <class Index, class Dweight, std::size_t Rank>
std::uint64_t embedding_backward_workspace_bytes(const tensor_view<Index, Rank>& indices,
                                                 const tensor_view<Dweight, 2>& dweight) {
  static_assert(Rank <= 4, "kaio: embedding takes one to four dimensions of indices");
  return detail::embedding_backward_bytes(indices, dweight);
}

// Loads the kernels of embedding and embedding_backward for elements of `kind` ahead of their first use.
void embedding_warmup(const runtime::device& gpu, element_kind kind);

}  // namespace kaio::ops

namespace kaio {
using ops::element_kind;
using ops::embedding;
using ops::embedding_backward;
using ops::embedding_backward_options;
using ops::embedding_backward_workspace_bytes;
using ops::embedding_options;
using ops::embedding_warmup;
}  // namespace kaio
