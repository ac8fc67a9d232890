// The counters of kernels whose costs are known: instructions by warps and lanes, branches, sectors, bank
// conflicts, barriers, coverage, and sums over several launches.

#include "emulator/profile/report.hpp"
#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <string>

using namespace emulator_test;
namespace profile = kaio::emulator::profile;
using profile::access_direction;
using profile::instruction_class;
using profile::memory_place;

namespace {

std::string whole_kernel(const std::string& body, const std::string& declarations = "") {
  return kernel_text(body, 1, declarations);
}

// Runs a body over a buffer of 4 MiB, and returns a collector's counts.
void count(profile::collector& counts, const module& m, shape s = {}) {
  memory global;
  const array<std::uint32_t> buffer(global, std::size_t{1} << 20);
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {s.grid, 1, 1};
  l.block = {s.block, 1, 1};
  l.dynamic_shared = s.dynamic_shared;
  l.threads = s.threads;
  l.instruction_limit = s.instruction_limit;
  const std::uint64_t address = buffer.address();
  l.parameters.resize(8);
  std::memcpy(l.parameters.data(), &address, 8);
  l.observers.push_back(&counts);
  run(l, global);
}

const profile::kernel_profile& counted(profile::collector& counts, const std::string& body, shape s = {},
                                       const std::string& declarations = "") {
  count(counts, parsed_module(whole_kernel(body, declarations)), s);
  return counts.kernels().front();
}

const profile::access_counters& figures(const profile::summary& s, memory_place place,
                                        access_direction direction) {
  return s.memory[static_cast<std::size_t>(place)][static_cast<std::size_t>(direction)];
}

profile::class_figures figures(const profile::summary& s, instruction_class c) {
  return s.classes[static_cast<std::size_t>(c)];
}

// The line of the text that has these words.
const profile::line_figures& line_with(const profile::summary& s, std::string_view words) {
  for (const profile::line_figures& line : s.lines)
    if (line.text.find(words) != std::string_view::npos) return line;
  FAIL("no line has '" << words << "'");
  return s.lines.front();
}

// Each thread loads the word at `scale` times its number.
std::string strided_load(const std::string& scale) {
  return "mul.lo.u64 %d1, %wide, " + scale + "; add.u64 %d1, %d1, %p0;\nld.global.u32 %r1, [%d1];\n";
}

std::string strided_shared(const std::string& scale, const std::string& access) {
  return "mul.lo.u32 %r1, %tid_, " + scale + "; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;\n" + access + "\n";
}

const std::string tile = ".shared .align 16 .b8 tile[8192];";

}  // namespace

TEST_CASE("every executed instruction is counted, by warps and by lanes") {
  profile::collector counts;
  // 3 blocks of 40 threads: a full warp, and one of 8 lanes.
  const auto s =
      profile::summarise(counted(counts, "add.u32 %r1, %thread, 1;\nadd.f32 %f1, %f1, %f1;", {3, 40}));
  CHECK(s.of.launches == 1);
  CHECK(s.of.blocks == 3);
  CHECK(s.of.warps == 6);
  CHECK(s.of.threads == 120);
  const auto& sum = line_with(s, "add.u32 %r1");
  CHECK(sum.sum.executions == 6);
  CHECK(sum.sum.active == 120);
  CHECK(sum.sum.executed == 120);
  CHECK(sum.covered == 1);
  CHECK(figures(s, instruction_class::f32).warps == 6);
  CHECK(figures(s, instruction_class::f32).lanes == 120);
  CHECK(figures(s, instruction_class::integer).warps == 2 * 6);  // with the mad of the thread's number
  CHECK(figures(s, instruction_class::control).warps == 6);
  CHECK(figures(s, instruction_class::parameter).warps == 6);
  CHECK(figures(s, instruction_class::conversion).warps == 6);
  CHECK(figures(s, instruction_class::move).warps == 3 * 6);
  CHECK(s.all.executions == 6 * 9);
  CHECK(s.ptx.covered == s.ptx.all);
}

TEST_CASE("counts do not depend on the host's threads") {
  const module m = parsed_module(whole_kernel(strided_load("8")));
  profile::collector one, many;
  count(one, m, {64, 96, 0, 1});
  count(many, m, {64, 96, 0, 4});
  CHECK(profile::json_report(one.kernels()) == profile::json_report(many.kernels()));
}

