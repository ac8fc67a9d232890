// Products whose operands begin anywhere, by the kernels that shift aligned vectors. On sm_90a, also by those
// that copy each eighth line as a tensor of its own, or load f32 word by word. First elements, leading
// dimensions and batch strides are any number of elements; extents are around the edges of tiles; lines may
// overlap. An operand's memory holds NaN outside its elements, and ends with its last element. A number from
// outside shows in the sums, a read from outside in the emulator.
#include "tests/ops/matmul/support.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Matrices of rows x columns, in lines of neighbours; nothing follows the last element.
template <class T>
struct placed {
  u32 batches, rows, columns;
  bool by_columns;
  u64 first, pitch, stride;  // elements: before the first one, from line to line, from matrix to matrix
  std::vector<T> host;
  buffer<T> memory;

  placed(u32 in_batches, u32 in_rows, u32 in_columns, bool in_by_columns, u64 in_first, u64 in_pitch,
         u64 batch_pad, std::uint64_t seed)
      : batches(in_batches),
        rows(in_rows),
        columns(in_columns),
        by_columns(in_by_columns),
        first(in_first),
        pitch(in_pitch),
        stride((lines() - 1) * pitch + length() + batch_pad),
        host(index(batches - 1, rows - 1, columns - 1) + 1) {
    std::memset(static_cast<void*>(host.data()), 0xff, host.size() * sizeof(T));
    std::mt19937_64 engine(seed);
    for (u32 b = 0; b < batches; ++b)
      for (u32 r = 0; r < rows; ++r)
        for (u32 c = 0; c < columns; ++c) host[index(b, r, c)] = T(static_cast<float>(engine() % 9) - 4.0f);
    memory = under_test().upload(host);
  }
  // All of one matrix is NaN.
  void spoil(u32 batch) {
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < columns; ++c) host[index(batch, r, c)] = T(std::numeric_limits<float>::quiet_NaN());
    memory = under_test().upload(host);
  }
  u64 lines() const { return by_columns ? columns : rows; }
  u64 length() const { return by_columns ? rows : columns; }
  u64 index(u32 b, u32 r, u32 c) const {
    return first + b * stride + (by_columns ? c * pitch + r : r * pitch + c);
  }
  double at(u32 b, u32 r, u32 c) const { return to_double(host[index(b, r, c)]); }
  tensor_view<const T, 3> view() const {
    const device_pointer<T> from{memory.address() + first * sizeof(T), host.size() - first,
                                 memory.as_argument().device};
    const auto line = static_cast<std::int64_t>(pitch), matrix = static_cast<std::int64_t>(stride);
    return {from, extents(batches, rows, columns),
            by_columns ? strides(matrix, std::int64_t{1}, line) : strides(matrix, line, std::int64_t{1})};
  }
};

constexpr const char *tiny = "_32x32x64_w16x16_s2_r4_c33_b_", *small = "_64x64x64_w32x32_s2_r3_c33_b_",
                     *half_steps = "_64x64x32_w32x32_s2_r*_c33_b_b_general",
                     *by_cluster = "_32x32x128_w16x16_s2_r3_c33_splitn_*_cluster",
                     *by_eights = "_anywhere_128x128x1_*_cluster",
                     *by_eights_64 = "_anywhere_128x64x1_*_cluster";

// Whether a name has the part before a '*', and ends with that after it.
bool fits(const std::string& name, const std::string& tile) {
  const std::size_t star = tile.find('*');
  const std::string end = star == std::string::npos ? "" : tile.substr(star + 1);
  return name.find(tile.substr(0, star)) != std::string::npos && name.ends_with(end);
}

