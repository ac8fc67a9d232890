#pragma once
// The dynamic map of eight bits (bitsandbytes, functional.create_dynamic_map), which files of nested scales have as
// nested_quant_map.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kaio::tests {

// For each i: the 2^i middles of neighbours among 2^i + 1 numbers from 0.1 to 1, times 10^(i - 6), of both signs; and
// 0 and 1; sorted. The numbers are those of torch.linspace in f32: from both ends, each by one fma.
inline std::vector<f32> dynamic_map() {
  std::vector<f32> map = {0, 1};
  for (int i = 0; i < 7; ++i) {
    const int intervals = 1 << i;
    const f32 first = 0.1f, step = (1 - first) / static_cast<f32>(intervals);
    const auto number = [&](int j) {
      return j < (intervals + 1) / 2 ? std::fma(step, static_cast<f32>(j), first)
                                     : std::fma(-step, static_cast<f32>(intervals - j), 1.0f);
    };
    const f32 power = static_cast<f32>(std::pow(10.0, i - 6));
    for (int j = 0; j < intervals; ++j) {
      const f32 middle = (number(j) + number(j + 1)) / 2;
      for (const f32 sign : {-1.0f, 1.0f}) map.push_back(sign * (power * middle));
    }
  }
  std::sort(map.begin(), map.end());
  return map;
}

}  // namespace kaio::tests
