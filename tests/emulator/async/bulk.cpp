// Bulk copies, reductions and stores that an mbarrier or a bulk group counts, against a model on the host,
// in every schedule. Data used without a wait are old. Copies to other blocks of a cluster.

#include "tests/emulator/async/async_kernel.hpp"

#include <algorithm>
#include <bit>
#include <string>

using namespace emulator_test;

namespace {

const std::string shared =
    ".shared .align 128 .b8 sm[8192]; .shared .align 8 .b64 mb; .shared .align 8 .b64 full[4];"
    ".shared .align 8 .b64 empty[4];";

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t seed = 1) {
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t& x : result) x = seed = seed * 1664525u + 1013904223u;
  return result;
}

const std::string leader = "setp.ne.u32 %q31, %tid_, 0;\n";
const std::string initialised =
    leader +
    "@%q31 bra ready; mbarrier.init.shared.b64 [mb], 1; fence.mbarrier_init.release.cluster;"
    "ready: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

}  // namespace

TEST_CASE("a bulk copy into shared memory and one out of it move any multiple of 16 bytes") {
  for (const std::string into : {"shared::cluster", "shared::cta"})
    for (const std::uint32_t bytes : {0u, 16u, 48u, 1024u, 8192u}) {
      const std::string n = std::to_string(bytes);
      const module m = async_module(
          initialised + "@%q31 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [mb], " + n + ";\n" +
              "cp.async.bulk." + into + ".global.mbarrier::complete_tx::bytes [sm], [%p1], " + n +
              ", [mb];\n" +
              R"(wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait; bar.sync 0;
      @%q31 bra done;
              cp.async.bulk.global.shared::cta.bulk_group [%p0], [sm], )" +
              n + "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:",
          2, shared);
      const auto source = numbers(bytes / 4 + 4);
      auto want = source;
      std::fill(want.end() - 4, want.end(), 0u);
      for (const schedule& s : schedules()) {
        memory global;
        const array<std::uint32_t> out(global, want.size()), in(global, source);
        run_async(m, global, {out.address(), in.address()}, {1, 64, 0, 0, s});
        CHECK(out.values() == want);
      }
    }
}

TEST_CASE("shared memory is old until the mbarrier's phase is complete; a source is read late") {
  const module m = async_module(initialised + R"(@%q31 bra done; mov.u32 %r1, 5; st.shared.u32 [sm], %r1;
      mbarrier.arrive.expect_tx.shared.b64 _, [mb], 16;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%p1], 16, [mb];
      ld.shared.u32 %r2, [sm]; st.global.u32 [%p0], %r2; mov.u32 %r3, 9; st.global.u32 [%p1], %r3;
      wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;
      ld.shared.u32 %r2, [sm]; st.global.u32 [%p0+4], %r2; done:)",
                                2, shared);
  memory global;
  const array<std::uint32_t> out(global, 2), in(global, std::vector<std::uint32_t>(4, 7));
  run_async(m, global, {out.address(), in.address()});
  CHECK(out.values() == std::vector<std::uint32_t>{5, 9});
}

TEST_CASE("wait_group.read frees the source; the destination is new only after wait_group") {
  const module m = async_module(leader + R"(@%q31 bra done; mov.u32 %r1, 5; st.shared.u32 [sm], %r1;
      cp.async.bulk.global.shared::cta.bulk_group [%p1], [sm], 16; cp.async.bulk.commit_group;
      mov.u32 %r1, 6; st.shared.u32 [sm], %r1; cp.async.bulk.wait_group.read 0;
      mov.u32 %r1, 7; st.shared.u32 [sm], %r1; ld.global.u32 %r2, [%p1]; st.global.u32 [%p0], %r2;
      cp.async.bulk.wait_group 0; ld.global.u32 %r2, [%p1]; st.global.u32 [%p0+4], %r2; done:)",
                                2, shared);
  memory global;
  const array<std::uint32_t> out(global, 2), in(global, std::vector<std::uint32_t>(4, 1));
  run_async(m, global, {out.address(), in.address()});
  CHECK(out.values() == std::vector<std::uint32_t>{1, 6});
}

