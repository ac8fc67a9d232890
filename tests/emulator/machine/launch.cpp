// Launches: limits that are checked before anything runs, empty grids, and results that do not depend on host
// threads.

#include "tests/emulator/kernel.hpp"

#include <string>
#include <thread>

using namespace emulator_test;

namespace {

std::string refusal(const module& m, const launch& l) {
  memory global;
  launch copy = l;
  copy.mod = &m;
  copy.kernel = m.find("k");
  try {
    run(copy, global);
  } catch (const launch_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("what a device cannot launch is refused, and the text says why") {
  const module m = parsed_module(
      ".version 8.0 .target sm_90 .address_size 64 .shared .align 4 .b8 s[1024]; .extern .shared .align 16 "
      ".b8 d[]; "
      ".visible .entry k(.param .u32 n) .maxntid 128, 1, 1 { .reg .b32 %r; mov.u32 %r, s; mov.u32 %r, d; "
      "ret; }");
  const auto with = [](auto change) {
    launch l;
    l.parameters.resize(4);
    l.block = {32, 1, 1};
    change(l);
    return l;
  };
  CHECK(refusal(m, with([](launch&) {})).empty());
  CHECK(refusal(m, with([](launch& l) {
                  l.block = {129, 1, 1};
                })) == "kaio: kernel 'k': its blocks have at most 128 threads, not 129");
  CHECK(refusal(m, with([](launch& l) { l.block = {1, 1, 65}; })).find("block.z is 65") != std::string::npos);
  CHECK(refusal(m, with([](launch& l) { l.block = {1024, 2, 1}; })).find("2048") != std::string::npos);
  CHECK(refusal(m, with([](launch& l) {
                  l.grid = {1, 65536, 1};
                }))
            .find("grid.y is 65536") != std::string::npos);
  CHECK(refusal(m, with([](launch& l) { l.dynamic_shared = 227 * 1024; })).find("shared memory") !=
        std::string::npos);
  CHECK(refusal(m, with([](launch& l) { l.parameters.resize(8); })).find("4 bytes of parameters") !=
        std::string::npos);
  const module required =
      parsed_module(".version 8.0 .target sm_90 .address_size 64 .visible .entry k() .reqntid 64 { ret; }");
  launch l;
  l.block = {32, 1, 1};
  CHECK(refusal(required, l).find("blocks of (64, 1, 1)") != std::string::npos);
  CHECK(m.find("K") == nullptr);
}

TEST_CASE("a grid without blocks does nothing") {
  memory global;
  const module m = parsed_module(kernel_text("trap;", 0));
  for (const kaio::ptx::dim3 grid : {kaio::ptx::dim3{0, 1, 1}, kaio::ptx::dim3{4, 0, 1}}) {
    launch l;
    l.mod = &m;
    l.kernel = m.find("k");
    l.grid = grid;
    CHECK_NOTHROW(run(l, global));
  }
}

TEST_CASE("results do not depend on the number of host threads") {
  // Order-dependent: tickets in the order of arrival, and a sum that rounds.
  const std::string ordered =
      R"(atom.global.add.u32 %r1, [%p0], 1; cvt.rn.f32.u32 %f1, %r1; rcp.rn.f32 %f1, %f1;
      red.global.add.f32 [%p0+4], %f1;
      mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0+8], %r1;)";
  const std::string independent =
      "mul.lo.u32 %r1, %thread, %thread; mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0+8], %r1; "
      "red.global.add.u32 [%p0], %r1;";
  for (const std::string& body : {ordered, independent}) {
    const auto one = results(body, 64 * 100 + 2, {100, 64, 0, 1});
    for (const unsigned threads : {2u, 3u, 16u, 0u})
      CHECK(results(body, 64 * 100 + 2, {100, 64, 0, threads}) == one);
  }
}

TEST_CASE("several host threads launch at a time on one memory and one module") {
  memory global;
  const module m =
      parsed_module(kernel_text("mad.lo.u64 %d0, %wide, 4, %p0; ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, "
                                "%thread; st.global.u32 [%d0], %r1;"));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t k = 0; k < wrong.size(); ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 20; ++round) {
        const array<std::uint32_t> out(global, 256);
        for (int i = 0; i < 3; ++i) run_module(m, global, {out.address()}, {8, 32});
        const auto v = out.values();
        for (std::uint32_t t = 0; t < 256; ++t)
          if (v[t] != 3 * t) ++wrong[k];
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("registers start at zero in every block") {
  const auto have = results(
      "add.u32 %r0, %r5, 1; mov.u32 %r5, 77; mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;", 320,
      {10, 32, 0, 1});
  for (const std::uint32_t v : have) CHECK(v == 1);
}

TEST_CASE("the clock goes forward and sleeping ends") {
  const auto have = results(
      "mov.u64 %d1, %clock64; mov.u32 %r1, %clock; nanosleep.u32 100; add.u32 %r2, %r1, 1; mov.u64 %d2, "
      "%clock64; sub.u64 %d3, %d2, %d1;"
      "cvt.u32.u64 %r0, %d3; mov.u64 %d4, %globaltimer; setp.gt.u64 %q0, %d4, 0; @!%q0 mov.u32 %r0, 0;"
      "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;",
      64, {1, 64});
  for (const std::uint32_t v : have) CHECK(v > 0);
}
