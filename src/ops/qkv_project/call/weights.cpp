#include "ops/qkv_project/call/weights.hpp"

#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops::detail {

namespace {

constexpr bool is_float8(element_kind kind) {
  return kind == element_kind::e4m3 || kind == element_kind::e5m2;
}

}  // namespace

void weight_checks::check_weight(std::string_view name, const projection_weight& w, std::int64_t n) const {
  if (w.is_packed) {
    if (w.packed.shape.n != n || w.packed.shape.k != k)
      wrong("argument " + std::string(name) + " is of " + std::to_string(w.packed.shape.n) + " outputs by " +
            std::to_string(w.packed.shape.k) + " inputs, and " + std::to_string(n) + " by " +
            std::to_string(k) + " is expected: heads times their size, and K of x");
    if (is_quantised(a.x.type)) wrong("w4_weights or w8_weights with an x of 8 bits; x is f16 or bf16");
    inputs.push_back({name, memory_view(w.packed)});
  } else {
    check_matrix(std::string(name), w.matrix, n);
    inputs.push_back({name, w.matrix});
    if (is_given(w.scale)) {
      check.input(std::string(name) + ".scale", w.scale);
      if (w.scale.extents[0] != 1)
        check.extent(std::string(name) + ".scale", w.scale, 0, n, "1, or one for each output");
      inputs.push_back({"weights.scale", w.scale});
    }
  }
  check_blocks(std::string(name) + ".blocks", w.blocks, n);
}

void weight_checks::check_matrix(const std::string& name, const any_view& m, std::int64_t n) const {
  if (m.rank != 2) wrong("argument " + name + " is not given");
  check.input(name, m);
  check.extent(name, m, 0, n, "heads times their size");
  check.extent(name, m, 1, k, "K of x");
  if (m.strides[0] != 1 && m.strides[1] != 1 && m.extents[0] > 1 && m.extents[1] > 1)
    wrong("argument " + name + " has strides " + std::to_string(m.strides[0]) + " and " +
          std::to_string(m.strides[1]) + "; one of them must be 1: copy the matrix to memory of its own");
  if (m.type != a.x.type && !(is_float8(m.type) && is_float8(a.x.type)))
    wrong("argument " + name + " has another element type than x");
}

void weight_checks::check_blocks(const std::string& name, const any_view& blocks, std::int64_t n) const {
  if (is_given(blocks) == a.options->x_groups.is_null())
    wrong("argument " + name + " without x_groups, or x_groups without it; give both or none");
  if (!is_given(blocks)) return;
  check.input(name, blocks);
  check.extent(name, blocks, 0, (n + 127) / 128, "one for each 128 outputs");
  check.extent(name, blocks, 1, groups(), "one for each 128 of K");
  inputs.push_back({"weights.blocks", blocks});
}

void weight_checks::check_x_scales(std::int64_t rows) const {
  const tensor_view<const f32, 1>& scale = a.options->x_scale;
  if (!scale.is_null()) {
    if (!is_quantised(a.x.type)) wrong("x_scale of an x that is not of 8 bits; it has no scales");
    check.input("x_scale", scale);
    if (scale.extent(0) != 1) check.extent("x_scale", scale, 0, rows, "1, or one for each row of x");
    inputs.push_back({"x_scale", scale});
  }
  const tensor_view<const f32, 2>& groups_of = a.options->x_groups;
  if (!groups_of.is_null()) {
    if (!is_float8(a.x.type)) wrong("x_groups of an x that is not of 8-bit floats; it has no groups");
    check.input("x_groups", groups_of);
    check.extent("x_groups", groups_of, 0, rows, "one for each row of x");
    check.extent("x_groups", groups_of, 1, groups(), "one for each 128 of K");
    inputs.push_back({"x_groups", groups_of});
  }
}

}  // namespace kaio::ops::detail
