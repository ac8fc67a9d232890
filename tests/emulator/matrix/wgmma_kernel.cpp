// A whole matrix multiplication of two warpgroups, as it is written for sm_90a. Tiles of row-major matrices
// are staged in shared memory with a swizzle that the kernel computes. The loop over K stages the next tile
// while products are in flight.

#include "tests/emulator/kernel.hpp"
#include "tests/emulator/matrix/matrix_model.hpp"

#include <random>

namespace {

using namespace emulator_test;

// D (128 x 64, f32) = A (128 x K, f16) B (64 x K, f16) transposed; 256 threads. Tiles of 64 in K, 128 bytes a
// row, have the swizzle of 128 bytes; there are two buffers.
std::string matmul_text(unsigned tiles) {
  std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb) {\n"
      ".reg .pred %q<4>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .f32 %x<32>;\n"
      ".shared .align 1024 .b8 sa[32768];\n"  // 2 buffers of 128 rows
      ".shared .align 1024 .b8 sb[16384];\n"  // 2 buffers of 64 rows
      "ld.param.u64 %d0, [pd]; ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pb];\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n";
  for (int i = 0; i < 32; ++i) text += "mov.f32 %x" + std::to_string(i) + ", 0f00000000;\n";
  const auto stage = [&](const char* shared, const char* pointer, unsigned pieces, unsigned buffer_bytes,
                         const std::string& label) {
    // Piece p of 16 bytes: row p / 8, place p mod 8.
    return "mov.u32 %r2, %r0;\n" + label +
           ":\nshr.u32 %r3, %r2, 3; and.b32 %r4, %r2, 7;\n"
           "mad.lo.u32 %r5, %r3, " +
           std::to_string(tiles * 128) +
           ", 0; mad.lo.u32 %r5, %r1, 128, %r5; mad.lo.u32 %r5, %r4, 16, %r5;\n"
           "cvt.u64.u32 %d5, %r5; add.u64 %d5, %d5, " +
           pointer +
           "; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d5];\n"
           "and.b32 %r6, %r3, 7; xor.b32 %r6, %r6, %r4; shl.b32 %r6, %r6, 4; mad.lo.u32 %r6, %r3, 128, %r6;\n"
           "and.b32 %r7, %r1, 1; mad.lo.u32 %r6, %r7, " +
           std::to_string(buffer_bytes) + ", %r6; mov.u32 %r7, " + shared +
           "; add.u32 %r6, %r6, %r7;\n"
           "st.shared.v4.u32 [%r6], {%r10, %r11, %r12, %r13};\n"
           "add.u32 %r2, %r2, 256; setp.lt.u32 %q0, %r2, " +
           std::to_string(pieces) + "; @%q0 bra " + label + ";\n";
  };
  text += "next:\n";
  text += stage("sa", "%d1", 1024, 16384, "stage_a");
  text += stage("sb", "%d2", 512, 8192, "stage_b");
  text +=
      "fence.proxy.async;\nbar.sync 0;\n"
      // The rows of this warpgroup begin 64 rows, 8192 bytes, apart.
      "and.b32 %r7, %r1, 1; shr.u32 %r8, %r0, 7;\n"
      "mov.u32 %r9, sa; mad.lo.u32 %r9, %r7, 16384, %r9; mad.lo.u32 %r9, %r8, 8192, %r9; shr.u32 %r9, %r9, "
      "4;\n"
      "cvt.u64.u32 %d6, %r9; or.b64 %d6, %d6, 0x4000004000010000;\n"
      "mov.u32 %r9, sb; mad.lo.u32 %r9, %r7, 8192, %r9; shr.u32 %r9, %r9, 4;\n"
      "cvt.u64.u32 %d7, %r9; or.b64 %d7, %d7, 0x4000004000010000;\n"
      "wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < 4; ++step) {
    text += "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {";
    for (int i = 0; i < 32; ++i) text += (i ? ", %x" : "%x") + std::to_string(i);
    text += "}, %d6, %d7, 1, 1, 1, 0, 0;\nadd.u64 %d6, %d6, 2; add.u64 %d7, %d7, 2;\n";
  }
  // The buffer that is staged next was read by the group before this one.
  text +=
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\nbar.sync 0;\n"
      "add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, " +
      std::to_string(tiles) +
      "; @%q1 bra next;\n"
      "wgmma.wait_group.sync.aligned 0;\n"
      // Row 16 (warp of all 8) + lane / 4, column 2 (lane mod 4).
      "shr.u32 %r2, %r0, 5; and.b32 %r3, %r0, 31; shr.u32 %r4, %r3, 2; mad.lo.u32 %r4, %r2, 16, %r4;\n"
      "and.b32 %r5, %r3, 3; shl.b32 %r5, %r5, 1; mad.lo.u32 %r5, %r4, 64, %r5;\n"
      "mul.wide.u32 %d5, %r5, 4; add.u64 %d5, %d5, %d0;\n";
  for (int i = 0; i < 32; i += 2)
    text += "st.global.v2.f32 [%d5+" + std::to_string((i / 4 * 8 + i / 2 % 2 * 8 * 64) * 4) + "], {%x" +
            std::to_string(i) + ", %x" + std::to_string(i + 1) + "};\n";
  return text + "ret;\n}\n";
}

TEST_CASE("a pipelined matrix multiplication of two warpgroups", "[emulator]") {
  for (const unsigned tiles : {1u, 2u, 5u}) {
    const unsigned depth = tiles * 64;
    std::mt19937 random(tiles);
    std::uniform_int_distribution<int> value(-4, 4);
    std::vector<int> a(128 * depth), b(64 * depth);
    std::vector<std::uint16_t> a_half(a.size()), b_half(b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      a_half[i] = static_cast<std::uint16_t>(encoded("f16", a[i] = value(random)));
    for (std::size_t i = 0; i < b.size(); ++i)
      b_half[i] = static_cast<std::uint16_t>(encoded("f16", b[i] = value(random)));
    memory global;
    const array<float> d(global, 128 * 64);
    const array<std::uint16_t> a_buffer(global, a_half), b_buffer(global, b_half);
    const module m = parsed_module(matmul_text(tiles));
    for (const schedule_kind kind :
         {schedule_kind::round_robin, schedule_kind::reverse, schedule_kind::random, schedule_kind::starve}) {
      const std::uint64_t pointers[] = {d.address(), a_buffer.address(), b_buffer.address()};
      launch l;
      l.mod = &m;
      l.kernel = m.find("k");
      l.grid = {1, 1, 1};
      l.block = {256, 1, 1};
      l.order.kind = kind;
      l.order.seed = 5;
      l.parameters.resize(sizeof pointers);
      std::memcpy(l.parameters.data(), pointers, sizeof pointers);
      run(l, global);
      const auto have = d.values();
      std::size_t wrong = 0;
      for (unsigned row = 0; row < 128; ++row)
        for (unsigned column = 0; column < 64; ++column) {
          int sum = 0;
          for (unsigned k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
          if (have[row * 64 + column] != static_cast<float>(sum)) ++wrong;
        }
      INFO(tiles << " tiles, schedule " << static_cast<int>(kind));
      CHECK(wrong == 0);
    }
  }
}

}  // namespace
