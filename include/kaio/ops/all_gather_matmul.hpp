#pragma once
// The product of rows that are divided among ranks, whose copies are hidden: each rank sends its rows to all others
// while it multiplies those that it has.
//
//   all_gather_matmul(w, s, a, b, c);       // a: this rank's rows of A; c = A * b, all rows of A
//   all_gather_matmul(w, s, a, b, c, {}, gather_schedule::one_launch);   // sm_90a, f16 and bf16: one persistent kernel
//   all_gather_with(w, s, x, [&](const stream& on, int rank, auto rows) {   // any operation
//     matmul_w4(on, rows, weights, y.slice(0, rank * m, m));
//   });
//
//   copy engine   rows to rank - 1 | signal | rows to rank - 2 | signal | ...
//   stream s      own product | wait for rows of rank + 1 | product | wait for rank + 2 | product | ...
//   one_launch    own tiles, tiles of rank + 1, tiles of rank + 2, ... : loads wait for the signal of their rank
//
// Rows arrive in memory of the workspace, which is in use two calls later again. Copies use no multiprocessor, and each
// is followed by a signal of 4 bytes. Products are those of the same rows in one process, with their bits. Nothing is
// allocated or waited for but the comparison of peer_workspace.hpp; a call may be captured. Throws invalid_argument,
// which names the argument, on all ranks, before anything is sent; communication_error; and what the product throws.
//
// Source: T. Dao and others, quack, all_gather_gemm, 2026: copies in reverse ring order, signals after them.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/distributed/peer_workspace.hpp>
#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// How all_gather_matmul computes the products of all ranks' rows.
//   launches    one product for each rank's rows, by any kernel of matmul, after a kernel that waits for the rows
//   one_launch  one persistent kernel, whose loads wait for the rows
enum class gather_schedule : std::uint8_t { launches, one_launch };

namespace detail {

// Queues the work for the rows, or the part, of a rank, into a stream: refers to a function of the caller.
class work_of_rank {
 public:
  template <class Work>
  work_of_rank(const Work& work)
      : work_(&work), call_([](const void* of, const stream& s, int rank, const any_view& part) {
          (*static_cast<const Work*>(of))(s, rank, part);
        }) {}
  void operator()(const stream& s, int rank, const any_view& part) const { call_(work_, s, rank, part); }

 private:
  const void* work_;
  void (*call_)(const void* of, const stream& s, int rank, const any_view& part);
};
void run_all_gather(std::string_view operation, const peer_workspace& w, const stream& s,
                    const any_view& rows, const work_of_rank& work);
void run_all_gather_matmul(const peer_workspace& w, const stream& s, const matmul_view& a,
                           const matmul_view& b, const matmul_view& c, const matmul_options& options,
                           gather_schedule schedule = gather_schedule::launches);

// A typed view of a part.
template <class T>
tensor_view<T, 2> matrix_of(const any_view& v) {
  using element = std::remove_const_t<T>;
  return tensor_view<T, 2>(
      runtime::device_pointer<element>{v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device},
      extents<2>(v.extents[0], v.extents[1]), strides<2>(v.strides[0], v.strides[1]));
}

}  // namespace detail

// The bytes that a call takes of the workspace's product_bytes. rows: those of one rank.
std::uint64_t all_gather_bytes(int ranks, const any_view& rows);

// a: (m, k) with adjacent neighbours along k, equal shapes on all ranks. b: (k, n). c: (ranks * m, n); rows of rank 0
// first. Types, layouts of b and c, and options are those of matmul. c shares no memory with a and b.
//
// one_launch: a, b and c are f16 or bf16; rows of a and c, and lines of b, begin at multiples of 16 bytes; c is row-major,
// and its rows are multiples of 16 bytes long. Options: alpha, a bias of columns, an activation, a residual of c's type; see
// matmul's tile_terms. If k, n or alpha is 0, products are launches. It throws unsupported_device on another device than
// sm_90a, and invalid_argument for other arguments. Each rank may choose its own schedule.
template <class A, class B, class C>
void all_gather_matmul(const peer_workspace& w, const stream& s, const tensor_view<A, 2>& a,
                       const tensor_view<B, 2>& b, const tensor_view<C, 2>& c,
                       const matmul_options& options = {},
                       gather_schedule schedule = gather_schedule::launches) {
  detail::require_matmul_types<A, B, C, 2, 2, 2>();
  detail::run_all_gather_matmul(w, s, a, b, c, options, schedule);
}
// Refuses arguments that are no such views.
template <class A, class B, class C>
  requires(!(detail::views<0, A, B, C>))
void all_gather_matmul(const peer_workspace&, const stream&, const A&, const B&, const C&,
                       const matmul_options& = {}, gather_schedule = gather_schedule::launches) {
  detail::refuse_views<A, B, C>();
}

// Calls work(stream, rank, rows of that rank) for all ranks, this one first: a tensor_view<const T, 2> of the extents of
// `rows`, which have equal shapes on all ranks and adjacent neighbours. work queues what reads them into the stream that
// it is given, and makes the same calls each time: it is called with stream::loading before, for its checks.
template <class T, class Work>
void all_gather_with(const peer_workspace& w, const stream& s, const tensor_view<T, 2>& rows,
                     const Work& work) {
  detail::run_all_gather("all_gather_with", w, s, rows,
                         [&](const stream& on, int rank, const any_view& part) {
                           work(on, rank, detail::matrix_of<const T>(part));
                         });
}

}  // namespace kaio::ops

namespace kaio {
using ops::all_gather_matmul;
using ops::all_gather_with;
using ops::gather_schedule;
}  // namespace kaio