// The variant of a tile shape and a number of splits of K for a call. If a view leaves a layout open (one
// line, for example), the library decides.
template <class A, class B, class C>
std::string variant(const A& a, const B& b, const C& c, const matmul_options& options, const char* tile,
                    u32 splits = 1) {
  const std::string parts = "_parts" + std::to_string(splits) + "_";
  for (const auto& v : ops::matmul_variants(under_test().stream(), a, b, c, options))
    if (fits(v.name, tile) && (v.name.find(parts) != std::string::npos) == (splits != 1) &&
        (splits != 1 || v.name.find("_parts") == std::string::npos))
      return v.name;
  return "none";
}

template <class T>
void check(const placed<T>& a, const placed<T>& b, const char* tile, u32 splits = 1) {
  const u32 m = a.rows, n = b.columns, k = a.columns;
  CAPTURE(tile, splits, a.batches, m, n, k, a.by_columns, a.first, a.pitch, a.stride, b.by_columns, b.first,
          b.pitch, b.stride);
  auto c = under_test().upload(std::vector<f32>(std::size_t{a.batches} * m * n, 1e30f));
  auto workspace = under_test().allocate<f32>(std::size_t{splits} * m * n);
  const auto run = [&](const auto& view_a, const auto& view_b, const auto& view_c) {
    matmul_options options;
    if (std::is_same_v<T, f32>) options.precision = matmul_precision::tf32;
    if (splits != 1) options.workspace = workspace;
    const std::string name = variant(view_a, view_b, view_c, options, tile, splits);
    options.variant = name;
    matmul(under_test().stream(), view_a, view_b, view_c, options);
  };
  if (a.batches == 1)
    run(a.view()[0], b.view()[0], tensor_view<f32, 2>(c, m, n));
  else
    run(a.view(), b.view(), tensor_view<f32, 3>(c, a.batches, m, n));
  const auto got = c.download();
  for (u32 batch = 0; batch < a.batches; ++batch)
    for (u32 row = 0; row < m; ++row)
      for (u32 column = 0; column < n; ++column) {
        double sum = 0;
        for (u32 i = 0; i < k; ++i) sum += a.at(batch, row, i) * b.at(batch, i, column);
        const double result = static_cast<double>(got[(std::size_t{batch} * m + row) * n + column]);
        if (result == sum || (std::isnan(result) && std::isnan(sum))) continue;
        CAPTURE(batch, row, column);
        REQUIRE(result == sum);
      }
}

// Operands as they are drawn: extents up to `most`, or around the edges of tiles, or a few, and K `least_k` at least.
// The first element and the matrices of a batch are at multiples of `apart` elements.
template <class T>
void check_drawn(const std::string& tile, u32 most, std::uint64_t first_seed, std::uint64_t count,
                 u32 least_k = 1, u32 apart = 1) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed)
    for (const bool a_by_columns : {false, true})
      for (const bool b_by_columns : {false, true}) {
        std::mt19937_64 engine(seed * 4 + (a_by_columns ? 2 : 0) + (b_by_columns ? 1 : 0));
        const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
        const auto extent = [&] {
          const u32 kind = below(4);
          return kind == 0 ? 1 + below(5) : kind == 1 ? most - 8 + below(16) : 1 + below(most + 6);
        };
        const u32 batches = below(3) == 0 ? 2 + below(2) : 1, m = extent(), n = extent(),
                  k = std::max(extent(), least_k);
        const auto pad = [&](u64 lines, u64 length, u64 pitch) {
          const u64 size = (lines - 1) * pitch + length + below(9);
          return (size + apart - 1) / apart * apart - (lines - 1) * pitch - length;
        };
        const u64 a_length = a_by_columns ? m : k, a_pitch = a_length + below(9);
        const u64 b_length = b_by_columns ? k : n, b_pitch = b_length + below(9);
        const auto first = [&] { return u64{below(9)} / apart * apart; };
        const placed<T> a(batches, m, k, a_by_columns, first(), a_pitch,
                          pad(a_by_columns ? k : m, a_length, a_pitch), seed);
        const placed<T> b(batches, k, n, b_by_columns, first(), b_pitch,
                          pad(b_by_columns ? n : k, b_length, b_pitch), seed + 1);
        check(a, b, tile.c_str());
      }
}

}  // namespace

