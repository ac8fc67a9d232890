// tune_matmul_w4 and tune_matmul_w8 measure kernels and divisions of K on memory of their own, and later calls take the
// fastest, where they have the workspace for it. Numbers are such that every sum is exact: all give the same bits.
#include <kaio/ops/tune.hpp>

#include "tests/ops/tune_support.hpp"
#include "tests/ops/weight_only/support.hpp"

#include <algorithm>
#include <map>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// A product of small integers.
template <class T>
struct tuned_product {
  w4_on_device<f16> weights;
  std::vector<T> numbers;
  buffer<T> x_memory, y_memory;
  i64 m, n, k;
  w4_weights w = weights.weights();
  tensor_view<const T, 2> x{x_memory, m, k};
  tensor_view<T, 2> y{y_memory, m, n};

  static w4_on_device<f16> exact(const w4_shape& shape) {
    w4_model<f16> model = w4_model<f16>::random(shape, 3);
    for (f16& s : model.scales) s = f16(0.25f);
    return {model, w4_format::gptq_v2};
  }
  tuned_product(const w4_shape& shape, i64 rows)
      : weights(exact(shape)),
        numbers(static_cast<std::size_t>(rows * shape.k)),
        y_memory(under_test().upload(std::vector<T>(static_cast<std::size_t>(rows * shape.n), T(-1.0f)))),
        m(rows),
        n(shape.n),
        k(shape.k) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = T(static_cast<float>(i * i % 5) - 2);
    x_memory = upload(numbers);
    x = tensor_view<const T, 2>(x_memory, m, k);
  }
  std::vector<T> run(matmul_w4_options options = {}) {
    const stream& s = under_test().stream();
    auto workspace = under_test().allocate<u8>(std::max<u64>(matmul_w4_workspace_bytes(s, x, w, options), 1));
    options.workspace = workspace;
    matmul_w4(s, x, w, y, options);
    return y_memory.download();
  }
  std::string choice(const matmul_w4_options& options = {}) const {
    const auto c = ops::matmul_w4_choice(under_test().stream(), x, w, options);
    return std::string(c.name) + ":" + std::to_string(c.splits);
  }
};

template <class T>
void check_tuned(const w4_shape& shape, i64 rows, bool bias) {
  CAPTURE(rows, shape.act_order, bias);
  const own_cache cache;
  device& gpu = under_test();
  tuned_product<T> p(shape, rows);
  auto biases = gpu.upload(std::vector<T>(static_cast<std::size_t>(p.n), T(3.0f)));
  matmul_w4_options options;
  if (bias) options.bias = tensor_view<const T, 1>(biases, extents(p.n));
  const std::vector<T> right = p.run(options), before(p.y_memory.size(), T(-1.0f));
  const std::string first = p.choice(options);
  p.y_memory.copy_from(before.data(), before.size(), gpu.stream());
  const ops::tune_report report = ops::tune_matmul_w4(gpu, p.x, p.w, p.y, options, {.repetitions = 1});
  REQUIRE(report.saved);
  REQUIRE(report.variant_before.rfind(first, 0) == 0);
  REQUIRE(has(report, report.variant_before));
  REQUIRE(report.seconds_before > 0);
  REQUIRE(report.entries.size() >= 2);
  REQUIRE(report.entries.front().variant == report.variant);
  REQUIRE(has(report, "dequantise:1") == (rows > 16 && gpu.properties().target.sm >= 80));
  REQUIRE(p.x_memory.download() == p.numbers);
  REQUIRE(same_bits(p.y_memory.download(), before));
  REQUIRE(report.variant.rfind(p.choice(options), 0) == 0);
  ops::forget_tuning();  // another process would read the file
  REQUIRE(report.variant.rfind(p.choice(options), 0) == 0);
  REQUIRE(same_bits(p.run(options), right));
  std::map<std::string, int> names;
  for (const ops::tune_entry& e : report.entries) {
    CAPTURE(e.variant);
    REQUIRE(++names[e.variant] == 1);
    matmul_w4_options forced = options;
    forced.variant = e.variant;
    REQUIRE(e.variant.rfind(p.choice(forced), 0) == 0);
    REQUIRE(same_bits(p.run(forced), right));
  }
}

}  // namespace

TEST_CASE("tune_matmul_w4: few rows, many and ordered weights", "[ops][w4][tune]") {
  check_tuned<f16>({.n = 40, .k = 256, .group = 64}, 3, false);
  check_tuned<bf16>({.n = 72, .k = 320, .group = 32, .zero_points = true}, 20, true);
  check_tuned<f16>({.n = 40, .k = 128, .group = 16, .act_order = true}, 5, true);
}

TEST_CASE("tune_matmul_w4: rows that may have weights rounded, by kernels and by matrices",
          "[ops][w4][tune]") {
  check_tuned<f16>({.n = 72, .k = 256, .group = 64, .zero_points = true}, 131, true);
  // With exact weights a tuned matrix is none of the choices.
  const own_cache cache;
  device& gpu = under_test();
  tuned_product<f16> p({.n = 40, .k = 128, .group = 64}, 129);
  const ops::tune_report exact =
      ops::tune_matmul_w4(gpu, p.x, p.w, p.y, {.exact_weights = true}, {.repetitions = 1});
  for (const ops::tune_entry& e : exact.entries) {
    CAPTURE(e.variant);
    REQUIRE_FALSE(e.variant.starts_with("dequantise"));
    REQUIRE(e.variant.find("rounded") == std::string::npos);
  }
  cache.replace_variants("dequantise:1");
  REQUIRE_FALSE(p.choice({.exact_weights = true}).starts_with("dequantise"));
}

