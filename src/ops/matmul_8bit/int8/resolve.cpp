// Checks a call of matmul_int8 before anything runs. matmul checks what the two share.

#include <kaio/runtime/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "ops/matmul_8bit/common/vector_checks.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

// Whether int8_scaled computes the whole epilogue.
bool is_scaled(const int8_terms& terms) {
  const matmul_terms& rest = terms.general;
  return terms.zero_a.type == 0 && rest.residual.type == 0 && rest.activation == 0 &&
         is_f32_or_none(terms.scale_a) && is_f32_or_none(terms.scale_b) && is_f32_or_none(rest.bias) &&
         rest.bias.row == 0;
}

// Kernels read A by rows. If K is 1, a column-major A has rows of one element.
void take_rows_of_a(std::string_view operation, matmul_call& call, const matmul_view& a) {
  if (call.a.lines == line_direction::along_k) return;
  if (call.k > 1)
    refuse(operation,
           "argument a is column-major; its rows must be contiguous: copy the matrix to memory of its own");
  call.a.lines = line_direction::along_k;
  call.a.pitch = static_cast<std::uint64_t>(a.strides[a.rank - 2]);
}

}  // namespace

int8_call resolve_matmul_int8(const void* device, const detail::matmul_int8_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const matmul_int8_options& options = *arguments.options;
  const matmul_view &a = arguments.a, &b = arguments.b, &c = arguments.c;
  if (a.type != element_kind::i8 || b.type != element_kind::i8)
    refuse(operation, "arguments a and b are not of i8");
  if (c.type == element_kind::e4m3 || c.type == element_kind::e5m2)
    refuse(operation, "output c is of 8-bit floats; it is f32, f16, bf16, i8 or i32");
  if (options.bias.vector.exists() && options.bias.vector.type > element_kind::bf16)
    refuse(operation, "argument bias is of 8-bit numbers or i32; it is f32, f16 or bf16");

  const matmul_options shared{.alpha = options.alpha,
                              .bias = options.bias,
                              .residual = options.residual,
                              .activation = options.activation,
                              .constant = options.constant};
  int8_call call{detail::resolve_matmul(device, {operation, a, b, c, &shared, true}, false), {}};
  const vector_checks check(operation, device, c);
  int8_terms& terms = call.epilogue;
  terms.scale_a = check.scale({"scale_a", options.scale_a, true, true});
  terms.scale_b = check.scale({"scale_b", options.scale_b, false, true});
  terms.zero_a = check.integers({"zero_a", options.zero_a, true, true});
  terms.column_sums = check.integers({"column_sums", options.column_sums, false, false});
  if (options.zero_a.exists() != options.column_sums.exists())
    refuse(operation, "zero_a and column_sums belong together; give both, or neither");
  terms.out_scale = options.out_scale;
  if (!(std::isfinite(options.out_scale) && options.out_scale > 0))
    refuse(operation, "out_scale is not above 0 and finite");
  if (c.type != element_kind::i8 && options.out_scale != 1)
    refuse(operation, "out_scale with an output that is not of i8; scale by alpha");
  if (c.type == element_kind::i32 &&
      (options.scale_a.exists() || options.scale_b.exists() || options.alpha != 1 ||
       options.bias.vector.exists() || options.residual.exists() ||
       options.activation != matmul_activation::none))
    refuse(operation,
           "output c is of i32, which holds the sums; a scale, alpha, bias, activation or residual needs "
           "f32, f16, bf16 or i8");
  terms.general = call.terms;
  call.terms.plain = is_scaled(terms) ? 1 : 0;
  if (!call.empty() && call.k != 0) take_rows_of_a(operation, call, a);
  return call;
}

}  // namespace kaio::ops
