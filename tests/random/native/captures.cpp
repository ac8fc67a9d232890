// A body that captures values only known at run time is traced natively to the text of the constant kernel
// that has it as a literal.
#include <kaio/kaio.hpp>

#include "images/native_kernel.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

using namespace kaio;

namespace {

inline constexpr auto scaled_sum = kernel<"scaled_sum", 64>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) {
    var sum(t, 0.0f);
    for (auto k : t.range(0, 5)) sum += x[i + cast<u32>(k)] * 3.0f;
    y[i] = sum;
  }
  if (auto rest = t.otherwise()) y[i] = 0.0f;
});

}  // namespace

TEST_CASE("a native trace may capture", "[native]") {
  const float factor = std::stof("3");
  const int rounds = std::stoi("5");
  const auto made = images::trace_kernel<in<f32>, out<f32>, val<u32>>(
      "scaled_sum", 64, {}, [&](thread t, in<f32> x, out<f32> y, val<u32> n) {
        val i = t.global_id();
        if (auto in_range = t.when(i < n)) {
          var sum(t, 0.0f);
          for (auto k : t.range(0, rounds)) sum += x[i + cast<u32>(k)] * factor;
          y[i] = sum;
        }
        if (auto rest = t.otherwise()) y[i] = 0.0f;
      });
  const std::vector<char> text = scaled_sum.ptx().join();
  CHECK(std::string(text.begin(), text.end()) == made.text());

  const ptx::kernel_image& constant = scaled_sum.image();
  const ptx::kernel_image& image = made.image();
  CHECK(image.name == constant.name);
  CHECK(image.line_count == constant.line_count);
  CHECK(image.parameter_count == constant.parameter_count);
  CHECK(image.statement_count == constant.statement_count);
  CHECK(image.needs.instructions == constant.needs.instructions);
  CHECK(image.needs.target.sm == constant.needs.target.sm);
}
