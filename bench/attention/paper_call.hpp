#pragma once
// The calls of problems as the choice of a kernel sees them, for memory and GPUs that are not there.

#include "bench/attention/problem.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/attention/forward/call/call.hpp>

#include <cstdint>
#include <limits>

namespace kaio::bench {

// A call on elements T; tensors are (batch, sequence, head, element) without gaps. Documents are full
// attention.
template <class T>
class paper_call {
 public:
  // `queries`: the queries of a sequence; 0: the number of its keys.
  explicit paper_call(const problem& p, ops::attention_options options = {}, u32 queries = 0) {
    if (p.is_causal()) options.causal = causal_alignment::bottom_right;
    if (p.what == work::window) options.window.left = problem::window - 1;
    if (p.what == work::softcap) options.softcap = problem::softcap;
    if (p.has_slopes()) options.alibi = tensor_view<const f32, 1>(at<f32>(p.heads), p.heads);
    const u32 rows = queries != 0 ? queries : p.length;
    if (p.what == work::bias)
      options.bias =
          tensor_view<const T, 3>(at<T>(u64{p.heads} * rows * p.length), extents(p.heads, rows, p.length));
    if (p.what == work::padding)
      options.keep =
          tensor_view<const u8, 4>(at<u8>(u64{p.batches} * p.length), extents(p.batches, 1, 1, p.length));
    if (p.is_packed()) {
      const extents of_q(u64{p.batches} * rows, p.heads, p.size),
          of_k(u64{p.batches} * p.length, p.key_heads, p.size);
      const tensor_view<const i32, 1> begins(at<i32>(p.batches + 1), p.batches + 1);
      const ops::attention_sequences sequences{.cu_q = begins, .cu_k = begins, .max_q = rows};
      resolve<3>(of_q, of_k, options, &sequences);
    } else {
      resolve<4>(extents(p.batches, rows, p.heads, p.size), extents(p.batches, p.length, p.key_heads, p.size),
                 options, nullptr);
    }
  }
  const ops::attention_call& call() const { return call_; }

 private:
  template <std::size_t Rank>
  void resolve(const extents<Rank>& of_q, const extents<Rank>& of_k, const ops::attention_options& options,
               const ops::attention_sequences* sequences) {
    const auto view = [&]<class E>(E, const extents<Rank>& shape) {
      u64 elements = 1;
      for (const auto n : shape.values) elements *= static_cast<u64>(n);
      return tensor_view<E, Rank>(at<std::remove_const_t<E>>(elements), shape);
    };
    call_ = ops::detail::resolve_attention(
        &device_, {"attention", view(T{}, of_q), view(T{}, of_k), view(T{}, of_k), view(T{}, of_q), &options,
                   false, false, sequences});
  }
  // Memory of `elements` elements, apart from all earlier memory.
  template <class E>
  device_pointer<E> at(u64 elements) {
    const std::uint64_t address = next_;
    next_ += (elements * sizeof(E) + 255) / 256 * 256;
    return {address, elements, &device_};
  }

  static inline const int device_ = 0;  // its address is the identity of a device
  std::uint64_t next_ = 4096;
  ops::attention_call call_;
};

}  // namespace kaio::bench
