// The asynchronous side of wgmma: results are there after the wait for their group and not before. The four
// warps of a warpgroup act together, and their mistakes are reported.

#include "emulator/machine/warp.hpp"
#include "tests/emulator/matrix/wgmma_model.hpp"

#include <utility>

namespace {

using namespace emulator_test;

struct image_case {
  wgmma_case c;
  host_matrix a{"f16", 64, 16}, b{"f16", 8, 16};
  shared_image a_image{a, {128, false}}, b_image{b, {128, false}};

  image_case() {
    c.n = 8;
    c.steps = 1;
    c.accumulate = true;
    std::mt19937 random(3);
    a.randomise(random, -3, 3);
    b.randomise(random, -3, 3);
    a_image = shared_image(a, c.a_layout);
    b_image = shared_image(b, c.b_layout);
  }
  std::string text(const std::string& before_wait = "") const {
    return wgmma_text(c, a_image, b_image, before_wait);
  }
  int product(unsigned row, unsigned column) const {
    int sum = 0;
    for (unsigned k = 0; k < 16; ++k) sum += a.at(row, k) * b.at(column, k);
    return sum;
  }

  // The four buffers: D starts as 1.0 in every element; the last takes what `before_wait` stores.
  std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> run(const std::string& text,
                                                                        shape s = {1, 128}) const {
    memory global;
    const array<std::uint32_t> d(global, std::vector<std::uint32_t>(4 * 128, 0x3f800000u)),
        more(global, 4 * 128);
    const array<std::uint8_t> a_buffer(global, a_image.bytes), b_buffer(global, b_image.bytes);
    run_module(parsed_module(text), global,
               {d.address(), a_buffer.address(), b_buffer.address(), more.address()}, s);
    return {d.values(), more.values()};
  }
  fault_report fault(const std::string& text, shape s = {1, 128}) const {
    try {
      run(text, s);
    } catch (const kaio::emulator::fault& e) {
      return e.report();
    }
    FAIL("no fault");
    return {};
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::uint32_t single(int value) { return static_cast<std::uint32_t>(encoded("f32", value)); }

std::size_t wrong(const image_case& i, const std::vector<std::uint32_t>& d, int start, int factor) {
  std::size_t count = 0;
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      const d_place p = place_in_d(i.c, row, column);
      if (d[p.index * 128 + p.thread] != single(start + factor * i.product(row, column))) ++count;
    }
  return count;
}

const std::string store_now =
    "add.u64 %d1, %d40, %p3; st.global.b32 [%d1], %x0; st.global.b32 [%d1+512], %x1;\n"
    "st.global.b32 [%d1+1024], %x2; st.global.b32 [%d1+1536], %x3;\n";

TEST_CASE("results of wgmma are not there before the wait", "[emulator]") {
  const image_case i;
  const auto [after, before] = i.run(i.text(store_now));
  CHECK(wrong(i, after, 1, 1) == 0);
  CHECK(wrong(i, before, 1, 0) == 0);
}

TEST_CASE("what was not committed is not waited for", "[emulator]") {
  const image_case i;
  const auto d = i.run(replaced(i.text(), "wgmma.commit_group.sync.aligned;", "")).first;
  CHECK(wrong(i, d, 1, 0) == 0);
}

TEST_CASE("a wait leaves as many groups under way as it says", "[emulator]") {
  const image_case i;
  // The product again as a second group, into %x16...: `wait_group 1` leaves it in flight.
  const std::string text = i.text();
  const auto from = text.find("wgmma.mma_async"), to = text.find(";", from) + 1;
  const std::string mma = text.substr(from, to - from);
  const std::string other = replaced(mma, "{%x0, %x1, %x2, %x3}", "{%x16, %x17, %x18, %x19}");
  std::string both = replaced(
      text, "wgmma.wait_group.sync.aligned 0;",
      other + "\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n" +
          replaced(replaced(replaced(replaced(store_now, "%x0", "%x16"), "%x1;", "%x17;"), "%x2", "%x18"),
                   "%x3", "%x19"));
  const auto [first, second] = i.run(both);
  CHECK(wrong(i, first, 1, 1) == 0);
  CHECK(wrong(i, second, 0, 0) == 0);  // %x16 ... were never written, and hold zero
  const auto all = i.run(replaced(both, "wait_group.sync.aligned 1;", "wait_group.sync.aligned 0;")).second;
  CHECK(wrong(i, all, 0, 1) == 0);
  // A product into the same registers keeps them in flight.
  const auto chained =
      i.run(replaced(text, "wgmma.wait_group.sync.aligned 0;",
                     mma + "\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n" +
                         store_now + "wgmma.wait_group.sync.aligned 0;"));
  CHECK(wrong(i, chained.first, 1, 2) == 0);
  CHECK(wrong(i, chained.second, 1, 0) == 0);
}

TEST_CASE("a warp that has waited knows that all four warps are done", "[emulator]") {
  const image_case i;
  // Warp 0 overwrites B after its wait, before the other warps, which run later, would have read it.
  const std::string clear =
      "setp.ge.u32 %q6, %thread, 32; @%q6 bra past;\n"
      "mov.u32 %r60, sb; mad.lo.u32 %r60, %thread, 32, %r60; mov.u32 %r61, 0;\n"
      "st.shared.v4.u32 [%r60], {%r61, %r61, %r61, %r61}; st.shared.v4.u32 [%r60+16], {%r61, %r61, %r61, "
      "%r61};\n"
      "past:\n";
  const std::string text =
      replaced(i.text(), "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 0;\n" + clear);
  CHECK(wrong(i, i.run(text).first, 1, 1) == 0);
}

TEST_CASE("a warp that stays away from wgmma keeps the others waiting for ever", "[emulator]") {
  const image_case i;
  const std::string text =
      replaced(i.text(), "wgmma.fence", "setp.ge.u32 %q6, %thread, 96; @%q6 exit;\nwgmma.fence");
  const auto report = i.fault(text);
  CHECK(report.kind == fault_kind::deadlock);
  CHECK(contains(report.detail, "the other warps of the warpgroup"));
}

TEST_CASE("warps of a warpgroup that do not act alike are reported", "[emulator]") {
  const image_case i;
  const std::string text = i.text();
  const auto from = text.find("wgmma.mma_async"), to = text.find(";", from) + 1;
  const std::string mma = text.substr(from, to - from);
  const auto parted = i.fault(replaced(text, mma,
                                       "setp.ge.u32 %q6, %thread, 64; @%q6 bra high;\n" + mma +
                                           "\nbra.uni meet;\nhigh:\n" + mma + "\nmeet:\n"));
  CHECK(parted.kind == fault_kind::member_mask);
  CHECK(contains(parted.detail, "the warps of a warpgroup diverged"));
  const auto descriptors = i.fault(replaced(
      text, "wgmma.mma_async", "setp.ge.u32 %q6, %thread, 64; @%q6 add.u64 %d33, %d33, 2;\nwgmma.mma_async"));
  CHECK(descriptors.kind == fault_kind::member_mask);
  CHECK(contains(descriptors.detail, "other matrix descriptors"));
  const auto lanes = i.fault(replaced(
      text, "wgmma.mma_async", "setp.eq.u32 %q6, %thread, 5; @%q6 add.u64 %d33, %d33, 2;\nwgmma.mma_async"));
  CHECK(contains(lanes.detail, "the lanes 0 and 5 of a warp have different matrix descriptors of B"));
  const auto scale = i.fault(replaced(text, "setp.eq.u32 %q3, %r30, %r30;", "setp.lt.u32 %q3, %thread, 40;"));
  CHECK(contains(scale.detail, "scale-d"));
  const auto small = i.fault(text, {1, 96});
  CHECK(small.kind == fault_kind::member_mask);
  CHECK(contains(small.detail, "a warpgroup of four warps"));
}

TEST_CASE("a descriptor that reaches beyond shared memory is a fault", "[emulator]") {
  const image_case i;
  const auto report = i.fault(replaced(
      i.text(), "%d33, %d31, ", "%d33, %d31, " + std::to_string(2048 / 16) + "; add.u64 %d33, %d33, "));
  CHECK(report.kind == fault_kind::out_of_bounds);
  CHECK(report.space == "shared");
  CHECK(report.access == access_kind::read);
  CHECK(report.bytes == 16);
  CHECK(contains(report.ptx_text, "wgmma.mma_async"));
}

// Records the notifications of observers about wgmma.
struct recorder : grid_observer {
  struct told {
    std::uint64_t bytes[4] = {};
    std::uint64_t groups[4] = {};
    unsigned operations = 0;
  };
  struct one : observer {
    explicit one(told& to_) : to(to_) {}
    void async_issued(const async_operation& o) override {
      if (o.completion != async_completion::wgmma_group) return;
      ++to.operations;
      for (const async_range& r : o.ranges) to.bytes[o.by->index] += r.bytes;
    }
    void async_waited(warp& w, const instruction&, unsigned lane, async_completion kind, std::uint64_t groups,
                      bool read) override {
      CHECK(kind == async_completion::wgmma_group);
      CHECK((lane == 0 && !read));
      to.groups[w.index] = groups;
    }
    told& to;
  };
  std::unique_ptr<observer> watch(block&) override { return std::make_unique<one>(seen); }
  told seen;
};

TEST_CASE("observers are notified of what the four warps read and what they have waited for", "[emulator]") {
  image_case i;
  i.c.n = 64;
  host_matrix b("f16", 64, 16);
  const shared_image b_image(b, i.c.b_layout);
  const module m = parsed_module(wgmma_text(i.c, i.a_image, b_image));
  memory global;
  const array<std::uint32_t> d(global, 32 * 128), none(global, 1);
  const array<std::uint8_t> a_buffer(global, i.a_image.bytes), b_buffer(global, b_image.bytes);
  const std::uint64_t pointers[] = {d.address(), a_buffer.address(), b_buffer.address(), none.address()};
  recorder watching;
  launch l;
  l.mod = &m;
  l.kernel = m.find("k");
  l.grid = {1, 1, 1};
  l.block = {128, 1, 1};
  l.parameters.resize(sizeof pointers);
  std::memcpy(l.parameters.data(), pointers, sizeof pointers);
  l.observers.push_back(&watching);
  run(l, global);
  CHECK(watching.seen.operations == 4);
  for (unsigned w = 0; w < 4; ++w) {
    CHECK(watching.seen.bytes[w] == 16 * 32 + 16 * 32);  // its rows of A, and a quarter of B
    CHECK(watching.seen.groups[w] == 1);
  }
}

TEST_CASE("forms of wgmma that do not exist are rejected", "[emulator]") {
  const auto reason = [&](const std::string& text, const char* version = "8.4",
                          const char* target = "sm_90a") {
    return rejection(kernel_text(text, 1, "", version, target)).reason();
  };
  const std::string d = "{%f0, %f1, %f2, %f3}", e = "{%r0, %r1, %r2, %r3}",
                    mma = "wgmma.mma_async.sync.aligned.m64n8";
  CHECK(contains(reason("wgmma.fence.sync.aligned;", "8.0", "sm_90"), "needs .target sm_90a"));
  CHECK(contains(reason("wgmma.fence.sync.aligned;", "7.8"), "8.0"));
  CHECK(contains(reason("wgmma.fence;"), "needs .sync"));
  CHECK(contains(reason("wgmma.wait_group.sync.aligned -1;"), "a number of groups"));
  CHECK(contains(reason("wgmma.wait_group.sync.aligned %r1;"), "a number of groups"));
  CHECK(contains(reason("wgmma.commit_group.sync.aligned 0;"), "takes 0 operands"));
  CHECK(contains(reason(mma + "k8.f32.f16.f16 " + d + ", %d1, %d2, 1, 1, 1, 0, 0;"), "K = 8"));
  CHECK(contains(reason(mma + "k16.f16.bf16.bf16 {%r0, %r1}, %d1, %d2, 1, 1, 1, 0, 0;"), "these types"));
  CHECK(contains(reason(mma + "k16.f32.f16.bf16 " + d + ", %d1, %d2, 1, 1, 1, 0, 0;"), "these types"));
  CHECK(contains(
      reason("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 " + d + ", %d1, %d2, 1, 1, 1, 0, 0;"),
      "multiple of 8"));
  CHECK(contains(reason("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 " + e + ", %d1, %d2, 1;"),
                 "multiple of 16"));
  CHECK(contains(reason(mma + "k16.f32.f16.f16 {%f0, %f1}, %d1, %d2, 1, 1, 1, 0, 0;"), "4 registers"));
  CHECK(contains(reason(mma + "k16.f32.f16.f16 " + d + ", %d1, %d2, 1, 2, 1, 0, 0;"),
                 "imm-scale-a is 1 or -1"));
  CHECK(
      contains(reason(mma + "k16.f32.f16.f16 " + d + ", %d1, %d2, 1, 1, 1, 0, 2;"), "imm-trans-b is 0 or 1"));
  CHECK(contains(reason(mma + "k16.f32.f16.f16 " + d + ", " + e + ", %d2, 1, 1, 1, 0, 0;"), "operands"));
  CHECK(contains(reason(mma + "k8.f32.tf32.tf32 " + d + ", %d1, %d2, 1, 1, 1, 0, 0;"), "operands"));
  CHECK(contains(reason(mma + "k32.s32.s8.s8 " + e + ", %d1, %d2, 1, 1, 1;"), "operands"));
  CHECK(
      contains(reason(mma + "k16.f32.f16.f16.satfinite " + d + ", %d1, %d2, 1, 1, 1, 0, 0;"), ".satfinite"));
  CHECK(contains(reason(mma + "k256.s32.b1.b1.xor.popc " + e + ", %d1, %d2, 1;"), "an operation"));
  CHECK(contains(reason(mma + "k32.s32.s8.u8 " + e + ", %d1, %d2, 1;", "8.3"), "PTX ISA 8.4"));
  const std::string sparse = "wgmma.mma_async.sp.sync.aligned.m64n8";
  CHECK(contains(reason(sparse + "k32.f32.f16.f16 " + d + ", %d1, %d2, %r9, 2, 1, 1, 1, 0, 0;"), "0 or 1"));
  CHECK(contains(reason(sparse + "k64.s32.s8.s8 " + e + ", %d1, %d2, %r9, 1, 1;"), "selector is 0"));
  CHECK(contains(reason(sparse + "k32.f32.f16.f16 " + d + ", %d1, %d2, 5, 0, 1, 1, 1, 0, 0;"), "a register"));
  CHECK(contains(reason(sparse + "k32.f32.f16.f16 " + d + ", %d1, %d2, %r9, 0, 1, 1, 1, 0, 0;", "8.1"),
                 "PTX ISA 8.2"));
  CHECK_NOTHROW(
      parsed_module(kernel_text("wgmma.fence.sync.aligned;\n" + mma + "k16.f32.f16.f16 " + e +
                                    ", %d1, 77, !%q1, -1, 1, 1, 0;\n" + mma + "k32.satfinite.s32.s8.s8 " + e +
                                    ", {%r4, %r5, %f6, %r7}, %d2, 0;\nwgmma.commit_group.sync.aligned;\n"
                                    "wgmma.wait_group.sync.aligned 100;",
                                1, "", "8.0")));
}

}  // namespace
