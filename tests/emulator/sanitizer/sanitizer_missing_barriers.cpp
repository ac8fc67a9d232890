// A missing barrier is the first report, with the number of races that it explains. A kernel with C++ statements is
// told so in kaio's words, another text in those of PTX and CUDA.

#include "tests/emulator/sanitizer/checked.hpp"

#include <kaio/dsl/dsl.hpp>

#include <limits>

using namespace emulator_test;

namespace {

constexpr auto all_reports = std::numeric_limits<std::uint64_t>::max();

struct barriers {
  bool after_fill = true, between_warps = true, between_lanes = true;
};

// Sums 128 numbers in shared memory: the block halves them to 32, then the first warp goes on.
constexpr std::uint32_t fill_line = __LINE__ + 7, warps_line = fill_line + 3, lanes_line = warps_line + 4;
template <barriers Has>
inline constexpr auto sum =
    kaio::kernel<"sum", 128>([](kaio::thread t, kaio::in<kaio::u32> x, kaio::out<kaio::u32> y) {
      kaio::shared<kaio::u32, 128> s(t);
      const auto i = t.thread_rank();
      // clang-format off
      s[i] = x[i];
      if (Has.after_fill) t.barrier();
      for (kaio::u32 step = 64; step >= 32; step /= 2) {
        if (auto adds = t.when(i < step)) s[i] += s[i + step];
        if (Has.between_warps) t.barrier();
      }
      for (kaio::u32 step = 16; step >= 1; step /= 2) {
        if (auto adds = t.when(i < step)) s[i] += s[i + step];
        if (Has.between_lanes) sync_warp(t);
      }
      // clang-format on
      if (auto first = t.when(i == 0u)) y[0] = s[0];
    });

// The reports of a kernel under all checks, the first one first. Without `in_kaio` its text is that of anyone.
template <class Kernel>
std::vector<fault_report> reports_of(const Kernel& kernel, std::uint64_t most, bool in_kaio = true) {
  const kaio::ptx::kernel_image& image = kernel.image();
  std::string text;
  for (std::size_t k = 0; k < image.segment_count; ++k) text += image.segments[k];
  const module m = parsed_module(text);
  memory global;
  const array<std::uint32_t> x(global, std::vector<std::uint32_t>(128, 1)), y(global, 1);
  sanitizer_options options;
  options.most_reports = most;
  sanitizer checks(options);
  launch l;
  l.mod = &m;
  l.kernel = m.find(image.name);
  l.grid = {1, 1, 1};
  l.block = image.block;
  l.image = in_kaio ? &image : nullptr;
  const std::uint64_t pointers[] = {x.address(), y.address()};
  l.parameters.resize(sizeof pointers);
  std::memcpy(l.parameters.data(), pointers, sizeof pointers);
  l.observers.push_back(&checks);
  try {
    run(l, global);
  } catch (const fault& f) {
    UNSCOPED_INFO(f.what());
    std::vector<fault_report> all = f.report().more;
    all.insert(all.begin(), f.report());
    return all;
  }
  CHECK(y.values()[0] == 128);
  return {};
}

std::string place(std::uint32_t line) { return "sanitizer_missing_barriers.cpp:" + std::to_string(line); }

bool lacks(const std::string& whole, const std::string& part) {
  return whole.find(part) == std::string::npos;
}

// A report that speaks of kaio, and of neither PTX's instructions nor CUDA's functions.
void check_words_of_kaio(const fault_report& r) {
  for (const char* word : {"bar.", "__sync", ".cta", "weak"}) {
    CHECK(lacks(r.advice, word));
    CHECK(lacks(r.other.how, word));
  }
}

}  // namespace

TEST_CASE("a block reduction with its barriers is clean") {
  CHECK(reports_of(sum<barriers{}>, all_reports).empty());
  CHECK(reports_of(sum<barriers{}>, all_reports, false).empty());
}

TEST_CASE("without any barrier the block's barriers come first, then the warp's") {
  constexpr barriers none{false, false, false};
  const auto all = reports_of(sum<none>, all_reports);
  REQUIRE(all.size() == 2);
  for (const fault_report& r : all) {
    CHECK(r.kind == fault_kind::race);
    check_words_of_kaio(r);
  }
  CHECK(contains(all[0].advice, "put t.barrier() between " + place(fill_line) + " and " + place(warps_line)));
  CHECK(all[0].warp != all[0].other.warp);
  // Lanes race at its second statement too: a consequence, counted there.
  CHECK(contains(all[0].advice, ", and may end 16 more:\n    the write at " + place(warps_line) +
                                    " and the read at " + place(lanes_line) + ", by lanes of one warp: 16"));
  CHECK(contains(all[1].advice, "end each turn of its loop with sync_warp(t)"));
  CHECK(all[1].line == lanes_line);
  CHECK(all[1].warp == all[1].other.warp);
  // The first report alone is that barrier too.
  const auto first = reports_of(sum<none>, 1);
  REQUIRE(first.size() == 1);
  CHECK(first[0].advice == all[0].advice);
  CHECK(reports_of(sum<none>, 2).size() == 2);
}

