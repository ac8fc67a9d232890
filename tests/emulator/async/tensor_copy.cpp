// Tensor copies against an element-wise model on the host: all ranks, element types and swizzles, ragged
// edges, negative coordinates, traversal strides, stores and reductions, and tensor maps as parameters.

#include "tests/emulator/async/async_kernel.hpp"
#include "tests/emulator/async/tensor_model.hpp"

#include <algorithm>
#include <string>

using namespace emulator_test;

namespace {

constexpr std::uint32_t shared_bytes = 40960;
const std::string shared = ".shared .align 1024 .b8 sm[40960]; .shared .align 8 .b64 mb;";

struct random_numbers {
  std::uint64_t state;
  std::uint32_t below(std::uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state >> 33) % bound;
  }
};

struct element_type {
  tensor_element type;
  unsigned bytes;
};
const element_type types[] = {
    {tensor_element::uint8, 1},    {tensor_element::uint16, 2},      {tensor_element::uint32, 4},
    {tensor_element::int32, 4},    {tensor_element::uint64, 8},      {tensor_element::int64, 8},
    {tensor_element::float16, 2},  {tensor_element::float32, 4},     {tensor_element::float64, 8},
    {tensor_element::bfloat16, 2}, {tensor_element::float32_ftz, 4},
};

// Coordinates as operands.
std::string coordinates(const tensor_case& c) {
  std::string text = "{";
  for (unsigned d = 0; d < c.rank; ++d) text += (d ? ", " : "") + std::to_string(c.at[d]);
  return text + "}";
}

std::string dimension(const tensor_case& c) { return std::to_string(c.rank) + "d"; }

tensor_map map_of(const tensor_case& c, std::uint64_t address) {
  tensor_map map;
  const auto failure =
      encode_tiled(map, c.element, c.rank, address, c.sizes.data(), c.strides.data(), c.box.data(),
                   c.steps.data(), tensor_interleave::none, c.swizzle, 0, c.fill);
  if (failure) FAIL(failure->reason);
  return map;
}

std::uint64_t bytes_of(const tensor_case& c) {
  std::uint64_t last = c.sizes[0] * c.element_bytes;
  for (unsigned d = 1; d < c.rank; ++d) last += (c.sizes[d] - 1) * c.strides[d - 1];
  return last;
}

tensor_case random_case(random_numbers& random, unsigned rank, tensor_swizzle swizzle, bool stores) {
  for (;;) {
    tensor_case c;
    const element_type& type = types[random.below(std::size(types))];
    c.rank = rank;
    c.element = type.type;
    c.element_bytes = type.bytes;
    c.swizzle = swizzle;
    const std::uint32_t widest =
        swizzle == tensor_swizzle::none ? 256u : 16u << static_cast<unsigned>(swizzle);
    c.box[0] = (1 + random.below(widest / 16)) * 16 / type.bytes;
    if (c.box[0] > 256) continue;
    c.sizes[0] = 1 + random.below(2 * c.box[0]);
    // A store writes whole pieces of 16 bytes; a ragged end has a test of its own.
    if (stores) c.sizes[0] = (c.sizes[0] * type.bytes + 15) / 16 * 16 / type.bytes;
    std::uint64_t stride = (c.sizes[0] * type.bytes + 15) / 16 * 16 + 16 * random.below(3);
    for (unsigned d = 1; d < rank; ++d) {
      c.sizes[d] = 1 + random.below(9);
      c.box[d] = 1 + random.below(rank > 3 ? 4 : 8);
      c.steps[d] = random.below(3) == 0 ? 1 + random.below(3) : 1;
      c.strides[d - 1] = stride;
      stride = stride * c.sizes[d] + 16 * random.below(2);
    }
    for (unsigned d = 0; d < rank; ++d) {
      const auto size = static_cast<std::uint32_t>(c.sizes[d]);
      c.at[d] = static_cast<std::int32_t>(random.below(size + 4)) - (stores ? 0 : 3);
    }
    // A load begins at a multiple of 16 bytes.
    const auto piece = static_cast<std::int32_t>(16 / type.bytes);
    if (!stores) c.at[0] = c.at[0] / piece * piece - (random.below(4) == 0 ? piece : 0);
    if (places_of(c, 0).size() * std::max(1u, 128 / c.box[0] / c.element_bytes) * c.element_bytes < 32768)
      return c;
  }
}

