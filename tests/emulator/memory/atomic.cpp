// Atomics on shared and global memory: what they write, what they return, and that blocks do not lose
// updates.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

struct outcome {
  std::uint64_t before, after;
};

// One atomic of one thread on a cell, in a space.
outcome once(const std::string& op, const std::string& type, std::uint64_t cell, std::uint64_t b,
             std::uint64_t c, const std::string& space) {
  memory global;
  const array<std::uint64_t> data(global, {cell, 0, b, c});
  const std::string width = "b" + std::to_string(bytes_of(type) * 8);
  const std::string operands = op == "cas" ? "x, y" : "x";
  std::string body = ".reg ." + width + " old, x, y;\nld.global." + width + " x, [%p0+16]; ld.global." +
                     width + " y, [%p0+24];\n";
  const std::string form = "." + op + "." + type + " old, ";
  if (space == "global") body += "atom.global" + form + "[%p0], " + operands + ";\n";
  if (space == "generic") body += "atom" + form + "[%p0], " + operands + ";\n";
  if (space == "shared")
    body += "ld.global." + width + " old, [%p0]; st.shared." + width + " [cell], old; atom.shared" + form +
            "[cell], " + operands + "; .reg ." + width + " now; ld.shared." + width +
            " now, [cell]; st.global." + width + " [%p0], now;\n";
  body += "st.global." + width + " [%p0+8], old;";
  run_module(parsed_module(kernel_text(body, 1, ".shared .align 8 .b8 cell[8];")), global, {data.address()},
             {1, 1});
  const auto v = data.values();
  const std::uint64_t mask =
      bytes_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes_of(type) * 8) - 1;
  return {v[1] & mask, v[0] & mask};
}

}  // namespace

TEST_CASE("every atomic operation returns the old value and writes the new one") {
  struct row {
    std::string op, type;
    std::uint64_t cell, b, c, after;
  };
  const row rows[] = {
      {"add", "u32", 5, 0xffffffff, 0, 4},
      {"add", "s32", 0x7fffffff, 1, 0, 0x80000000},
      {"add", "u64", ~0ull, 2, 0, 1},
      {"add", "f32", bits(1.5f), bits(2.25f), 0, bits(3.75f)},
      {"add", "f64", bits(1.5), bits(2.25), 0, bits(3.75)},
      {"min", "s32", 3, 0xfffffffe, 0, 0xfffffffe},
      {"min", "u32", 3, 0xfffffffe, 0, 3},
      {"max", "s32", 3, 0xfffffffe, 0, 3},
      {"max", "u32", 3, 0xfffffffe, 0, 0xfffffffe},
      {"min", "s64", 3, ~0ull, 0, ~0ull},
      {"max", "u64", 3, ~0ull, 0, ~0ull},
      {"and", "b32", 0xff00, 0x0ff0, 0, 0x0f00},
      {"or", "b64", 0xff00, 0x0ff0, 0, 0xfff0},
      {"xor", "b32", 0xff00, 0x0ff0, 0, 0xf0f0},
      {"exch", "b32", 1, 2, 0, 2},
      {"exch", "b64", 1, ~0ull, 0, ~0ull},
      {"cas", "b32", 7, 7, 9, 9},
      {"cas", "b32", 7, 8, 9, 7},
      {"cas", "b64", 7, 7, ~0ull, ~0ull},
      {"cas", "b16", 0xabcd, 0xabcd, 0x1234, 0x1234},
      {"inc", "u32", 4, 5, 0, 5},
      {"inc", "u32", 5, 5, 0, 0},
      {"inc", "u32", 9, 5, 0, 0},
      {"dec", "u32", 4, 5, 0, 3},
      {"dec", "u32", 0, 5, 0, 5},
      {"dec", "u32", 9, 5, 0, 5},
  };
  for (const row& r : rows)
    for (const std::string space : {"global", "shared", "generic"}) {
      INFO("atom." << space << "." << r.op << "." << r.type << " on " << r.cell);
      const outcome o = once(r.op, r.type, r.cell, r.b, r.c, space);
      CHECK(o.before == r.cell);
      CHECK(o.after == r.after);
    }
}

TEST_CASE("single-precision sums flush subnormal values in global memory, and keep them in shared memory") {
  CHECK(once("add", "f32", 1, 1, 0, "global").after == 0);
  CHECK(once("add", "f32", 1, 1, 0, "shared").after == 2);
}

TEST_CASE("all threads of all blocks are counted once") {
  const auto have = results(
      "atom.global.add.u32 %r1, [%p0], 1; red.global.add.u32 [%p0+4], %thread; red.global.max.s32 [%p0+8], "
      "%thread;",
      3, {40, 96});
  CHECK(have[0] == 3840);
  CHECK(have[1] == 3840u * 3839 / 2);
  CHECK(have[2] == 3839);
  // Without a result that shows the order, blocks run concurrently.
  CHECK(results("red.global.add.u32 [%p0], 1;", 1, {200, 64})[0] == 12800);
  // Each thread gets a number of its own.
  std::vector<std::uint32_t> tickets = results(
      "atom.global.inc.u32 %r1, [%p0], 0xffffffff; mad.wide.u32 %d1, %r1, 4, %p0; st.global.u32 [%d1+4], 1;",
      641, {20, 32});
  for (std::uint32_t i = 1; i <= 640; ++i) CHECK(tickets[i] == 1);
}

TEST_CASE("a histogram in shared memory") {
  const auto have = results(
      R"(mov.u32 %r1, bins; and.b32 %r2, %tid_, 7; mad.lo.u32 %r3, %r2, 4, %r1; red.shared.add.u32 [%r3], 1;
      bar.sync 0;
      setp.ge.u32 %q0, %tid_, 8; @%q0 exit; mad.lo.u32 %r3, %tid_, 4, %r1; ld.shared.u32 %r4, [%r3];
      mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r4;)",
      8, {1, 256}, ".shared .align 4 .b8 bins[32];");
  for (const std::uint32_t n : have) CHECK(n == 32);
}

TEST_CASE("blocks that wait for each other get on: a barrier of the grid") {
  // Each block counts itself and spins until all have come.
  const auto have = results(R"(
      setp.ne.u32 %q0, %tid_, 0; @%q0 bra wait; membar.gl; atom.global.add.u32 %r1, [%p0], 1;
      spin: ld.volatile.global.u32 %r2, [%p0]; setp.lt.u32 %q1, %r2, 50; @%q1 bra spin;
      wait: bar.sync 0; ld.global.u32 %r3, [%p0]; mad.lo.u64 %d0, %wide, 4, %p0;
      st.global.u32 [%d0+4], %r3;)",
                            50 * 32 + 1, {50, 32, 0, 0, 0});
  for (const std::uint32_t v : have) CHECK(v == 50);
}
