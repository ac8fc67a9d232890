// The gradients of a product, by the kernels of matmul, and the kernel that rounds an f32 gradient to the
// type of the operands.

#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/error.hpp>

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <string>

#include "ops/matmul/call/view.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "matmul_backward";
constexpr std::uint64_t alignment = 256;  // bytes, for what follows the rounded gradient in the workspace

struct rounding_problem {
  i64 batch, row, column;  // strides of the gradient
  u64 pitch;               // elements from one rounded row to the next; nothing else is padded
  u64 columns, elements;   // elements per row, per matrix
};

template <dsl::scalar To>
inline constexpr auto round_gradient = kaio::kernel<"matmul_round_gradient_" + dsl::type_name<To>, 256>(
    [](thread t, in<f32> x, out<To> y, val<rounding_problem> p, val<u64> count) {
      const val i = t.let(cast<u64>(block_idx_x()) * 256ull + cast<u64>(t.thread_rank()));
      if (auto inside = t.when(i < count)) {
        const val line = t.let(i / p[&rounding_problem::columns]);
        const val column = t.let(i % p[&rounding_problem::columns]);
        const val batch = t.let(i / p[&rounding_problem::elements]);
        const val row = t.let(i % p[&rounding_problem::elements] / p[&rounding_problem::columns]);
        const val from = t.let(cast<i64>(batch) * p[&rounding_problem::batch] +
                               cast<i64>(row) * p[&rounding_problem::row] +
                               cast<i64>(column) * p[&rounding_problem::column]);
        y[line * p[&rounding_problem::pitch] + column] = cast<To>(x[from]);
      }
    });

[[noreturn]] void refuse(const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

// The rounded gradient: rows that begin at multiples of 16 bytes.
struct rounded_form {
  std::uint64_t rows, columns, batches, pitch, bytes;
  static rounded_form of(const matmul_view& dc) {
    rounded_form f{};
    f.rows = static_cast<std::uint64_t>(dc.extents[dc.rank - 2]);
    f.columns = static_cast<std::uint64_t>(dc.extents[dc.rank - 1]);
    f.batches = dc.rank == 3 ? static_cast<std::uint64_t>(dc.extents[0]) : 1;
    f.pitch = (f.columns + 7) / 8 * 8;
    std::uint64_t rows = 0;
    if (__builtin_mul_overflow(f.rows, f.batches, &rows) ||
        __builtin_mul_overflow(rows, f.pitch * 2, &f.bytes))
      refuse("argument dc spans more than 64 bits can count; give smaller extents");
    return f;
  }
};

bool is_rounded(const matmul_view& dc, const matmul_view& a) {
  return dc.type == element_kind::f32 && (a.type == element_kind::f16 || a.type == element_kind::bf16);
}

void check_gradient(const validation& check, const char* name, const matmul_view& gradient, const char* of,
                    const matmul_view& operand, const matmul_view& dc) {
  if (gradient.rank != dc.rank)
    refuse(
        "output " + std::string(name) + " has " + std::to_string(gradient.rank) + " dimensions, and dc has " +
        std::to_string(dc.rank) +
        "; the gradient of an operand that a batch shares is a sum over the batch: reshape the batch into rows");
  check.output(name, gradient);
  for (std::size_t d = 0; d < gradient.rank; ++d)
    check.extent(name, gradient, d, operand.rank == gradient.rank ? operand.extents[d] : -1,
                 "the extents of " + std::string(of));
}

}  // namespace

std::uint64_t matmul_backward_workspace_bytes(const matmul_view& dc, const matmul_view& a) {
  if (dc.rank < 2 || !is_rounded(dc, a)) return 0;
  return rounded_form::of(dc).bytes;
}

