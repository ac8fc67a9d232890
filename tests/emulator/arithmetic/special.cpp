// Special registers, and the sizes of shared memory that a kernel sees.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

// The result of `mov.u32 %r0, <name>` in every thread.
std::vector<std::uint32_t> read(const std::string& name, shape s, const std::string& declarations = "",
                                const std::string& uses = "") {
  return results(uses + "mov.u32 %r0, " + name + "; mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;",
                 std::size_t{s.grid} * s.block, s, declarations);
}

}  // namespace

TEST_CASE("where a thread is") {
  const shape s{3, 80};
  for (std::uint32_t i = 0; i < 240; ++i) {
    const std::uint32_t t = i % 80, lane = t % 32;
    INFO("thread " << i);
    CHECK(read("%tid.x", s)[i] == t);
    CHECK(read("%tid.y", s)[i] == 0);
    CHECK(read("%ntid.x", s)[i] == 80);
    CHECK(read("%ntid.z", s)[i] == 1);
    CHECK(read("%ctaid.x", s)[i] == i / 80);
    CHECK(read("%nctaid.x", s)[i] == 3);
    CHECK(read("%laneid", s)[i] == lane);
    CHECK(read("%warpid", s)[i] == t / 32);
    CHECK(read("%nwarpid", s)[i] == 3);
    CHECK(read("%smid", s)[i] < read("%nsmid", s)[i]);
    CHECK(read("%lanemask_eq", s)[i] == 1u << lane);
    CHECK(read("%lanemask_lt", s)[i] == (1u << lane) - 1);
    CHECK(read("%lanemask_le", s)[i] == ((1u << lane) | ((1u << lane) - 1)));
    CHECK(read("%lanemask_gt", s)[i] == ~((1u << lane) | ((1u << lane) - 1)));
    CHECK(read("%lanemask_ge", s)[i] == ~((1u << lane) - 1));
    if (i % 40 == 0) i += 25;
  }
}

TEST_CASE("each grid has a number of its own, and time goes forward") {
  CHECK(read("%gridid", {1, 1})[0] != read("%gridid", {1, 1})[0]);
  const auto have = results(
      "mov.u64 %d1, %globaltimer; mov.u32 %r1, %globaltimer_hi; mov.u32 %r2, %clock_hi; mov.u32 %r3, %clock;"
      "mov.u64 %d2, %clock64; shr.u64 %d3, %d1, 32; cvt.u32.u64 %r4, %d3; st.global.v2.u32 [%p0], {%r1, %r4};"
      "cvt.u32.u64 %r5, %d2; sub.u32 %r5, %r5, %r3; st.global.v2.u32 [%p0+8], {%r2, %r5};",
      4, {1, 1});
  CHECK(have[0] - have[1] <= 1);
  CHECK(have[2] == 0);
  CHECK(have[3] > 0);
  CHECK(have[3] < 100);
}

TEST_CASE("dynamic shared memory follows the static arrays, and its size is seen") {
  const std::string declarations =
      ".shared .align 4 .b8 fixed[20]; .extern .shared .align 16 .b8 dynamic[];"
      ".extern .shared .align 4 .b8 same[];";
  const std::string uses = "st.shared.u32 [fixed], 0; st.shared.u32 [dynamic], 0; mov.u32 %r9, same; ";
  const shape s{1, 1, 1000};
  CHECK(read("fixed", s, declarations, uses)[0] == 0);
  CHECK(read("dynamic", s, declarations, uses)[0] == 32);
  CHECK(read("same", s, declarations, uses)[0] == 32);
  CHECK(read("%dynamic_smem_size", s, declarations, uses)[0] == 1000);
  CHECK(read("%total_smem_size", s, declarations, uses)[0] == 1032);
  CHECK(read("%dynamic_smem_size", {1, 1}, declarations, "mov.u32 %r9, dynamic; ")[0] == 0);
}

TEST_CASE("special registers by their other names, as 16 bits, as vectors and through cvt") {
  const shape s{2, 40};
  CHECK(read("%tid.r", s)[79] == 39);
  CHECK(read("%nctaid.r", s)[5] == 2);
  CHECK(read("%ntid.w", s)[5] == 0);
  CHECK(read("%pm3", s)[0] == 0);
  CHECK(read("%envreg31", s)[0] == 0);
  const auto have = results(
      "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid; mov.u16 %h1, %tid.x; cvt.u32.u16 %r5, %h1;"
      "cvt.u64.u32 %d1, %ntid.x; cvt.u32.u64 %r6, %d1; cvt.u32.u16 %r7, %tid.x; mad.lo.u64 %d0, %wide, 32, "
      "%p0;"
      "st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%d0+16], {%r5, %r6, %r7, %r7};",
      80 * 8, s);
  for (std::uint32_t t = 0; t < 80; ++t) {
    const std::vector<std::uint32_t> want{t / 40, 0, 0, 0, t % 40, 40, t % 40, t % 40};
    CHECK(std::vector<std::uint32_t>(have.begin() + t * 8, have.begin() + t * 8 + 8) == want);
  }
  // A clock is read anew each time.
  CHECK(results("cvt.u64.u32 %d1, %clock; mov.u32 %r2, 3; cvt.u64.u32 %d2, %clock; sub.u64 %d3, %d2, %d1;"
                "cvt.u32.u64 %r3, %d3; st.global.u32 [%p0], %r3;",
                1, {1, 1})[0] > 0);
}

TEST_CASE("%is_explicit_cluster is a predicate") {
  const std::string body =
      "mov.pred %q1, %is_explicit_cluster; selp.u32 %r1, 1, 2, %q1; st.global.u32 [%p0], %r1;";
  CHECK(results(body, 1, {1, 1})[0] == 2);
  CHECK(contains(rejection(kernel_text("mov.u32 %r1, %is_explicit_cluster;")).what(), "is a predicate"));
}

