// Tiles of a tensor core, bit for bit, against the second model: all formats and architectures, dense and sparse,
// numbers near each other and of the whole range of exponents.

#include "emulator/instructions/matrix/tensor_tile.hpp"
#include "emulator/instructions/matrix/tile_sums.hpp"
#include "tests/emulator/matrix/mma_model.hpp"

namespace {

using namespace kaio::emulator;
using codes = std::vector<std::uint32_t>;

struct case_of_format {
  tensor_format format;
  const mma_model::number_format& model;
};

const case_of_format formats[] = {{tensor_format::f16, mma_model::f16},
                                  {tensor_format::bf16, mma_model::bf16},
                                  {tensor_format::tf32, mma_model::tf32},
                                  {tensor_format::e4m3, mma_model::e4m3},
                                  {tensor_format::e5m2, mma_model::e5m2}};

bool is_finite(std::uint32_t code, const mma_model::number_format& f) { return std::isfinite(f.value(code)); }

// [outer][k]
std::vector<codes> random_codes(std::mt19937& random, const mma_model::number_format& f, mma_model::kind kind,
                                std::size_t outer, std::size_t depth) {
  std::vector<codes> result(outer, codes(depth));
  for (codes& row : result)
    for (std::uint32_t& code : row) do
        code = mma_model::random_code(random, f, kind);
      while (!is_finite(code, f));
  return result;
}

void set_all(tile_operand& to, const std::vector<codes>& from) {
  for (std::uint32_t outer = 0; outer < from.size(); ++outer)
    for (std::uint32_t k = 0; k < from[outer].size(); ++k) to.set(outer, k, from[outer][k]);
}

struct outcome {
  unsigned multiplied = 0, refused = 0;
};

// Products of 3 rows and 19 columns, of which 16 fill a block.
void compare(std::mt19937& random, unsigned sm, const case_of_format& fa, const case_of_format& fb,
             tensor_path path, mma_model::kind kind, bool sparse, outcome& counts) {
  const tensor_model model = tensor_model_of(sm, fa.format, path);
  const bool eight = fa.model.bits == 8;
  const std::uint32_t depth = eight                 ? 32
                              : fa.model.bits == 32 ? 8
                                                    : 16,
                      wide_depth = sparse ? 2 * depth : depth;
  const auto a = random_codes(random, fa.model, kind, 3, depth);
  const auto b = random_codes(random, fb.model, kind, 19, wide_depth);
  std::vector<std::uint8_t> chosen;
  if (sparse)
    for (std::uint32_t i = 0; i < 3 * depth; ++i)
      chosen.push_back(static_cast<std::uint8_t>(i % depth / 2 * 4 + i % 2 * 2 + random() % 2));
  tile_operand rows(tile_shape::narrow), columns(tile_shape::wide);
  rows.reset(model, fa.format, 3, depth);
  columns.reset(model, fb.format, 19, wide_depth);
  set_all(rows, a);
  set_all(columns, b);
  REQUIRE(rows.complete());
  REQUIRE(columns.complete());
  if (!can_multiply(rows, columns)) {
    ++counts.refused;
    return;
  }
  ++counts.multiplied;
  REQUIRE(columns.lanes() == 32);
  codes d(3 * 32);
  for (std::uint32_t& c : d) c = mma_model::random_code(random, mma_model::f32, kind);
  const codes before = d;
  multiply_tiles(model, rows, columns, chosen, d);
  for (std::uint32_t row = 0; row < 3; ++row)
    for (std::uint32_t column = 0; column < 19; ++column) {
      codes y(depth);
      for (std::uint32_t k = 0; k < depth; ++k) y[k] = b[column][sparse ? chosen[row * depth + k] : k];
      const std::uint32_t want = mma_model::dot(sm, fa.model, a[row], fb.model, y, before[row * 32 + column],
                                                false, path == tensor_path::warpgroup);
      if (d[row * 32 + column] == want) continue;
      INFO("sm_" << sm << " " << fa.model.name << " " << fb.model.name << " kind " << static_cast<int>(kind)
                 << " sparse " << sparse << " row " << row << " column " << column);
      REQUIRE(d[row * 32 + column] == want);
    }
}

}  // namespace

TEST_CASE("a tile of every format is that of the published model, with the loops of every instruction set") {
  std::mt19937 random(2);
  outcome counts;
  const auto all_formats = [&](int rounds) {
    for (unsigned sm : {70u, 75u, 80u, 89u, 90u})
      for (const case_of_format& fa : formats)
        for (const case_of_format& fb : formats) {
          const bool eight = fa.model.bits == 8 && fb.model.bits == 8;
          if (fa.format != fb.format && !eight) continue;
          if (sm < (eight ? 89u : fa.format == tensor_format::f16 ? 70u : 80u)) continue;
          for (tensor_path path : {tensor_path::warp, tensor_path::warpgroup}) {
            if (path == tensor_path::warpgroup && sm < 90) continue;
            for (mma_model::kind kind : mma_model::all_kinds)
              for (int round = 0; round < rounds; ++round)
                compare(random, sm, fa, fb, path, kind, round % 2 != 0 && sm >= 80, counts);
          }
        }
  };
  REQUIRE(use_loops(loop_set::portable));
  all_formats(4);
  // The best ones come last, and stay for other tests.
  for (const loop_set set : {loop_set::avx2, loop_set::avx512})
    if (use_loops(set)) all_formats(4);
  CHECK(counts.multiplied > 300);
  CHECK(counts.refused > 0);
}

TEST_CASE("a tile of infinities or NaN is not for tiles") {
  const tensor_model model = tensor_model_of(90, tensor_format::f16, tensor_path::warp);
  for (const std::uint32_t code : {0x7c00u, 0xfc00u, 0x7e01u}) {
    tile_operand rows(tile_shape::narrow);
    rows.reset(model, tensor_format::f16, 16, 16);
    CHECK(rows.complete());
    rows.set(5, 3, code);
    CHECK_FALSE(rows.complete());
  }
  const tensor_model eight = tensor_model_of(90, tensor_format::e4m3, tensor_path::warpgroup);
  tile_operand columns(tile_shape::wide);
  columns.reset(eight, tensor_format::e4m3, 8, 32);
  columns.set(7, 31, 0xff);
  CHECK_FALSE(columns.complete());
}

TEST_CASE("operands whose products leave the range of f32 are refused") {
  const tensor_model model = tensor_model_of(90, tensor_format::bf16, tensor_path::warp);
  const auto operand = [&](tile_shape shape, double small) {
    tile_operand result(shape);
    result.reset(model, tensor_format::bf16, 16, 16);
    result.set(0, 0, mma_model::code_of(1, mma_model::bf16));
    result.set(1, 0, mma_model::code_of(small, mma_model::bf16));
    REQUIRE(result.complete());
    return result;
  };
  CHECK(can_multiply(operand(tile_shape::narrow, 0x1p-50), operand(tile_shape::wide, 0x1p-50)));
  CHECK_FALSE(can_multiply(operand(tile_shape::narrow, 0x1p-50), operand(tile_shape::wide, 0x1p-51)));
  CHECK_FALSE(can_multiply(operand(tile_shape::narrow, 0x1p-120), operand(tile_shape::wide, 1)));
}