// Bytes of the box that the mbarrier counts.
std::uint64_t counted(const tensor_case& c) { return places_of(c, 0).size() * c.element_bytes; }

const std::string initialised =
    "setp.ne.u32 %q31, %tid_, 0; @%q31 bra ready; mbarrier.init.shared.b64 [mb], 1; ready: bar.sync 0;\n";

// Loads the box at shared offset `to`, then writes all of shared memory to p0. p1: the map.
std::string load_kernel(const tensor_case& c, std::uint32_t to, const std::string& into) {
  return initialised + "@%q31 bra wait; mbarrier.arrive.expect_tx.shared.b64 _, [mb], " +
         std::to_string(counted(c)) + ";\ncp.async.bulk.tensor." + dimension(c) + "." + into +
         ".global.mbarrier::complete_tx::bytes [sm+" + std::to_string(to) + "], [%p1, " + coordinates(c) +
         R"(], [mb];
      wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait;
      mov.u32 %r1, %tid_; mov.u32 %r2, sm;
      dump: mad.lo.u32 %r3, %r1, 16, %r2; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
      mad.wide.u32 %d1, %r1, 16, %p0;
      st.global.v4.u32 [%d1], {%r4, %r5, %r6, %r7}; add.u32 %r1, %r1, 32; setp.lt.u32 %q2, %r1, 2560;
      @%q2 bra dump;)";
}

}  // namespace

TEST_CASE("a tensor load puts each element of the box where the formulas say, zero outside of the tensor") {
  random_numbers random{7};
  for (unsigned round = 0; round < 160; ++round) {
    const auto swizzle = static_cast<tensor_swizzle>(round / 5 % 4);
    const tensor_case c = random_case(random, 1 + round % 5, swizzle, false);
    const std::uint32_t to = 128 * random.below(16);
    INFO("round " << round << ", rank " << c.rank << ", swizzle " << static_cast<int>(swizzle));
    std::vector<unsigned char> tensor(bytes_of(c));
    for (unsigned char& b : tensor) b = static_cast<unsigned char>(1 + random.below(255));
    std::vector<unsigned char> want(shared_bytes);
    for (const tensor_place& p : places_of(c, to))
      for (unsigned k = 0; k < c.element_bytes && p.global >= 0; ++k)
        want[p.shared + k] = tensor[static_cast<std::size_t>(p.global) + k];
    memory global;
    const array<unsigned char> source(global, tensor), out(global, shared_bytes);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, source.address())});
    CHECK(map_of(c, source.address()).bytes() == counted(c));
    run_async(async_module(load_kernel(c, to, round % 2 ? "shared::cluster" : "shared::cta"), 2, shared),
              global, {out.address(), map.address()});
    CHECK(out.values() == want);
  }
}

