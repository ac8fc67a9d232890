#pragma once
// Checks of the weights of a projection, and of the scales of its hidden states, before anything runs.

#include <kaio/ops/qkv_project/call/arguments.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

struct weight_checks {
  const qkv_arguments& a;
  const validation& check;
  std::int64_t k;
  std::vector<named_argument>& inputs;  // given arguments are appended

  // Checks a weight of n outputs.
  void check_weight(std::string_view name, const projection_weight& w, std::int64_t n) const;
  void check_x_scales(std::int64_t rows) const;

 private:
  [[noreturn]] void wrong(const std::string& what) const { refuse(a.operation, what); }
  std::int64_t groups() const { return (k + 127) / 128; }
  void check_matrix(const std::string& name, const any_view& m, std::int64_t n) const;
  void check_blocks(const std::string& name, const any_view& blocks, std::int64_t n) const;
};

}  // namespace kaio::ops::detail