TEST_CASE("matmul of lines that begin anywhere: operands as they are drawn", "[ops][matmul]") {
  check_drawn<bf16>(tiny, 32, 401, 24);
  check_drawn<bf16>(small, 64, 1, 32);
  check_drawn<f16>(small, 64, 101, 12);
  check_drawn<bf16>(half_steps, 64, 501, 16);
  check_drawn<f16>(half_steps, 64, 601, 8);
}

TEST_CASE("matmul of lines that begin anywhere: one element after the other of a short K", "[ops][matmul]") {
  for (u32 k = 1; k <= 5; ++k)
    for (const bool by_columns : {false, true}) {
      const u32 m = 61 + k, n = 69 - k;
      const placed<bf16> a(1, m, k, by_columns, k, by_columns ? m : k, 0, k);
      const placed<bf16> b(1, k, n, !by_columns, 8 - k, by_columns ? n : k, 0, k + 1);
      check(a, b, by_columns ? small : tiny);
    }
}

TEST_CASE("matmul of lines that begin anywhere: steps of whole tiles, at each shift", "[ops][matmul]") {
  for (u32 shift = 0; shift < 8; ++shift) {
    const placed<f16> a(1, 128, 256 + shift, false, shift, 256 + shift, 0, shift);
    const placed<f16> b(1, 256 + shift, 128, shift % 2 == 0, 7 - shift, 128 * (2 - shift % 2) + 8 + shift, 0,
                        9);
    check(a, b, shift % 2 == 0 ? small : tiny);
    check(a, b, half_steps);
  }
}

TEST_CASE("matmul of lines that begin anywhere: lines that overlap", "[ops][matmul]") {
  for (const u64 pitch : {0u, 1u, 2u, 3u, 7u, 9u, 15u, 17u})
    for (const bool by_columns : {false, true}) {
      const u32 m = 70, n = 68, k = 133;
      const placed<f16> a(1, m, k, by_columns, pitch % 5, pitch, 0, pitch);
      const placed<f16> b(1, k, n, !by_columns, pitch % 3, pitch, 0, pitch + 1);
      check(a, b, by_columns ? tiny : small);
    }
}

TEST_CASE("matmul of lines that begin anywhere: splits of K", "[ops][matmul]") {
  for (const bool by_columns : {false, true}) {
    const u32 m = 67, n = 66, k = 4 * 257;
    const placed<bf16> a(1, m, k, by_columns, 3, (by_columns ? m : k) + 1, 0, 5);
    const placed<bf16> b(1, k, n, by_columns, 5, (by_columns ? k : n) + 3, 0, 6);
    check(a, b, small, 4);
  }
}

TEST_CASE("matmul of lines that begin anywhere: the blocks of a cluster have parts of K", "[ops][matmul]") {
  if (under_test().properties().target.sm < 90) return;
  for (const u32 blocks : {8u, 16u})
    for (const bool by_columns : {false, true})
      // Splits of two steps: the last split ends within a step, or with a whole one.
      for (const u32 k : {128 * blocks - 125, 128 * blocks, 128 * blocks + 76}) {
        const u32 m = 67, n = 70, batches = k == 128 * blocks ? 2 : 1;
        const placed<bf16> a(batches, m, k, by_columns, 3, (by_columns ? m : k) + 1, 5, k);
        const placed<bf16> b(batches, k, n, !by_columns, 5, (by_columns ? n : k) + 3, 0, k + 1);
        check(a, b, (by_cluster + std::to_string(blocks)).c_str());
      }
  for (const char* tile :
       {"_32x32x64_w16x16_s3_r3_c44_splitn_*_cluster8", "_32x32x64_w16x16_s3_r3_c44_splitn_*_cluster16"}) {
    const placed<f32> a(1, 35, 1100, false, 1, 1101, 0, 7), b(1, 1100, 34, false, 3, 35, 0, 8);
    check(a, b, tile);
  }
}