TEST_CASE("a tensor store writes what is in the tensor, and nothing else") {
  random_numbers random{11};
  for (unsigned round = 0; round < 120; ++round) {
    const auto swizzle = static_cast<tensor_swizzle>(round / 5 % 4);
    const tensor_case c = random_case(random, 1 + round % 5, swizzle, true);
    const std::uint32_t from = 128 * random.below(16);
    INFO("round " << round << ", rank " << c.rank << ", swizzle " << static_cast<int>(swizzle));
    std::vector<unsigned char> source(shared_bytes), want(bytes_of(c));
    for (unsigned char& b : source) b = static_cast<unsigned char>(random.below(256));
    for (unsigned char& b : want) b = static_cast<unsigned char>(random.below(256));
    memory global;
    const array<unsigned char> in(global, source), tensor(global, want);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, tensor.address())});
    for (const tensor_place& p : places_of(c, from))
      for (unsigned k = 0; k < c.element_bytes && p.global >= 0; ++k)
        want[static_cast<std::size_t>(p.global) + k] = source[p.shared + k];
    const module m = async_module(R"(
        mov.u32 %r1, %tid_; mov.u32 %r2, sm; setp.ne.u32 %q31, %tid_, 0;
        fill: mad.wide.u32 %d1, %r1, 16, %p0; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];
        mad.lo.u32 %r3, %r1, 16, %r2;
        st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7}; add.u32 %r1, %r1, 32; setp.lt.u32 %q2, %r1, 2560;
        @%q2 bra fill;
        fence.proxy.async.shared::cta; bar.sync 0; @%q31 bra done;
        cp.async.bulk.tensor.)" + dimension(c) +
                                      ".global.shared::cta.tile.bulk_group [%p1, " + coordinates(c) +
                                      "], [sm+" + std::to_string(from) +
                                      "]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:",
                                  2, shared);
    run_async(m, global, {in.address(), map.address()});
    CHECK(tensor.values() == want);
  }
}

TEST_CASE("a tensor store ends with the whole 16 bytes that its tensor ends in") {
  for (const std::uint64_t size : {8u, 9u, 13u, 15u, 16u}) {
    const tensor_case c{.rank = 2,
                        .element_bytes = 2,
                        .element = tensor_element::uint16,
                        .sizes = {size, 2},
                        .strides = {64},
                        .box = {32, 2}};
    std::vector<unsigned char> source(shared_bytes, 0x22), want(128, 0x11);
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t k = 0; k < (2 * size + 15) / 16 * 16; ++k) want[64 * row + k] = 0x22;
    memory global;
    const array<unsigned char> in(global, source), tensor(global, std::vector<unsigned char>(128, 0x11));
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, tensor.address())});
    const module m = async_module(R"(
        mov.u32 %r1, %tid_; mov.u32 %r2, sm; setp.ne.u32 %q31, %tid_, 0;
        fill: mad.wide.u32 %d1, %r1, 16, %p0; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];
        mad.lo.u32 %r3, %r1, 16, %r2;
        st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7}; add.u32 %r1, %r1, 32; setp.lt.u32 %q2, %r1, 2560;
        @%q2 bra fill;
        fence.proxy.async.shared::cta; bar.sync 0; @%q31 bra done;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%p1, {0, 0}], [sm];
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:)",
                                  2, shared);
    run_async(m, global, {in.address(), map.address()});
    CHECK(tensor.values() == want);
  }
}

TEST_CASE("elements outside of a tensor of floating-point numbers can be the NaN that marks them") {
  for (const element_type& type : types) {
    if (!is_floating(type.type)) continue;
    tensor_case c{.rank = 2,
                  .element_bytes = type.bytes,
                  .element = type.type,
                  .sizes = {4, 2},
                  .strides = {32},
                  .box = {16 / type.bytes * 2, 3},
                  .at = {0, -1},
                  .fill = tensor_fill::nan};
    std::vector<unsigned char> tensor(bytes_of(c), 0x11), want(shared_bytes);
    for (const tensor_place& p : places_of(c, 0))
      for (unsigned k = 0; k < c.element_bytes; ++k)
        want[p.shared + k] = p.global >= 0 ? 0x11 : k % 2 == 0 ? 0xf7 : 0x7f;
    memory global;
    const array<unsigned char> source(global, tensor), out(global, shared_bytes);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, source.address())});
    run_async(async_module(load_kernel(c, 0, "shared::cluster"), 2, shared), global,
              {out.address(), map.address()});
    CHECK(out.values() == want);
  }
}

