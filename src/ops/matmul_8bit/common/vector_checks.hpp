#pragma once
// The checks of what a quantised product has besides its operands: vectors with one number for each row or column of
// C, or one for all.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <string_view>

namespace kaio::ops {

// A vector with one number for each row (column) of C, or, where it may repeat, one for all; with two dimensions, one
// vector for each product.
struct vector_argument {
  std::string_view name;
  const matmul_view& v;
  bool of_rows, may_repeat;
};

class vector_checks {
 public:
  vector_checks(std::string_view operation, const void* device, const matmul_view& c)
      : operation_(operation), check_(operation, device), c_(c) {}

  // A scale, of a floating type.
  matmul_term scale(const vector_argument& x) const;
  // A term of i32, which it calls f32.
  matmul_term integers(const vector_argument& x) const;

  const validation& check() const { return check_; }

 private:
  void vector(const vector_argument& x) const;

  std::string_view operation_;
  validation check_;
  const matmul_view& c_;
};

// Whether a term is none, or of f32.
bool is_f32_or_none(const matmul_term& x);

}  // namespace kaio::ops
