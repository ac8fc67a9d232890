// Loads and stores in every state space, width and vector size; generic addresses; variables of the module.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {
const std::string store = "\nmad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r0;";
}

TEST_CASE("loads extend, stores cut") {
  memory global;
  const std::vector<std::uint64_t> in{0xf1f2f3f4f5f6f7f8};
  const auto load = [&](const std::string& type, const std::string& reg) {
    const array<std::uint64_t> source(global, in), out(global, 1);
    run_module(parsed_module(kernel_text(".reg .b64 t; .reg ." + reg + " v; ld.global." + type +
                                             " v, [%p0]; mov.b64 t, 0; st.global." + reg + " [%p1], v;",
                                         2)),
               global, {source.address(), out.address()}, {1, 1});
    return out.values()[0];
  };
  CHECK(load("u8", "b16") == 0xf8);
  CHECK(load("s8", "b16") == 0xfff8);
  CHECK(load("s8", "b32") == 0xfffffff8);
  CHECK(load("s8", "b64") == 0xfffffffffffffff8);
  CHECK(load("b8", "b64") == 0xf8);
  CHECK(load("u16", "b32") == 0xf7f8);
  CHECK(load("s16", "b64") == 0xfffffffffffff7f8);
  CHECK(load("s32", "b64") == 0xfffffffff5f6f7f8);
  CHECK(load("u32", "b64") == 0xf5f6f7f8);
  CHECK(load("f32", "b64") == 0xf5f6f7f8);
  CHECK(load("b64", "f64") == in[0]);
  const auto cut = [&](const std::string& type) {
    const array<std::uint64_t> out(global, std::vector<std::uint64_t>{0xaaaaaaaaaaaaaaaa});
    run_module(
        parsed_module(kernel_text("mov.b64 %d1, 0x1122334455667788; st.global." + type + " [%p0], %d1;")),
        global, {out.address()}, {1, 1});
    return out.values()[0];
  };
  CHECK(cut("u8") == 0xaaaaaaaaaaaaaa88);
  CHECK(cut("b16") == 0xaaaaaaaaaaaa7788);
  CHECK(cut("u32") == 0xaaaaaaaa55667788);
  CHECK(cut("f32") == 0xaaaaaaaa55667788);
  CHECK(cut("b64") == 0x1122334455667788);
}

TEST_CASE("vectors of two and four, with sinks and constants") {
  memory global;
  std::vector<std::uint32_t> values(128);
  for (std::uint32_t i = 0; i < 128; ++i) values[i] = i * 3;
  const array<std::uint32_t> in(global, values), out(global, 128);
  run_module(
      parsed_module(kernel_text(
          "mad.lo.u64 %d0, %wide, 16, %p0; mad.lo.u64 %d1, %wide, 16, %p1; ld.global.nc.v4.u32 {%r1, %r2, _, "
          "%r4}, [%d0];"
          "ld.global.L1::evict_last.v2.f32 {_, %f1}, [%d0+8]; st.global.v4.b32 [%d1], {%r4, %r2, 77, %r1};",
          2)),
      global, {in.address(), out.address()});
  const auto have = out.values();
  for (std::uint32_t t = 0; t < 32; ++t) {
    CHECK(have[t * 4] == values[t * 4 + 3]);
    CHECK(have[t * 4 + 1] == values[t * 4 + 1]);
    CHECK(have[t * 4 + 2] == 77);
    CHECK(have[t * 4 + 3] == values[t * 4]);
  }
  // The address register may be among the destinations.
  run_module(
      parsed_module(kernel_text(
          "mov.b64 %d1, %p0; ld.global.v2.u64 {%d1, %d2}, [%d1]; st.global.v2.u64 [%p1], {%d2, %d1};", 2)),
      global, {in.address(), out.address()}, {1, 1});
  CHECK(out.values()[0] == values[2]);
  CHECK(out.values()[3] == values[1]);
}

TEST_CASE("128 bits at a time") {
  memory global;
  const array<std::uint64_t> in(global, {1, 2}), out(global, 2);
  run_module(parsed_module(kernel_text(".reg .b128 w; .reg .b64 l, h; ld.global.b128 w, [%p0]; mov.b128 {l, "
                                       "h}, w; mov.b128 w, {h, l}; st.global.b128 [%p1], w;",
                                       2, "", "8.3", "sm_90")),
             global, {in.address(), out.address()}, {1, 1});
  CHECK(out.values() == std::vector<std::uint64_t>{2, 1});
}

