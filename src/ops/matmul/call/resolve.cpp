// The checks of a matmul before anything runs, and the normalisation of the caller's views.

#include <kaio/ops/matmul/call/call.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/error.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

// Rows, columns and batches of a view of two or three dimensions, with their strides.
struct matrix {
  std::int64_t rows, columns, batches, row, column, batch;
  static matrix of(const matmul_view& v) {
    const std::size_t r = v.rank - 2;
    return {v.extents[r], v.extents[r + 1], v.rank == 3 ? v.extents[0] : 1,
            v.strides[r], v.strides[r + 1], v.rank == 3 && v.extents[0] != 1 ? v.strides[0] : 0};
  }
};

// An operand before the direction of its lines is known: `across` is M for A, N for B.
struct operand_sides {
  std::string_view name;
  const matmul_view* view;
  std::int64_t across, across_stride, k, k_stride, batch_stride;
};

matmul_operand lines_of(std::string_view operation, const operand_sides& sides) {
  matmul_operand result;
  result.address = sides.view->address;
  result.bytes = sides.view->bytes;
  result.device = sides.view->device;
  result.batch_pitch = static_cast<std::uint64_t>(sides.batch_stride);
  const bool along = sides.k_stride == 1 || sides.k <= 1;
  const bool across = sides.across_stride == 1 || sides.across <= 1;
  if (!along && !across)
    refuse(operation, "argument " + std::string(sides.name) + " has strides " +
                          std::to_string(sides.view->strides[sides.view->rank - 2]) + " and " +
                          std::to_string(sides.view->strides[sides.view->rank - 1]) +
                          "; one of the last two must be 1: copy the matrix to memory of its own");
  // If both directions are possible, one of the extents is 1; lines then go along the other one, which is
  // contiguous.
  const bool takes_across =
      !along || (across && sides.k <= 1 && sides.across_stride == 1 && sides.across > 1);
  result.lines = takes_across ? line_direction::across_k : line_direction::along_k;
  const std::int64_t length = takes_across ? sides.across : sides.k;
  const std::int64_t count = takes_across ? sides.k : sides.across;
  const std::int64_t stride = takes_across ? sides.k_stride : sides.across_stride;
  constexpr std::int64_t sixteen = 16;  // elements: a pitch that tensor copies take, for any type
  result.pitch = static_cast<std::uint64_t>(count > 1 ? stride : (length + sixteen - 1) / sixteen * sixteen);
  return result;
}

matmul_term term_of(const matmul_view& view, i64 batch, i64 row, i64 column) {
  const term_type type = view.type == element_kind::f32   ? term_type::f32
                         : view.type == element_kind::f16 ? term_type::f16
                                                          : term_type::bf16;
  return {view.address, batch, row, column, static_cast<u32>(type), 0};
}

void check_bias(const validation& check, const matmul_bias& bias, const matrix& c,
                const matmul_view& c_view) {
  const matmul_view& v = bias.vector;
  check.input("bias", v);
  check.extent("bias", v, v.rank - 1, bias.of_rows ? c.rows : c.columns,
               bias.of_rows ? "one number for each row of c" : "one number for each column of c");
  if (v.rank == 2 && v.extents[0] != 1)
    check.extent("bias", v, 0, c.batches, "one vector for each product of the batch, or one for all");
  check.apart("c", c_view, "bias", v);
}

void check_residual(const validation& check, std::string_view operation, const matmul_view& v,
                    const matrix& c, const matmul_view& c_view) {
  if (v.rank < 2 || v.rank > c_view.rank)
    refuse(operation,
           "argument residual has " + std::to_string(v.rank) + " dimensions; it has those of c, or two");
  check.input("residual", v);
  check.extent("residual", v, v.rank - 2, c.rows, "the rows of c");
  check.extent("residual", v, v.rank - 1, c.columns, "the columns of c");
  if (v.rank == 3 && v.extents[0] != 1)
    check.extent("residual", v, 0, c.batches, "the batches of c, or one for all");
  // The residual may be C: the thread that writes an element of C has read it before.
  const bool is_c = v.type == c_view.type && v.address == c_view.address && v.rank == c_view.rank &&
                    v.extents == c_view.extents && v.strides == c_view.strides;
  if (!is_c) check.apart("c", c_view, "residual", v);
}