TEST_CASE("bulk groups belong to their thread and complete in order but for the last ones") {
  // Every lane stores one line a group, three groups, and waits for all but (lane % 4).
  std::string body =
      "mov.u32 %r1, sm; mad.lo.u32 %r1, %tid_, 16, %r1; mad.lo.u64 %d1, %wide, 48, %p1;\n"
      "st.shared.u32 [%r1], %tid_; rem.u32 %r9, %tid_, 4; mad.lo.u64 %d2, %wide, 16, %p0;\n";
  for (int g = 0; g < 3; ++g)
    body += "cp.async.bulk.global.shared::cta.bulk_group [%d1+" + std::to_string(16 * g) +
            "], [%r1], 16; cp.async.bulk.commit_group;\n";
  for (int left = 0; left < 4; ++left) {
    const std::string n = std::to_string(left);
    body += "setp.ne.u32 %q0, %r9, " + n + "; @%q0 bra skip" + n + "; cp.async.bulk.wait_group " + n +
            "; skip" + n + ":\n";
  }
  for (int g = 0; g < 3; ++g)
    body += "ld.global.u32 %r2, [%d1+" + std::to_string(16 * g) + "]; st.global.u32 [%d2+" +
            std::to_string(4 * g) + "], %r2;\n";
  memory global;
  const array<std::uint32_t> out(global, 128), to(global, std::vector<std::uint32_t>(32 * 12, 99));
  run_async(async_module(body, 2, shared), global, {out.address(), to.address()});
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t g = 0; g < 3; ++g) CHECK(out.values()[lane * 4 + g] == (g + lane % 4 < 3 ? lane : 99));
  CHECK(to.values()[4] == 0);  // and they all arrive in the end
  CHECK(to.values()[31 * 12 + 8] == 31);
}

TEST_CASE("a producer warp feeds consumer warps through a ring of stages, in every schedule") {
  // Warp 0 copies 24 tiles of 128 words through 3 stages; warps 1 to 4 add them up and free the stages.
  const module m = async_module(leader + R"(.reg .b32 %full, %empty, %buffer, %stage, %phase, %tile, %sum;
      mov.u32 %full, full; mov.u32 %empty, empty; mov.u32 %buffer, sm;
      @%q31 bra ready; mov.u32 %r1, 0;
      init: mad.lo.u32 %r2, %r1, 8, %full; mbarrier.init.shared.b64 [%r2], 1; mad.lo.u32 %r2, %r1, 8, %empty;
      mbarrier.init.shared.b64 [%r2], 128; add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 3; @%q0 bra init;
      ready: bar.sync 0; mov.u32 %stage, 0; mov.u32 %phase, 0; mov.u32 %tile, 0; mov.u32 %sum, 0;
      setp.ge.u32 %q1, %tid_, 32; @%q1 bra consume; @%q31 bra done;
      produce: mad.lo.u32 %r2, %stage, 8, %empty; xor.b32 %r3, %phase, 1;
      free: mbarrier.try_wait.parity.shared.b64 %q2, [%r2], %r3; @!%q2 bra free;
      mad.lo.u32 %r4, %stage, 8, %full; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 512;
      mad.lo.u32 %r5, %stage, 512, %buffer; mad.wide.u32 %d1, %tile, 512, %p1;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 256, [%r4];
      add.u32 %r5, %r5, 256; add.u64 %d1, %d1, 256;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 256, [%r4];
      add.u32 %stage, %stage, 1; setp.eq.u32 %q3, %stage, 3; @%q3 mov.u32 %stage, 0;
      @%q3 xor.b32 %phase, %phase, 1;
      add.u32 %tile, %tile, 1; setp.lt.u32 %q4, %tile, 24; @%q4 bra produce; bra done;
      consume: mad.lo.u32 %r4, %stage, 8, %full;
      wait: mbarrier.try_wait.parity.shared.b64 %q2, [%r4], %phase; @!%q2 bra wait;
      sub.u32 %r6, %tid_, 32; shl.b32 %r6, %r6, 2; mad.lo.u32 %r5, %stage, 512, %buffer;
      add.u32 %r5, %r5, %r6;
      ld.shared.u32 %r7, [%r5]; mad.lo.u32 %sum, %sum, 3, %r7;
      mad.lo.u32 %r2, %stage, 8, %empty; mbarrier.arrive.shared.b64 _, [%r2];
      add.u32 %stage, %stage, 1; setp.eq.u32 %q3, %stage, 3; @%q3 mov.u32 %stage, 0;
      @%q3 xor.b32 %phase, %phase, 1;
      add.u32 %tile, %tile, 1; setp.lt.u32 %q4, %tile, 24; @%q4 bra consume;
      cvt.u64.u32 %d2, %r6; add.u64 %d2, %p0, %d2; st.global.u32 [%d2], %sum; done:)",
                                2, shared);
  const auto source = numbers(24 * 128);
  std::vector<std::uint32_t> want(128);
  for (std::size_t tile = 0; tile < 24; ++tile)
    for (std::size_t t = 0; t < 128; ++t) want[t] = want[t] * 3 + source[tile * 128 + t];
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 128), in(global, source);
    run_async(m, global, {out.address(), in.address()}, {1, 160, 0, 0, s});
    CHECK(out.values() == want);
  }
}