TEST_CASE("lanes that store to one place: the last lane's value stays") {
  CHECK(results("st.global.u32 [%p0], %tid_;", 1)[0] == 31);
}

TEST_CASE("shared memory: static and dynamic, by symbol, register and generic address") {
  const auto have = results(
      R"(
      mov.u32 %r1, a; mov.u64 %d1, b; mad.lo.u32 %r2, %tid_, 4, %r1; st.shared.u32 [%r2], %tid_;
      cvt.u32.u64 %r3, %d1; mad.lo.u32 %r4, %tid_, 4, %r3; st.shared.u32 [%r4+4], 9;
      mov.u32 %r5, dyn; mad.lo.u32 %r6, %tid_, 8, %r5; st.shared.v2.u32 [%r6], {%tid_, %tid_};
      cvta.shared.u64 %d2, a; mad.lo.u64 %d3, %wide, 4, %d2; ld.u32 %r7, [%d3];
      cvta.to.shared.u64 %d4, %d3; ld.shared.u32 %r8, [%d4]; ld.shared.u32 %r9, [b+8];
      ld.shared.u32 %r10, [%r6+4];
      isspacep.shared %q0, %d3; isspacep.global %q1, %d3; isspacep.global %q2, %p0;
      add.u32 %r0, %r7, %r8; add.u32 %r0, %r0, %r9; add.u32 %r0, %r0, %r10;
      @%q0 add.u32 %r0, %r0, 1000; @%q1 add.u32 %r0, %r0, 10000; @%q2 add.u32 %r0, %r0, 100000;)" +
          store,
      32, {1, 32, 256},
      ".shared .align 16 .b8 a[128]; .shared .align 4 .u32 b[33]; .extern .shared .align 16 .b8 dyn[];");
  for (std::uint32_t t = 0; t < 32; ++t) CHECK(have[t] == 3 * t + 9 + 101000);
}

TEST_CASE("every block has its own shared memory, zero at its start") {
  const auto have = results("ld.shared.u32 %r0, [cell]; st.shared.u32 [cell], 5;" + store, 64, {64, 1},
                            ".shared .align 4 .u32 cell;");
  for (const std::uint32_t v : have) CHECK(v == 0);
}

TEST_CASE("local memory belongs to a thread") {
  const auto have = results(R"(.local .align 8 .b8 frame[64];
      mov.u64 %d1, frame; cvta.local.u64 %d2, %d1; st.local.u32 [frame+4], %thread; st.u32 [%d2+8], 7;
      bar.sync 0;
      ld.u32 %r1, [%d2+4]; ld.local.u32 %r2, [%d1+8]; add.u32 %r0, %r1, %r2;)" +
                                store,
                            128, {2, 64});
  for (std::uint32_t t = 0; t < 128; ++t) CHECK(have[t] == t + 7);
}

TEST_CASE("parameters: by name, through their address, of every type, and as arrays of bytes") {
  memory global;
  const array<std::uint64_t> out(global, 6);
  const module m = parsed_module(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 8 out, .param .u8 small, .param .f32 f,
  .param .align 8 .b8 packed[12], .param .s16 last) {
  .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<2>;
  ld.param.u64 %d0, [out]; ld.param.u8 %r0, [small]; ld.param.f32 %f0, [f];
  ld.param.v2.u32 {%r1, %r2}, [packed]; ld.param.s16 %r3, [last];
  mov.b64 %d1, packed; ld.param.u32 %r4, [%d1+8]; cvta.param.u64 %d2, packed; ld.u32 %r5, [%d2+4];
  cvt.u64.u32 %d3, %r0; st.global.u64 [%d0], %d3; mov.b32 %r6, %f0; cvt.u64.u32 %d3, %r6;
  st.global.u64 [%d0+8], %d3;
  mov.b64 %d3, {%r1, %r2}; st.global.u64 [%d0+16], %d3; cvt.s64.s32 %d3, %r3; st.global.u64 [%d0+24], %d3;
  mov.b64 %d3, {%r4, %r5}; st.global.u64 [%d0+32], %d3; ret; })");
  const entry* k = m.find("k");
  REQUIRE(k != nullptr);
  REQUIRE(k->parameters.size() == 5);
  CHECK(k->parameters[1].offset == 8);
  CHECK(k->parameters[2].offset == 12);
  CHECK(k->parameters[3].offset == 16);
  CHECK(k->parameters[3].bytes == 12);
  CHECK(k->parameters[4].offset == 28);
  CHECK(k->parameter_bytes == 30);
  launch l;
  l.mod = &m;
  l.kernel = k;
  l.block = {1, 1, 1};
  l.parameters.resize(30);
  const std::uint64_t pointer = out.address();
  const float f = 1.5f;
  const std::uint32_t packed[] = {11, 22, 33};
  const std::int16_t last = -2;
  std::memcpy(l.parameters.data(), &pointer, 8);
  l.parameters[8] = std::byte{200};
  std::memcpy(l.parameters.data() + 12, &f, 4);
  std::memcpy(l.parameters.data() + 16, packed, 12);
  std::memcpy(l.parameters.data() + 28, &last, 2);
  run(l, global);
  const auto have = out.values();
  CHECK(have[0] == 200);
  CHECK(have[1] == bits(1.5f));
  CHECK(have[2] == (22ull << 32 | 11));
  CHECK(have[3] == ~std::uint64_t{1});
  CHECK(have[4] == (22ull << 32 | 33));
}