void check_workspace(const validation& check, const workspace_view& w, const matmul_arguments& of) {
  if (w.address == 0) return;
  check.workspace("workspace", w.facts(), 1, 1);
  check.workspace_apart(w.facts(), "a", of.a);
  check.workspace_apart(w.facts(), "b", of.b);
  check.workspace_apart(w.facts(), "c", of.c);
  if (of.options->bias.vector.exists()) check.workspace_apart(w.facts(), "bias", of.options->bias.vector);
  if (of.options->residual.exists()) check.workspace_apart(w.facts(), "residual", of.options->residual);
}

// Batches become rows if all share B and the rows of each batch follow those of the one before.
void join_batches(matmul_call& call) {
  if (call.batches <= 1 || call.b.batch_pitch != 0 || call.a.lines != line_direction::along_k) return;
  if (call.m * call.batches > static_cast<std::uint64_t>(most_extent)) return;
  const auto rows_follow = [&](std::uint64_t row, std::uint64_t batch) {
    return call.m == 1 || batch == call.m * row;
  };
  const auto term_follows = [&](const matmul_term& t) {
    return t.type == 0 || rows_follow(static_cast<std::uint64_t>(t.row), static_cast<std::uint64_t>(t.batch));
  };
  if (!rows_follow(call.a.pitch, call.a.batch_pitch) || !rows_follow(call.c.pitch, call.c.batch_pitch) ||
      !term_follows(call.terms.c) || !term_follows(call.terms.bias) || !term_follows(call.terms.residual))
    return;
  if (call.m == 1) {
    call.a.pitch = call.a.batch_pitch;
    call.c.pitch = call.c.batch_pitch;
    for (matmul_term* t : {&call.terms.c, &call.terms.bias, &call.terms.residual}) t->row = t->batch;
  }
  for (matmul_term* t : {&call.terms.c, &call.terms.bias, &call.terms.residual}) t->batch = 0;
  call.m *= call.batches;
  call.batches = 1;
  call.a.batch_pitch = call.c.batch_pitch = 0;
}

}  // namespace

