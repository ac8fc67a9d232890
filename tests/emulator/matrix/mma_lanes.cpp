// mma.sync as an instruction of a warp: the four multiplications of m8n8k4, registers that C and D share, and
// lanes that come late or never.

#include "tests/emulator/matrix/mma_fragments.hpp"
#include "tests/emulator/matrix/mma_model.hpp"

namespace {

using namespace emulator_test;
namespace fragments = mma_fragments;
__extension__ using wide = __int128;

float value_of_half(std::uint32_t code) { return static_cast<float>(mma_model::f16.value(code)); }

// x.y + c rounded to f32 once; all are multiples of 2^-48.
float fused(float x, float y, float c) {
  const auto units = [](float v) { return static_cast<wide>(std::ldexp(static_cast<long double>(v), 48)); };
  const wide sum =
      static_cast<wide>(std::ldexp(static_cast<long double>(x) * static_cast<long double>(y), 48)) + units(c);
  return std::ldexp(static_cast<float>(sum), -48);
}

// m8n8k4 where there is no such tensor core.
std::uint32_t ordinary_dot(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                           std::uint32_t c, bool c_half, bool d_half) {
  std::vector<float> x, y;
  for (std::uint32_t v : a) x.push_back(value_of_half(v));
  for (std::uint32_t v : b) y.push_back(value_of_half(v));
  const float before = c_half ? value_of_half(c) : f32_of(c);
  if (!d_half) {
    float sum = 0;
    for (unsigned k = 0; k < 4; ++k) sum = fused(x[k], y[k], sum);
    return bits(before + sum);
  }
  const float low = fused(x[1], y[1], fused(x[0], y[0], 0)), high = fused(x[3], y[3], fused(x[2], y[2], 0));
  const float sum = before + low, total = sum + high;
  const double place = std::ldexp(1.0, std::max(total == 0 ? -14 : std::ilogb(total), -14) - 10);
  return mma_model::bits_of(std::nearbyint(static_cast<double>(total) / place) * place, mma_model::f16);
}

std::string names(char name, unsigned count) {
  std::string result = "{";
  for (unsigned i = 0; i < count; ++i) result += (i ? "," : "") + std::string(1, name) + std::to_string(i);
  return result + "}";
}

void check_quad_pairs(unsigned sm, bool a_row, bool b_row, bool c_half, bool d_half, mma_model::kind kind,
                      std::mt19937& random) {
  const unsigned nc = c_half ? 4 : 8, nd = d_half ? 4 : 8;
  const auto draw = [&](const mma_model::number_format& f) {
    return mma_model::random_code(random, f, kind);
  };
  using matrix = std::vector<std::vector<std::uint32_t>>;
  std::vector<matrix> a(4, matrix(8, std::vector<std::uint32_t>(4))),
      b(4, matrix(4, std::vector<std::uint32_t>(8))), c(4, matrix(8, std::vector<std::uint32_t>(8)));
  for (unsigned q = 0; q < 4; ++q) {
    for (auto& row : a[q])
      for (auto& v : row) v = draw(mma_model::f16);
    for (auto& row : b[q])
      for (auto& v : row) v = draw(mma_model::f16);
    for (auto& row : c[q])
      for (auto& v : row) v = draw(c_half ? mma_model::f16 : mma_model::f32);
  }
  std::vector<std::uint32_t> words((4 + nc) * 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned q = fragments::computation(lane);
    for (unsigned i = 0; i < 4; ++i) {
      const auto at_a = fragments::quad_a(lane, i, a_row), at_b = fragments::quad_b(lane, i, b_row);
      words[i / 2 * 32 + lane] |= a[q][at_a.row][at_a.column] << i % 2 * 16;
      words[(2 + i / 2) * 32 + lane] |= b[q][at_b.row][at_b.column] << i % 2 * 16;
    }
    for (unsigned i = 0; i < 8; ++i) {
      const auto p = fragments::quad_c(lane, i, c_half);
      if (c_half)
        words[(4 + i / 2) * 32 + lane] |= c[q][p.row][p.column] << i % 2 * 16;
      else
        words[(4 + i) * 32 + lane] = c[q][p.row][p.column];
    }
  }
  std::string body = ".reg .b32 a<2>, b<2>; .reg ." + std::string(c_half ? "f16x2" : "f32") +
                     " c<8>; .reg ." + (d_half ? "b32" : "f32") + " d<8>;\nmad.lo.u64 %d1, %wide, 4, %p1;\n";
  for (unsigned r = 0; r < 4 + nc; ++r)
    body += "ld.global.b32 " +
            std::string(1, r < 2   ? 'a'
                           : r < 4 ? 'b'
                                   : 'c') +
            std::to_string(r < 4 ? r % 2 : r - 4) + ", [%d1+" + std::to_string(r * 128) + "];\n";
  body += std::string("mma.sync.aligned.m8n8k4.") + (a_row ? "row." : "col.") + (b_row ? "row." : "col.") +
          (d_half ? "f16" : "f32") + ".f16.f16." + (c_half ? "f16 " : "f32 ") + names('d', nd) + "," +
          names('a', 2) + "," + names('b', 2) + "," + names('c', nc) + ";\nmad.lo.u64 %d1, %wide, 4, %p0;\n";
  for (unsigned r = 0; r < nd; ++r)
    body += "st.global.b32 [%d1+" + std::to_string(r * 128) + "], d" + std::to_string(r) + ";\n";
  memory global;
  const array<std::uint32_t> to(global, nd * 32), from(global, words);
  const module program = parsed_module(kernel_text(body, 2, "", "7.0", "sm_70"),
                                       architecture_of({static_cast<std::uint16_t>(sm), sm == 90}));
  run_module(program, global, {to.address(), from.address()});
  const std::vector<std::uint32_t> have = to.values();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned q = fragments::computation(lane);
      const auto p = fragments::quad_c(lane, i, d_half);
      std::vector<std::uint32_t> column;
      for (unsigned k = 0; k < 4; ++k) column.push_back(b[q][k][p.column]);
      const std::uint32_t before = c[q][p.row][p.column];
      const std::uint32_t want =
          sm >= 80 ? ordinary_dot(a[q][p.row], column, before, c_half, d_half)
                   : mma_model::dot(sm, mma_model::f16, a[q][p.row], mma_model::f16, column,
                                    c_half && !d_half ? bits(value_of_half(before)) : before, d_half);
      const std::uint32_t got = d_half ? have[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff : have[i * 32 + lane];
      if (got != want) {
        INFO("sm_" << sm << " row " << a_row << b_row << " half " << c_half << d_half << " lane " << lane
                   << " element " << i);
        REQUIRE(got == want);
      }
    }
}

// The four corners of a product of s8 ones: every element of D is 16 + its C.
constexpr const char* ones =
    ".reg .b32 a<2>, b<1>, c<4>; mov.b32 a0, 0x01010101; mov.b32 a1, a0; mov.b32 b0, a0;\n"
    "mul.lo.u32 c0, %thread, 4; add.u32 c1, c0, 1; add.u32 c2, c0, 2; add.u32 c3, c0, 3;\n";

std::vector<std::uint32_t> stored(const std::string& body) {
  return results(
      std::string(ones) + body + "mad.lo.u64 %d1, %wide, 16, %p0; st.global.v4.u32 [%d1], {c0, c1, c2, c3};",
      128);
}

}  // namespace

