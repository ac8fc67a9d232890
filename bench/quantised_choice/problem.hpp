#pragma once
// Random products of matmul_fp8 and matmul_int8, the same ones for the same seeds: shapes of several classes,
// outputs, scales, epilogues, and lines that begin at multiples of 16 bytes or elsewhere.
//
//   const quantised_problem p = quantised_problem::draw(7);
//   const ops::fp8_call call = p.fp8_call_of(memory);

#include "bench/matmul_choice/random_problem.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::bench {

// Where the memory of a problem begins, at multiples of 256 bytes.
struct quantised_memory {
  const void* device = nullptr;
  std::uint64_t a = 0, b = 0, c = 0, scales = 0, residual = 0;
};

struct quantised_problem {
  static constexpr std::string_view scale_names[] = {"none", "one", "vectors", "groups"};
  enum class scales_of : std::uint8_t { none, one, vectors, groups };

  std::uint64_t seed = 0;
  bool is_fp8 = false;
  std::string_view shape_class;
  ops::element_kind output = ops::element_kind::bf16;
  scales_of scales = scales_of::vectors;
  bool is_general = false;  // an activation and a residual
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t pitch_k = 0, pitch_n = 0;  // elements from line to line of A and B, and of C

  static quantised_problem draw(std::uint64_t seed) {
    detail::draws draws(seed);
    quantised_problem p;
    p.seed = seed;
    p.is_fp8 = draws.chance(3, 5);
    if (draws.chance(1, 3)) {
      p.shape_class = "any";
      p.m = draws.extent(16, 8192);
      p.n = draws.extent(16, 8192);
      p.k = draws.extent(16, 8192);
    } else if (draws.chance(1, 3)) {
      p.shape_class = "rows";
      p.m = draws.chance(1, 2) ? draws.extent(17, 64) : draws.extent(17, 512);
      p.n = draws.extent(64, 24576);
      p.k = draws.chance(1, 2) ? draws.extent(64, 1500) : draws.extent(64, 16384);
    } else if (draws.chance(2, 5)) {
      p.shape_class = "large";
      p.m = draws.extent(256, 8192);
      p.n = draws.extent(256, 8192);
      p.k = draws.extent(256, 16384);
    } else if (draws.chance(1, 2)) {
      p.shape_class = "few rows";
      p.m = draws.extent(1, 128);
      p.n = draws.extent(512, 16384);
      p.k = draws.extent(512, 16384);
    } else {
      p.shape_class = "small";
      p.m = draws.extent(16, 1024);
      p.n = draws.extent(16, 1024);
      p.k = draws.extent(16, 2048);
    }
    // Extents of layers are multiples of powers of two.
    const std::int64_t unit = draws.chance(1, 2) ? 128 : draws.chance(3, 4) ? 16 : draws.chance(1, 2) ? 8 : 1;
    const auto whole = [&](std::int64_t x) { return std::max(x / unit * unit, unit); };
    p.n = whole(p.n);
    p.k = whole(p.k);
    if (!p.shape_class.ends_with("rows") && draws.chance(1, 2)) p.m = whole(p.m);
    const bool is_aligned = draws.chance(9, 10);
    p.pitch_k = is_aligned ? (p.k + 15) / 16 * 16 : p.k;
    p.pitch_n = is_aligned ? (p.n + 15) / 16 * 16 : p.n;
    constexpr ops::element_kind of_fp8[] = {ops::element_kind::bf16, ops::element_kind::bf16,
                                            ops::element_kind::f16, ops::element_kind::f32};
    constexpr ops::element_kind of_int8[] = {ops::element_kind::bf16, ops::element_kind::f16,
                                             ops::element_kind::f32, ops::element_kind::i32};
    p.output = (p.is_fp8 ? of_fp8 : of_int8)[draws.below(4)];
    p.scales = static_cast<scales_of>(draws.below(p.is_fp8 ? 6 : 3) % 4);
    if (p.is_fp8 && p.scales == scales_of::none) p.scales = scales_of::groups;
    p.is_general = draws.chance(1, 6);
    if (p.output == ops::element_kind::i32) {
      p.scales = scales_of::none;
      p.is_general = false;
    }
    return p;
  }

