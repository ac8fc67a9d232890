#pragma once
// Rows to the ranks that have their experts, and back, for products in groups. Ranks have experts in turn: rank r those
// from r * experts / ranks on. The counts of rows are in device memory alone.
//
//   sort_by_expert(s, indices, offsets, {.tokens = tokens, .positions = positions});
//   send_to_experts(w, s, x, offsets, received, local_offsets, {.rows = tokens});
//   matmul_grouped(s, rows_in<f16>(received, rank, capacity, size), weights, local_offsets, z);
//   return_from_experts(w, s, z, offsets, returned);
//   combine_experts(s, rows_in<f16>(returned, rank, choices, size), weights_of_tokens, positions, out);
//
//   sorted rows of rank 0   e0 e0 e1 | e2 e3          received by rank 0   e0 of rank 0, e0 of rank 1, e1 of rank 0, ...
//   sorted rows of rank 1   e0 e1 e1 | e3 e3          received by rank 1   e2 of rank 0, ..., e3 of rank 0, e3 of rank 1
//
// Rows go straight into the receiver's part of the peer_buffer: all ranks give the same one. A call begins when all ranks
// have come to it in their streams, so what the buffer had before may be read until then. Nothing is allocated, read back
// or waited for but the comparison of peer_workspace.hpp: a call may be captured into a graph and replayed with other counts. Throws invalid_argument,
// which names the argument, on all ranks, before anything is sent; communication_error; and what a launch throws.

#include <kaio/ops/all_gather_matmul.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::ops {

struct send_to_experts_options {
  // (choices), i32, neighbours adjacent: sorted row i is row rows[i] of x. Without it, row i of x.
  any_view rows{};
};

namespace detail {

void run_send_to_experts(const peer_workspace& w, const stream& s, const any_view& x, const any_view& offsets,
                         const peer_buffer& to, const any_view& local_offsets,
                         const send_to_experts_options& options);
void run_return_from_experts(const peer_workspace& w, const stream& s, const any_view& z,
                             const any_view& offsets, const peer_buffer& to);

}  // namespace detail

// The memory of a rank as rows, one after another.
template <class T>
tensor_view<T, 2> rows_in(const peer_buffer& memory, int rank, std::size_t rows, std::size_t size) {
  const runtime::device_pointer<u8> bytes = memory.pointer(rank);
  return tensor_view<T, 2>(
      runtime::device_pointer<std::remove_const_t<T>>{bytes.address, rows * size, bytes.device},
      extents(rows, size));
}

// x: (rows, size), of any type, rows of any stride, neighbours adjacent. offsets: (experts + 1), i32, of sort_by_expert;
// experts are a multiple of the ranks, 1024 at most. to: receives rows of `size` elements, without gaps; those that do
// not fit are left out, and ranks * choices rows of room are always enough. It shares no memory with the other arguments.
// local_offsets: (experts / ranks + 1), i32, written: where the received rows of each expert begin.
template <class X, class Offset>
void send_to_experts(const peer_workspace& w, const stream& s, const tensor_view<X, 2>& x,
                     const tensor_view<Offset, 1>& offsets, const peer_buffer& to,
                     const tensor_view<i32, 1>& local_offsets, const send_to_experts_options& options = {}) {
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>, "kaio: the offsets of experts are i32");
  detail::run_send_to_experts(w, s, x, offsets, to, local_offsets, options);
}

// z: (capacity, size), the rows of this rank's experts, in the order in which they came; offsets: those of
// send_to_experts. to: gets the rows of this rank's choices in their sorted order; those that were left out stay as they are. It
// shares no memory with z and offsets.
template <class Z, class Offset>
void return_from_experts(const peer_workspace& w, const stream& s, const tensor_view<Z, 2>& z,
                         const tensor_view<Offset, 1>& offsets, const peer_buffer& to) {
  static_assert(std::is_same_v<std::remove_const_t<Offset>, i32>, "kaio: the offsets of experts are i32");
  detail::run_return_from_experts(w, s, z, offsets, to);
}

}  // namespace kaio::ops

namespace kaio {
using ops::return_from_experts;
using ops::rows_in;
using ops::send_to_experts;
using ops::send_to_experts_options;
}  // namespace kaio
