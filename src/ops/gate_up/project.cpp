// From a call of gate_up_project to its products, and to the kernel that combines them.

#include <kaio/ops/gate_up/gate_up.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <utility>

#include "ops/cache/common/check.hpp"
#include "ops/gate_up/combine.hpp"
#include "ops/gate_up/resolve.hpp"

namespace kaio::ops {

namespace {

matmul_view view_of(const any_view& v) {
  matmul_view result;
  if (!detail::is_given(v)) return result;
  switch (v.kind) {
    case element_kind::f16: result.type = matmul_type::f16; break;
    case element_kind::bf16: result.type = matmul_type::bf16; break;
    case element_kind::e4m3: result.type = matmul_type::e4m3; break;
    case element_kind::e5m2: result.type = matmul_type::e5m2; break;
    case element_kind::i8: result.type = matmul_type::i8; break;
    default: result.type = matmul_type::f32; break;
  }
  result.rank = v.rank;
  result.address = v.address;
  result.bytes = v.bytes;
  result.device = v.device;
  for (std::uint32_t d = 0; d < v.rank; ++d) {
    result.extents[d] = v.extents[d];
    result.strides[d] = v.strides[d];
  }
  return result;
}

matmul_view transposed(const any_view& v) {
  matmul_view result = view_of(v);
  std::swap(result.extents[0], result.extents[1]);
  std::swap(result.strides[0], result.strides[1]);
  return result;
}

template <class View>
matmul_view given(const View& v) {
  return v.is_null() ? matmul_view{} : view_of(v);
}

// The options of each kind of product, with the views that it takes.
struct products {
  const detail::gate_up_arguments& a;
  const detail::gate_up_call& call;

  bool of_i8() const { return a.x.kind == element_kind::i8; }
  bool of_fp8() const { return a.x.kind == element_kind::e4m3 || a.x.kind == element_kind::e5m2; }
  constant_operands constant() const {
    return a.options->constant_weights ? constant_operands::b : constant_operands::none;
  }
  matmul_int8_options int8_options(const gate_up_weight& w) const {
    matmul_int8_options options;
    options.scale_a = given(a.options->x_scale);
    options.scale_b = view_of(w.scale);
    options.constant = constant();
    return options;
  }
  matmul_fp8_options fp8_options(const gate_up_weight& w) const {
    matmul_fp8_options options;
    options.scale_a = given(a.options->x_scale);
    options.scale_b = view_of(w.scale);
    options.groups_a = given(a.options->x_groups);
    if (detail::is_given(w.blocks)) options.blocks_b = transposed(w.blocks);
    options.constant = constant();
    return options;
  }
  matmul_options plain_options() const {
    matmul_options options;
    options.constant = constant();
    return options;
  }

  // What a product takes after the memory of both.
  std::uint64_t bytes_of(const stream& s, const detail::gate_up_product& product) const {
    const gate_up_weight& w = *product.weight;
    if (w.is_packed) return matmul_w4_workspace_bytes(s, call.x, w.packed);
    if (of_i8() || of_fp8()) return 0;
    return matmul_workspace_bytes(s, view_of(call.x), transposed(w.matrix), view_of(product.to),
                                  plain_options());
  }
  std::uint64_t workspace_bytes(const stream& s) const {
    std::uint64_t more = 0;
    for (std::uint32_t i = 0; i < call.count; ++i) more = std::max(more, bytes_of(s, call.products[i]));
    return call.product_bytes + more;
  }

  void run(const stream& s, const detail::gate_up_product& product) const {
    const gate_up_weight& w = *product.weight;
    attention_workspace rest = a.options->workspace;
    rest.address += call.product_bytes;
    rest.bytes = bytes_of(s, product);
    if (w.is_packed) {
      matmul_w4_options options;
      if (rest.bytes != 0) options.workspace = rest;
      detail::run_matmul_w4(s, {a.operation, call.x, product.to, &w.packed, &options});
      return;
    }
    const matmul_view x = view_of(call.x), weight = transposed(w.matrix), to = view_of(product.to);
    if (of_i8()) {
      const matmul_int8_options options = int8_options(w);
      detail::run_matmul_int8(s, {a.operation, x, weight, to, &options});
    } else if (of_fp8()) {
      const matmul_fp8_options options = fp8_options(w);
      detail::run_matmul_fp8(s, {a.operation, x, weight, to, &options});
    } else {
      matmul_options options = plain_options();
      if (rest.bytes != 0) {
        options.workspace.address = rest.address;
        options.workspace.bytes = rest.bytes;
        options.workspace.device = rest.device;
      }
      detail::run_matmul(s, {a.operation, x, weight, to, &options});
    }
  }

  void warm_up(const runtime::device& gpu, const detail::gate_up_product& product) const {
    const gate_up_weight& w = *product.weight;
    if (w.is_packed) return matmul_w4_warmup(gpu, call.x, w.packed);
    const matmul_view x = view_of(call.x), weight = transposed(w.matrix), to = view_of(product.to);
    if (of_i8()) return matmul_int8_warmup(gpu, x, weight, to, int8_options(w));
    if (of_fp8()) return matmul_fp8_warmup(gpu, x, weight, to, fp8_options(w));
    matmul_warmup(gpu, x, weight, to, plain_options());
  }
};

}  // namespace

namespace detail {

void run_gate_up(const stream& s, const gate_up_arguments& arguments) {
  s.properties();  // a null stream is refused before anything is looked at
  const gate_up_call call = resolve_gate_up(s.device_identity(), arguments);
  if (call.empty()) return;
  const products all{arguments, call};
  validation(arguments.operation, s.device_identity())
      .workspace("workspace", arguments.options->workspace.facts(), all.workspace_bytes(s), 16);
  for (std::uint32_t i = 0; i < call.count; ++i) all.run(s, call.products[i]);
  run_gate_up_combine(s, call.problem, call.blocks);
}

}  // namespace detail

std::uint64_t gate_up_workspace_bytes(const stream& s, const any_view& x, const gate_up_weights& weights,
                                      const any_view& out, const gate_up_options& options) {
  s.properties();
  const detail::gate_up_arguments arguments{"gate_up_workspace_bytes", x, out, &weights, &options};
  const detail::gate_up_call call = detail::resolve_gate_up(s.device_identity(), arguments);
  return call.empty() ? 0 : products{arguments, call}.workspace_bytes(s);
}

void gate_up_warmup(const runtime::device& gpu, const any_view& x, const gate_up_weights& weights,
                    const any_view& out, const gate_up_options& options) {
  const detail::gate_up_arguments arguments{"gate_up_warmup", x, out, &weights, &options};
  const detail::gate_up_call call = detail::resolve_gate_up(gpu.identity(), arguments);
  if (call.empty()) return;
  const products all{arguments, call};
  for (std::uint32_t i = 0; i < call.count; ++i) all.warm_up(gpu, call.products[i]);
  gpu.warmup(gate_up_combine_image(gpu.properties()));
}

std::vector<const ptx::kernel_image*> gate_up_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_gate_up_combine_kernels(list);
  return list;
}

}  // namespace kaio::ops
