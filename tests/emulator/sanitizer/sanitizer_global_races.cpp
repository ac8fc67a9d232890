// Races in global memory, between threads of a block and between blocks, and the ways to order them: fences
// with flags, locks, counters, scopes, the end of a kernel.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch blocks{{4, 64}};

checked_launch cooperative(std::uint32_t grid = 4) {
  checked_launch l;
  l.size = {grid, 64};
  l.cooperative = true;
  return l;
}

}  // namespace

TEST_CASE("each thread its own word: clean; its neighbour's: a race between blocks") {
  const std::string own =
      "mad.lo.u64 %d0, %wide, 4, %p0; ld.global.u32 %r1, [%d0]; st.global.u32 [%d0], %r1;";
  CHECK(is_clean(own, blocks));
  const std::string shifted =
      "mad.lo.u64 %d0, %wide, 4, %p0;\nst.global.u32 [%d0], %thread;\nbar.sync 0;\nld.global.u32 %r1, "
      "[%d0+4];";
  const auto r = checked(shifted, blocks);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::race);
  CHECK(r->space == "global");
  CHECK(r->other.block.x != r->block.x);
  CHECK(r->object.where == nearest_object::relation::inside);
  CHECK(contains(r->advice, "scope .gpu"));
  CHECK(is_clean(shifted, {{1, 64}}));
}

TEST_CASE("a sum that all blocks write without an atomic") {
  const std::string thread0 = "setp.eq.u32 %q0, %tid_, 0;\n@!%q0 bra done;\n";
  CHECK(has(thread0 + "ld.global.u32 %r1, [%p0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%p0], %r1;\ndone:",
            fault_kind::race, "global.u32", blocks));
  CHECK(is_clean(thread0 + "red.global.add.u32 [%p0], 1;\ndone:", blocks));
  CHECK(has(thread0 + "red.global.add.u32 [%p0], 1;\nld.global.u32 %r1, [%p0];\ndone:", fault_kind::race, "",
            blocks));
}

TEST_CASE("atomics of scope .cta do not reach other blocks") {
  CHECK(is_clean("red.relaxed.gpu.global.add.u32 [%p0], 1;", blocks));
  CHECK(is_clean("red.relaxed.cta.global.add.u32 [%p0], 1;", {{1, 128}}));
  const auto r = checked("red.relaxed.cta.global.add.u32 [%p0], 1;", blocks);
  REQUIRE(r);
  CHECK(r->kind == fault_kind::race);
  CHECK(contains(r->detail, "scopes"));
  CHECK(contains(r->advice, ".gpu"));
}

TEST_CASE("message passing between blocks, and what is missing from it") {
  // Block 0 writes and sets the flag; block 1 waits for it.
  const auto kernel = [](const std::string& set, const std::string& look, const std::string& after) {
    return "setp.eq.u32 %q0, %tid_, 0;\n@!%q0 bra done;\nsetp.eq.u32 %q1, %ctaid_, 0;\n@!%q1 bra reader;\n"
           "st.global.u32 [%p0], 42;\n" +
           set + "\nbra done;\nreader: setp.ne.u32 %q1, %ctaid_, 1;\n@%q1 bra done;\nspin: " + look +
           "\nsetp.eq.u32 %q2, %r1, 0; @%q2 bra spin;\n" + after + "\nld.global.u32 %r2, [%p0];\ndone:";
  };
  const auto release = [](const std::string& scope) {
    return "st.release." + scope + ".global.u32 [%p1], 1;";
  };
  const auto acquire = [](const std::string& scope) {
    return "ld.acquire." + scope + ".global.u32 %r1, [%p1];";
  };
  const std::string relaxed = "st.relaxed.gpu.global.u32 [%p1], 1;";
  const std::string look = "ld.relaxed.gpu.global.u32 %r1, [%p1];";
  CHECK(is_clean(kernel(release("gpu"), acquire("gpu"), ""), blocks));
  CHECK(is_clean(kernel(release("sys"), acquire("gpu"), ""), blocks));
  CHECK(is_clean(kernel("membar.gl; " + relaxed, look, "fence.acq_rel.gpu;"), blocks));
  CHECK(is_clean(kernel("membar.gl; st.volatile.global.u32 [%p1], 1;", "ld.volatile.global.u32 %r1, [%p1];",
                        "membar.gl;"),
                 blocks));
  CHECK(is_clean(kernel("membar.gl; atom.global.exch.b32 %r3, [%p1], 1;", "atom.global.or.b32 %r1, [%p1], 0;",
                        "membar.gl;"),
                 blocks));
  CHECK(is_clean(kernel("atom.release.gpu.global.exch.b32 %r3, [%p1], 1;",
                        "atom.acquire.gpu.global.or.b32 %r1, [%p1], 0;", ""),
                 blocks));
  const std::string read = "ld.global.u32 %r2, [%p0];";
  CHECK(has(kernel(relaxed, look, "fence.acq_rel.gpu;"), fault_kind::race, read, blocks));
  CHECK(has(kernel("membar.gl; " + relaxed, look, ""), fault_kind::race, read, blocks));
  CHECK(has(kernel("membar.cta; " + relaxed, look, "membar.gl;"), fault_kind::race, read, blocks));
  CHECK(has(kernel("membar.gl; " + relaxed, look, "membar.cta;"), fault_kind::race, read, blocks));
  CHECK(has(kernel(release("cta"), acquire("gpu"), ""), fault_kind::race, "", blocks));
  CHECK(has(kernel(release("gpu"), acquire("cta"), ""), fault_kind::race, "", blocks));
  // A flag that is written and read like any other word races itself.
  CHECK(has(kernel("membar.gl; st.global.u32 [%p1], 1;", look, "membar.gl;"), fault_kind::race, "", blocks));
}