TEST_CASE("the barrier at the end of a loop's turn is missing") {
  static constexpr std::uint32_t read_line = __LINE__ + 8;
  static constexpr auto turns =
      kaio::kernel<"turns", 128>([](kaio::thread t, kaio::in<kaio::u32> x, kaio::out<kaio::u32> y) {
        kaio::shared<kaio::u32, 128> s(t);
        kaio::var<kaio::u32> sum(t, 0u);
        for (auto turn : t.range(0u, 2u)) {
          s[t.thread_rank()] = x[t.thread_rank()] + turn;
          t.barrier();
          sum += s[127u - t.thread_rank()];
        }
        y[0] = sum;
      });
  const auto all = reports_of(turns, all_reports);
  REQUIRE(!all.empty());
  CHECK(contains(all[0].advice, "one turn of a loop races with the next one: put t.barrier() after " +
                                    place(read_line) + ", at the end of the turn"));
}

TEST_CASE("one of two barriers of the block is missing: one report has all races that it explains") {
  constexpr barriers no_fill{false, true, true}, no_loop{true, false, true};
  for (const std::uint64_t most : {std::uint64_t{1}, all_reports}) {
    const auto fill = reports_of(sum<no_fill>, most);
    REQUIRE(fill.size() == 1);
    CHECK(contains(fill[0].advice,
                   "put t.barrier() between " + place(fill_line) + " and " + place(warps_line)));
    // 64 threads read what threads of other warps wrote, or write later.
    CHECK(contains(fill[0].advice, "it ends 64 races of these two accesses"));
    CHECK(lacks(fill[0].advice, "more"));
    check_words_of_kaio(fill[0]);
    const auto loop = reports_of(sum<no_loop>, most);
    REQUIRE(loop.size() == 1);
    CHECK(contains(loop[0].advice, "end each turn of its loop with t.barrier()"));
    CHECK(loop[0].line == warps_line);
    CHECK(contains(loop[0].advice, "it ends 32 races of these two accesses, and may end 16 more:"));
    // The warp's first turn reads what its lanes wrote in the last turn of the block.
    CHECK(contains(loop[0].advice, "\n    the write at " + place(warps_line) + " and the read at " +
                                       place(lanes_line) + ", by lanes of one warp: "));
  }
}

TEST_CASE("only the order of a warp's lanes is missing: sync_warp(t), and no barrier of the block") {
  constexpr barriers no_lanes{true, true, false};
  for (const std::uint64_t most : {std::uint64_t{1}, all_reports}) {
    const auto all = reports_of(sum<no_lanes>, most);
    REQUIRE(all.size() == 1);
    CHECK(contains(all[0].advice, "sync_warp(t)"));
    CHECK(lacks(all[0].advice, "t.barrier()"));
    CHECK(all[0].line == lanes_line);
    check_words_of_kaio(all[0]);
    CHECK(contains(fault(all[0]).what(), "\n  from " + all[0].file + ":" + std::to_string(lanes_line)));
  }
}

TEST_CASE("a text of anyone is told of PTX and CUDA") {
  constexpr barriers none{false, false, false}, no_lanes{true, true, false};
  const auto block = reports_of(sum<none>, 1, false);
  REQUIRE(block.size() == 1);
  CHECK(contains(block[0].advice, "put a barrier (bar.sync, __syncthreads)"));
  CHECK(contains(block[0].other.how, "weak"));
  CHECK(lacks(block[0].advice, "t.barrier()"));
  const auto lanes = reports_of(sum<no_lanes>, 1, false);
  REQUIRE(lanes.size() == 1);
  CHECK(contains(lanes[0].advice, "put bar.warp.sync (__syncwarp)"));
  CHECK(lacks(lanes[0].advice, "sync_warp(t)"));
}

