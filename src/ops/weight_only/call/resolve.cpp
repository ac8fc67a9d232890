#include "ops/weight_only/common/resolve.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

u32 type_of(element_kind kind) {
  return static_cast<u32>(kind == element_kind::f32   ? element_type::f32
                          : kind == element_kind::f16 ? element_type::f16
                                                      : element_type::bf16);
}
const char* name_of(element_kind kind) { return kind == element_kind::f16 ? "f16" : "bf16"; }

bool begins_at(const any_view& v, std::uint64_t bytes) {
  return v.address % bytes == 0 &&
         (v.extents[0] <= 1 || static_cast<std::uint64_t>(v.strides[0]) * v.element_bytes() % bytes == 0);
}

// Requires adjacent elements along rows, and extents that kernels can count.
void check_lines(std::string_view operation, std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    refuse_w4(operation, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[last]) +
                             " along its last dimension; neighbours are adjacent: stride 1");
  if (v.extents[0] > most)
    refuse_w4(operation, "argument " + std::string(name) + " has extent 0 of " +
                             std::to_string(v.extents[0]) + ", and at most 2^31 - 1 is supported");
}

// Whether the last group may have fewer k.
bool takes_rest(const w4_shape& shape) {
  const bool is_integer = shape.codes == w4_codes::int4 || shape.codes == w4_codes::int8;
  return (is_integer && !shape.offsets) || shape.codes == w4_codes::e4m3;
}

void check_w4_codes(std::string_view operation, const w4_shape& shape) {
  const auto refuse = [&](const char* what) { refuse_w4(operation, std::string("weights of ") + what); };
  const bool halves = bytes_of(shape.scales) == 2;
  if (shape.zero_points && shape.codes != w4_codes::int4 && shape.codes != w4_codes::int8)
    refuse("codes that are no integers have no zero points");
  if (shape.offsets &&
      ((shape.codes != w4_codes::int4 && shape.codes != w4_codes::int8) || shape.zero_points))
    refuse("codes that are no integers, or have zero points, have no offsets");
  if (shape.offsets && shape.group % 32 != 0 && shape.group != shape.k)
    refuse("groups with offsets have multiples of 32 codes, or k");
  if (shape.zero > 15 || (shape.zero != 8 && (!shape.offsets || shape.codes != w4_codes::int4)))
    refuse("a zero point other than 8 needs four-bit codes with offsets");
  switch (shape.codes) {
    case w4_codes::int4:
      if (shape.offsets ? shape.scales != w4_scale_type::f32 : !halves)
        refuse("int4 have scales of f16 or bf16, and with offsets of f32");
      break;
    case w4_codes::nf4:
    case w4_codes::fp4:
      if (shape.scales != w4_scale_type::f32 || shape.group % w4_tile_k != 0)
        refuse("nf4 or fp4 have scales of f32, in groups of multiples of 64");
      break;
    case w4_codes::e2m1: {
      const bool mx = shape.scales == w4_scale_type::e8m0 && shape.group == 32;
      const bool nv = shape.scales == w4_scale_type::e4m3 && shape.group == 16;
      if (!mx && !nv) refuse("e2m1 have scales of e8m0 in groups of 32, or of e4m3 in groups of 16");
      break;
    }
    case w4_codes::own:
      if (shape.own_slots > 1 && shape.group % (w4_tile_k / shape.own_slots) != 0)
        refuse("own codes need groups that are multiples of those of their kernels");
      break;
    case w4_codes::int8:
    case w4_codes::e4m3:
      if (shape.scales != w4_scale_type::f32) refuse("eight bits have scales of f32");
      if (shape.codes == w4_codes::e4m3 && shape.group % w4_tile_k != 0 && shape.group != shape.k)
        refuse("e4m3 have scales of columns, or of groups of multiples of 64");
      break;
    default: refuse("an unknown w4_codes");
  }
}

// Groups that a tile may overlap, as the kernels of the codes expect.
u32 slots_of(const w4_shape& shape, u64 groups) {
  if (shape.codes == w4_codes::e2m1) return shape.scales == w4_scale_type::e8m0 ? 2 : 4;
  if (shape.codes == w4_codes::own && shape.own_slots != 0) return shape.own_slots;
  if (shape.offsets) return 2;
  return groups == 1 || shape.group % w4_tile_k == 0 ? 1 : 4;
}

