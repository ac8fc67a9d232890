#pragma once
// mbarriers: barriers in shared memory that count arrivals and the bytes of copies. A phase is complete when the
// arrivals that init() expects have come and no bytes are outstanding; the next phase then starts by itself. A wait
// names its phase by the parity: 0 for the first, 1 for the second, 0 for the third. If no phase is complete yet, a
// wait for parity 1 returns at once. Source: PTX ISA, "mbarrier".
//
//   mbarriers<2> full(t);
//   if (auto one = t.when(t.thread_rank() == 0)) {
//     full[0].init(1);
//     fence_mbarrier_init(t);
//   }
//   t.barrier();
//   if (auto one = t.when(t.thread_rank() == 0)) {
//     full[0].arrive_expect_tx(1024);
//     copy_bulk(tile[0], x[0], 1024, full[0]);
//   }
//   full[0].wait(0);                 // the bytes have arrived, for every thread that waits
//
// sm_80; counting bytes, waiting in hardware and other blocks of the cluster: sm_90. If kernel_options::target is older
// than sm_90, a wait is a loop of mbarrier.test_wait, otherwise of mbarrier.try_wait.

#include <kaio/dsl/async/operand.hpp>
#include <kaio/dsl/memory/shared.hpp>

#include <cstdint>

namespace kaio::dsl {

// One mbarrier: 8 bytes of shared memory, at an address that is a multiple of 8.
class mbarrier {
  // Opens a statement. In a probe, shows it the operands and returns false.
  template <class... N>
  constexpr bool enter(std::uint32_t line, const char* file, const N&... operands) const {
    trace_->statement(line, file);
    if (trace_->probing()) {
      see_operands(*trace_, *this, operands...);
      return false;
    }
    checked();
    return true;
  }

 public:
  constexpr mbarrier(tracer& t, const tracer::address& at) : trace_(&t), at_(at), scope_(t.scope()) {}

  static constexpr std::int64_t max_count = (1 << 20) - 1;

  // Expects `count` arrivals a phase, 1 to 2^20 - 1. One thread calls it before any thread uses the barrier. Next
  // come fence_mbarrier_init(t) and the barrier of the block (in a cluster: of the cluster).
  template <class N>
  constexpr void init(const N& count, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) const {
    if (!detail::host_lies_in(count, 1, max_count))
      trace_->fail_next("kaio: an mbarrier expects 1 to 1048575 arrivals a phase");
    if (!enter(line, file)) return;
    const value n = detail::count_value(*trace_, count);
    begin(opcode::mbarrier_init, 0);
    trace_->add_address(at_);
    trace_->use(n);
  }

  // Ends the barrier's life. Its memory may be reused after a barrier of the threads that used it.
  constexpr void invalidate(std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) const {
    if (!enter(line, file)) return;
    begin(opcode::mbarrier_inval, 0);
    trace_->add_address(at_);
  }

  // Arrives once. This thread's earlier accesses happen before what follows a wait.
  constexpr void arrive(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    if (!enter(line, file)) return;
    begin(opcode::mbarrier_arrive, 0);
    sink();
    trace_->add_address(at_);
  }

  // Arrives once, and expects `bytes` more from copies in this phase, at most 2^20 - 1. sm_90.
  template <class N>
  constexpr void arrive_expect_tx(const N& bytes, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) const {
    require_bytes(bytes);
    if (!enter(line, file, bytes)) return;
    const value n = detail::count_value(*trace_, bytes);
    begin(opcode::mbarrier_arrive, in_order(modifier::expect_tx));
    sink();
    trace_->add_address(at_);
    trace_->use(n);
  }

  // Expects `bytes` more from copies in this phase, without an arrival. sm_90.
  template <class N>
  constexpr void expect_tx(const N& bytes, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) const {
    require_bytes(bytes);
    if (!enter(line, file, bytes)) return;
    const value n = detail::count_value(*trace_, bytes);
    trace_->begin(opcode::mbarrier_expect_tx,
                  in_order(modifier::relaxed, modifier::cta, modifier::shared_cta), ptx::type::b64);
    trace_->add_address(at_);
    trace_->use(n);
  }

