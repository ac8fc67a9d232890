// rotary: every element type, pairing and layout next to the formula on the host, bit by bit.
#include "tests/ops/cache/rotary_case.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

rotary_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u64 n) { return static_cast<u32>(engine() % n); };
  const std::array<u32, 10> sizes{8, 16, 40, 64, 72, 80, 96, 128, 7, 33};
  rotary_case c;
  c.seed = seed;
  c.batches = below(3) + 1;
  c.tokens = below(5) + 1;
  c.heads = below(4) + 1;
  c.size = sizes[below(sizes.size())];
  const auto half = static_cast<u32>(c.size / 2);
  c.pairs = below(2) == 0 ? half : below(half + 1);
  c.table_pad = below(2) * below(9);
  c.from = {below(2) == 0, below(2) * below(17), below(2) * below(9)};
  c.to = {below(2) == 0, below(2) * below(17), below(2) * below(9)};
  c.in_place = below(3) == 0;
  c.interleaved = below(2) == 0;
  c.inverse = below(4) == 0;
  c.positions = below(3);
  c.wide_positions = below(2) == 0;
  c.offsets = c.positions == 0 && below(2) == 0;
  return c;
}

}  // namespace

TEST_CASE("rotary: pairings, partial rotation and tables of each type", "[ops][cache]") {
  for (const bool interleaved : {false, true})
    for (const u32 pairs : {32u, 16u, 20u}) {
      rotary_case c{.size = 64, .pairs = pairs, .interleaved = interleaved};
      check_rotary<f16, f32>(c);
      check_rotary<bf16, f32>(c);
      check_rotary<f32, f32>(c);
      check_rotary<f16, f16>(c);
      check_rotary<bf16, bf16>(c);
      c.in_place = true;
      c.offsets = true;
      check_rotary<bf16, f16>(c);
      check_rotary<f32, bf16>(c);
    }
}

TEST_CASE("rotary: random shapes, layouts and positions", "[ops][cache]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const rotary_case c = draw(seed);
    if (seed % 3 == 0) check_rotary<f32, f32>(c);
    if (seed % 3 == 1) check_rotary<f16, f32>(c);
    if (seed % 3 == 2) check_rotary<bf16, bf16>(c);
  }
}

TEST_CASE("rotary: nothing to do, one element, the largest heads", "[ops][cache]") {
  check_rotary<f16, f32>({.batches = 0});
  check_rotary<f16, f32>({.tokens = 0});
  check_rotary<f16, f32>({.heads = 0});
  check_rotary<f16, f32>({.size = 64, .pairs = 0});
  check_rotary<f16, f32>({.size = 64, .pairs = 0, .in_place = true});
  check_rotary<f32, f32>({.size = 1, .pairs = 0});
  check_rotary<f32, f32>({.size = 2, .pairs = 1});
  check_rotary<bf16, f32>({.tokens = 2, .size = 512, .pairs = 256});
  check_rotary<f32, f32>({.tokens = 2, .size = 511, .pairs = 255, .interleaved = true});
  check_rotary<f16, f32>({.tokens = 2, .size = 512, .pairs = 4});
}

TEST_CASE("rotary: the inverse gives back what was rotated", "[ops][cache]") {
  auto x = input_tensor<f32>(1, 9, 2, 64, {}, 5);
  auto memory = upload(x.host);
  auto on_cos = under_test().allocate<f32>(9 * 32), on_sin = under_test().allocate<f32>(9 * 32);
  const tensor_view<f32, 2> cos(on_cos, 9, 32), sin(on_sin, 9, 32);
  const stream& s = under_test().stream();
  rotary_table(s, cos, sin);
  rotary(s, x.view(memory), x.view(memory), cos, sin);
  REQUIRE(!same_bits(memory.download(), x.host));
  rotary(s, x.view(memory), x.view(memory), cos, sin, {.inverse = true});
  const auto got = memory.download();
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - x.host[i]) < 1e-6f);
}

TEST_CASE("rotary_varlen: positions within each sequence", "[ops][cache]") {
  // Two tokens before the first sequence and one after the last belong to none; the third sequence is empty.
  const std::vector<i32> cu{2, 5, 6, 6, 13}, offsets{7, 0, 3, 20};
  for (const bool has_offsets : {false, true}) {
    auto x = input_tensor<f16>(1, 14, 3, 40, {.heads_first = has_offsets, .pad = 8}, 11);
    cache_tensor<f16> y(1, 14, 3, 40), want = y;
    const host_tables<f32> tables(30, 16, 0, 12);
    auto on_x = upload(x.host), on_y = upload(y.host);
    auto on_cos = upload(tables.cos), on_sin = upload(tables.sin);
    auto on_cu = upload(cu), on_offsets = upload(offsets);
    rotary_options options{.cu_seqlens = numbers_view(on_cu, 5)};
    if (has_offsets) options.offsets = numbers_view(on_offsets, 4);
    rotary_varlen(under_test().stream(), x.packed<const f16>(on_x), y.packed(on_y), tables.view(on_cos),
                  tables.view(on_sin), options);
    for (std::size_t b = 0; b + 1 < cu.size(); ++b)
      for (i64 t = cu[b]; t < cu[b + 1]; ++t)
        for (i64 h = 0; h < 3; ++h) {
          for (i64 e = 0; e < 40; ++e) want.at(0, t, h, e) = x.at(0, t, h, e);
          rotate_on_host(&want.at(0, t, h, 0), tables, t - cu[b] + (has_offsets ? offsets[b] : 0), false,
                         false);
        }
    require_same(on_y.download(), want.host);
  }
}