TEST_CASE("the last block of a reduction sums what the others left") {
  // As in the CUDA programming guide: a partial sum, a fence, an atomic counter, a barrier.
  const auto kernel = [](const std::string& fence, const std::string& barrier) {
    return "mov.u32 %r8, 0;\nsetp.eq.u32 %q0, %tid_, 0;\nmul.wide.u32 %d1, %ctaid_, 4; add.u64 %d1, %d1, "
           "%p0;\n"
           "@%q0 st.global.u32 [%d1], %ctaid_;\n" +
           fence + "\n@%q0 atom.global.inc.u32 %r8, [%p1], 3;\n@%q0 st.shared.u32 [cells], %r8;\n" + barrier +
           "\nld.shared.u32 %r8, [cells];\nsetp.ne.u32 %q1, %r8, 3;\n@%q1 bra done;\n"
           "setp.gt.u32 %q2, %tid_, 3;\n@%q2 bra done;\nmul.wide.u32 %d2, %tid_, 4; add.u64 %d2, %d2, %p0;\n"
           "ld.global.u32 %r5, [%d2];\ndone:";
  };
  checked_launch l = blocks;
  l.declarations = ".shared .align 4 .b8 cells[16];";
  CHECK(is_clean(kernel("membar.gl;", "bar.sync 0;"), l));
  CHECK(is_clean(kernel("@%q0 membar.gl;", "bar.sync 0; membar.gl;"), l));
  CHECK(has(kernel("", "bar.sync 0;"), fault_kind::race, "ld.global.u32 %r5, [%d2];", l));
  CHECK(has(kernel("membar.cta;", "bar.sync 0;"), fault_kind::race, "ld.global.u32 %r5, [%d2];", l));
}

TEST_CASE("all threads write and fence, one counts for all of them") {
  const auto kernel = [](const std::string& first, const std::string& second) {
    return "mov.u32 %r8, 0;\nsetp.eq.u32 %q0, %tid_, 0;\nmad.lo.u64 %d1, %wide, 4, %p0;\n"
           "st.global.u32 [%d1], %tid_;\n" +
           first + "\n@%q0 atom.global.inc.u32 %r8, [%p1], 3;\n@%q0 st.shared.u32 [cells], %r8;\n" + second +
           "\nld.shared.u32 %r8, [cells];\nsetp.ne.u32 %q1, %r8, 3;\n@%q1 bra done;\n"
           "xor.b32 %r1, %thread, 64; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %p0;\nld.global.u32 %r5, "
           "[%d2];\n"
           "done:";
  };
  checked_launch l = blocks;
  l.declarations = ".shared .align 4 .b8 cells[16];";
  CHECK(is_clean(kernel("membar.gl; bar.sync 0;", "bar.sync 0;"), l));
  CHECK(is_clean(kernel("bar.sync 0; membar.gl;", "bar.sync 0;"), l));
  CHECK(is_clean(kernel("bar.sync 0; @%q0 membar.gl;", "@%q0 membar.gl; bar.sync 0;"), l));
  CHECK(has(kernel("membar.gl;", "bar.sync 0;"), fault_kind::race, "ld.global.u32 %r5", l));
  CHECK(has(kernel("bar.sync 0;", "bar.sync 0; membar.gl;"), fault_kind::race, "ld.global.u32 %r5", l));
}

TEST_CASE("locks: with fences around what they protect, and without") {
  const auto kernel = [](const std::string& take, const std::string& fence, const std::string& give) {
    return "setp.eq.u32 %q0, %tid_, 0;\n@!%q0 bra done;\nspin: " + take +
           "\nsetp.ne.u32 %q1, %r1, 0; @%q1 bra spin;\n" + fence +
           "\nld.global.u32 %r2, [%p0];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%p0], %r2;\n" + give +
           "\ndone:";
  };
  const std::string take = "atom.global.cas.b32 %r1, [%p1], 0, 1;";
  const std::string give = "atom.global.exch.b32 %r3, [%p1], 0;";
  CHECK(is_clean(kernel(take, "membar.gl;", "membar.gl; " + give), blocks));
  CHECK(is_clean(kernel("atom.acquire.gpu.global.cas.b32 %r1, [%p1], 0, 1;", "",
                        "atom.release.gpu.global.exch.b32 %r3, [%p1], 0;"),
                 blocks));
  CHECK(is_clean(kernel(take, "membar.gl;", "st.release.gpu.global.u32 [%p1], 0;"), blocks));
  CHECK(has(kernel(take, "", "membar.gl; " + give), fault_kind::race, "", blocks));
  CHECK(has(kernel(take, "membar.gl;", give), fault_kind::race, "", blocks));
  CHECK(has(kernel("atom.acquire.cta.global.cas.b32 %r1, [%p1], 0, 1;", "",
                   "atom.release.cta.global.exch.b32 %r3, [%p1], 0;"),
            fault_kind::race, "", blocks));
}

