#pragma once
// What is multiplied: types, layouts and sizes of C = A * B, and the lists of shapes that the benchmark
// knows.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::bench {

// f32 is multiplied as such (FMA), tf32 is f32 data whose products lose bits; e4m3 gives bf16.
enum class element : std::uint8_t { f16, bf16, e4m3, f32, tf32 };

constexpr std::string_view name_of(element e) {
  constexpr std::string_view names[] = {"f16", "bf16", "e4m3", "f32", "tf32"};
  return names[static_cast<unsigned>(e)];
}
constexpr unsigned bytes_of(element e) {
  return e == element::e4m3 ? 1 : e == element::f32 || e == element::tf32 ? 4 : 2;
}
constexpr unsigned output_bytes_of(element e) { return bytes_of(e) == 4 ? 4 : 2; }

// A of m x k, B of k x n, C of m x n, each row by row, `batch` times one after the other. A transposed
// operand is stored as k x m or n x k: "NT" has A as it is and B transposed.
struct problem {
  element type = element::f16;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool a_transposed = false, b_transposed = false;

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(batch);
  }
  // Each input read once, the output written once.
  double bytes() const {
    const double inputs =
        static_cast<double>(m) * static_cast<double>(k) + static_cast<double>(k) * static_cast<double>(n);
    const double output = static_cast<double>(m) * static_cast<double>(n);
    return static_cast<double>(batch) * (inputs * bytes_of(type) + output * output_bytes_of(type));
  }
  // So few rows or columns that bytes decide, not operations.
  bool is_skinny() const { return m <= 128 || n <= 128; }
  std::string layout() const { return {a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N'}; }
  std::string shape() const {
    return (batch == 1 ? "" : std::to_string(batch) + " x ") + std::to_string(m) + " x " + std::to_string(n) +
           " x " + std::to_string(k);
  }
  friend bool operator==(const problem&, const problem&) = default;
};

// The shapes of a type: all that are measured, or a few.
inline std::vector<problem> standard_problems(element type, bool quick) {
  std::vector<problem> result;
  const bool transposed = type == element::e4m3;  // the one layout that cuBLASLt has for it
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
    result.push_back({type, m, n, k, batch, false, transposed});
  };
  if (quick) {
    for (const std::int64_t size : {512, 2048, 4096, 8192}) add(size, size, size);
    add(16, 4096, 4096);
    return result;
  }
  for (std::int64_t size = 256; size <= 16384; size *= 2) add(size, size, size);
  for (const std::int64_t m : {1, 16, 32, 64, 128}) {
    if (type == element::e4m3 && m < 16) continue;  // cuBLASLt has none
    for (const std::int64_t n : {4096, 8192, 14336})
      for (const std::int64_t k : {4096, 8192, 14336}) add(m, n, k);
  }
  for (const std::int64_t m : {4096, 2048}) {
    add(m, 14336, 4096);
    add(m, 4096, 14336);
    add(m, 6144, 4096);
  }
  add(512, 512, 512, 16);
  return result;
}

// Small enough for the emulator.
inline std::vector<problem> tiny_problems(element type) {
  const bool transposed = type == element::e4m3;
  return {{type, 64, 64, 64, 1, false, transposed}, {type, 48, 80, 32, 2, false, transposed}};
}

}  // namespace kaio::bench