TEST_CASE("matmul of lines that begin anywhere: each eighth line is a tensor of its own", "[ops][matmul]") {
  if (under_test().properties().target.sm != 90) return;
  check_drawn<f16>(std::string(by_eights) + "1", 128, 501, 6, 8, 8);
  check_drawn<bf16>(std::string(by_eights_64) + "1", 72, 601, 6, 8, 8);
  // Blocks that share a tile, each with a split of K.
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true}) {
      const u32 m = 133, n = 131, k = 64 * 9 + 13;
      const placed<bf16> a(1, m, k, a_by_columns, 8, (a_by_columns ? m : k) + 1, 0, 5);
      const placed<bf16> b(1, k, n, b_by_columns, 0, (b_by_columns ? k : n) + 3, 0, 6);
      check(a, b, (std::string(by_eights) + "2").c_str());
      check(a, b, (std::string(by_eights) + "8").c_str());
      check(a, b, (std::string(by_eights_64) + "4").c_str());
    }
  // Fewer lines than eight, at each pitch; one operand or both go through the ring of raw tiles.
  for (u32 pitch = 70; pitch < 78; ++pitch) {
    const placed<f16> a(1, pitch - 69, 70, false, 0, pitch, 0, pitch);
    const placed<f16> b(1, 70, 78 - pitch, true, 0, pitch % 2 == 0 ? 72 : 71, 0, 9);
    check(a, b, (std::string(by_eights_64) + "1").c_str());
  }
}

TEST_CASE("matmul of lines that begin anywhere: the matrices of a batch are one tensor", "[ops][matmul]") {
  if (under_test().properties().target.sm != 90) return;
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true})
      for (const u32 k : {9u, 64u, 75u, 64 * 9 + 3u}) {
        // Whole lines apart, one or more than there are, or by eights of elements.
        const u32 m = 67, n = 69;
        const u64 a_length = a_by_columns ? m : k, a_pitch = a_length + (k % 2 == 0 ? 1 : 2);
        const u64 b_length = b_by_columns ? k : n, b_pitch = b_length + (k % 8 == 0 ? 8 - b_length % 8 : 2);
        placed<bf16> a(3, m, k, a_by_columns, 8, a_pitch, a_pitch - a_length + (k % 3) * a_pitch, k);
        placed<bf16> b(3, k, n, b_by_columns, 0, b_pitch, b_pitch - b_length, k + 1);
        for (const char* splits : {"1", "2", "8"}) {
          if (k < 64 * 8 && splits[0] != '1') continue;
          check(a, b, (std::string(by_eights) + splits).c_str());
          check(a, b, (std::string(by_eights_64) + splits).c_str());
        }
        // The next matrix follows the last step of K of a matrix; nothing of it shows.
        for (placed<bf16>* x : {&a, &b}) x->spoil(1);
        check(a, b, (std::string(by_eights) + "1").c_str());
        check(a, b, (std::string(by_eights_64) + "1").c_str());
      }
}

TEST_CASE("matmul of lines that begin anywhere: f32 word by word", "[ops][matmul]") {
  if (under_test().properties().target.sm != 90) return;
  check_drawn<f32>("_words_64x64x1_*_c1x1_b1_general", 64, 701, 6);
  check_drawn<f32>("_words_128x128x1_*_c1x1_b1_general", 128, 801, 3);
  for (const bool a_by_columns : {false, true})
    for (const bool b_by_columns : {false, true}) {
      // Blocks that share a tile, each with a split of K.
      const u32 m = 131, n = 69, k = 32 * 11 + 5;
      const placed<f32> a(2, m, k, a_by_columns, 3, (a_by_columns ? m : k) + 1, 5, 5);
      const placed<f32> b(2, k, n, b_by_columns, 1, (b_by_columns ? k : n) + 2, 0, 6);
      for (const char* tile : {"_words_64x64x1_*_cluster4", "_words_64x64x1_*_cluster8"}) check(a, b, tile);
      // Lines that overlap.
      for (const u64 pitch : {0u, 1u, 5u, 31u})
        check(placed<f32>(1, 70, 67, a_by_columns, pitch % 3, pitch, 0, pitch),
              placed<f32>(1, 67, 66, b_by_columns, 1, pitch, 0, pitch + 1),
              "_words_64x64x1_*_c1x1_b1_general");
    }
}