TEST_CASE(
    "a multicast writes the same place of every block that its mask names, and signals their mbarriers") {
  // Block 0 of each cluster of 4 sends; blocks 1 and 3 receive.
  const module m = async_module(
      initialised +
          R"(.reg .b32 %rank; mov.u32 %rank, %cluster_ctarank; mov.u32 %r1, 3; st.shared.u32 [sm], %r1;
      and.b32 %r2, %rank, 1; setp.ne.u32 %q5, %r2, 0; and.pred %q6, %q5, %q5;
      @%q31 bra go; @!%q5 bra go; mbarrier.arrive.expect_tx.shared.b64 _, [mb], 64;
      go: barrier.cluster.arrive; barrier.cluster.wait; @%q31 bra wait;
      setp.ne.u32 %q7, %rank, 0; @%q7 bra wait; mov.u16 %h1, 10; mul.wide.u32 %d1, %ctaid_, 16;
      add.u64 %d1, %p1, %d1;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
          [sm], [%d1], 64, [mb], %h1;
      wait: @!%q5 bra out; spin: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra spin;
      out: ld.shared.u32 %r3, [sm]; @%q31 bra done; mad.wide.u32 %d2, %ctaid_, 4, %p0;
      st.global.u32 [%d2], %r3;
      done: barrier.cluster.arrive; barrier.cluster.wait;)",
      2, shared);
  const auto source = numbers(64);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 8), in(global, source);
    run_async(m, global, {out.address(), in.address()}, {8, 32, 4, 0, s});
    CHECK(out.values() ==
          std::vector<std::uint32_t>{3, source[0], 3, source[0], 3, source[16], 3, source[16]});
  }
}

TEST_CASE("bulk copies, reductions and single stores reach the shared memory of another block") {
  // Each block sends to the next one of its cluster: a copy, a sum, a pair of words and a minimum.
  const module m = async_module(
      initialised + R"(.reg .b32 %rank, %next, %to, %bar; mov.u32 %rank, %cluster_ctarank; @%q31 bra wait;
      mov.u32 %r1, 0; fill: mad.lo.u32 %r2, %r1, 4, 0; mov.u32 %r3, sm; add.u32 %r2, %r2, %r3;
      mad.lo.u32 %r4, %rank, 100, %r1; st.shared.u32 [%r2], %r4; st.shared.u32 [%r2+256], %r1;
      st.shared.u32 [%r2+512], %r4;
      add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 16; @%q0 bra fill;
      fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared.b64 _, [mb], 140;
      wait: barrier.cluster.arrive; barrier.cluster.wait; @%q31 bra spin;
      add.u32 %next, %rank, 1; and.b32 %next, %next, 3; mapa.shared::cluster.u32 %to, sm, %next;
      mapa.shared::cluster.u32 %bar, mb, %next; add.u32 %r5, %to, 128;
      cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [sm], 64, [%bar];
      add.u32 %r5, %to, 256;
      cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32
          [%r5], [sm], 64, [%bar];
      add.u32 %r5, %to, 384; mov.u32 %r6, 77; add.u32 %r7, %rank, 1000;
      st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r5], {%r6, %r7}, [%bar];
      add.u32 %r5, %to, 516;
      red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u32 [%r5], %rank, [%bar];
      spin: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [mb], 0; @!%q1 bra spin;
      mov.u32 %r1, sm; mad.lo.u32 %r1, %tid_, 4, %r1; setp.ge.u32 %q2, %tid_, 16;
      mad.lo.u32 %r8, %ctaid_, 64, %tid_;
      mad.wide.u32 %d1, %r8, 4, %p0; @%q2 bra done;
      ld.shared.u32 %r2, [%r1+128]; st.global.u32 [%d1], %r2; ld.shared.u32 %r2, [%r1+256];
      st.global.u32 [%d1+64], %r2;
      ld.shared.u32 %r2, [%r1+384]; st.global.u32 [%d1+128], %r2; ld.shared.u32 %r2, [%r1+512];
      st.global.u32 [%d1+192], %r2;
      done: barrier.cluster.arrive; barrier.cluster.wait;)",
      1, shared);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> out(global, 256);
    run_async(m, global, {out.address()}, {4, 32, 4, 0, s});
    const auto have = out.values();
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const std::uint32_t from = (rank + 3) % 4;
      for (std::uint32_t k = 0; k < 16; ++k) {
        CHECK(have[rank * 64 + k] == from * 100 + k);
        CHECK(have[rank * 64 + 16 + k] == k + from * 100 + k);
        if (k != 1) CHECK(have[rank * 64 + 48 + k] == rank * 100 + k);
      }
      CHECK(have[rank * 64 + 32] == 77);
      CHECK(have[rank * 64 + 33] == 1000 + from);
      CHECK(have[rank * 64 + 49] == std::min(rank * 100 + 1, from));
    }
  }
}

