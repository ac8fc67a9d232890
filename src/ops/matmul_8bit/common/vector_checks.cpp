#include "ops/matmul_8bit/common/vector_checks.hpp"

#include <kaio/runtime/error.hpp>

#include <cstdint>
#include <string>

namespace kaio::ops {

namespace {

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

matmul_term term_of(const vector_argument& x, u32 type) {
  const matmul_view& v = x.v;
  const i64 step = v.extents[v.rank - 1] == 1 ? 0 : v.strides[v.rank - 1];
  const i64 batch = v.rank == 2 && v.extents[0] != 1 ? v.strides[0] : 0;
  return {v.address, batch, x.of_rows ? step : 0, x.of_rows ? 0 : step, type, 0};
}

static_assert(static_cast<u32>(term_type::f32) == static_cast<u32>(element_kind::f32) + 1 &&
              static_cast<u32>(term_type::f16) == static_cast<u32>(element_kind::f16) + 1 &&
              static_cast<u32>(term_type::bf16) == static_cast<u32>(element_kind::bf16) + 1);

}  // namespace

void vector_checks::vector(const vector_argument& x) const {
  const matmul_view& v = x.v;
  if (v.rank > 2)
    refuse(operation_, "argument " + std::string(x.name) + " has " + std::to_string(v.rank) +
                           " dimensions; it is a vector, or one for each product of a batch");
  check_.input(x.name, v);
  const std::int64_t expected = c_.extents[c_.rank - (x.of_rows ? 2 : 1)];
  if (!x.may_repeat || v.extents[v.rank - 1] != 1)
    check_.extent(x.name, v, v.rank - 1, expected,
                  x.of_rows ? "one number for each row of c" : "one number for each column of c");
  if (v.rank == 2 && v.extents[0] != 1)
    check_.extent(x.name, v, 0, c_.rank == 3 ? c_.extents[0] : 1,
                  "one vector for each product of the batch, or one for all");
  check_.apart("c", c_, x.name, v);
}

matmul_term vector_checks::scale(const vector_argument& x) const {
  if (!x.v.exists()) return {};
  if (x.v.type > element_kind::bf16)
    refuse(operation_,
           "argument " + std::string(x.name) + " is of 8-bit numbers or i32; a scale is f32, f16 or bf16");
  vector(x);
  return term_of(x, static_cast<u32>(x.v.type) + 1);
}

matmul_term vector_checks::integers(const vector_argument& x) const {
  if (!x.v.exists()) return {};
  if (x.v.type != element_kind::i32) refuse(operation_, "argument " + std::string(x.name) + " is not of i32");
  vector(x);
  return term_of(x, 1);
}

bool is_f32_or_none(const matmul_term& x) {
  return x.type == 0 || x.type == static_cast<u32>(term_type::f32);
}

}  // namespace kaio::ops