void matmul_backward(const stream& s, const matmul_view& dc, const matmul_view& a, const matmul_view& b,
                     const matmul_view& da, const matmul_view& db, const matmul_backward_options& options) {
  s.properties();
  const detail::operation_scope traced(operation);
  const void* const device = s.device_identity();
  const validation check(operation, device);
  for (const matmul_view* v : {&dc, &a, &b})
    if (v->rank < 2) refuse("a view of fewer than two dimensions; a matrix has rows and columns");
  if (a.type != b.type) refuse("arguments a and b have different element types; cast one of them");
  if (a.type > element_kind::bf16) refuse("operands of 8-bit floats have no gradients; take f16 or bf16");
  const bool rounds = is_rounded(dc, a);
  if (!rounds && dc.type != a.type)
    refuse("argument dc has another element type than a and b; it has theirs, or is f32");
  check.input("dc", dc);
  check.input("a", a);
  check.input("b", b);
  const std::int64_t m = dc.extents[dc.rank - 2], n = dc.extents[dc.rank - 1], k = a.extents[a.rank - 1];
  check.extent("a", a, a.rank - 2, m, "the rows of dc");
  check.extent("b", b, b.rank - 2, k, "the columns of a");
  check.extent("b", b, b.rank - 1, n, "the columns of dc");
  if (da.exists()) check_gradient(check, "da", da, "a", a, dc);
  if (db.exists()) check_gradient(check, "db", db, "b", b, dc);
  for (const auto& [name, gradient] : {std::pair{"da", &da}, std::pair{"db", &db}}) {
    if (!gradient->exists()) continue;
    check.apart(name, *gradient, "dc", dc);
    check.apart(name, *gradient, "a", a);
    check.apart(name, *gradient, "b", b);
  }
  if (da.exists() && db.exists()) check.apart("db", db, "da", da);

  // The gradient as it is multiplied, and the rest of the workspace.
  matmul_view upstream = dc;
  matmul_options of_product;
  of_product.alpha = options.alpha;
  of_product.beta = options.accumulate ? 1.0f : 0.0f;
  of_product.precision = options.precision;
  of_product.workspace = options.workspace;
  rounded_form form{};
  if (rounds) {
    form = rounded_form::of(dc);
    check.workspace("workspace", options.workspace.facts(), form.bytes, 16);
    if (options.workspace.address != 0) check.workspace_apart(options.workspace.facts(), "dc", dc);
    upstream.type = a.type;
    upstream.address = options.workspace.address;
    upstream.bytes = form.bytes;
    upstream.device = options.workspace.device;
    const auto pitch = static_cast<std::int64_t>(form.pitch);
    if (dc.rank == 3)
      upstream.strides = {m * pitch, pitch, 1};
    else
      upstream.strides = {pitch, 1, 0};
    const std::uint64_t taken = (form.bytes + alignment - 1) / alignment * alignment;
    const bool has_rest = options.workspace.bytes > taken;
    of_product.workspace.address = has_rest ? options.workspace.address + taken : 0;
    of_product.workspace.bytes = has_rest ? options.workspace.bytes - taken : 0;
  }

  // Both are checked before anything runs.
  matmul_call of_da, of_db;
  if (da.exists())
    of_da = detail::resolve_matmul(device, {operation, upstream, transposed(b), da, &of_product});
  if (db.exists())
    of_db = detail::resolve_matmul(device, {operation, transposed(a), upstream, db, &of_product});
  if (rounds && form.bytes != 0 && (!of_da.empty() || !of_db.empty())) {
    const std::size_t r = dc.rank - 2;
    const rounding_problem problem{
        dc.rank == 3 ? dc.strides[0] : 0, dc.strides[r], dc.strides[r + 1], form.pitch, form.columns,
        form.rows * form.columns};
    const u64 count = form.rows * form.columns * form.batches;
    const device_pointer<f32> from{dc.address, dc.bytes / sizeof(f32), dc.device, true};
    if (a.type == element_kind::f16) {
      device_pointer<f16> to{upstream.address, form.bytes / 2, upstream.device, true};
      round_gradient<f16>.launch(s, over(count), from, to, problem, count);
    } else {
      device_pointer<bf16> to{upstream.address, form.bytes / 2, upstream.device, true};
      round_gradient<bf16>.launch(s, over(count), from, to, problem, count);
    }
  }
  if (da.exists()) run_call(operation, s, of_da, {});
  if (db.exists()) run_call(operation, s, of_db, {});
}

void list_backward_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&round_gradient<f16>.image());
  list.push_back(&round_gradient<bf16>.image());
}

}  // namespace kaio::ops
