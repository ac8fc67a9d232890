// The code of asynchronous copies, mbarriers, clusters and roles: the form that the target has, the
// modifiers in the order of the ISA, and no instruction more than needed.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// --- mbarriers: sm_80 tests in a loop, sm_90 waits in hardware; other blocks of the cluster where asked for.

template <std::uint16_t Sm>
inline constexpr auto rounds =
    kernel<"rounds", 32, kernel_options{.target = {Sm, false}}>([](thread t, out<u32> y) {
      mbarriers<3> bars(t);
      bars[1].init(32);
      bars[1].arrive();
      bars[1].wait(0);
      y[0] = cast<u32>(bars[2].try_wait(1));
    });
static_assert(times(rounds<80>, "mbarrier.test_wait.parity.shared.b64 %p") == 2 &&
              times(rounds<80>, "try_wait") == 0);
static_assert(times(rounds<90>, "mbarrier.try_wait.parity.shared::cta.b64 %p") == 2 &&
              times(rounds<90>, "test_wait") == 0);
static_assert(times(rounds<80>, "mbarrier.init.shared.b64 [shared_0+8], 32;") == 1);
static_assert(times(rounds<80>, "mbarrier.arrive.shared.b64 _, [shared_0+8];") == 1);
static_assert(rounds<80>.image().needs.target == ptx::target{80, false});
static_assert(rounds<80>.image().needs.version == ptx::isa_version{7, 1});