  // Arrives once at the barrier at the same place in block `rank` of the cluster, where threads wait with
  // scope::cluster. That block must have initialised it (cluster_barrier) and must not have ended. sm_90.
  //
  // scope::block orders this thread's accesses for its own block alone, and costs no fence. It is enough if the
  // arrival only says that something was read: a consumer that frees a stage.
  template <class N, class S = std::remove_const_t<decltype(scope::cluster)>>
  constexpr void arrive_remote(const N& rank, S = {}, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    static_assert(S::mod == modifier::cta || S::mod == modifier::cluster,
                  "kaio: a remote arrival takes scope::block or scope::cluster");
    if (!enter(line, file, rank)) return;
    const value there = remote(rank);
    trace_->begin(opcode::mbarrier_arrive, in_order(modifier::release, S::mod, modifier::shared_cluster),
                  ptx::type::b64);
    sink();
    trace_->add_address({there, 0, 0});
  }

  // As arrive_remote(); the barrier there also expects `bytes` from copies in this phase. sm_90.
  template <class N, class R>
  constexpr void arrive_expect_tx_remote(const N& bytes, const R& rank, std::uint32_t line = __builtin_LINE(),
                                         const char* file = __builtin_FILE()) const {
    require_bytes(bytes);
    if (!enter(line, file, bytes, rank)) return;
    const value n = detail::count_value(*trace_, bytes);
    const value there = remote(rank);
    trace_->begin(
        opcode::mbarrier_arrive,
        in_order(modifier::expect_tx, modifier::release, modifier::cluster, modifier::shared_cluster),
        ptx::type::b64);
    sink();
    trace_->add_address({there, 0, 0});
    trace_->use(n);
  }

  // Arrives once when all cp_async copies that this thread has issued are done. init() must count these arrivals,
  // one for each thread. Source: PTX ISA, "cp.async.mbarrier.arrive.noinc".
  constexpr void arrive_on_cp_async(std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) const {
    if (!enter(line, file)) return;
    trace_->begin(opcode::cp_async_mbarrier_arrive, in_order(modifier::noinc, modifier::shared),
                  ptx::type::b64);
    trace_->add_address(at_);
  }

  // Whether the phase of this parity is complete. On sm_90 it may wait for a while first. If threads of other blocks
  // arrive, pass scope::cluster.
  template <class N, class S = no_policy>
  constexpr val<bool> try_wait(const N& parity, S = {}, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    require_parity(parity);
    if (!enter(line, file, parity)) return val<bool>(*trace_, trace_->identity());
    return val<bool>(*trace_, ask<S>(detail::count_value(*trace_, parity), trace_->target.sm >= 90));
  }

  // As try_wait(), but answers at once.
  template <class N, class S = no_policy>
  constexpr val<bool> test_wait(const N& parity, S = {}, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) const {
    require_parity(parity);
    if (!enter(line, file, parity)) return val<bool>(*trace_, trace_->identity());
    return val<bool>(*trace_, ask<S>(detail::count_value(*trace_, parity), false));
  }

  // Returns when the phase of this parity is complete. What the arriving threads and the copies wrote is then visible.
  // If threads of other blocks arrive, pass scope::cluster.
  template <class N, class S = no_policy>
  constexpr void wait(const N& parity, S = {}, std::uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) const {
    require_parity(parity);
    if (!enter(line, file, parity)) return;
    wait_loop<S>(detail::count_value(*trace_, parity));
  }

  // Waits only if `complete`, the answer of an earlier try_wait for this phase, is false.
  template <class N, device_of<bool> C, class S = no_policy>
  constexpr void wait_unless(const C& complete, const N& parity, S = {},
                             std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    require_parity(parity);
    if (!enter(line, file)) return;
    const value p = detail::count_value(*trace_, parity);
    const value known = trace_->in_register(lower(*trace_, complete.node()));
    const std::uint32_t done = trace_->new_label();
    trace_->branch_if(known, false, done);
    wait_loop<S>(p);
    trace_->place(done);
  }