TEST_CASE("a bulk reduction of global memory combines element by element, in every type") {
  struct row {
    std::string op, type;
    std::uint32_t words;  // of an element, 0: two elements a word
    std::uint64_t (*model)(std::uint64_t old, std::uint64_t value);
  };
  const auto f = [](u64 bits) { return f32_of(bits); };
  static const auto single = f;
  const row rows[] = {
      {"add", "u32", 1, [](u64 a, u64 b) { return a + b; }},
      {"add", "s32", 1, [](u64 a, u64 b) { return a + b; }},
      {"add", "u64", 2, [](u64 a, u64 b) { return a + b; }},
      {"min", "u32", 1, [](u64 a, u64 b) { return std::min(a, b); }},
      {"max", "u32", 1, [](u64 a, u64 b) { return std::max(a, b); }},
      {"min", "s32", 1,
       [](u64 a, u64 b) { return low(static_cast<u64>(std::min(extended(a, 4), extended(b, 4))), 4); }},
      {"max", "s32", 1,
       [](u64 a, u64 b) { return low(static_cast<u64>(std::max(extended(a, 4), extended(b, 4))), 4); }},
      {"min", "u64", 2, [](u64 a, u64 b) { return std::min(a, b); }},
      {"max", "s64", 2,
       [](u64 a, u64 b) { return static_cast<u64>(std::max(extended(a, 8), extended(b, 8))); }},
      {"inc", "u32", 1, [](u64 a, u64 b) { return a >= b ? u64{0} : a + 1; }},
      {"dec", "u32", 1, [](u64 a, u64 b) { return a == 0 || a > b ? b : a - 1; }},
      {"and", "b32", 1, [](u64 a, u64 b) { return a & b; }},
      {"or", "b64", 2, [](u64 a, u64 b) { return a | b; }},
      {"xor", "b64", 2, [](u64 a, u64 b) { return a ^ b; }},
      {"add", "f32", 1, [](u64 a, u64 b) { return u64{bits(single(a) + single(b))}; }},
      {"add", "f64", 2, [](u64 a, u64 b) { return bits(f64_of(a) + f64_of(b)); }},
  };
  for (const row& r : rows) {
    INFO(r.op << "." << r.type);
    auto before = numbers(64, 3), value = numbers(64, 8);
    if (r.type[0] == 'f')  // plain numbers near each other
      for (std::size_t k = 0; k < 64; ++k) {
        const bool top = r.words == 1 || k % 2 == 1;
        if (top) before[k] = (before[k] & 0x800fffffu) | 0x40000000u;
        if (top) value[k] = (value[k] & 0x803fffffu) | 0x3f800000u;
      }
    const module m =
        async_module(leader +
                         R"(mov.u32 %r1, sm; mad.lo.u32 %r1, %tid_, 8, %r1; mad.lo.u64 %d1, %wide, 8, %p1;
      ld.global.u64 %d2, [%d1];
        st.shared.u64 [%r1], %d2; bar.sync 0; @%q31 bra done;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.)" +
                         r.op + "." + r.type +
                         " [%p0], [sm], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:",
                     2, shared);
    memory global;
    const array<std::uint32_t> out(global, before), in(global, value);
    run_async(m, global, {out.address(), in.address()});
    const auto have = out.values();
    const auto element = [&](const std::vector<std::uint32_t>& from, std::size_t k) {
      return r.words == 1 ? u64{from[k]} : from[2 * k] | u64{from[2 * k + 1]} << 32;
    };
    for (std::size_t k = 0; k < 64 / r.words; ++k)
      CHECK(element(have, k) == low(r.model(element(before, k), element(value, k)), r.words * 4));
  }
}