TEST_CASE("matmul of lines that begin anywhere: f32 word by word next to tensor copies", "[ops][matmul]") {
  if (under_test().properties().target.sm != 90) return;
  for (const u32 k : {7u, 64u, 229u}) {
    const u32 m = 133, n = 130;
    const placed<f32> a_along(2, m, k, false, 0, (k + 3) / 4 * 4, (k + 3) / 4 * 4 - k, k);
    const placed<f32> a_across(2, m, k, true, 4, 136, 3, k);
    const placed<f32> a_anywhere(2, m, k, true, 1, m, 0, k);
    const placed<f32> b_along(2, k, n, true, 0, (k + 7) / 4 * 4, (k + 7) / 4 * 4 - k, 8);
    const placed<f32> b_anywhere(2, k, n, false, 3, n + 1, 2, 9);
    for (const std::string tile : {"64x64", "128x128"}) {
      check(a_along, b_anywhere, ("_words_of_b_" + tile + "x1_*_c1x1_b1_general").c_str());
      check(a_across, b_anywhere, ("_words_of_b_" + tile + "x1_*_c1x1_b1_general").c_str());
      if (k > 100) check(a_across, b_anywhere, ("_words_of_b_" + tile + "x1_*_cluster4").c_str());
    }
    if (k > 100) check(a_anywhere, b_along, "_words_of_a_64x64x1_*_cluster4");
  }
}

TEST_CASE("matmul of lines that begin anywhere: C in the same rows as A", "[ops][matmul]") {
  // The sanitizer takes the whole buffer of an input for read-only.
  if (std::getenv("KAIO_SANITIZE") != nullptr) return;
  const u32 m = 70, n = 37, k = 75, pitch = k + n;
  auto memory = under_test().upload(std::vector<f16>(std::size_t{m} * pitch, f16(2.0f)));
  auto b_memory = under_test().upload(std::vector<f16>(std::size_t{k} * n, f16(0.5f)));
  const tensor_view<f16, 2> all(memory, m, pitch), c = all.slice(1, k, n);
  const tensor_view<const f16, 2> a = all.slice(1, 0, k), b(b_memory, k, n);
  matmul_options options;
  const std::string name = variant(a, b, c, options, small);
  options.variant = name;
  matmul(under_test().stream(), a, b, c, options);
  const auto got = memory.download();
  for (u32 row = 0; row < m; ++row)
    for (u32 column = 0; column < pitch; ++column) {
      CAPTURE(row, column);
      REQUIRE(static_cast<float>(got[std::size_t{row} * pitch + column]) == (column < k ? 2.0f : 75.0f));
    }
}

TEST_CASE("matmul takes kernels for lines that begin anywhere where they do, and no others",
          "[ops][matmul]") {
  if (under_test().properties().target.sm < 80) return;
  for (const u32 k : {4096u, 4095u}) {
    auto memory = under_test().allocate<bf16>(std::size_t{512} * k);
    auto c = under_test().allocate<bf16>(512 * 512);
    const std::string name(ops::matmul_choice(under_test().stream(),
                                              tensor_view<const bf16, 2>(memory, 512, k),
                                              tensor_view<const bf16, 2>(memory, 512, k).transposed(),
                                              tensor_view<bf16, 2>(c, 512, 512))
                               .name);
    CAPTURE(name, k);
    const bool anywhere = fits(name, "_c33_") || fits(name, "_anywhere_");
    REQUIRE(anywhere == (k == 4095));
  }
}