TEST_CASE("elements of type tf32 are rounded to 10 bits of fraction as they are loaded") {
  const std::vector<std::uint32_t> values{0x3f801000, 0x3f803000, 0x3f801001, 0x3f800fff,
                                          0x7f800000, 0xff800001, 0x7fffffff, 0x80000000,
                                          0x00000fff, 0x00001fff, 0x7f7fffff, 0xbf803000};
  const std::vector<std::uint32_t> want{0x3f800000, 0x3f804000, 0x3f802000, 0x3f800000,
                                        0x7f800000, 0x7fffe000, 0x7fffe000, 0x80000000,
                                        0x00000000, 0x00002000, 0x7f800000, 0xbf804000};
  for (const tensor_element type : {tensor_element::tfloat32, tensor_element::tfloat32_ftz}) {
    const tensor_case c{.rank = 1, .element = type, .sizes = {12}, .box = {12}};
    memory global;
    const array<std::uint32_t> source(global, values), out(global, shared_bytes / 4);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, source.address())});
    run_async(async_module(load_kernel(c, 0, "shared::cluster"), 2, shared), global,
              {out.address(), map.address()});
    auto have = out.values();
    have.resize(12);
    CHECK(have == want);
  }
}

TEST_CASE("a tensor reduction combines the elements that are in the tensor") {
  struct row {
    std::string op;
    tensor_element type;
    std::uint32_t (*model)(std::uint32_t, std::uint32_t);
  };
  const row rows[] = {
      {"add", tensor_element::uint32, [](u32 a, u32 b) { return a + b; }},
      {"add", tensor_element::float32, [](u32 a, u32 b) { return bits(f32_of(a) + f32_of(b)); }},
      {"min", tensor_element::int32,
       [](u32 a, u32 b) { return static_cast<u32>(std::min(static_cast<int>(a), static_cast<int>(b))); }},
      {"max", tensor_element::uint32, [](u32 a, u32 b) { return std::max(a, b); }},
      {"inc", tensor_element::uint32, [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }},
      {"dec", tensor_element::uint32, [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }},
      {"and", tensor_element::uint32, [](u32 a, u32 b) { return a & b; }},
      {"or", tensor_element::int32, [](u32 a, u32 b) { return a | b; }},
      {"xor", tensor_element::uint32, [](u32 a, u32 b) { return a ^ b; }},
  };
  for (const row& r : rows) {
    INFO(r.op);
    const tensor_case c{
        .rank = 2, .element = r.type, .sizes = {11, 3}, .strides = {48}, .box = {8, 4}, .at = {5, 1}};
    std::vector<u32> want(12 * 3);
    for (u32 k = 0; k < want.size(); ++k) want[k] = 0x40000000u + 7919u * k * k % 65536u;
    memory global;
    const array<u32> tensor(global, want);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, tensor.address())});
    for (const tensor_place& p : places_of(c, 0)) {
      if (p.global < 0) continue;
      u32& x = want[static_cast<std::size_t>(p.global) / 4];
      x = r.model(x, 0x40000000u + 13 * (p.shared / 4));
    }
    const module m =
        async_module(R"(
        mov.u32 %r2, sm; mad.lo.u32 %r1, %tid_, 4, %r2; mad.lo.u32 %r3, %tid_, 13, 1073741824;
        st.shared.u32 [%r1], %r3;
        fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %q31, %tid_, 0; @%q31 bra done;
        cp.reduce.async.bulk.tensor.2d.global.shared::cta.)" +
                         r.op + ".tile.bulk_group [%p0, " + coordinates(c) +
                         "], [sm]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:",
                     1, shared);
    run_async(m, global, {map.address()});
    CHECK(tensor.values() == want);
  }
}

