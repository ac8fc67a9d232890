#pragma once
// The kernels of async_copies.cpp and async_pipeline.cpp: rounds of mbarriers, cp.async, bulk copies in one
// dimension, and pipelines between warps.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// Each round every thread publishes a number and reads its neighbour's: full and empty phases by two
// mbarriers.
template <std::uint16_t Sm>
inline constexpr auto mbarrier_rounds =
    kernel<"mbarrier_rounds_" + decimal<Sm>, 96, kernel_options{.target = {Sm, false}}>(
        [](thread t, in<u32> x, out<u32> y, out<u32> tests, val<u32> rounds) {
          mbarriers<2> bars(t);
          shared<u32, 96> cells(t);
          const val i = t.thread_rank();
          if (auto one = t.when(i == 0)) {
            bars[0].init(96);
            bars[1].init(96u);
          }
          t.barrier();
          var number = x[i];
          var parity(t, 0u);
          for ([[maybe_unused]] auto round : t.range(0u, rounds)) {
            cells[i] = number;
            bars[0].arrive();
            bars[0].wait(parity);
            number = number * 3u + cells[(i + 1) % 96];
            bars[1].arrive();
            bars[1].wait(parity);
            parity ^= 1u;
          }
          y[i] = number;
          // The phase before the first counts as complete; the one that has begun does not.
          tests[2 * i] = cast<u32>(bars[0].test_wait(parity ^ 1u));
          tests[2 * i + 1] = cast<u32>(bars[0].test_wait(parity));
          t.barrier();
          if (auto one = t.when(i == 0)) {
            bars[0].invalidate();
            bars[1].invalidate();
          }
        });

// A piece of Bytes for each thread. y's first half: the piece is copied if i < n. Its second half: the first
// i % (Bytes + 1) bytes of piece i are valid.
template <u32 Bytes>
inline constexpr auto cp_async_pieces =
    kernel<"cp_async_pieces_" + decimal<Bytes>, 64, kernel_options{.target = {80, false}}>(
        [](thread t, in<u8> x, out<u8> y, val<u32> n) {
          shared_array<u64> whole(t, 64 * Bytes / 8);
          shared_array<u64> part(t, 64 * Bytes / 8);
          mbarriers<1> bar(t);
          const val i = t.thread_rank();
          if (auto one = t.when(i == 0)) bar[0].init(64);
          t.barrier();
          const val address = t.let(shared_address(whole[0]) + i * Bytes);
          const val second = t.let(shared_address(part[0]) + i * Bytes);
          cp_async<Bytes>(address, x[i * Bytes], i < n);
          cp_async_commit_group(t);
          cp_async<Bytes>(second, x[i * Bytes], i % (Bytes + 1), prefetch_size::bytes_128, cache::ca);
          bar[0].arrive_on_cp_async();
          bar[0].wait(0);
          const auto bytes_of_word = [&](auto& words, const auto& b) {
            return cast<u8>(words[(i * Bytes + b) / 8] >> ((i * Bytes + b) % 8 * 8));
          };
          for (auto b : t.range(0u, Bytes)) {
            y[i * Bytes + b] = bytes_of_word(whole, b);
            y[64 * Bytes + i * Bytes + b] = bytes_of_word(part, b);
          }
        });

// One copy with a cache hint, for the threads below n. It is the only one: ptxas 13.0 makes an illegal
// instruction of a hinted cp.async that another one follows.
inline constexpr auto cp_async_hinted = kernel<"cp_async_hinted", 64, kernel_options{.target = {80, false}}>(
    [](thread t, in<u32> x, out<u32> y, val<u32> n) {
      shared<u32, 64> cells(t);
      const val i = t.thread_rank();
      cp_async<4>(cells[i], x[i], i < n, cache_hint(l2_evict_first(t)));
      cp_async_wait_all(t);
      y[i] = cells[i];
    });

// y[i] = the sum over k of x[64 k + (i + k) % 64]: tiles of 64 through a ring of cp.async stages.
template <u32 Stages>
inline constexpr auto cp_async_sums =
    kernel<"cp_async_sums_" + decimal<Stages>, 64, kernel_options{.target = {80, false}}>(
        [](thread t, in<u32> x, out<u32> y, val<u32> steps) {
          shared<u32, Stages, 64> tiles(t);
          const val i = t.thread_rank();
          cp_async_ring<Stages> ring(t);
          const auto fill = [&](const auto& step) {
            cp_async<4>(tiles[ring.fill_stage()][i], x[64 * step + i]);
          };
          for (u32 s = 0; s + 1 < Stages; ++s) {
            const val step = t.let(thread_idx_x() * 0 + s);
            if (auto exists = t.when(step < steps)) fill(step);
            ring.commit();
          }
          var sum(t, 0u);
          for (auto k : t.range(0u, steps)) {
            ring.wait();
            const val ahead = k + (Stages - 1);
            if (auto more = t.when(ahead < steps)) fill(ahead);
            ring.commit();
            sum += tiles[ring.stage()][(i + k) % 64];
            ring.advance();
          }
          cp_async_wait_all(t);
          y[i] = sum;
        });