TEST_CASE("a ticket lock") {
  const auto kernel = [](const std::string& fence) {
    return "setp.eq.u32 %q0, %tid_, 0;\n@!%q0 bra done;\natom.global.add.u32 %r1, [%p1], 1;\n"
           "spin: ld.volatile.global.u32 %r2, [%p1+4];\nsetp.ne.u32 %q1, %r1, %r2; @%q1 bra spin;\n" +
           fence + "\nld.global.u32 %r3, [%p0]; add.u32 %r3, %r3, 1; st.global.u32 [%p0], %r3;\n" + fence +
           "\nred.global.add.u32 [%p1+4], 1;\ndone:";
  };
  CHECK(is_clean(kernel("membar.gl;"), blocks));
  CHECK(has(kernel(""), fault_kind::race, "", blocks));
  CHECK(has(kernel("membar.cta;"), fault_kind::race, "", blocks));
}

TEST_CASE("a barrier of the whole grid") {
  // Twice, as cooperative groups do it: arrive on a counter, wait for all, and read the data of others.
  const auto kernel = [](const std::string& before, const std::string& after) {
    std::string text =
        "setp.eq.u32 %q0, %tid_, 0;\nmad.lo.u64 %d1, %wide, 4, %p0;\n"
        "xor.b32 %r1, %thread, 64; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %p0;\n";
    for (const std::string k : {"1", "2", "3"})
      text +=
          "st.global.u32 [%d1], " + k + ";\nbar.sync 0;\n@!%q0 bra met" + k + ";\n" + before +
          "\nred.global.add.u32 [%p1], 1;\nspin" + k + ": ld.volatile.global.u32 %r2, [%p1];\n" +
          "setp.lt.u32 %q1, %r2, " + std::to_string(std::stoi(k) * 8 - 4) + ";\n@%q1 bra spin" + k + ";\n" +
          after + "\nmet" + k + ": bar.sync 0;\nld.global.u32 %r3, [%d2];\nbar.sync 0;\n@!%q0 bra again" + k +
          ";\n" + before + "\nred.global.add.u32 [%p1], 1;\nwait" + k +
          ": ld.volatile.global.u32 %r2, [%p1];\nsetp.lt.u32 %q1, %r2, " + std::to_string(std::stoi(k) * 8) +
          ";\n@%q1 bra wait" + k + ";\n" + after + "\nagain" + k + ": bar.sync 0;\n";
    return text;
  };
  CHECK(is_clean(kernel("membar.gl;", "membar.gl;"), cooperative()));
  CHECK(has(kernel("", "membar.gl;"), fault_kind::race, "global.u32", cooperative()));
  CHECK(has(kernel("membar.gl;", ""), fault_kind::race, "global.u32", cooperative()));
}

TEST_CASE("a kernel's end orders it before the next one") {
  memory global;
  const std::uint64_t data = global.allocate(4096);
  const module m = parsed_module(kernel_text(
      "not.b32 %r1, %thread; and.b32 %r1, %r1, 255; mul.wide.u32 %d0, %r1, 4; add.u64 %d0, %d0, %p0;"
      "ld.global.u32 %r2, [%d0]; xor.b32 %r1, %r1, 128; mul.wide.u32 %d0, %r1, 4; add.u64 %d0, %d0, %p1;"
      "st.global.u32 [%d0], %r2;",
      2));
  sanitizer checks{sanitizer_options{}};
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {4, 1, 1};
  l.block = {64, 1, 1};
  l.observers.push_back(&checks);
  const std::uint64_t second = global.allocate(4096);
  for (const std::vector<std::uint64_t>& pointers :
       {std::vector{data, second}, {second, data}, {data, second}}) {
    l.parameters.resize(16);
    std::memcpy(l.parameters.data(), pointers.data(), 16);
    CHECK_NOTHROW(run(l, global));
  }
  const std::vector<std::uint64_t> same{data, data};
  std::memcpy(l.parameters.data(), same.data(), 16);
  CHECK_THROWS_AS(run(l, global), fault);
}

TEST_CASE("races between blocks are found under any schedule") {
  for (const schedule_kind kind :
       {schedule_kind::round_robin, schedule_kind::reverse, schedule_kind::random}) {
    checked_launch l = blocks;
    l.order.kind = kind;
    l.order.seed = 5;
    CHECK(has("mad.lo.u64 %d0, %wide, 4, %p0;\nst.global.u32 [%d0], %thread;\nld.global.u32 %r1, [%d0+256];",
              fault_kind::race, "", l));
  }
}
