#pragma once
// A thread's scores in the kernels by multiply-adds, forward and backward.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

// Scores of Rows queries x Columns keys, for operands T. Neighbouring keys are Apart keys apart.
template <class T, std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Apart = 16>
struct simt_scores {
  using element = T;
  static constexpr std::uint32_t rows = Rows;
  static constexpr bool exact = true;
  dsl::register_array<var<f32>, Rows * Columns>* sums;
  static constexpr std::uint32_t size() { return Rows * Columns; }
  static constexpr std::uint32_t row(std::uint32_t i) { return i / Columns; }
  static constexpr std::uint32_t column(std::uint32_t i) { return i % Columns * Apart; }
  constexpr var<f32>& operator[](std::uint32_t i) const { return (*sums)[i]; }
};

}  // namespace kaio::ops