inline constexpr kernel_options hopper{.target = {90, false}};

// Blocks of 512 numbers through shared memory by bulk copies: y = -x, `bytes` of them in the last block; z +=
// x, least = min(least, x).
inline constexpr auto bulk_blocks = kernel<"bulk_blocks", 128, hopper>(
    [](thread t, in<i32> x, out<i32> y, inout<i32> z, inout<i32> least, val<u32> last_bytes) {
      shared<i32, 512> from(t), to(t);
      mbarriers<1> full(t);
      const val i = t.thread_rank();
      const val first = t.let(block_idx_x() * 512);
      const val bytes = t.let(select(block_idx_x() == grid_dim_x() - 1, last_bytes, 2048u));
      if (auto one = t.when(i == 0)) {
        full[0].init(1);
        fence_mbarrier_init(t);
        prefetch_bulk(x[first], bytes);
      }
      t.barrier();
      const val once = l2_evict_first(t);
      if (auto one = t.when(i == 0)) {
        full[0].expect_tx(bytes);
        copy_bulk(from[0], x[first], bytes, full[0], cache_hint(once));
        full[0].arrive();
      }
      full[0].wait(0);
      for (auto k : t.range(i, bytes / 4, 128)) to[k] = -from[k];
      fence_proxy_async(t);
      t.barrier();
      if (auto one = t.when(i == 0)) {
        store_bulk(y[first], to[0], bytes, cache_hint(l2_evict_last(t)));
        bulk_commit_group(t);
        reduce_bulk<bulk_operation::add>(z[first], from[0], bytes);
        bulk_commit_group(t);
        reduce_bulk<bulk_operation::min>(least[first], from[0], bytes, cache_hint(l2_evict_normal(t)));
        bulk_commit_group(t);
        bulk_wait_group_read<1>(t);
        bulk_wait_group<0>(t);
      }
    });

// By one thread: rows of 64 numbers into the stages of a ring, until all of them are used.
template <u32 Stages>
constexpr void copy_rows(thread t, const pipeline<Stages>& ring, const shared<u32, Stages, 64>& tiles,
                         const in<u32>& x, const val<u32>& rows) {
  auto to = ring.producer(t);
  for (auto r : t.range(0u, rows)) {
    to.acquire_expect(256);
    copy_bulk(tiles[to.stage()][0], x[64 * r], 256, to.full());
    to.advance();
  }
  to.drain();
}

// Sums of columns, by a producer warp that copies rows of 64 and consumer warps: y[c] = sum over r of
// x[64 r + c] * (r + 1). `peek`: the consumers ask for the next stage before they use this one. `behind`: they
// release a stage only while they use the next. `threads`: for sm_80; the producers are 32 threads that store.
enum class ring_form : std::uint8_t { plain, peek, behind, threads };

template <u32 Stages, ring_form Form>
inline constexpr auto column_sums =
    kernel<"column_sums_" + decimal<Stages> + "_" + decimal<static_cast<u32>(Form)>, 96,
           kernel_options{.target = {Form == ring_form::threads ? 80 : 90, false}}>(
        [](thread t, in<u32> x, out<u32> y, val<u32> rows) {
          constexpr bool by_threads = Form == ring_form::threads;
          shared<u32, Stages, 64> tiles(t);
          pipeline<Stages> ring(t);
          const val role = warp_rank(t);
          if (auto one = t.when(t.thread_rank() == 0)) ring.init(by_threads ? 32 : 1, 64);
          t.barrier();
          if (auto producer = t.when(role == 0)) {
            if constexpr (by_threads) {
              auto to = ring.producer(t);
              const val lane = t.thread_rank();
              for (auto r : t.range(0u, rows)) {
                to.acquire();
                tiles[to.stage()][lane] = x[64 * r + lane];
                tiles[to.stage()][lane + 32] = x[64 * r + lane + 32];
                to.commit();
                to.advance();
              }
            } else {
              if (auto one = t.when(elect_one(t))) copy_rows(t, ring, tiles, x, rows);
            }
          }
          if (auto consumer = t.otherwise()) {
            const val column = t.let(t.thread_rank() - 32u);
            auto from = ring.consumer(t);
            var sum(t, 0u);
            if constexpr (Form == ring_form::peek) {
              if (auto some = t.when(rows != 0)) {
                var ready = from.peek();
                for (auto r : t.range(0u, rows)) {
                  from.wait_unless(ready);
                  const val cell = tiles[from.stage()][column];
                  from.release();
                  from.advance();
                  if (auto more = t.when(r + 1 < rows)) ready = from.peek();
                  sum += cell * (r + 1);
                }
              }
            } else if constexpr (Form == ring_form::behind) {
              auto done = ring.consumer(t);
              for (auto r : t.range(0u, rows)) {
                from.wait();
                sum += tiles[from.stage()][column] * (r + 1);
                from.advance();
                if (auto second = t.when(r != 0)) {
                  done.release();
                  done.advance();
                }
              }
              if (auto some = t.when(rows != 0)) done.release();
            } else {
              for (auto r : t.range(0u, rows)) {
                from.wait();
                sum += tiles[from.stage()][column] * (r + 1);
                from.release();
                from.advance();
              }
            }
            y[column] = sum;
          }
        });