TEST_CASE("a kernel parameter is a tensor map by its generic address, and its rank and mode are checked") {
  const std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 mb;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;
  mov.b64 %d0, map; cvta.param.u64 %d1, %d0; ld.param.u64 %d2, [out]; prefetch.tensormap [%d1];
  mbarrier.init.shared.b64 [mb], 1; mbarrier.arrive.expect_tx.shared.b64 _, [mb], 64;
  cp.async.bulk.prefetch.tensor.2d.L2.global [%d1, {4, 2}];
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%d1, {4, 2}], [mb];
  wait: mbarrier.try_wait.parity.shared.b64 %p1, [mb], 0; @!%p1 bra wait;
  ld.shared.u32 %r1, [sm+4]; st.global.u32 [%d2], %r1; ld.shared.u32 %r1, [sm+16];
  st.global.u32 [%d2+4], %r1; ret;
})";
  const module m = parsed_module(text);
  memory global;
  std::vector<std::uint32_t> values(64);
  for (std::uint32_t k = 0; k < 64; ++k) values[k] = k;
  const array<std::uint32_t> tensor(global, values), out(global, 2);
  const auto run_with = [&](const tensor_map& map) {
    launch l;
    l.mod = &m;
    l.kernel = m.find("k");
    l.grid = {1, 1, 1};
    l.block = {1, 1, 1};
    l.parameters.resize(136);
    const std::uint64_t to = out.address();
    std::memcpy(l.parameters.data(), &map, sizeof map);
    std::memcpy(l.parameters.data() + 128, &to, sizeof to);
    run(l, global);
  };
  tensor_case c{.rank = 2, .sizes = {8, 8}, .strides = {32}, .box = {4, 4}};
  run_with(map_of(c, tensor.address()));
  CHECK(out.values() == std::vector<std::uint32_t>{21, 28});

  const auto fault_with = [&](const tensor_map& map) {
    try {
      run_with(map);
    } catch (const fault& e) {
      return e.report();
    }
    FAIL("no fault");
    return fault_report{};
  };
  CHECK(fault_with(tensor_map{}).kind == fault_kind::tensor_map);
  CHECK(contains(fault_with(tensor_map{}).detail, "these 128 bytes are not a tensor map"));
  c.rank = 3;
  c.sizes[2] = 1, c.box[2] = 1, c.strides[1] = 256;
  CHECK(contains(fault_with(map_of(c, tensor.address())).detail,
                 "a tensor copy of 2 dimensions with the tensor map of a tensor of 3"));
  c.rank = 2;
  c.sizes = {8, 40};
  CHECK(fault_with(map_of(c, tensor.address() + 160)).kind == fault_kind::out_of_bounds);
}

TEST_CASE("a multicast load fills the same box of several blocks") {
  const tensor_case c{.rank = 2, .sizes = {8, 8}, .strides = {32}, .box = {4, 2}};
  const module m = async_module(initialised + R"(.reg .b32 %rank; mov.u32 %rank, %cluster_ctarank;
      @%q31 bra go; mbarrier.arrive.expect_tx.shared.b64 _, [mb], 32;
      go: barrier.cluster.arrive; barrier.cluster.wait; @%q31 bra wait; setp.ne.u32 %q4, %rank, 1;
      @%q4 bra wait; mov.u16 %h1, 7;
      cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
          [sm], [%p1, {4, 4}], [mb], %h1;
      wait: mbarrier.try_wait.parity.shared.b64 %q1, [mb], 0; @!%q1 bra wait; setp.ge.u32 %q5, %tid_, 8;
      @%q5 bra out;
      mov.u32 %r1, sm; mad.lo.u32 %r1, %tid_, 4, %r1; ld.shared.u32 %r2, [%r1];
      mad.lo.u32 %r3, %rank, 8, %tid_;
      mad.wide.u32 %d1, %r3, 4, %p0; st.global.u32 [%d1], %r2; out: barrier.cluster.arrive;
      barrier.cluster.wait;)",
                                2, shared);
  std::vector<std::uint32_t> values(64), want;
  for (std::uint32_t k = 0; k < 64; ++k) values[k] = k;
  for (int rank = 0; rank < 3; ++rank)
    for (std::uint32_t k = 0; k < 8; ++k) want.push_back((4 + k / 4) * 8 + 4 + k % 4);
  for (const schedule& s : schedules()) {
    memory global;
    const array<std::uint32_t> tensor(global, values), out(global, 24);
    const array<tensor_map> map(global, std::vector<tensor_map>{map_of(c, tensor.address())});
    run_async(m, global, {out.address(), map.address()}, {3, 32, 3, 0, s});
    CHECK(out.values() == want);
  }
}