  std::uint64_t bytes_of_a() const { return static_cast<std::uint64_t>(m * pitch_k); }
  std::uint64_t bytes_of_b() const { return static_cast<std::uint64_t>(n * pitch_k); }
  std::uint64_t bytes_of_c() const { return static_cast<std::uint64_t>(m * pitch_n) * ops::bytes_of(output); }
  // f32, of all scales, one after the other.
  std::uint64_t scale_count() const {
    return static_cast<std::uint64_t>((m + (n + 127) / 128) * groups() + m + n);
  }
  std::int64_t groups() const { return (k + 127) / 128; }

  ops::fp8_call fp8_call_of(const quantised_memory& memory) const {
    ops::matmul_fp8_options options;
    set(options, memory);
    if (scales == scales_of::groups) {
      options.groups_a = view(ops::element_kind::f32, memory.device, memory.scales, m, groups(), 1, m);
      options.blocks_b = view(ops::element_kind::f32, memory.device,
                              memory.scales + static_cast<std::uint64_t>(m * groups()) * sizeof(f32),
                              groups(), (n + 127) / 128, 1, groups());
    }
    constexpr auto type = ops::element_kind::e4m3;
    return ops::resolve_matmul_fp8(memory.device,
                                   {"matmul_fp8", a(type, memory), b(type, memory), c(memory), &options});
  }
  ops::int8_call int8_call_of(const quantised_memory& memory) const {
    ops::matmul_int8_options options;
    set(options, memory);
    constexpr auto type = ops::element_kind::i8;
    return ops::resolve_matmul_int8(memory.device,
                                    {"matmul_int8", a(type, memory), b(type, memory), c(memory), &options});
  }

  // As the fields of a JSON object.
  std::string text() const {
    constexpr std::string_view outputs[] = {"f32", "f16", "bf16", "e4m3", "e5m2", "i8", "i32"};
    const auto number = [](std::string_view name, std::int64_t x) {
      return ", \"" + std::string(name) + "\": " + std::to_string(x);
    };
    const auto word = [](std::string_view name, std::string_view x) {
      return ", \"" + std::string(name) + "\": \"" + std::string(x) + "\"";
    };
    return "\"seed\": " + std::to_string(seed) + word("operation", is_fp8 ? "matmul_fp8" : "matmul_int8") +
           word("class", shape_class) + word("output", outputs[static_cast<std::size_t>(output)]) +
           word("scales", scale_names[static_cast<std::size_t>(scales)]) + number("general", is_general) +
           number("m", m) + number("n", n) + number("k", k) + number("pitch_k", pitch_k) +
           number("pitch_n", pitch_n);
  }

 private:
  static ops::matmul_view view(ops::element_kind type, const void* device, std::uint64_t address,
                               std::int64_t rows, std::int64_t columns, std::int64_t row,
                               std::int64_t column) {
    ops::matmul_view v;
    v.type = type;
    v.rank = 2;
    v.address = address;
    v.bytes = static_cast<std::uint64_t>((rows - 1) * row + (columns - 1) * column + 1) * ops::bytes_of(type);
    v.device = device;
    v.extents = {rows, columns, 0};
    v.strides = {row, column, 0};
    return v;
  }
  static ops::matmul_view vector(const void* device, std::uint64_t address, std::int64_t count) {
    ops::matmul_view v = view(ops::element_kind::f32, device, address, 1, count, count, 1);
    v.rank = 1;
    v.extents = {count, 0, 0};
    v.strides = {1, 0, 0};
    return v;
  }
  ops::matmul_view a(ops::element_kind type, const quantised_memory& memory) const {
    return view(type, memory.device, memory.a, m, k, pitch_k, 1);
  }
  ops::matmul_view b(ops::element_kind type, const quantised_memory& memory) const {
    return view(type, memory.device, memory.b, k, n, 1, pitch_k);
  }
  ops::matmul_view c(const quantised_memory& memory) const {
    return view(output, memory.device, memory.c, m, n, pitch_n, 1);
  }
  // The scales that both operations have.
  template <class Options>
  void set(Options& options, const quantised_memory& memory) const {
    const bool is_one = scales == scales_of::one;
    if (is_one || scales == scales_of::vectors) {
      const std::int64_t of_a = is_one ? 1 : m, of_b = is_one ? 1 : n;
      options.scale_a = vector(memory.device, memory.scales, of_a);
      options.scale_b =
          vector(memory.device, memory.scales + static_cast<std::uint64_t>(of_a) * sizeof(f32), of_b);
    }
    if (is_general) {
      options.activation = ops::matmul_activation::silu;
      options.residual = view(ops::element_kind::f16, memory.device, memory.residual, m, n, n, 1);
    }
  }
};

}  // namespace kaio::bench