TEST_CASE("the shared memory that the system keeps follows that of the kernel") {
  // 128-byte steps after static and dynamic memory; 288 bytes of it in use; as GPUs report.
  const std::string declarations = ".shared .align 4 .b8 fixed[1000]; .extern .shared .align 4 .b8 more[];";
  const std::string uses = "mov.u32 %r9, fixed; mov.u32 %r9, more; ";
  const auto at = [&](const std::string& name, std::uint32_t dynamic) {
    return read("%" + name, {1, 1, dynamic}, declarations, uses)[0];
  };
  CHECK(at("reserved_smem_offset_begin", 0) == 1024);
  CHECK(at("reserved_smem_offset_begin", 4096) == 5120);
  CHECK(at("reserved_smem_offset_end", 0) == 1024 + 288);
  CHECK(at("reserved_smem_offset_cap", 0) == 1024 + 1024);
  CHECK(at("reserved_smem_offset_0", 100) == at("reserved_smem_offset_1", 100));
  CHECK(at("aggr_smem_size", 0) == 2048);
  CHECK(at("total_smem_size", 0) == 1000);
  const std::string reach =
      "mov.u32 %r1, %reserved_smem_offset_1; st.shared.u32 [%r1+1020], 7; ld.shared.u32 %r2, [%r1+1020];"
      "st.global.u32 [%p0], %r2;";
  CHECK(results(reach, 1, {1, 1}, declarations)[0] == 7);
  // A kernel that does not ask for it has none.
  memory global;
  const array<std::uint32_t> out(global, 1);
  CHECK(fault_of("mov.u32 %r1, 1024; st.shared.u32 [%r1], 7;", global, {out.address()}, {1, 1}, declarations)
            .kind == fault_kind::out_of_bounds);
}

TEST_CASE("dynamic shared memory ends where the launch says") {
  memory global;
  const array<std::uint32_t> out(global, 1);
  const std::string declaration = ".extern .shared .align 16 .b8 dynamic[];";
  CHECK(results("mov.u32 %r1, dynamic; st.shared.u32 [%r1+65532], 9; ld.shared.u32 %r2, [%r1+65532];"
                "st.global.u32 [%p0], %r2;",
                1, {1, 1, 65536}, declaration)[0] == 9);
  const fault_report over =
      fault_of("st.shared.u32 [dynamic+65536], 9;", global, {out.address()}, {1, 1, 65536}, declaration);
  CHECK(over.kind == fault_kind::out_of_bounds);
  CHECK(over.object.name == "dynamic shared memory");
  CHECK(over.object.bytes == 65536);
  CHECK(fault_of("st.shared.u32 [dynamic], 9;", global, {out.address()}, {1, 1}, declaration).kind ==
        fault_kind::out_of_bounds);
}

TEST_CASE("tables of every type in constant and global memory, read by an index") {
  struct row {
    std::string type, values, reg;
    std::vector<std::uint64_t> want;
  };
  const row rows[] = {
      {"u8", "1, 255, 3", "b16", {1, 255, 3}},
      {"s8", "1, -1, 3", "b16", {1, 0xffff, 3}},
      {"b16", "1, 0xffff, 3", "b16", {1, 0xffff, 3}},
      {"u32", "1, 4294967295, 3", "b32", {1, 0xffffffff, 3}},
      {"s32", "1, -2, 3", "b32", {1, 0xfffffffe, 3}},
      {"f32", "1.5, 0fC0000000, -0.0", "b32", {bits(1.5f), bits(-2.0f), 0x80000000}},
      {"u64", "1, 0xffffffffffffffff", "b64", {1, ~0ull, 0}},
      {"f64", "0.1, 0dC000000000000000", "b64", {bits(0.1), bits(-2.0), 0}},
  };
  for (const row& r : rows)
    for (const std::string space : {"const", "global"})
      for (const bool generic : {false, true}) {
        const std::string size = std::to_string(bytes_of(r.type));
        memory global;
        const array<std::uint64_t> out(global, 3);
        const std::string body =
            ".reg ." + r.reg + " v; mov.u64 %d1, table; " +
            (generic ? "cvta." + space + ".u64 %d1, %d1; " : "") + "mad.lo.u64 %d2, %wide, " + size +
            ", %d1; ld" + (generic ? "" : "." + space) + "." + r.type +
            " v, [%d2]; mad.lo.u64 %d0, %wide, 8, %p0; st.global." + r.reg + " [%d0], v;";
        INFO(space << " " << r.type << (generic ? " generic" : ""));
        run_module(parsed_module(kernel_text(
                       body, 1, "." + space + " .align 8 ." + r.type + " table[3] = {" + r.values + "};")),
                   global, {out.address()}, {1, 3});
        CHECK(out.values() == r.want);
      }
}

TEST_CASE("a local array is read and written by an index that is known at run time, in both address forms") {
  const auto have = results(R"(
      .local .align 4 .b8 a[40]; mov.u64 %d1, a; cvta.local.u64 %d2, %d1; cvta.to.local.u64 %d3, %d2;
      mov.u32 %r1, 0;
      fill: mad.wide.u32 %d4, %r1, 4, %d3; mul.lo.u32 %r2, %r1, %thread; st.local.u32 [%d4], %r2;
      add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, 10; @%q1 bra fill;
      rem.u32 %r3, %thread, 10; mad.wide.u32 %d5, %r3, 4, %d2; ld.u32 %r4, [%d5];
      mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r4;)",
                            64, {2, 32});
  for (std::uint32_t t = 0; t < 64; ++t) CHECK(have[t] == t % 10 * t);
}