TEST_CASE("the other checks speak the language of the kernel too") {
  const kaio::ptx::source_line statement{"ops/scale.hpp", 12};
  kaio::ptx::kernel_image of_kaio;
  of_kaio.statements = &statement;
  of_kaio.statement_count = 1;
  const auto said = [&](const std::string& body, bool in_kaio, shape size) {
    checked_launch l{size, ".shared .align 16 .b8 cells[512];"};
    l.image = in_kaio ? &of_kaio : nullptr;
    const auto r = checked(body, l);
    REQUIRE(r);
    return r->detail + r->advice + r->other.how;
  };
  const struct {
    std::string body;
    shape size;
    const char *kaio, *ptx;
  } rows[] = {
      {"setp.lt.u32 %q0, %tid_, 7;\n@%q0 bra a;\nbar.sync 0;\nbra join;\na:\nbar.sync 0;\njoin:",
       {1, 32},
       "outside of t.when",
       "without .aligned"},
      {"add.u32 %r1, %r20, 1;", {1, 32}, "the val or var", "give %r20"},
      {"st.shared.u32 [cells], %tid_;", {1, 32}, "atomic_add(x[i], value)", "use an atomic operation"},
      {"st.global.u32 [%p0], %ctaid_;", {2, 1}, "grid_barrier(t, state)", "fence at scope .gpu"},
      {"mov.u32 %r9, cells; cp.async.ca.shared.global [%r9], [%p0], 4;\nld.shared.u32 %r1, [%r9];",
       {1, 1},
       "cp_async_wait_group<N>(t)",
       "cp.async.wait_group"},
  };
  for (const auto& row : rows) {
    const std::string kaio = said(row.body, true, row.size), ptx = said(row.body, false, row.size);
    CHECK(contains(kaio, row.kaio));
    CHECK(contains(ptx, row.ptx));
    CHECK(lacks(ptx, row.kaio));
  }
}

TEST_CASE("a loop without barriers in a text: the barrier before it, then the one in it") {
  checked_launch l{{1, 128}, ".shared .align 16 .b8 cells[512];"};
  l.options.most_reports = all_reports;
  const auto kernel = [](const std::string& barrier) {
    return "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9;\nst.shared.u32 [%r8], 1;\nmov.u32 %r2, 64;\n" +
           barrier +
           "\nstep: setp.lt.u32 %q0, %tid_, %r2;\nadd.u32 %r3, %tid_, %r2; mad.lo.u32 %r4, %r3, 4, %r9;\n"
           "@%q0 ld.shared.u32 %r5, [%r4];\n@%q0 ld.shared.u32 %r6, [%r8];\n@%q0 add.u32 %r6, %r6, %r5;\n"
           "@%q0 st.shared.u32 [%r8], %r6;\nshr.u32 %r2, %r2, 1; setp.ne.u32 %q1, %r2, 0; @%q1 bra step;";
  };
  const auto fill = checked(kernel(""), l);
  REQUIRE(fill);
  CHECK(fill->more.empty());
  CHECK(contains(fill->advice, "bar.sync"));
  CHECK(contains(fill->ptx_text + fill->other.ptx_text, "st.shared.u32 [%r8], 1;"));
  const auto loop = checked(kernel("bar.sync 0;"), l);
  REQUIRE(loop);
  CHECK(loop->more.empty());
  CHECK(contains(loop->advice, "bar.sync"));
  for (const auto& r : {fill, loop}) CHECK(contains(r->advice, ", by lanes of one warp: "));
  CHECK(contains(loop->ptx_text + loop->other.ptx_text, "st.shared.u32 [%r8], %r6;"));
}

TEST_CASE("a held race is reported before the fault that follows it, and not if races are left out") {
  checked_launch l{{1, 64}, ".shared .align 16 .b8 cells[256];"};
  const std::string race =
      "mov.u32 %r9, cells; mad.lo.u32 %r8, %tid_, 4, %r9;\nst.shared.u32 [%r8], %tid_;\n"
      "xor.b32 %r1, %tid_, 32; mad.lo.u32 %r7, %r1, 4, %r9;\nst.shared.u32 [%r7], %tid_;\n";
  // The second warp races, then faults.
  const auto faulty = checked(race + "setp.ge.u32 %q0, %tid_, 32;\n@%q0 ld.global.u32 %r2, [%p0+900000];", l);
  REQUIRE(faulty);
  CHECK(faulty->kind == fault_kind::race);
  REQUIRE(faulty->more.size() == 1);
  CHECK(faulty->more[0].kind == fault_kind::out_of_bounds);
  const auto r = checked(race, l);
  REQUIRE(r);
  l.options.checks = sanitizer_options::parse_checks("all,-races", "test");
  CHECK(!checked(race, l));
}