// The sums of columns, by the first `stages` stages of the ring; their number in y[64]: the last one that was used, plus
// one.
template <u32 Stages>
inline constexpr auto sums_by_some_stages =
    kernel<"sums_by_some_stages_" + decimal<Stages>, 96, kernel_options{.target = {90, false}}>(
        [](thread t, in<u32> x, out<u32> y, val<u32> rows, val<u32> stages) {
          shared<u32, Stages, 64> tiles(t);
          pipeline<Stages> ring(t);
          const val role = warp_rank(t);
          if (auto one = t.when(t.thread_rank() == 0)) ring.init(1, 64);
          t.barrier();
          if (auto producer = t.when(all_of(role == 0u, elect_one(t)))) {
            auto to = ring.producer(t, stages);
            for (auto r : t.range(0u, rows)) {
              to.acquire_expect(256);
              copy_bulk(tiles[to.stage()][0], x[64 * r], 256, to.full());
              to.advance();
            }
          }
          if (auto consumer = t.when(role != 0u)) {
            const val column = t.let(t.thread_rank() - 32u);
            auto from = ring.consumer(t, stages);
            var sum(t, 0u), used(t, 0u);
            for (auto r : t.range(0u, rows)) {
              from.wait();
              sum += tiles[from.stage()][column] * (r + 1);
              used = max(used, from.stage() + 1u);
              from.release();
              from.advance();
            }
            y[column] = sum;
            if (auto first = t.when(column == 0u)) y[64] = used;
          }
        });

// Sums of rows that consumer warps share out: y[64 w + c] is the sum of the rows of warp w. Each stage always
// belongs to one warp.
template <u32 Stages, u32 Warps>
  requires(Stages % Warps == 0)
inline constexpr auto shared_out_sums =
    kernel<"shared_out_sums_" + decimal<Stages> + "_" + decimal<Warps>, 32 + 32 * Warps,
           kernel_options{.target = {90, false}}>([](thread t, in<u32> x, out<u32> y, val<u32> rows) {
      shared<u32, Stages, 64> tiles(t);
      pipeline<Stages> ring(t);
      const val role = warp_rank(t);
      if (auto one = t.when(t.thread_rank() == 0)) ring.init(1, 32);
      t.barrier();
      if (auto producer = t.when(all_of(role == 0u, elect_one(t)))) copy_rows(t, ring, tiles, x, rows);
      if (auto consumer = t.when(role != 0u)) {
        const val own = t.let(role - 1u), lane = t.lane_rank();
        auto from = ring.consumer_from(t, own);
        var low(t, 0u), high(t, 0u);
        for (auto r : t.range(own, rows, Warps)) {
          from.wait();
          low += tiles[from.stage()][lane] * (r + 1);
          high += tiles[from.stage()][lane + 32] * (r + 1);
          from.release();
          from.template advance<Warps>();
        }
        y[64 * own + lane] = low;
        y[64 * own + lane + 32] = high;
      }
    });

// Warpgroups of a block by roles: one publishes, the other reads; handed over by named barriers.
inline constexpr auto handed_over =
    kernel<"handed_over", 256, kernel_options{.target = {90, true}, .min_blocks = 1}>(
        [](thread t, in<u32> x, out<u32> y, val<u32> rounds) {
          shared<u32, 128> cells(t);
          named_barrier<1> full(t, 256);
          named_barrier<2> empty(t, 256);
          const val role = warpgroup_rank(t);
          const val i = t.let(t.thread_rank() % 128);
          if (auto writer = t.when(role == 0)) {
            decrease_registers<40>(t);
            for (auto r : t.range(0u, rounds)) {
              empty.sync();
              cells[i] = x[128 * r + i];
              full.arrive();
            }
          }
          if (auto reader = t.otherwise()) {
            increase_registers<232>(t);
            named_barrier own(t, role + 2u, 128);
            var sum(t, 0u);
            for ([[maybe_unused]] auto r : t.range(0u, rounds)) {
              empty.arrive();
              full.sync();
              sum = sum * 5u + cells[127 - i];
              own.sync();
            }
            y[i] = sum;
            y[128 + i] = warp_rank(t) * 1000u + role;
          }
          grid_dependency_wait(t);
          launch_dependents(t);
        });

// One lane of each warp is elected.
inline constexpr auto elected_lanes = kernel<"elected_lanes", 128, hopper>([](thread t, inout<u32> y) {
  if (auto one = t.when(elect_one(t))) atomic_add(y[t.thread_rank() / 32], 1u);
});

}  // namespace kaio::tests
