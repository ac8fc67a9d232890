// combine_experts against sums in double precision on the host.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/combine_experts.hpp>

#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T, class Out = T>
void check_combine(i64 rows, i64 tokens, i64 size, i64 k, i64 pad, u64 seed, bool accumulate = false) {
  CAPTURE(rows, tokens, size, k, pad, seed, accumulate, sizeof(T), sizeof(Out));
  const device& gpu = under_test();
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  const i64 pitch = size + pad;
  std::vector<T> y(static_cast<std::size_t>(rows * pitch));
  for (T& x : y) x = from_float<T>(any(engine));
  std::vector<Out> out(static_cast<std::size_t>(tokens * pitch));
  for (Out& x : out) x = from_float<Out>(any(engine));
  std::vector<i32> positions(static_cast<std::size_t>(tokens * k));
  std::vector<f32> weights(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = static_cast<i32>(engine() % static_cast<u64>(rows + 2)) - 1;  // some have no row
    weights[i] = positions[i] < 0 || positions[i] >= rows ? std::nanf("") : any(engine);
  }
  auto y_memory = gpu.upload(y);
  auto place_memory = gpu.upload(positions);
  auto weight_memory = gpu.upload(weights);
  auto out_memory = gpu.upload(out);
  combine_experts(
      gpu.stream(), tensor_view<const T, 2>(y_memory, extents(rows, size), strides(pitch, 1)),
      tensor_view<const f32, 2>(weight_memory, tokens, k), tensor_view<const i32, 2>(place_memory, tokens, k),
      tensor_view<Out, 2>(out_memory, extents(tokens, size), strides(pitch, 1)), {.accumulate = accumulate});
  const auto got = out_memory.download();
  for (i64 t = 0; t < tokens; ++t)
    for (i64 c = 0; c < pitch; ++c) {
      CAPTURE(t, c);
      const auto at = static_cast<std::size_t>(t * pitch + c);
      if (c >= size) {
        REQUIRE(to_double(got[at]) == to_double(out[at]));
        continue;
      }
      double sum = accumulate ? to_double(out[at]) : 0, magnitude = std::abs(sum);
      for (i64 j = 0; j < k; ++j) {
        const auto choice = static_cast<std::size_t>(t * k + j);
        const i32 row = positions[choice];
        if (row < 0 || row >= rows) continue;
        const double term =
            static_cast<double>(weights[choice]) * to_double(y[static_cast<std::size_t>(row * pitch + c)]);
        sum += term;
        magnitude += std::abs(term);
      }
      REQUIRE(std::abs(to_double(got[at]) - sum) <=
              0.5 * unit_in_last_place<Out>(sum) + static_cast<double>(k + 1) * 6e-8 * magnitude);
    }
}

}  // namespace

TEST_CASE("combine_experts: whole runs", "[ops][combine_experts]") {
  check_combine<bf16>(40, 11, 256, 8, 0, 1);
  check_combine<f16>(20, 5, 2304, 2, 8, 2);
  check_combine<f32>(9, 3, 64, 5, 0, 3);
  check_combine<bf16, f32>(30, 4, 128, 6, 0, 4);
}

TEST_CASE("combine_experts: rows at any address", "[ops][combine_experts]") {
  check_combine<bf16>(12, 7, 37, 3, 1, 5);
  check_combine<f16>(12, 3, 1, 32, 0, 6);
  check_combine<f32>(5, 4, 20, 1, 3, 7);
}

TEST_CASE("combine_experts: adds to out", "[ops][combine_experts]") {
  check_combine<bf16>(12, 7, 96, 4, 0, 8, true);
  check_combine<f16, f32>(12, 7, 21, 4, 0, 9, true);
}

TEST_CASE("combine_experts: no tokens, no choices, no rows", "[ops][combine_experts]") {
  check_combine<f16>(3, 0, 16, 2, 0, 10);
  check_combine<f16>(3, 4, 16, 0, 0, 11);
  check_combine<f16>(3, 4, 16, 0, 0, 12, true);
  check_combine<f32>(0, 4, 16, 2, 0, 13);
}

TEST_CASE("combine_experts: bad input", "[ops][combine_experts]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f32>(4096), more = gpu.allocate<f32>(4096), other = gpu.allocate<f32>(4096);
  auto numbers = gpu.allocate<i32>(4096);
  const tensor_view<const f32, 2> y(memory, 8, 32), weights(more, 4, 2);
  const tensor_view<const i32, 2> positions(numbers, 4, 2);
  const auto refused = [&](const std::string& part, const tensor_view<const f32, 2>& by,
                           const tensor_view<const i32, 2>& places, const tensor_view<f32, 2>& to) {
    require_refusal(errc::invalid_argument, "kaio: combine_experts: ", part,
                    [&] { combine_experts(gpu.stream(), y, by, places, to); });
  };
  refused("positions has extent 1 of 1", weights, positions.slice(1, 0, 1), {other, 4, 32});
  refused("out has extent 0 of 3", weights, positions, {other, 3, 32});
  refused("out has extent 1 of 31", weights, positions, {other, 4, 31});
  refused("output out shares memory", weights, positions, {memory, 4, 32});
  refused("argument weights has stride 2", {more, extents(4, 2), strides(4, 2)}, positions, {other, 4, 32});
}