// Whether both codes of a register are neighbours in a word (layout.hpp), as the kernels of the codes expect.
bool has_neighbours(const w4_shape& shape) {
  switch (shape.codes) {
    case w4_codes::nf4:
    case w4_codes::fp4: return true;
    case w4_codes::e2m1: return shape.scales == w4_scale_type::e8m0;
    case w4_codes::own: return shape.own_neighbours;
    default: return false;
  }
}

}  // namespace

void refuse_w4(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

void refuse_w4_shape(const std::string& has, const std::string& given, const std::string& setting) {
  refuse_w4("repack",
            "the shape of argument weights has " + has + ", and " + given + "; set shape." + setting);
}

void check_no_w4_zeros(std::string_view name, const any_view& zeros) {
  if (!zeros.exists() || zeros.address == 0) return;
  refuse_w4_shape("no zero points", "argument " + std::string(name) + " is given",
                  "zero_points to true, or leave " + std::string(name) +
                      " out where all of them are the middle of the codes");
}

std::string_view name_of(w4_codes codes) {
  constexpr std::string_view names[] = {"int4", "nf4", "fp4", "e2m1", "own", "int8", "e4m3"};
  return names[static_cast<std::size_t>(codes)];
}

std::string_view name_of(w4_scale_type type) {
  constexpr std::string_view names[] = {"f16", "bf16", "f32", "e8m0", "e4m3"};
  return names[static_cast<std::size_t>(type)];
}

w4_layout check_w4_shape(std::string_view operation, w4_shape& shape) {
  if (shape.group == -1) shape.group = shape.k;
  for (const auto& [name, extent] : {std::pair{"n", shape.n}, std::pair{"k", shape.k}})
    if (extent <= 0 || extent > most)
      refuse_w4(operation, "weights with " + std::string(name) + " = " + std::to_string(extent) +
                               "; 1 to 2^31 - 1 are supported");
  const bool is_whole = shape.group > 0 && shape.k % shape.group == 0;
  const bool has_rest = takes_rest(shape);
  if (shape.group <= 0 || (!is_whole && !has_rest) || (shape.group % 16 != 0 && shape.group != shape.k))
    refuse_w4(operation, "weights in groups of " + std::to_string(shape.group) +
                             " with k = " + std::to_string(shape.k) + "; a group is a multiple of 16" +
                             (has_rest ? "" : " that divides k") + ", or k (-1)");
  shape.group = std::min(shape.group, shape.k);
  check_w4_codes(operation, shape);
  const w4_layout layout = w4_layout::of({.n = static_cast<u64>(shape.n),
                                          .k = static_cast<u64>(shape.k),
                                          .group = static_cast<u64>(shape.group),
                                          .bits = bits_of(shape.codes),
                                          .scale_bytes = bytes_of(shape.scales),
                                          .zero_points = shape.zero_points,
                                          .factors = shape.factors,
                                          .act_order = shape.act_order,
                                          .offsets = shape.offsets});
  if (layout.tiles_n * layout.tiles_k > static_cast<u64>(most) / 2 ||
      layout.tiles_n * layout.groups > static_cast<u64>(most) / 2)
    refuse_w4(operation, "weights of 2^41 codes or more; divide them along n");
  return layout;
}

any_view memory_view(const w4_weights& w) {
  any_view v;
  v.rank = 1;
  v.address = w.memory.address;
  v.bytes = w.memory.bytes;
  v.device = w.memory.device;
  v.extents[0] = static_cast<std::int64_t>(w.memory.bytes);
  v.strides[0] = 1;
  return v;
}

std::uint64_t check_w4_act_order(const validation& check, std::string_view name,
                                 const tensor_view<const i32, 1>& act_order, const w4_weights& to) {
  constexpr std::string_view operation = "repack";
  if (!to.shape.act_order) {
    if (!act_order.is_null())
      refuse_w4_shape("no act-order", "argument " + std::string(name) + " is given",
                      "act_order to true, or leave " + std::string(name) + " out where it is k / group");
    return 0;
  }
  if (name.empty())
    refuse_w4_shape("act-order", "the given format has no index of groups", "act_order to false");
  check.input(name, act_order);
  check.extent(name, act_order, 0, to.shape.k, "k of the weights");
  check.apart("weights", memory_view(to), name, act_order);
  if (act_order.stride(0) != 1 && to.shape.k > 1)
    refuse_w4(operation, "argument " + std::string(name) + " has stride " +
                             std::to_string(act_order.stride(0)) + "; its numbers are neighbours: stride 1");
  return act_order.address();
}

w4_packed check_w4_weights(std::string_view operation, const void* device, const w4_weights& w,
                           bool with_memory) {
  w4_shape shape = w.shape;
  const w4_layout layout = check_w4_shape(operation, shape);
  const u64 base = w.memory.address;
  if (with_memory) validation(operation, device).workspace("weights", w.memory.facts(), layout.bytes, 16);
  return {.codes = base,
          .scales = base + layout.scales,
          .zeros = shape.zero_points || shape.offsets ? base + layout.zeros : 0,
          .rows = shape.act_order ? base + layout.rows : 0,
          .n = static_cast<u32>(shape.n),
          .k = static_cast<u32>(shape.k),
          .groups = static_cast<u32>(layout.groups),
          .tiles_n = static_cast<u32>(layout.tiles_n),
          .tiles_k = static_cast<u32>(layout.tiles_k),
          .group = divisor::of(static_cast<u32>(shape.group)),
          .slots = slots_of(shape, layout.groups),
          .scales_bf16 = shape.scales == w4_scale_type::bf16 ? 1u : 0u,
          .codes_type = static_cast<u32>(shape.codes),
          .scale_type = static_cast<u32>(shape.scales),
          .neighbours = has_neighbours(shape) ? 1u : 0u,
          .factors = shape.factors ? base + layout.factors : 0,
          .offsets = shape.offsets ? 1u : 0u,
          .zero = shape.zero};
}

w4_problem resolve_w4_product(const void* device, const matmul_w4_arguments& a, bool choice_alone) {
  const validation check(a.operation, device);
  const matmul_w4_options& options = *a.options;
  w4_problem p{};
  p.w = check_w4_weights(a.operation, device, *a.weights, !choice_alone);
  if (a.x.rank != 2)
    refuse_w4(a.operation,
              "argument x has " + std::to_string(a.x.rank) + " dimensions, and (m, k) is needed");
  if (a.x.type != element_kind::f16 && a.x.type != element_kind::bf16)
    refuse_w4(a.operation, "argument x is neither f16 nor bf16; cast it");
  check.input("x", a.x);
  check.extent("x", a.x, 1, a.weights->shape.k, "k of the weights");
  check_lines(a.operation, "x", a.x);
  if (options.splits > p.w.tiles_k)
    refuse_w4(a.operation, std::to_string(options.splits) + " splits of a k of " + std::to_string(p.w.k) +
                               "; give 1 to " + std::to_string(p.w.tiles_k) + ", or 0 for kaio's choice");
  p.type = type_of(a.x.type);
  p.unit = 1;
  p.constant = has_any(options.constant, constant_inputs::weights) ? 1 : 0;
  p.x = a.x.address;
  p.x_row = a.x.strides[0];
  p.x_by_16 = begins_at(a.x, 16) && p.w.rows == 0 ? 1 : 0;
  p.m = static_cast<u32>(a.x.extents[0]);
  if (options.bias.exists()) {
    if (options.bias.rank != 1 || options.bias.type != a.x.type)
      refuse_w4(a.operation, std::string("argument bias is not a vector of ") + name_of(a.x.type) +
                                 ", the element type of x");
    check.input("bias", options.bias);
    check.extent("bias", options.bias, 0, a.weights->shape.n, "n of the weights");
    check_lines(a.operation, "bias", options.bias);
    p.bias = options.bias.address;
  }
  if (choice_alone) return p;
  check.output("out", a.out);
  check.extent("out", a.out, 0, a.x.extents[0], "the rows of x");
  check.extent("out", a.out, 1, a.weights->shape.n, "n of the weights");
  check_lines(a.operation, "out", a.out);
  p.out = a.out.address;
  p.out_row = a.out.strides[0];
  p.out_type = type_of(a.out.type);
  p.out_by_four = begins_at(a.out, 4 * a.out.element_bytes()) ? 1 : 0;
  const any_view packed = memory_view(*a.weights);
  check.apart("out", a.out, "x", a.x);
  check.apart("out", a.out, "weights", packed);
  if (p.bias != 0) check.apart("out", a.out, "bias", options.bias);
  if (options.workspace.address != 0) {
    const workspace_facts memory = options.workspace.facts();
    check.workspace_apart(memory, "x", a.x);
    check.workspace_apart(memory, "out", a.out);
    check.workspace_apart(memory, "weights", packed);
    if (p.bias != 0) check.workspace_apart(memory, "bias", options.bias);
  }
  return p;
}

}  // namespace kaio::ops::detail
