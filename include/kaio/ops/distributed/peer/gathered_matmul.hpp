#pragma once
// The product of gathered rows in one launch, for sm_90a: the kernel of matmul, whose producer waits for the rows that
// other ranks still send. Each rank's rows are a product of the batch, so no tile has rows of two ranks. Rank 1 of 4:
//
//   order of tiles     rows of rank 1   |  of rank 2           |  of rank 3           |  of rank 0
//   A is read from     the caller's A   |  the workspace       |  the workspace       |  the workspace
//   producer           loads            |  waits once, loads   |  waits once, loads   |  waits once, loads
//
// A producer reads a signal with `acquire`, and a proxy fence orders the tensor copies after it. No block waits for another
// block. Rows and signals come by copy engines, so the launch ends even if it fills the device.
//
// If a rank does not come within the time limit, the producer goes on with the rows that are there, and sets the call's
// counter `gave_up` calls ahead of that rank. The kernel at the end of the call compares all signals with the counter, and
// stops with an error. An assertion in this kernel would be a function call, which serialises wgmma.
//
// Source: T. Dao and others, quack, all_gather_gemm, 2026.

#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/ops/matmul/common/tile_terms.hpp>
#include <kaio/ops/matmul/sm90/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 gave_up = u32{1} << 30;

// A policy of sm90_matmul_body. T: the type of A.
template <scalar T>
class gathered_order {
 public:
  constexpr gathered_order(thread t, const tensor_map<T, 3>& own, const val<peer_arrivals>& arrivals)
      : gathered_order(t, own, arrivals, t.let(arrivals[&peer_arrivals::peers])) {}

  constexpr val<u32> product(const val<u32>& index) const {
    const val from = t_.let(index + at_.rank());
    return t_.let(select(from >= at_.ranks(), from - at_.ranks(), from));
  }
  // The places of one block's tiles never go back to an earlier rank.
  template <class Mainloop, class Load>
  constexpr void when_there(const Mainloop& loop, const val<u32>& rank, const Load& load) {
    if (auto own = t_.when(rank == at_.rank())) load(loop.reading(own_));
    if (auto sent = t_.otherwise()) {
      if (auto is_new = t_.when(all_of(rank != seen_, came_))) {
        const inout<u32> counter = word(arrivals_[&peer_arrivals::counter]);
        const val number = t_.let(dsl::load(counter[0], order::relaxed, scope::device));
        const val signal = t_.let(arrivals_[&peer_arrivals::words] + rank);
        came_ = at_.wait(signal, number);
        fence_proxy_async_global(t_);
        if (auto gives_up = t_.when(!came_)) {
          const val last = t_.let(dsl::load(word(signal)[0], order::relaxed, scope::system));
          store(counter[0], t_.let(last + gave_up), order::relaxed, scope::device);
        }
        seen_ = rank;
      }
      load(loop);
    }
  }

 private:
  constexpr gathered_order(thread t, const tensor_map<T, 3>& own, const val<peer_arrivals>& arrivals,
                           const val<peer_table>& peers)
      : t_(t), own_(own), arrivals_(arrivals), at_(t, peers), seen_(t, at_.rank()), came_(t, true) {}

  // A word of this rank's signals.
  template <class Index>
  constexpr inout<u32> word(const Index& index) const {
    const val words = at_.signals(at_.rank());
    return pointer_at<inout<u32>>(t_, t_.let(words + cast<u64>(index) * u64{4}));
  }

  thread t_;
  tensor_map<T, 3> own_;
  val<peer_arrivals> arrivals_;
  peer_access at_;
  var<u32> seen_;   // the rank whose rows were waited for last
  var<bool> came_;  // false: a rank did not come within the time limit, and the producer waits no more
};

template <sm90_config C, scalar T>
struct gathered_matmul_kernel {
  using map = tensor_map<T, 3>;
  using body = sm90_matmul_body<C, T, T, with_terms<T>>;
  static constexpr auto name = "all_gather_matmul_sm90_" + type_name<T> + "_" + layout_name_of<C> + "_" +
                               decimal<C.m> + "x" + decimal<C.n>;
  static constexpr kernel_options options{.target = {90, true},
                                          .large_shared = true,
                                          .cluster = block_size{C.cluster_blocks()},
                                          .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, map own, map sent, map b, map c, val<sm90_problem> problem, val<peer_arrivals> arrivals,
         map addend, val<tile_terms> terms) {
        gathered_order<T> waits(t, own, arrivals);
        body::run_in(waits, t, sent, b, c, problem, addend, terms);
      });
};

// C = epilogue(A * B): own and sent rows of A along K, B in both directions, C of A's type, as sm90_matmul with tile_terms.
template <sm90_config C, scalar T>
inline constexpr auto gathered_matmul = gathered_matmul_kernel<C.of_kernel(), T>::kernel;

}  // namespace kaio::ops