matmul_call resolve_matmul(const void* device, const matmul_arguments& arguments, bool may_rearrange) {
  const std::string_view operation = arguments.operation;
  const matmul_options& options = *arguments.options;
  const matmul_view &a_view = arguments.a, &b_view = arguments.b, &c_view = arguments.c;
  const validation check(operation, device);
  for (const matmul_view* v : {&a_view, &b_view, &c_view})
    if (v->rank < 2) refuse(operation, "a view of fewer than two dimensions; a matrix has rows and columns");
  if (!arguments.types_are_checked) {
    if (a_view.type != b_view.type)
      refuse(operation, "arguments a and b have different element types; cast one of them");
    for (const matmul_view* v : {&a_view, &b_view})
      if (v->type > element_kind::e5m2)
        refuse(operation, "operands of integers; matmul_int8 multiplies those of i8");
    if (c_view.type > element_kind::bf16)
      refuse(operation, "output c is of 8-bit floats or integers; it is f32, f16 or bf16");
  }
  check.input("a", a_view);
  check.input("b", b_view);
  check.output("c", c_view);

  const matrix a = matrix::of(a_view), b = matrix::of(b_view), c = matrix::of(c_view);
  check.extent("a", a_view, a_view.rank - 2, c.rows, "the rows of c");
  check.extent("b", b_view, b_view.rank - 2, a.columns, "the columns of a");
  check.extent("b", b_view, b_view.rank - 1, c.columns, "the columns of c");
  for (const auto& [name, view] : {std::pair{"a", &a_view}, std::pair{"b", &b_view}}) {
    if (view->rank > c_view.rank)
      refuse(operation,
             "argument " + std::string(name) + " is a batch, and output c is none; give c three dimensions");
    if (view->rank == 3 && view->extents[0] != 1)
      check.extent(name, *view, 0, c.batches, "the batches of c, or one for all");
    for (std::size_t d = 0; d < view->rank; ++d) check.at_most(name, *view, d, most_extent);
  }
  for (std::size_t d = 0; d < c_view.rank; ++d) check.at_most("c", c_view, d, most_extent);
  check.apart("c", c_view, "a", a_view);
  check.apart("c", c_view, "b", b_view);
  if (options.bias.vector.exists()) check_bias(check, options.bias, c, c_view);
  if (options.residual.exists()) {
    if (options.residual.type > element_kind::bf16)
      refuse(operation, "argument residual is of 8-bit floats or integers; it is f32, f16 or bf16");
    check_residual(check, operation, options.residual, c, c_view);
  }
  check_workspace(check, options.workspace, arguments);
  if (options.activation > matmul_activation::silu)
    refuse(operation, "an activation that is none of matmul_activation");
  if (options.precision > matmul_precision::tf32x3) refuse(operation, "an invalid precision");

  matmul_call call;
  call.operand = a_view.type;
  call.output = c_view.type;
  call.precision = a_view.type == element_kind::f32 ? options.precision : matmul_precision::ieee;
  call.workspace = options.workspace;
  call.constant_a = has_any(options.constant, constant_inputs::a);
  call.constant_b = has_any(options.constant, constant_inputs::b);
  call.m = static_cast<std::uint64_t>(c.rows);
  call.n = static_cast<std::uint64_t>(c.columns);
  call.k = options.alpha == 0 ? 0 : static_cast<std::uint64_t>(a.columns);
  call.batches = static_cast<std::uint64_t>(c.batches);
  if (call.empty()) return call;

  call.terms.alpha = options.alpha;
  call.terms.beta = options.beta;
  call.terms.activation = static_cast<u32>(options.activation);
  if (options.beta != 0) call.terms.c = term_of(c_view, c.batch, c.row, c.column);
  if (options.bias.vector.exists()) {
    const matmul_view& v = options.bias.vector;
    const i64 step = v.strides[v.rank - 1], batch = v.rank == 2 && v.extents[0] != 1 ? v.strides[0] : 0;
    call.terms.bias = options.bias.of_rows ? term_of(v, batch, step, 0) : term_of(v, batch, 0, step);
  }
  if (options.residual.exists()) {
    const matrix r = matrix::of(options.residual);
    call.terms.residual = term_of(options.residual, r.batch, r.row, r.column);
  }
  call.terms.plain = call.terms.is_plain() ? 1 : 0;

  operand_sides a_sides{"a", &a_view, a.rows, a.row, a.columns, a.column, a.batch};
  operand_sides b_sides{"b", &b_view, b.columns, b.column, b.rows, b.row, b.batch};
  const bool by_rows = c.column == 1 || c.columns == 1, by_columns = c.row == 1 || c.rows == 1;
  if (!by_rows && !by_columns)
    refuse(operation, "output c has strides " + std::to_string(c.row) + " and " + std::to_string(c.column) +
                          "; one of the last two must be 1: write to memory of its own, and copy");
  if (!by_rows && !may_rearrange)
    refuse(operation, "output c is column-major; here it must be row-major: exchange the operands");
  std::int64_t c_pitch = c.rows == 1 ? (c.columns + 15) / 16 * 16 : c.row;
  if (may_rearrange && (!by_rows || (c.columns == 1 && c.row == 1 && c.rows > 1))) {
    std::swap(a_sides, b_sides);
    std::swap(call.m, call.n);
    std::swap(call.constant_a, call.constant_b);
    for (matmul_term* t : {&call.terms.c, &call.terms.bias, &call.terms.residual})
      std::swap(t->row, t->column);
    call.exchanged = true;
    c_pitch = call.m == 1 ? (static_cast<std::int64_t>(call.n) + 15) / 16 * 16 : c.column;
  }
  call.c.address = c_view.address;
  call.c.bytes = c_view.bytes;
  call.c.device = c_view.device;
  call.c.pitch = static_cast<std::uint64_t>(c_pitch);
  call.c.batch_pitch = static_cast<std::uint64_t>(c.batch);
  if (call.k != 0) {
    call.a = lines_of(operation, a_sides);
    call.b = lines_of(operation, b_sides);
    if (may_rearrange) join_batches(call);
  }
  return call;
}

}  // namespace kaio::ops::detail
