#include "ops/gate_up_project/common/resolve.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/norm/call/in_front.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

bool is_fp8(element_kind kind) { return kind == element_kind::e4m3 || kind == element_kind::e5m2; }
std::int64_t parts_of_128(std::int64_t extent) { return extent / 128 + (extent % 128 != 0 ? 1 : 0); }

struct resolution {
  const gate_up_arguments& a;
  const void* device;
  validation check;
  const gate_up_project_options& options;
  gate_up_call call{};
  std::int64_t rows = 0, k = 0, f = 0;
  std::vector<named_argument> inputs{};

  [[noreturn]] void wrong(const std::string& what) const { refuse(a.operation, what); }
  [[noreturn]] void wrong_argument(std::string_view name, const std::string& what) const {
    wrong("argument " + std::string(name) + " " + what);
  }

  void check_lines(std::string_view name, const any_view& v) const {
    const std::uint32_t last = v.rank - 1;
    if (v.strides[last] != 1 && v.extents[last] > 1)
      wrong_argument(name, "has stride " + std::to_string(v.strides[last]) +
                               " along its last dimension; neighbours of a row are adjacent: stride 1");
    for (std::uint32_t d = 0; d < v.rank; ++d) check.at_most(name, v, d, most);
  }

  void check_x() {
    const any_view& x = a.x;
    check.input("x", x);
    if (x.rank != 2 && x.rank != 3)
      wrong_argument("x",
                     "has " + std::to_string(x.rank) + " dimensions; it is (rows, K) or (batches, rows, K)");
    check_lines("x", x);
    inputs.push_back({"x", x});
    check_x_norm(a.operation, device, x, options.x_norm);
    call.x = x;
    if (x.rank == 2) {
      rows = x.extents[0];
    } else {
      if (x.extents[0] > 1 && x.extents[1] > 1 && x.strides[0] != x.extents[1] * x.strides[1])
        wrong_argument("x", "has batches that do not follow each other; copy it to memory of its own");
      if (x.extents[0] != 0 && x.extents[1] > most / x.extents[0])
        wrong_argument("x", "has 2^31 rows or more; take the batches in splits");
      rows = x.extents[0] * x.extents[1];
      call.x.rank = 2;
      call.x.extents = {rows, x.extents[2]};
      call.x.strides = {x.extents[1] > 1 ? x.strides[1] : x.strides[0], x.strides[2]};
    }
    k = call.x.extents[1];
  }

  void check_out() {
    const any_view& out = a.out;
    if (out.rank != a.x.rank)
      wrong_argument(
          "out", "has " + std::to_string(out.rank) + " dimensions, and x has " + std::to_string(a.x.rank));
    check.output("out", out);
    check_lines("out", out);
    for (std::uint32_t d = 0; d + 1 < out.rank; ++d) check.extent("out", out, d, a.x.extents[d], "as of x");
    f = out.extents[out.rank - 1];
    if (f > most / 2) wrong_argument("out", "has 2^30 columns or more; give a split of the weights");
  }

  void check_packed(std::string_view name, const projection_weight& w, std::int64_t n) {
    if (w.packed.shape.n != n || w.packed.shape.k != k)
      wrong_argument(name, "is of " + std::to_string(w.packed.shape.n) + " outputs by " +
                               std::to_string(w.packed.shape.k) + " inputs, and " + std::to_string(n) +
                               " by " + std::to_string(k) + " is expected: the columns of out" +
                               (n == f ? "" : " twice") + ", and K of x");
    if (a.x.type != element_kind::f16 && a.x.type != element_kind::bf16)
      wrong("argument x is neither f16 nor bf16, with packed weights; cast it");
    if (a.out.type != a.x.type && a.out.type != element_kind::f32)
      wrong("argument out has neither the element type of x nor f32, with packed weights");
    inputs.push_back({name, memory_view(w.packed)});
  }

  void check_weight(std::string_view name, const projection_weight& w, std::int64_t n) {
    if (w.is_packed) return check_packed(name, w, n);
    const any_view& m = w.matrix;
    if (m.rank != 2) wrong_argument(name, "is not given");
    check.input(name, m);
    check.extent(name, m, 0, n, n == f ? "the columns of out" : "the columns of out twice");
    check.extent(name, m, 1, k, "K of x");
    if (m.strides[0] != 1 && m.strides[1] != 1 && m.extents[0] > 1 && m.extents[1] > 1)
      wrong_argument(name, "has strides " + std::to_string(m.strides[0]) + " and " +
                               std::to_string(m.strides[1]) +
                               "; one of them must be 1: copy the matrix to memory of its own");
    if (m.type != a.x.type && !(is_fp8(m.type) && is_fp8(a.x.type)))
      wrong_argument(name, "has another element type than x");
    inputs.push_back({name, m});
    const std::string scale_name = std::string(name) + ".scale", blocks_name = std::string(name) + ".blocks";
    if (is_given(w.scale)) {
      check.input(scale_name, w.scale);
      if (w.scale.extents[0] != 1) check.extent(scale_name, w.scale, 0, n, "1, or one for each output");
      inputs.push_back({"the scale of a weight", w.scale});
    }
    if (is_given(w.blocks) != !options.x_groups.is_null())
      wrong(is_given(w.blocks) ? "scales of blocks of the weights without x_groups; give both or none"
                               : "x_groups without scales of blocks of the weights; give both or none");
    if (is_given(w.blocks)) {
      check.input(blocks_name, w.blocks);
      check.extent(blocks_name, w.blocks, 0, parts_of_128(n), "one for each 128 outputs");
      check.extent(blocks_name, w.blocks, 1, parts_of_128(k), "one for each 128 of K");
      inputs.push_back({"the scales of a weight", w.blocks});
    }
  }