TEST_CASE("mma.m8n8k4 of f16 is four multiplications in every layout") {
  std::mt19937 random(7);
  for (unsigned sm : {70u, 75u, 80u, 90u})
    for (unsigned layout = 0; layout < 4; ++layout)
      for (auto [c_half, d_half] : {std::pair{false, false}, {true, false}, {true, true}})
        for (mma_model::kind kind : {mma_model::kind::small_integers, mma_model::kind::close})
          check_quad_pairs(sm, (layout & 1) == 0, (layout & 2) == 0, c_half, d_half, kind, random);
}

TEST_CASE("mma.m8n8k4 with f16 results adds two halves of K to c, from sm_80 on") {
  // 2048 + (1 + 2^-13) + 2^-13 in f32: each sum is rounded, and the tie of f16 stays one. On a tensor core it
  // is above the tie.
  const std::string body =
      ".reg .b32 a<2>, b<2>, c<4>; mov.b32 a0, 0x24003c00; mov.b32 a1, 0x2400; mov.b32 b0, 0x20003c00;\n"
      "mov.b32 b1, 0x2000; mov.b32 c0, 0x68006800; mov.b32 c1, c0; mov.b32 c2, c0; mov.b32 c3, c0;\n"
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {c0,c1,c2,c3},{a0,a1},{b0,b1},{c0,c1,c2,c3};\n"
      "mad.lo.u64 %d1, %wide, 16, %p0; st.global.v4.u32 [%d1], {c0, c1, c2, c3};";
  for (auto [sm, want] : {std::pair{75u, 0x68016801u}, {80u, 0x68006800u}, {90u, 0x68006800u}}) {
    memory global;
    const array<std::uint32_t> to(global, 128);
    run_module(parsed_module(kernel_text(body, 1, "", "7.0", "sm_70"),
                             architecture_of({static_cast<std::uint16_t>(sm), sm == 90})),
               global, {to.address()});
    for (std::uint32_t word : to.values()) CHECK(word == want);
  }
}