TEST_CASE("variables of the module: constants, initialised and zero globals, addresses of each other") {
  const auto have =
      results(R"(
      mad.lo.u32 %r1, %tid_, 4, 0; cvt.u64.u32 %d1, %r1; and.b64 %d1, %d1, 12; mov.u64 %d2, table;
      add.u64 %d3, %d2, %d1; ld.const.u32 %r2, [%d3];
      ld.global.u32 %r3, [counter]; ld.const.u32 %r4, [grid+16]; ld.global.u64 %d4, [pointer];
      ld.u32 %r5, [%d4];
      mov.u64 %d5, counter; ld.global.u32 %r6, [%d5+4]; cvta.const.u64 %d6, %d3; ld.u32 %r7, [%d6];
      add.u32 %r0, %r2, %r3; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5; add.u32 %r0, %r0, %r6;
      add.u32 %r0, %r0, %r7;)" +
                  store,
              32, {},
              ".const .align 4 .u32 table[4] = {10, 20, 0x1e, 4*10}; .global .u32 counter[2] = {1000, 2000};"
              ".const .u32 grid[2][3] = {{1, 2}, {4, 5, 6}}; .global .u64 pointer = generic(table);");
  for (std::uint32_t t = 0; t < 32; ++t) CHECK(have[t] == (t % 4 + 1) * 20 + 1000 + 5 + 10 + 2000);
}

TEST_CASE("a module's globals live as long as their instance") {
  memory global;
  const module m = parsed_module(kernel_text(
      "ld.global.u32 %r1, [n]; add.u32 %r1, %r1, 1; st.global.u32 [n], %r1;", 0, ".global .u32 n = 5;"));
  {
    const module_instance instance(m, global);
    launch l;
    l.mod = &m;
    l.kernel = m.find("k");
    l.instance = &instance;
    run(l, global);
    run(l, global);
    REQUIRE(instance.find("n").has_value());
    std::uint32_t n = 0;
    global.read(&n, instance.find("n")->address, 4);
    CHECK(n == 7);
    CHECK_FALSE(instance.find("m").has_value());
  }
  CHECK(global.used() == 0);
}

TEST_CASE("orders, scopes and cache operators are accepted and mean what they do without them") {
  const auto have = results(
      R"(mad.lo.u64 %d0, %wide, 4, %p0; st.volatile.global.u32 [%d0], %tid_;
      ld.relaxed.gpu.global.u32 %r1, [%d0];
      st.release.sys.global.u32 [%d0], %r1; ld.acquire.gpu.global.u32 %r2, [%d0];
      st.global.wt.u32 [%d0], %r2; ld.global.cg.u32 %r3, [%d0];
      ld.global.ca.u32 %r4, [%d0]; ld.weak.global.u32 %r5, [%d0]; membar.gl; fence.acq_rel.gpu;
      fence.sc.cta; prefetch.global.L2 [%d0];
      add.u32 %r0, %r4, %r5; st.global.u32 [%d0], %r0;)",
      32);
  for (std::uint32_t t = 0; t < 32; ++t) CHECK(have[t] == 2 * t);
}