TEST_CASE("launches of one kernel add up, other kernels are counted by themselves") {
  profile::collector counts;
  const module m = parsed_module(whole_kernel("nanosleep.u32 0;"));
  count(counts, m, {2, 32});
  count(counts, parsed_module(whole_kernel("nanosleep.u32 0;")), {5, 64});
  count(counts, m, {2, 32});
  REQUIRE(counts.kernels().size() == 1);
  const profile::kernel_profile& p = counts.kernels().front();
  CHECK(p.launches == 3);
  CHECK(p.blocks == 9);
  REQUIRE(p.shapes.size() == 2);
  CHECK(p.shapes[0].launches == 2);
  CHECK(p.shapes[1].block.x == 64);
  count(counts, parsed_module(whole_kernel("nanosleep.u32 1;")));
  CHECK(counts.kernels().size() == 2);
}

TEST_CASE("a coalesced load moves what it asks for, a strided one a sector for each lane") {
  struct row {
    const char* scale;
    std::uint64_t sectors, ideal;
  };
  for (const row& r : {row{"4", 4, 4}, row{"8", 8, 4}, row{"32", 32, 4}, row{"128", 32, 4}, row{"0", 1, 1}}) {
    INFO("scale " << r.scale);
    profile::collector counts;
    const auto s = profile::summarise(counted(counts, strided_load(r.scale), {2, 64}));
    const auto& c = figures(s, memory_place::global, access_direction::load);
    CHECK(c.requests == 4);
    CHECK(c.lanes == 128);
    CHECK(c.bytes == 512);
    CHECK(c.transactions == 4 * r.sectors);
    CHECK(c.ideal == 4 * r.ideal);
    CHECK(c.worst == r.sectors);
    CHECK(line_with(s, "ld.global.u32 %r1").sum.at(memory_place::global).transactions == 4 * r.sectors);
  }
}

TEST_CASE("sectors are those of device addresses, also after a shifted start") {
  profile::collector counts;
  const auto s = profile::summarise(
      counted(counts, "shl.b64 %d1, %wide, 2; add.u64 %d1, %d1, %p0;\nst.global.u32 [%d1+4], %r1;"));
  const auto& c = figures(s, memory_place::global, access_direction::store);
  CHECK(c.transactions == 5);
  CHECK(c.ideal == 4);
}

TEST_CASE("a generic address is counted where it leads") {
  profile::collector counts;
  const auto s = profile::summarise(counted(
      counts,
      "shl.b64 %d1, %wide, 2; add.u64 %d1, %d1, %p0;\nst.u32 [%d1], %r1;\n"
      "mov.u64 %d2, tile; cvta.shared.u64 %d2, %d2; mul.lo.u64 %d3, %wide, 128; add.u64 %d2, %d2, %d3;\n"
      "ld.u32 %r3, [%d2];",
      {}, tile));
  CHECK(figures(s, memory_place::global, access_direction::store).transactions == 4);
  CHECK(figures(s, memory_place::shared, access_direction::load).transactions == 32);
  CHECK(figures(s, instruction_class::generic).warps == 2);
}

TEST_CASE("bank conflicts of shared memory") {
  struct row {
    const char* scale;
    const char* access;
    std::uint64_t wavefronts, ideal;
  };
  const row rows[] = {{"4", "ld.shared.u32 %r3, [%r2];", 1, 1},
                      {"8", "ld.shared.u32 %r3, [%r2];", 2, 1},
                      {"128", "ld.shared.u32 %r3, [%r2];", 32, 1},
                      {"0", "ld.shared.u32 %r3, [%r2];", 1, 1},
                      {"8", "st.shared.u64 [%r2], %d1;", 2, 2},
                      {"16", "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];", 4, 4},
                      {"32", "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];", 8, 4}};
  for (const row& r : rows) {
    INFO(r.access << " at " << r.scale);
    profile::collector counts;
    const auto s = profile::summarise(counted(counts, strided_shared(r.scale, r.access), {}, tile));
    const bool store = r.access[0] == 's';
    const auto& c =
        figures(s, memory_place::shared, store ? access_direction::store : access_direction::load);
    CHECK(c.requests == 1);
    CHECK(c.transactions == r.wavefronts);
    CHECK(c.ideal == r.ideal);
  }
}

