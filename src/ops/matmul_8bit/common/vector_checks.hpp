#pragma once
// Checks the vectors of a quantised product: one number per row or column of C, or one for all.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <string_view>

namespace kaio::ops {

// A vector with one number per row (of_rows) or column of C, or one for all if it may repeat. With two
// dimensions: one vector per product.
struct vector_argument {
  std::string_view name;
  const matmul_view& v;
  bool of_rows, may_repeat;
};

class vector_checks {
 public:
  vector_checks(std::string_view operation, const void* device, const matmul_view& c)
      : operation_(operation), check_(operation, device), c_(c) {}

  // A scale of f32, f16 or bf16.
  matmul_term scale(const vector_argument& x) const;
  // An i32 term; its type says f32.
  matmul_term integers(const vector_argument& x) const;

  const validation& check() const { return check_; }

 private:
  void vector(const vector_argument& x) const;

  std::string_view operation_;
  validation check_;
  const matmul_view& c_;
};

// Whether a term is none or f32.
bool is_f32_or_none(const matmul_term& x);

}  // namespace kaio::ops
