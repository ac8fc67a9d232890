// matmul_int4 by KAIO's name: its canaries, groups, edges, and refusals.
#include <kaio/ops/parity/quantised.hpp>

#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/support.hpp"

#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

// A word for eight neighbours along k, in every column; its nibbles are two's complement.
void check_words(u32 word, u32 m, u32 n, u32 k, u32 group) {
  CAPTURE(word, m, n, k, group);
  std::mt19937 engine(word ^ m);
  std::vector<f16> a(std::size_t{m} * k), scales(std::size_t{(k + group - 1) / group} * n);
  for (f16& one : a) one = f16(static_cast<float>(engine() % 17) / 8 - 1);
  for (f16& one : scales) one = f16(static_cast<float>(1 + engine() % 8) / 16);
  const std::vector<u32> words(std::size_t{k / 8} * n, word);
  auto a_memory = upload(a), scales_memory = upload(scales);
  auto packed = upload(words);
  auto c_memory = under_test().allocate<f32>(std::size_t{m} * n + 3);  // may be larger
  ops::matmul_int4(under_test(), a_memory, packed, scales_memory, c_memory, m, n, k, group);
  const std::vector<f32> c = c_memory.download();
  for (u32 row = 0; row < m; ++row)
    for (u32 column = 0; column < n; ++column) {
      double exact = 0, all = 0;
      for (u32 i = 0; i < k; ++i) {
        const int nibble = static_cast<int>(word >> (4 * (i % 8)) & 15u);
        const double product = to_double(a[std::size_t{row} * k + i]) * (nibble < 8 ? nibble : nibble - 16) *
                               to_double(scales[std::size_t{i / group} * n + column]);
        exact += product;
        all += std::abs(product);
      }
      CAPTURE(row, column);
      REQUIRE(std::abs(to_double(c[std::size_t{row} * n + column]) - exact) <= 0x1p-20 * all + 1e-30);
    }
}

}  // namespace

TEST_CASE("matmul_int4: KAIO's canaries, edges and groups", "[ops][w4][parity]") {
  for (const u32 word : {0x88888888u, 0x77777777u, 0x87654321u}) check_words(word, 16, 8, 128, 128);
  check_words(0x87654321u, 17, 13, 256, 128);
  check_words(0x1f2e3d4cu, 64, 33, 384, 128);
  check_words(0xfedcba98u, 3, 5, 48, 16);
  check_words(0x1234fedcu, 4, 7, 176, 128);  // a last group with fewer k
}

TEST_CASE("matmul_int4: bad input", "[ops][w4][parity]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(128), scales = gpu.allocate<f16>(8);
  auto packed = gpu.allocate<u32>(128);
  auto c = gpu.allocate<f32>(8);
  const auto refuses = [&](const std::string& part, u32 m, u32 n, u32 k, u32 group) {
    require_refusal(errc::invalid_argument, "kaio: ", part,
                    [&] { ops::matmul_int4(gpu, a, packed, scales, c, m, n, k, group); });
  };
  refuses("groups of 72", 1, 8, 128, 72);
  refuses("elements", 2, 8, 128, 128);   // a is too small
  refuses("elements", 1, 16, 128, 128);  // c and the words are
}