  // Its address in the shared memory of the block.
  constexpr val<u32> address() const {
    if (trace_->probing()) return val<u32>(*trace_, at_.array);
    return val<u32>(*trace_, detail::address_as_value(*trace_, checked()));
  }

  // The address for copies that complete on it, after the check that its scope is still open.
  constexpr tracer::address checked() const {
    if (!trace_->is_open(scope_))
      trace_->fail_next("kaio: an mbarrier was used outside the guarded body or loop that made its index");
    return at_;
  }
  constexpr tracer& trace() const { return *trace_; }
  constexpr std::uint64_t hash() const { return at_.array; }

 private:
  constexpr modifier space() const {
    return trace_->target.sm >= 90 ? modifier::shared_cta : modifier::shared;
  }
  constexpr void begin(opcode op, modifier_list modifiers) const {
    trace_->begin(op, ptx::append(modifiers, space()), ptx::type::b64);
  }
  constexpr void sink() const { trace_->add({operand_kind::sink, ptx::type::none, 0, 0}); }

  template <class R>
  constexpr value remote(const R& rank) const {
    const value r = detail::count_value(*trace_, rank);
    return trace_->pure(
        {opcode::mapa, in_order(modifier::shared_cluster), ptx::type::u32, ptx::type::none, ptx::type::u32},
        detail::address_as_value(*trace_, at_), r);
  }

  template <class S>
  constexpr value ask(value parity, bool waits) const {
    static_assert(std::is_same_v<S, no_policy> || S::kind == policy_kind::scope,
                  "kaio: a wait takes scope::block or scope::cluster");
    static_assert(S::mod == modifier::none || S::mod == modifier::cta || S::mod == modifier::cluster,
                  "kaio: a wait takes scope::block or scope::cluster");
    constexpr modifier_list form = S::mod == modifier::cluster
                                       ? in_order(modifier::parity, modifier::acquire, modifier::cluster)
                                       : in_order(modifier::parity);
    begin(waits ? opcode::mbarrier_try_wait : opcode::mbarrier_test_wait, form);
    const value complete = trace_->define(ptx::type::pred);
    trace_->add_address(at_);
    trace_->use(parity);
    return complete;
  }

  template <class S>
  constexpr void wait_loop(value parity) const {
    const std::uint32_t again = trace_->new_label();
    trace_->place(again);
    const value complete = ask<S>(parity, trace_->target.sm >= 90);
    trace_->branch_if(complete, true, again);
  }

  template <class N>
  constexpr auto require_bytes(const N& bytes) const {
    if (!detail::host_lies_in(bytes, 0, max_count))
      trace_->fail_next("kaio: a phase of an mbarrier counts at most 1048575 bytes");
  }
  template <class N>
  constexpr auto require_parity(const N& parity) const {
    if (!detail::host_lies_in(parity, 0, 1)) trace_->fail_next("kaio: the parity of a phase is 0 or 1");
  }

  tracer* trace_;
  tracer::address at_;
  std::uint32_t scope_;
};

// N mbarriers in the shared memory of the block, next to each other.
template <std::uint32_t N>
class mbarriers {
  static_assert(N > 0, "kaio: an array of mbarriers has at least one");

 public:
  template <is_thread Thread>
  constexpr explicit mbarriers(const Thread& t) : trace_(&t.trace()) {
    array_ = trace_->probing() ? trace_->new_identity() : trace_->new_shared(std::uint64_t{8} * N, 8);
  }

  static constexpr std::uint32_t size() { return N; }

  template <index_operand I>
  constexpr mbarrier operator[](const I& i) const {
    detail::require_below<N>(*trace_, i);
    const auto node = index_node(i);
    if (trace_->probing()) {
      trace_->see(array_);
      trace_->see(node.hash());
      return mbarrier(*trace_, {0, 0, trace_->identity()});
    }
    const array_location<modifier::shared, std::remove_const_t<decltype(node)>> at{trace_, array_, node, 8};
    return mbarrier(*trace_, at.find());
  }

 private:
  tracer* trace_;
  std::uint32_t array_ = 0;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::mbarrier;
using dsl::mbarriers;
}  // namespace kaio
