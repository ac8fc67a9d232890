#pragma once
// Kernels for the tests of streams, graphs and pools: the order in which they ran shows in the result.

#include "tests/kernels/support.hpp"
#include "thrown.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace kaio::tests {

// y[i] = a * y[i] + b
inline constexpr auto advance =
    kernel<"advance", 64>([](thread t, inout<f32> y, val<f32> a, val<f32> b, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * y[i] + b;
    });

// y[i] += x[i]
inline constexpr auto add_to = kernel<"add_to", 64>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] += x[i];
});

// Launches `advance` on a stream or at a position of a graph, over all elements.
template <class Where, class Memory>
void launch_advance(Where& where, Memory&& y, f32 a, f32 b) {
  const auto n = static_cast<u32>(y.as_argument().bytes / sizeof(f32));
  advance.launch(where, over(n), y, a, b, n);
}
template <class Where, class From, class To>
void launch_add(Where& where, const From& x, To&& y) {
  const auto n = static_cast<u32>(y.as_argument().bytes / sizeof(f32));
  add_to.launch(where, over(n), x, y, n);
}

inline std::vector<f32> all(f32 value, std::size_t count) { return std::vector<f32>(count, value); }

// Fails the test unless the call throws an error of this kind whose text has all of the parts.
template <class Call>
void refuses(errc code, const std::vector<std::string_view>& parts, Call call) {
  const thrown what = catch_error(call);
  CAPTURE(what.message);
  CHECK(what.code == code);
  for (const std::string_view part : parts) {
    CAPTURE(part);
    CHECK(what.says(part));
  }
}

// A row of a table of calls that are refused.
struct wrong_call {
  const char* what;
  std::vector<std::string_view> says;
  std::function<void()> call;
};

}  // namespace kaio::tests
