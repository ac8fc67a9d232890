// gate_up_project by packed weights of every format, of few rows and of more, next to double precision.
#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/refusal.hpp"
#include "tests/ops/weight_only/packed_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr i64 f = 64, k = 128;

template <class T>
void check_format(packed_kind kind, i64 rows) {
  const device& gpu = under_test();
  CAPTURE(static_cast<int>(kind), rows);
  const packed_weights w = random_weights(kind, 2 * f, k, static_cast<u64>(rows));
  const std::vector<T> x = random_eighths<T>(rows * k, 9);
  const auto on_x = upload(x);
  const tensor_view<const T, 2> x_view(on_x, rows, k);
  auto on_out = gpu.allocate<T>(static_cast<u64>(rows * f));
  const tensor_view<T, 2> out(on_out, rows, f);
  const u32 sm = gpu.properties().target.sm;
  const bool is_one_launch =
      rows <= 16 && (sm >= 90 ? has_one_launch_on_sm90(kind, gpu.properties()) : sm >= 80 && is_int4(kind));
  REQUIRE((ops::gate_up_project_choice(gpu.stream(), x_view, w.weight, out).name != "separate") ==
          is_one_launch);
  gate_up_with_workspace(x_view, w.weight, out, {.exact_weights = true});
  const std::vector<T> got = on_out.download();
  for (i64 row = 0; row < rows; ++row)
    for (i64 column = 0; column < f; ++column) {
      // Both products are rounded once; silu is at most 1.1 times as steep as its argument.
      const exact_sum gate = sum_of(w, x, row, column), up = sum_of(w, x, row, column + f);
      const auto error = [](const exact_sum& sum) {
        return sum.error + 0.51 * unit_in_last_place<T>(sum.value);
      };
      const double of_gate = activated(matmul_activation::silu, gate.value), want = of_gate * up.value;
      const double rounded = 1.1 * error(gate) * (std::abs(up.value) + error(up)) +
                             std::abs(of_gate) * error(up) + 1e-5 * std::abs(want) + 1e-7;
      const double allowed = rounded + 0.51 * unit_in_last_place<T>(std::abs(want) + rounded);
      const double is = to_double(got[static_cast<std::size_t>(row * f + column)]);
      if (std::abs(is - want) <= allowed) continue;
      CAPTURE(row, column, allowed);
      REQUIRE(is == want);
    }
}

}  // namespace

TEST_CASE("gate_up_project: packed weights of every format", "[ops][gate_up][quantised]") {
  for (const packed_kind kind : packed_kinds)
    for (const i64 rows : {1, 3, 11, 20}) {
      check_format<f16>(kind, rows);
      check_format<bf16>(kind, rows);
    }
}

TEST_CASE("gate_up_project: a kernel for other codes is refused", "[ops][gate_up][quantised]") {
  const device& gpu = under_test();
  if (gpu.properties().target.sm < 80) return;
  const packed_weights w = random_weights(packed_kind::nf4, 2 * f, k, 1);
  const auto on_x = upload(random_eighths(k, 9));
  auto on_out = gpu.allocate<f16>(static_cast<u64>(f));
  require_refusal(errc::invalid_argument, "kaio: gate_up_project_choice: ",
                  "variant gate_up_w4_mma_f16_8_sm80 cannot run this call: it is for other codes", [&] {
                    ops::gate_up_project_choice(gpu.stream(), tensor_view<const f16, 2>(on_x, 1, k), w.weight,
                                                tensor_view<f16, 2>(on_out, 1, f),
                                                {.variant = "gate_up_w4_mma_f16_8_sm80"})
                        .name;
                  });
}