  void check_weights() {
    call.count = a.weights->count;
    if (call.count == 1) {
      check_weight("weights", a.weights->of[0], 2 * f);
    } else {
      check_weight("weights.gate", a.weights->of[0], f);
      check_weight("weights.up", a.weights->of[1], f);
    }
    const bool has_scale = !options.x_scale.is_null(), has_groups = !options.x_groups.is_null();
    if (has_scale) {
      if (!is_quantised(a.x.type)) wrong("x_scale of an x that is not of 8 bits; it has no scales");
      check.input("x_scale", options.x_scale);
      if (options.x_scale.extent(0) != 1)
        check.extent("x_scale", options.x_scale, 0, rows, "1, or one for each row of x");
      inputs.push_back({"x_scale", options.x_scale});
    }
    if (has_groups) {
      if (!is_fp8(a.x.type)) wrong("x_groups of an x that is not e4m3 or e5m2; it has no scales of groups");
      check.input("x_groups", options.x_groups);
      check.extent("x_groups", options.x_groups, 0, rows, "the rows of x");
      check.extent("x_groups", options.x_groups, 1, parts_of_128(k), "one for each 128 of K");
      inputs.push_back({"x_groups", options.x_groups});
    }
  }

  u64 bias(std::string_view name, const gate_up_vector& given) {
    const any_view& v = given.view;
    if (!is_given(v)) return 0;
    check.input(name, v);
    check.extent(name, v, 0, f, "the columns of out");
    if (v.type != a.out.type) wrong_argument(name, "has another element type than out");
    check_lines(name, v);
    inputs.push_back({name, v});
    return v.address;
  }

  // Places the products next to each other, with rows at multiples of 16 bytes.
  void place_products() {
    const auto whole = [](std::int64_t columns) { return (columns + run_size - 1) / run_size * run_size; };
    const bool one = call.count == 1;
    const std::int64_t apart = one ? f : whole(f), pitch = one ? whole(2 * f) : 2 * apart;
    const std::uint64_t of_row = gate_up_blocks_of_row(static_cast<u32>(f));
    call.blocks = static_cast<std::uint64_t>(rows) * of_row;
    if (call.blocks > static_cast<std::uint64_t>(most))
      wrong("2^31 blocks or more exceed a launch; split the rows of x");
    const auto bytes_of = [&](std::int64_t elements) {
      return static_cast<std::uint64_t>(elements) * a.out.element_bytes();
    };
    call.product_bytes = (bytes_of(rows * pitch) + 255) / 256 * 256;
    // If there is no workspace yet, only its alignment matters.
    const u64 address = options.workspace.address != 0 ? options.workspace.address : u64{1} << 61;
    for (std::uint32_t i = 0; i < call.count; ++i) {
      gate_up_product& product = call.products[i];
      const std::uint64_t before = bytes_of(i * apart);
      product.weight = &a.weights->of[i];
      product.to.type = a.out.type;
      product.to.rank = 2;
      product.to.address = address + before;
      product.to.bytes = call.product_bytes - before;
      product.to.device = options.workspace.device;
      product.to.extents = {rows, one ? 2 * f : f};
      product.to.strides = {pitch, 1};
    }
    gate_up_problem& p = call.problem;
    p.product = address;
    p.row = pitch;
    p.apart = apart;
    p.product_aligned = apart % run_size == 0 ? 1 : 0;
  }

  void fill_problem() {
    gate_up_problem& p = call.problem;
    const any_view& out = a.out;
    p.gate_bias = bias("gate_bias", options.gate_bias);
    p.up_bias = bias("up_bias", options.up_bias);
    p.bias_aligned = p.gate_bias % 16 == 0 && p.up_bias % 16 == 0 ? 1 : 0;
    p.out = out.address;
    p.out_batch = out.rank == 3 ? out.strides[0] : 0;
    p.out_row = out.strides[out.rank - 2];
    p.out_aligned = begins_at(out, 16) ? 1 : 0;
    p.rows = divisor::of(static_cast<u32>(out.rank == 3 ? out.extents[1] : rows));
    p.columns = static_cast<u32>(f);
    p.type = element_type_of(out.type);
    if (options.activation > matmul_activation::silu)
      refuse(a.operation, "an activation that is none of matmul_activation");
    p.activation = static_cast<u32>(options.activation);
  }

  void check_apart() {
    const any_view &residual = options.x_norm.residual, &residual_out = options.x_norm.residual_out;
    if (is_given(options.x_norm.weight)) inputs.push_back({"x_norm.weight", options.x_norm.weight});
    if (is_given(residual) && !same_view(residual, residual_out))
      inputs.push_back({"x_norm.residual", residual});
    if (is_given(residual_out)) {
      for (const named_argument& input : inputs)
        check.apart("x_norm.residual_out", residual_out, input.name, input.view);
      inputs.push_back({"x_norm.residual_out", residual_out});
    }
    for (const named_argument& input : inputs) check.apart("out", a.out, input.name, input.view);
    if (options.workspace.address == 0) return;
    for (const named_argument& input : inputs)
      check.workspace_apart(options.workspace.facts(), input.name, input.view);
    check.workspace_apart(options.workspace.facts(), "out", a.out);
  }
};

}  // namespace

gate_up_call resolve_gate_up(const void* device, const gate_up_arguments& arguments) {
  resolution r{.a = arguments,
               .device = device,
               .check = validation(arguments.operation, device),
               .options = *arguments.options};
  r.check_x();
  r.check_out();
  r.check_weights();
  r.place_products();
  if (r.call.empty()) return r.call;
  r.fill_problem();
  r.check_apart();
  return r.call;
}

}  // namespace kaio::ops::detail
