// gate_up_project by packed weights of every format, of few rows and of more, next to double precision.
#include "tests/ops/gate_up/support.hpp"
#include "tests/ops/quantised/w4/packed_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 f = 64, k = 128;

void check_format(packed_kind kind, i64 rows) {
  const device& gpu = under_test();
  CAPTURE(static_cast<int>(kind), rows);
  const packed_weights w = random_weights(kind, 2 * f, k, static_cast<u64>(rows));
  const std::vector<f16> x = random_eighths(rows * k, 9);
  const auto on_x = upload(x);
  const tensor_view<const f16, 2> x_view(on_x, rows, k);
  auto on_out = gpu.allocate<f16>(static_cast<u64>(rows * f));
  const tensor_view<f16, 2> out(on_out, rows, f);
  const u32 sm = gpu.properties().target.sm;
  const bool is_one_launch =
      rows <= 16 && (sm >= 90 ? has_one_launch_on_sm90(kind) : sm >= 80 && is_int4(kind));
  REQUIRE((ops::gate_up_choice(gpu.stream(), x_view, w.weight, out) != "separate") == is_one_launch);
  gate_up_with_workspace(x_view, w.weight, out, {});
  const std::vector<f16> got = on_out.download();
  for (i64 row = 0; row < rows; ++row)
    for (i64 column = 0; column < f; ++column) {
      // Both products are rounded once; silu is at most 1.1 times as steep as its argument.
      const exact_sum gate = sum_of(w, x, row, column), up = sum_of(w, x, row, column + f);
      const auto error = [](const exact_sum& sum) {
        return sum.error + 0.51 * unit_in_last_place<f16>(sum.value);
      };
      const double of_gate = activated(matmul_activation::silu, gate.value), want = of_gate * up.value;
      const double allowed = 1.1 * error(gate) * (std::abs(up.value) + error(up)) +
                             std::abs(of_gate) * error(up) + 1e-5 * std::abs(want) +
                             0.51 * unit_in_last_place<f16>(want) + 1e-7;
      const double is = to_double(got[static_cast<std::size_t>(row * f + column)]);
      if (std::abs(is - want) <= allowed) continue;
      CAPTURE(row, column, allowed);
      REQUIRE(is == want);
    }
}

}  // namespace

TEST_CASE("gate_up_project: packed weights of every format", "[ops][gate_up][quantised]") {
  for (const packed_kind kind : packed_kinds)
    for (const i64 rows : {3, 20}) check_format(kind, rows);
}