TEST_CASE("C and D may share registers in any order") {
  const std::vector<std::uint32_t> same = stored(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
      "{c0,c1,c2,c3},{a0,a1},{b0},{c0,c1,c2,c3};");
  for (unsigned i = 0; i < 128; ++i) CHECK(same[i] == i + 16);
  const std::vector<std::uint32_t> turned = stored(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
      "{c3,c2,c1,c0},{a0,a1},{b0},{c0,c1,c2,c3};");
  for (unsigned i = 0; i < 128; ++i) CHECK(turned[i] == (i ^ 3) + 16);
  const std::vector<std::uint32_t> sunk = stored(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
      "{_,c1,_,c3},{a0,a1},{b0},{5,6,c0,c0};");
  for (unsigned i = 0; i < 128; ++i) CHECK(sunk[i] == (i % 4 == 1 ? 22 : i % 4 == 3 ? (i & ~3u) + 16 : i));
}

TEST_CASE("lanes that parted meet at an mma") {
  const std::vector<std::uint32_t> late = stored(
      "setp.lt.u32 %q1, %thread, 11; @%q1 bra over;\nadd.u32 %r1, %thread, 1; add.u32 %r1, %r1, %r1;\nover:\n"
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {c0,c1,c2,c3},{a0,a1},{b0},{c0,c1,c2,c3};\n");
  for (unsigned i = 0; i < 128; ++i) CHECK(late[i] == i + 16);
  const std::vector<std::uint32_t> guarded = stored(
      "setp.lt.u32 %q1, %thread, 99;\n"
      "@%q1 mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {c0,c1,c2,c3},{a0,a1},{b0},{c0,c1,c2,c3};\n"
      "@!%q1 mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {c0,c1,c2,c3},{a0,a1},{b0},{c0,c1,c2,c3};\n");
  for (unsigned i = 0; i < 128; ++i) CHECK(guarded[i] == i + 16);
}

TEST_CASE("an mma that not all lanes execute is a fault") {
  memory global;
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {c0,c1,c2,c3},{a0,a1},{b0},{c0,c1,c2,c3};\n";
  const fault_report guarded =
      fault_of(std::string(ones) + "setp.lt.u32 %q1, %thread, 8; @%q1 " + mma, global, {0});
  CHECK(guarded.kind == fault_kind::member_mask);
  CHECK(contains(guarded.detail, "0x000000ff"));
  CHECK(contains(guarded.ptx_text, "mma.sync"));
  const fault_report ended =
      fault_of(std::string(ones) + "setp.ge.u32 %q1, %thread, 8; @%q1 exit;\n" + mma, global, {0});
  CHECK(contains(ended.detail, "all 32 lanes"));
  const fault_report few = fault_of(ones + mma, global, {0}, {1, 16});
  CHECK(contains(few.detail, "all 32 lanes"));
}
