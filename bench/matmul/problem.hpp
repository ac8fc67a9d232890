#pragma once
// A product: types, layouts, sizes and the epilogue of C = A * B; and the lists of shapes that the
// benchmark knows.

#include <cmath>
#include <cstdint>
#include <random>
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

// The epilogue: applied to A * B in the kernel, before the store. The data that it reads are of C's type.
//   bias       C = A * B + bias, one number for each column of C, the same for the whole batch
//   gelu_bias  C = gelu(A * B + bias), gelu in its tanh form
//   residual   C = A * B + residual, which is laid out like C and is other memory
enum class fused_epilogue : std::uint8_t { none, bias, gelu_bias, residual };

constexpr std::string_view name_of(fused_epilogue e) {
  constexpr std::string_view names[] = {"none", "bias", "gelu_bias", "residual"};
  return names[static_cast<unsigned>(e)];
}

// A of m x k, B of k x n, C of m x n, each row by row, `batch` times one after the other. A transposed
// operand is stored as k x m or n x k: "NT" has A as it is and B transposed.
struct problem {
  element type = element::f16;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool a_transposed = false, b_transposed = false;
  fused_epilogue epilogue = fused_epilogue::none;  // another one: f16 and bf16

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(batch);
  }
  // Elements of the bias or residual.
  std::int64_t added() const {
    return epilogue == fused_epilogue::none ? 0 : epilogue == fused_epilogue::residual ? batch * m * n : n;
  }
  bool has_bias() const { return epilogue == fused_epilogue::bias || epilogue == fused_epilogue::gelu_bias; }
  // Each input read once, the output written once.
  double bytes() const {
    const double inputs =
        static_cast<double>(m) * static_cast<double>(k) + static_cast<double>(k) * static_cast<double>(n);
    const double output = static_cast<double>(m) * static_cast<double>(n);
    return static_cast<double>(batch) * (inputs * bytes_of(type) + output * output_bytes_of(type)) +
           static_cast<double>(added()) * output_bytes_of(type);
  }
  // With few rows or columns, bytes decide the time, not operations.
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

// Shapes that no list names; a seed always gives the same ones. Extents are log-uniform from 8 to 16384, and
// in most problems multiples of 8, 64 or 256. All four layouts occur, for e4m3 one. One problem in eight is
// batched. A problem has at most 2^40 operations and 2^31 bytes.
inline std::vector<problem> random_problems(const std::vector<element>& types, std::size_t count,
                                            std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](std::uint64_t n) { return engine() % n; };
  const auto extent = [&](double least, double most) {
    const double unit = static_cast<double>(engine() >> 11) * 0x1p-53;
    return static_cast<std::int64_t>(least * std::pow(most / least, unit));
  };
  std::vector<problem> result;
  while (result.size() < count) {
    problem p;
    p.type = types[below(types.size())];
    p.m = extent(8, 16384);
    p.n = extent(8, 16384);
    p.k = extent(8, 16384);
    if (const std::uint64_t kind = below(4); kind != 0) {
      const std::int64_t multiple = kind == 1 ? 8 : kind == 2 ? 64 : 256;
      for (std::int64_t* x : {&p.m, &p.n, &p.k})
        if (*x > multiple / 2) *x = (*x + multiple - 1) / multiple * multiple;
    }
    p.batch = below(8) == 0 ? extent(2, 64) : 1;
    p.a_transposed = p.type != element::e4m3 && below(2) == 0;
    p.b_transposed = p.type == element::e4m3 || below(2) == 0;
    if (p.operations() <= 0x1p40 && p.bytes() <= 0x1p31) result.push_back(p);
  }
  return result;
}

// Small enough for the emulator.
inline std::vector<problem> tiny_problems(element type) {
  const bool transposed = type == element::e4m3;
  return {{type, 64, 64, 64, 1, false, transposed}, {type, 48, 80, 32, 2, false, transposed}};
}

}  // namespace kaio::bench