TEST_CASE("bulk sums and extremes of halves round once and prefer numbers to NaN") {
  struct row {
    std::string op;
    std::uint16_t before, value, want;
  };
  const row rows[] = {
      {"add.noftz.f16", 0x3c00, 0x1400, 0x3c01},  // 1 + 2^-10
      {"add.noftz.f16", 0x3c00, 0x1000, 0x3c00},  // a tie, to even
      {"add.noftz.f16", 0x0001, 0x0001, 0x0002},  // subnormal values stay
      {"add.noftz.f16", 0x7bff, 0x7bff, 0x7c00},  // beyond the greatest
      {"min.f16", 0x3c00, 0xbc00, 0xbc00},       {"max.f16", 0x7e00, 0xbc00, 0xbc00},
      {"min.f16", 0x0000, 0x8000, 0x8000},       {"add.noftz.bf16", 0x3f80, 0x3c00, 0x3f81},  // 1 + 2^-7
      {"max.bf16", 0x3f80, 0x4000, 0x4000},
  };
  for (const row& r : rows) {
    INFO(r.op << " of " << r.before << " and " << r.value);
    const module m = async_module(
        leader + "mov.u32 %r1, sm; mad.lo.u32 %r1, %tid_, 2, %r1; mov.u16 %h1, " + std::to_string(r.value) +
            "; st.shared.u16 [%r1], %h1; bar.sync 0; @%q31 bra done;\n"
            "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
            r.op + " [%p0], [sm], 64; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:",
        1, shared);
    memory global;
    const array<std::uint16_t> out(global, std::vector<std::uint16_t>(32, r.before));
    run_async(m, global, {out.address()});
    CHECK(out.values() == std::vector<std::uint16_t>(32, r.want));
  }
}

TEST_CASE("bulk copies check sizes, alignment, bounds and the block of their mbarrier") {
  struct row {
    std::string text;
    fault_kind kind;
    std::string part;
  };
  const std::string to = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  const row rows[] = {
      {"mov.u32 %r1, 24; " + to + "[sm], [%p0], %r1, [mb];", fault_kind::bulk_copy, "24 bytes"},
      {to + "[sm+8], [%p0], 16, [mb];", fault_kind::misaligned, "not a multiple of 16"},
      {to + "[sm], [%p0+4], 16, [mb];", fault_kind::misaligned, "not a multiple of 16"},
      {to + "[sm], [%p0+1008], 32, [mb];", fault_kind::out_of_bounds, "out of bounds"},
      {to + "[sm+65536], [%p0], 32, [mb];", fault_kind::out_of_bounds, "out of bounds"},
      {to +
           "[sm], [%p0], 32, [full]; wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;",
       fault_kind::mbarrier, "('full'), which is not initialised"},
      {"mov.u16 %h1, 2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
       "[sm], [%p0], 16, [mb], %h1;",
       fault_kind::bulk_copy, "beyond the cluster's 1"},
      {"mov.u64 %d1, 16; st.async.mbarrier::complete_tx::bytes.b32 [%p0], %r1, [%p0+8];",
       fault_kind::bulk_copy, "write shared memory"},
  };
  for (const row& r : rows) {
    INFO(r.text);
    memory global;
    const array<std::uint32_t> out(global, 256);
    const fault_report report =
        async_fault(async_module(initialised + "@%q31 bra done; " + r.text + " done:", 1, shared), global,
                    {out.address()});
    CHECK(report.kind == r.kind);
    CHECK(contains(report.detail, r.part));
  }
}