inline constexpr kernel_options pair{.target = {90, false}, .cluster = {2, 1, 1}};
inline constexpr auto remote_rounds = kernel<"remote_rounds", 32, pair>([](thread t, val<u32> peer) {
  mbarriers<1> bars(t);
  bars[0].arrive_remote(peer);
  bars[0].arrive_remote(peer, scope::block);
  bars[0].arrive_expect_tx_remote(64, peer);
  bars[0].wait(1, scope::cluster);
});
static_assert(times(remote_rounds, "mapa.shared::cluster.u32") == 1);
static_assert(times(remote_rounds, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r") == 1);
static_assert(times(remote_rounds, "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r") == 1);
static_assert(times(remote_rounds, "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [") ==
              1);
static_assert(times(remote_rounds, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64") == 1);

// --- copies: constants stay constants, a mask has 16 bits, a policy is made once.

inline constexpr auto copied = kernel<"copied", 32, pair>(
    [](thread t, tensor_map<f16, 3> map, in<f16> x, inout<f16> y, val<u32> k, val<u32> mask) {
      shared_tile<f16, 8, 64, swizzled<128>> tile(t);
      mbarriers<1> full(t);
      for (u32 i = 0; i < 2; ++i)
        copy_tensor(tile, map, coordinates(k * 64, -1, 3u), full[0], cache_hint(l2_evict_first(t)),
                    multicast(mask));
      reduce_tensor<bulk_operation::max>(map, coordinates(0, 0, 0), tile);
      copy_bulk(tile, x[k], 256, full[0], multicast(3));
      reduce_bulk<bulk_operation::add>(y[0], tile, 256);
    });
static_assert(times(copied, "createpolicy") == 1 && times(copied, "cvt.u16.u32 %rs") == 2);
static_assert(times(copied,
                    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                    ".multicast::cluster.L2::cache_hint [shared_0], [%rd") == 2);
static_assert(times(copied, ", -1, 3}], [shared_1], %rs") == 2);
static_assert(times(copied, "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.tile.bulk_group [%rd") ==
              1);
static_assert(times(copied, ", {0, 0, 0}], [shared_0];") == 1);
static_assert(times(copied,
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                    "[shared_0], [%rd") == 1);
static_assert(times(copied, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd") == 1);
static_assert(copied.image().needs.target == ptx::target{90, false});

inline constexpr auto small_copies =
    kernel<"small_copies", 32, kernel_options{.target = {80, false}}>([](thread t, in<f32> x, val<u32> n) {
      shared<f32, 64> tile(t);
      const val i = t.thread_rank();
      cp_async<4>(tile[i], x[i]);
      cp_async<8>(tile[2 * i], x[2 * i], prefetch_size::bytes_64);
      cp_async<16>(tile[4], x[4], i < n);
      cp_async<16>(tile[8], x[8], cache::ca, 12, cache_hint(l2_evict_last(t)));
      cp_async_wait_group<1>(t);
    });
static_assert(times(small_copies, "cp.async.ca.shared.global [%r") == 1);
static_assert(times(small_copies, "cp.async.ca.shared.global.L2::64B [%r") == 1);
static_assert(times(small_copies, "cp.async.cg.shared.global [shared_0+16], [%rd") == 1);
static_assert(times(small_copies, "cp.async.ca.shared.global.L2::cache_hint [shared_0+32], [%rd") == 1);
static_assert(times(small_copies, ", 16, 12, %rd") == 1 &&
              times(small_copies, "cp.async.wait_group 1;") == 1);

// --- a ring goes round without a division.

inline constexpr auto ring =
    kernel<"ring", 32, kernel_options{.target = {90, false}}>([](thread t, val<u32> n) {
      pipeline<3> stages(t);
      auto from = stages.consumer(t);
      for ([[maybe_unused]] auto k : t.range(0u, n)) {
        from.wait();
        from.release();
        from.advance();
      }
    });
static_assert(times(ring, "selp.b32") == 2 && times(ring, "xor.b32") == 1 && times(ring, "rem.") == 0 &&
              times(ring, "div.") == 0);

// --- clusters: a size that the kernel fixes is known; one block has no rank but 0.

inline constexpr auto fixed = kernel<"fixed", 32, pair>([](thread t, out<u32> y) {
  y[0] = cluster_size(t) + block_idx_in_cluster_y() + cluster_dim_x();
  y[1] = cluster_rank(t);
  shared<u32, 4> cells(t);
  remote(cells[1], 1) = 5u;
  atomic_add(remote(cells[2], 1), 1u, order::relaxed, scope::cluster);
  cluster_barrier(t);
});
static_assert(times(fixed, "%cluster_ctarank") == 1 && times(fixed, "%cluster_") == 1);
static_assert(times(fixed, ", 4;") == 1);  // 2 + 0 + 2
static_assert(times(fixed, "st.shared::cluster.u32 [%r") == 1);
static_assert(times(fixed, "atom.relaxed.cluster.shared::cluster.add.u32") == 1);
static_assert(times(fixed, "barrier.cluster.arrive.aligned;") == 1 &&
              times(fixed, "barrier.cluster.wait.aligned;") == 1);
inline constexpr auto by_launch =
    kernel<"by_launch", 32>([](thread t, out<u32> y) { y[0] = cluster_size(t); });
static_assert(times(by_launch, "%cluster_nctarank") == 1);
static_assert(by_launch.image().needs.target == ptx::target{90, false});
static_assert(by_launch.image().needs.version == ptx::isa_version{7, 8});

// --- roles: uniform by a shuffle, none where the block has one group.

inline constexpr auto roles =
    kernel<"roles", 256, kernel_options{.target = {90, true}}>([](thread t, out<u32> y) {
      if (auto first = t.when(warpgroup_rank(t) == 0)) {
        decrease_registers<24>(t);
        named_barrier<3>(t, 128).sync();
      }
      if (auto second = t.otherwise()) named_barrier(t, warp_rank(t), 64).arrive();
      y[0] = 1u;
    });
static_assert(times(roles, "shfl.sync.idx.b32") == 2 &&
              times(roles, "setmaxnreg.dec.sync.aligned.u32 24;") == 1);
static_assert(times(roles, "bar.sync 3, 128;") == 1 && times(roles, "bar.arrive %r") == 1);
static_assert(roles.image().needs.target == ptx::target{90, true});
inline constexpr auto one_group =
    kernel<"one_group", 128>([](thread t, out<u32> y) { y[t.thread_rank()] = warpgroup_rank(t); });
static_assert(times(one_group, "shfl") == 0);