TEST_CASE("atomic operations report how many lanes wait for one address") {
  profile::collector counts;
  const auto s =
      profile::summarise(counted(counts,
                                 "and.b64 %d1, %wide, 3; shl.b64 %d1, %d1, 2; add.u64 %d1, %d1, %p0;\n"
                                 "red.global.add.u32 [%d1], 1;\natom.shared.add.u32 %r1, [tile], 1;",
                                 {}, tile));
  const auto& global = figures(s, memory_place::global, access_direction::atomic);
  CHECK(global.atomics == 1);
  CHECK(global.atomic_turns == 8);
  CHECK(global.transactions == 1);
  CHECK(figures(s, memory_place::shared, access_direction::atomic).atomic_turns == 32);
}

TEST_CASE("local memory") {
  profile::collector counts;
  const auto s =
      profile::summarise(counted(counts,
                                 ".local .align 4 .b8 mine[256];\nst.local.u32 [mine+16], %r1;\n"
                                 "and.b32 %r2, %tid_, 31; shl.b32 %r2, %r2, 2; mov.u32 %r3, mine;\n"
                                 "add.u32 %r3, %r3, %r2; ld.local.u32 %r4, [%r3];"));
  CHECK(figures(s, memory_place::local, access_direction::store).transactions == 4);
  CHECK(figures(s, memory_place::local, access_direction::load).transactions == 32);
}

TEST_CASE("asynchronous copies: the lanes of a warp are one request, a bulk copy is one by itself") {
  profile::collector counts;
  const auto s = profile::summarise(counted(
      counts,
      "shl.b64 %d1, %wide, 4; add.u64 %d1, %d1, %p0;\nshl.b32 %r1, %tid_, 5; mov.u32 %r2, tile;\n"
      "add.u32 %r2, %r2, %r1;\ncp.async.ca.shared.global [%r2], [%d1], 16;\ncp.async.wait_all;\n"
      "setp.eq.u32 %q1, %tid_, 0; mov.u32 %r3, phase; @%q1 mbarrier.init.shared.b64 [%r3], 1;\n"
      "mov.u32 %r4, tile; @%q1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;\n"
      "@%q1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p0], 1024, [%r3];\n"
      "bar.sync 0;\nwait: mbarrier.try_wait.parity.shared.b64 %q2, [%r3], 0; @!%q2 bra wait;",
      {}, tile + " .shared .align 8 .b64 phase;"));
  const auto& copy = line_with(s, "cp.async.ca").sum;
  CHECK(copy.at(memory_place::global).requests == 1);
  CHECK(copy.at(memory_place::global).lanes == 32);
  CHECK(copy.at(memory_place::global).transactions == 16);
  CHECK(copy.at(memory_place::global).bytes == 512);
  CHECK(copy.at(memory_place::shared).transactions == 8);  // every second piece of 16 bytes
  CHECK(copy.at(memory_place::shared).ideal == 4);
  const auto& bulk = line_with(s, "cp.async.bulk").sum;
  CHECK(bulk.at(memory_place::global).requests == 1);
  CHECK(bulk.at(memory_place::global).transactions == 32);
  CHECK(bulk.at(memory_place::shared).transactions == 8);
  CHECK(figures(s, memory_place::global, access_direction::copy).requests == 2);
}

TEST_CASE("the rows of ldmatrix meet the banks by quarters of a warp") {
  for (const bool padded : {false, true}) {
    profile::collector counts;
    const auto s = profile::summarise(
        counted(counts,
                std::string("and.b32 %r1, %tid_, 7; mul.lo.u32 %r1, %r1, ") + (padded ? "144" : "128") +
                    "; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;\n"
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];",
                {}, tile));
    const auto& c = figures(s, memory_place::shared, access_direction::load);
    CHECK(c.requests == 1);
    CHECK(c.transactions == (padded ? 4 : 32));
    CHECK(c.ideal == 4);
  }
}

