// Checks a call of matmul_fp8 before anything runs. matmul checks what the two share.

#include <kaio/runtime/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ops/matmul/call/view.hpp"
#include "ops/matmul_8bit/common/vector_checks.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

bool is_float8(const matmul_view& v) { return v.type == element_kind::e4m3 || v.type == element_kind::e5m2; }

// Computes C^T = B^T * A^T if C is column-major: no kernel writes such a C.
struct exchanged_call {
  detail::matmul_fp8_arguments arguments;
  matmul_fp8_options options;
  explicit exchanged_call(const detail::matmul_fp8_arguments& from)
      : arguments(from), options(*from.options) {
    arguments.a = transposed(from.b);
    arguments.b = transposed(from.a);
    arguments.c = transposed(from.c);
    arguments.options = &options;
    std::swap(options.scale_a, options.scale_b);
    options.bias.of_rows = !options.bias.of_rows;
    options.residual = transposed(options.residual);
  }
};
bool is_column_major(const matmul_view& c) {
  return c.rank >= 2 && c.strides[c.rank - 1] != 1 && c.strides[c.rank - 2] == 1 && c.extents[c.rank - 1] > 1;
}

// Group scales. In the last two extents, extent `line` is `lines` (rows of A, or blocks of 128 columns of C),
// the other is the number of groups.
struct group_argument {
  std::string_view name;
  const matmul_view& v;
  std::size_t line;
  std::int64_t lines;
  std::string_view reason;
};

matmul_term group_term(std::string_view operation, const vector_checks& check, const matmul_view& c,
                       std::int64_t groups, const group_argument& x) {
  const matmul_view& v = x.v;
  const std::string argument = "argument " + std::string(x.name);
  if (v.type != element_kind::f32) refuse(operation, argument + " is not of f32");
  if (v.rank < 2 || v.rank > c.rank)
    refuse(operation, argument + " has " + std::to_string(v.rank) +
                          " dimensions; it is a matrix, or with the batch of c first one for each product");
  check.check().input(x.name, v);
  const std::size_t first = v.rank - 2;
  check.check().extent(x.name, v, first + x.line, x.lines, x.reason);
  check.check().extent(x.name, v, first + 1 - x.line, groups, "one number for each 128 of K");
  if (v.rank == 3 && v.extents[0] != 1)
    check.check().extent(x.name, v, 0, c.extents[0], "the batches of c, or one for all");
  check.check().apart("c", c, x.name, v);
  return {v.address,
          v.rank == 3 && v.extents[0] != 1 ? v.strides[0] : 0,
          v.strides[first],
          v.strides[first + 1],
          static_cast<u32>(term_type::f32),
          0};
}

// Whether fp8_scaled (with groups: fp8_alpha) computes the whole epilogue.
bool is_plain(const fp8_terms& terms, bool has_groups) {
  const matmul_terms& rest = terms.general;
  if (has_groups)
    return rest.residual.type == 0 && rest.activation == 0 && rest.bias.type == 0 &&
           terms.scale_a.type == 0 && terms.scale_b.type == 0;
  return rest.residual.type == 0 && rest.activation == 0 && is_f32_or_none(terms.scale_a) &&
         is_f32_or_none(terms.scale_b) && is_f32_or_none(rest.bias) && rest.bias.row == 0;
}

}  // namespace

fp8_call resolve_matmul_fp8(const void* device, const detail::matmul_fp8_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const matmul_fp8_options& options = *arguments.options;
  const matmul_view &a = arguments.a, &b = arguments.b, &c = arguments.c;
  const bool has_groups = options.groups_a.exists();
  if (!is_float8(a) || !is_float8(b)) refuse(operation, "arguments a and b are not of e4m3 or e5m2");
  if (c.type > element_kind::e4m3)
    refuse(operation, "output c is of e5m2 or of integers; it is f32, f16, bf16 or e4m3");
  if (options.bias.vector.exists() && options.bias.vector.type > element_kind::bf16)
    refuse(operation, "argument bias is of 8-bit numbers or i32; it is f32, f16 or bf16");
  if (has_groups != options.blocks_b.exists())
    refuse(operation, "groups_a and blocks_b belong together; give both, or neither");
  const matmul_options shared{.alpha = options.alpha,
                              .bias = options.bias,
                              .residual = options.residual,
                              .activation = options.activation,
                              .constant = options.constant};
  const vector_checks check(operation, device, c);
  const vector_argument scale_a{"scale_a", options.scale_a, true, true},
      scale_b{"scale_b", options.scale_b, false, true};
  if (is_column_major(c) && !has_groups) {
    // The caller's arguments are checked first, so that errors use the caller's names.
    detail::resolve_matmul(device, {operation, a, b, c, &shared, true}, true);
    check.scale(scale_a);
    check.scale(scale_b);
    const exchanged_call exchanged(arguments);
    fp8_call call = resolve_matmul_fp8(device, exchanged.arguments);
    std::swap(call.constant_a, call.constant_b);
    return call;
  }

  fp8_call call{
      detail::resolve_matmul(device, {operation, a, b, c, &shared, true}, false), b.type, has_groups, {}};
  fp8_terms& terms = call.epilogue;
  terms.scale_a = check.scale(scale_a);
  terms.scale_b = check.scale(scale_b);
  if (has_groups) {
    const auto in_parts = [](std::int64_t x) { return x / promoted_k + (x % promoted_k != 0 ? 1 : 0); };
    const std::int64_t groups = in_parts(a.extents[a.rank - 1]);
    terms.groups = static_cast<u32>(groups);
    terms.groups_a = group_term(operation, check, c, groups,
                                {"groups_a", options.groups_a, 0, c.extents[c.rank - 2], "the rows of a"});
    terms.blocks_b = group_term(operation, check, c, groups,
                                {"blocks_b", options.blocks_b, 1, in_parts(c.extents[c.rank - 1]),
                                 "one number for each 128 columns of b"});
  }
  terms.out_scale = options.out_scale;
  if (!(std::isfinite(options.out_scale) && options.out_scale > 0))
    refuse(operation, "out_scale is not above 0 and finite");
  if (c.type != element_kind::e4m3 && options.out_scale != 1)
    refuse(operation, "out_scale with an output that is not of e4m3; scale by alpha");
  terms.general = call.terms;
  call.terms.plain = is_plain(terms, has_groups) ? 1 : 0;
  return call;
}

}  // namespace kaio::ops