TEST_CASE("tune_matmul_w4: what was found is for its shape, its parts and its workspace", "[ops][w4][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  tuned_product<f16> p({.n = 40, .k = 256, .group = 64}, 4), other({.n = 40, .k = 256, .group = 64}, 5);
  const std::string first = p.choice(), of_other = other.choice(), in_two = p.choice({.splits = 2});
  const std::vector<f16> right = p.run();
  const auto before = matmul_w4_workspace_bytes(s, p.x, p.w);

  // If a call has a number of splits, all measured variants have it; calls with any number do not change.
  const auto of_two = ops::tune_matmul_w4(gpu, p.x, p.w, p.y, {.splits = 2}, {.repetitions = 1});
  for (const ops::tune_entry& e : of_two.entries) REQUIRE(e.variant.find(":2") != std::string::npos);
  REQUIRE(of_two.variant.rfind(p.choice({.splits = 2}), 0) == 0);
  REQUIRE(p.choice() == first);

  // The file says that four parts are the fastest.
  const std::string four = first.substr(0, first.find(':')) + ":4";
  REQUIRE(has(ops::tune_matmul_w4(gpu, p.x, p.w, p.y, {}, {.repetitions = 1}), four));
  cache.replace_variants(four);
  REQUIRE(p.choice() == four);
  REQUIRE(p.choice({.splits = 2}) == in_two);
  REQUIRE(other.choice() == of_other);
  const auto after = matmul_w4_workspace_bytes(s, p.x, p.w);
  REQUIRE(after == 4 * 4 * 64 * 4);
  REQUIRE(same_bits(p.run(), right));
  // A workspace that was allocated before still serves.
  if (before < after) {
    auto small = gpu.allocate<u8>(std::max<u64>(before, 1));
    matmul_w4(s, p.x, p.w, p.y, {.workspace = small});
    REQUIRE(p.choice({.workspace = small}) == first);
    REQUIRE(same_bits(p.y_memory.download(), right));
  }
  // An unknown name is a miss.
  for (const char* name : {"matmul_w4", "matmul_w4:", ":1", "matmul_w4_simt:9", "matmul_w4_simt:x"}) {
    cache.replace_variants(name);
    REQUIRE(p.choice() == first);
    REQUIRE_THROWS_AS(p.choice({.variant = name}), invalid_argument);
  }
  REQUIRE_THROWS_AS(p.choice({.splits = 2, .variant = four}), invalid_argument);
}

TEST_CASE("tune_matmul_w8: is of its codes; and what tuning refuses", "[ops][w8][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const w8_shape shape{.n = 40, .k = 192};
  auto memory = gpu.allocate<u8>(packed_bytes(shape));
  const w8_weights w{shape, memory};
  auto x_memory = gpu.allocate<bf16>(2 * 192);
  auto y_memory = gpu.allocate<f32>(2 * 40);
  const tensor_view<const bf16, 2> x(x_memory, 2, 192);
  const tensor_view<f32, 2> y(y_memory, 2, 40);
  const ops::tune_report report = ops::tune_matmul_w8(gpu, x, w, y, {}, {.repetitions = 1});
  REQUIRE(has(report, report.variant_before));
  const auto choice = ops::matmul_w8_choice(gpu.stream(), x, w);
  REQUIRE(report.variant.rfind(std::string(choice.name) + ":" + std::to_string(choice.splits), 0) == 0);
  REQUIRE(ops::tune_matmul_w8(gpu, tensor_view<const bf16, 2>(x_memory, 0, 192), w,
                              tensor_view<f32, 2>(y_memory, 0, 40))
              .entries.empty());
  REQUIRE_THROWS_AS(ops::tune_matmul_w8(gpu, x, w, x), invalid_argument);
  REQUIRE_THROWS_AS(
      ops::tune_matmul_w4(gpu, x, w4_weights{{.n = 40, .k = 192, .codes = w4_codes::own}, memory}, y),
      invalid_argument);
}

TEST_CASE("tune_matmul_w4: numbers of a table are those of the codes, whenever a choice is remembered",
          "[ops][w4][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  for (const w4_codes codes : {w4_codes::nf4, w4_codes::fp4}) {
    const w4_shape shape{.n = 32, .k = 128, .group = 64, .scales = w4_scale_type::f32, .codes = codes};
    auto memory = gpu.upload(std::vector<u8>(packed_bytes(shape), 0x3f));  // codes 3 and 15, by 0.75
    const w4_weights w{shape, memory};
    auto x_memory = gpu.upload(std::vector<f16>(128, f16(1.0f)));
    auto y_memory = gpu.allocate<f16>(32);
    const tensor_view<const f16, 2> x(x_memory, 1, 128);
    const tensor_view<f16, 2> y(y_memory, 1, 32);
    const auto run = [&](matmul_w4_options options) {
      auto workspace = gpu.allocate<u8>(std::max<u64>(matmul_w4_workspace_bytes(s, x, w, options), 1));
      options.workspace = workspace;
      matmul_w4(s, x, w, y, options);
      return y_memory.download();
    };
    const auto report = ops::tune_matmul_w4(gpu, x, w, y, {}, {.repetitions = 1});
    const auto choice = ops::matmul_w4_choice(s, x, w);
    const auto right = run({.splits = choice.splits, .variant = choice.name});
    REQUIRE(to_double(right[0]) != 0);
    for (int i = 0; i < 3; ++i) REQUIRE(same_bits(run({}), right));
    REQUIRE(same_bits(run({.variant = report.variant}), right));
  }
}