TEST_CASE("branches: taken, not taken, divergent") {
  profile::collector counts;
  const std::string body =
      "setp.lt.u32 %q1, %tid_, 48;\n@%q1 bra few;\nadd.u32 %r1, %r1, 1;\nfew: nanosleep.u32 0;\n"
      "setp.lt.u32 %q2, %tid_, 1000;\n@%q2 bra all;\nadd.u32 %r2, %r2, 1;\nall:\n@!%q2 add.u32 %r3, %r3, "
      "1;\n";
  const auto s = profile::summarise(counted(counts, body, {1, 96}));
  const auto& few = line_with(s, "@%q1 bra");
  CHECK(few.branch.executions == 3);
  CHECK(few.branch.divergent == 1);
  CHECK(few.branch.taken == 48);
  CHECK(few.branch.not_taken == 48);
  CHECK(few.branch.outcomes == 2);
  CHECK(few.covered == 1);
  const auto& all = line_with(s, "@%q2 bra");
  CHECK(all.branch.divergent == 0);
  CHECK(all.branch.outcomes == 1);
  const auto& half = line_with(s, "add.u32 %r1, %r1, 1");
  CHECK(half.sum.executions == 2);
  CHECK(half.sum.active == 48);
  CHECK(line_with(s, "add.u32 %r2").covered == 0);
  const auto& never = line_with(s, "@!%q2 add");  // executed, but by no lane
  CHECK(never.sum.executions == 3);
  CHECK(never.sum.empty == 3);
  CHECK(never.covered == 0);
  CHECK(s.outcomes.covered == 3);
  CHECK(s.outcomes.all == 4);
  CHECK(s.ptx.all - s.ptx.covered == 2);
  const std::string text = profile::text_report(counts.kernels());
  CHECK(contains(text, "never executed:"));
  CHECK(contains(text, "is always taken: @%q2 bra all;"));
  CHECK(contains(text, "warps part in 1 of 6"));
}

TEST_CASE("barriers that a block completed") {
  profile::collector counts;
  const auto p = counted(counts, "bar.sync 0;\nbar.sync 1;\nbarrier.sync 2;", {4, 128});
  CHECK(p.barriers == 12);
}

TEST_CASE("a launch that ends with a fault is counted as far as it came") {
  profile::collector counts;
  CHECK_THROWS_AS(counted(counts, "add.u32 %r1, %r1, 1;\ntrap;"), fault);
  const auto s = profile::summarise(counts.kernels().front());
  CHECK(s.of.faulted == 1);
  CHECK(line_with(s, "add.u32 %r1").sum.executions == 1);
}

TEST_CASE("occupancy is the least of what threads, shared memory and the number of blocks allow") {
  const module m = parsed_module(whole_kernel("ld.shared.u32 %r1, [tile];", tile));
  const architecture device = architecture_of({90, true});
  const auto of = [&](std::uint32_t threads, std::uint32_t dynamic) {
    return profile::occupancy_of(*m.find("k"), {threads, 1, 1}, dynamic, device);
  };
  CHECK(of(1024, 0).blocks == 2);
  CHECK(of(1024, 0).limit == "threads");
  CHECK(of(1024, 0).warps == 64);
  CHECK(of(32, 0).by_blocks == 32);
  CHECK(of(32, 0).by_shared == 228 * 1024 / (8192 + 1024));
  CHECK(of(32, 0).limit == "shared memory");
  CHECK(of(256, 100 * 1024).blocks == 2);
}

TEST_CASE("the jumps that the decoder puts in are not instructions of the text") {
  profile::collector counts;
  // The loop's body is after the end in the text.
  const std::string body =
      "mov.u32 %r1, 0;\nbra test;\nbody: add.u32 %r1, %r1, 1;\ntest: setp.lt.u32 %q1, %r1, 5;\n@%q1 bra "
      "body;\n";
  const auto s = profile::summarise(counted(counts, body));
  REQUIRE(std::any_of(s.of.kernel->code.begin(), s.of.kernel->code.end(), [](const instruction& i) {
    return i.op == operation::bra && i.form == static_cast<u8>(branch_form::inserted);
  }));
  CHECK(line_with(s, "body: add").sum.executions == 5);
  CHECK(line_with(s, "test: setp").sum.executions == 6);
  CHECK(line_with(s, "@%q1 bra").sum.executions == 6);
  CHECK(line_with(s, "@%q1 bra").instructions == 1);
  CHECK(line_with(s, "bra test").sum.executions == 1);
  CHECK(figures(s, instruction_class::control).warps == 6 + 1 + 1);
}
