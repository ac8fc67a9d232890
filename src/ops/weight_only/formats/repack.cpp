// Repacks blocks for matmul_w4 and matmul_w8: the shapes, the checks and the launch.

#include <kaio/ops/weight_only/formats/repack_blocks.hpp>
#include <kaio/ops/weight_only/repack_blocks.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <bit>
#include <string>
#include <vector>

#include "ops/weight_only/common/resolve.hpp"
#include "ops/weight_only/formats/check.hpp"
#include "ops/weight_only/formats/kernels.hpp"

namespace kaio::ops {

namespace {

// One entry per block_format, in its order.
struct packed_as {
  block_operation operation;
  std::int64_t group = 32;
  bool offsets = false;
};
constexpr packed_as packed[] = {
    {block_operation::matmul_w4},            // Q4_0
    {block_operation::matmul_w4, 32, true},  // Q4_1
    {block_operation::matmul_w8},            // Q5_0
    {block_operation::matmul_w8, 32, true},  // Q5_1
    {block_operation::matmul_w8},            // Q8_0
    {block_operation::none},                 // Q2_K
    {block_operation::matmul_w8, 16},        // Q3_K
    {block_operation::matmul_w4, 32, true},  // Q4_K
    {block_operation::matmul_w8, 32, true},  // Q5_K
    {block_operation::matmul_w8, 16},        // Q6_K
    {block_operation::matmul_w8},            // IQ4_NL
    {block_operation::matmul_w8},            // IQ4_XS
    {block_operation::matmul_w4},            // MXFP4
    {block_operation::matmul_w4, 16},        // NVFP4
};
static_assert(std::size(packed) == block_formats.size());

const packed_as& packed_of(block_format format) { return packed[static_cast<std::size_t>(format)]; }

void require(std::string_view operation, block_format format, block_operation wanted) {
  if (packed_of(format).operation == wanted) return;
  detail::refuse_format(operation, "blocks of " + std::string(facts(format).name) + " are not packed for " +
                                       (wanted == block_operation::matmul_w4 ? "matmul_w4" : "matmul_w8") +
                                       "; operation_of names the operation that multiplies them");
}

bool same_shape(w4_shape a, const w4_shape& b) {
  if (a.group == -1) a.group = a.k;
  return a.n == b.n && a.k == b.k && a.group == b.group && a.scales == b.scales &&
         a.zero_points == b.zero_points && a.act_order == b.act_order && a.codes == b.codes &&
         a.factors == b.factors && a.offsets == b.offsets && a.zero == b.zero;
}

void run_repack_blocks(const stream& s, const gguf_blocks& source, const w4_weights& to,
                       const w4_shape& shape) {
  constexpr std::string_view operation = "repack";
  const detail::operation_scope traced(operation);
  const std::string name(facts(source.format).name);
  const validation check(operation, s.device_identity());
  const w4_packed w = detail::check_w4_weights(operation, s.device_identity(), to, true);
  const block_layout layout = layout_of(source.format);
  if (!same_shape(to.shape, shape))
    detail::refuse_format(
        operation, "the shape of argument weights is not that of " + name + "; set it to what " +
                       (packed_of(source.format).operation == block_operation::matmul_w4 ? "w4_shape_of"
                                                                                         : "w8_shape_of") +
                       " gives");
  if (shape.k % layout.elements != 0)
    detail::refuse_format(operation, "weights with rows of " + std::to_string(shape.k) +
                                         " elements, and blocks of " + name + " have " +
                                         std::to_string(layout.elements));
  const any_view bytes = source.bytes;
  check.input("bytes", bytes);
  detail::check_line(operation, "bytes", bytes);
  check.extent("bytes", bytes, 0, static_cast<std::int64_t>(packed_bytes(source.format, shape.n * shape.k)),
               "the bytes of n x k weights");
  const bool has_halves = layout.scales != block_scales::e8m0 && layout.scales != block_scales::ue4m3;
  if (has_halves && bytes.address % 2 != 0)
    detail::refuse_format(operation, "argument bytes begins at an odd address; blocks hold 16-bit numbers");
  check.apart("weights", detail::memory_view(to), "bytes", bytes);
  const u64 blocks = u64{w.tiles_n} * w.tiles_k + u64{w.tiles_n} * w.groups;
  repack_blocks.launch(s, grid(blocks),
                       blocks_source{.w = w,
                                     .layout = layout,
                                     .bytes = bytes.address,
                                     .elements_log2 = static_cast<u32>(std::countr_zero(layout.elements)),
                                     .row_blocks = static_cast<u32>(shape.k) / layout.elements,
                                     .add = 128 - layout.bias});
}

}  // namespace

block_operation operation_of(block_format format) { return packed_of(format).operation; }

w4_shape w4_shape_of(block_format format, std::int64_t n, std::int64_t k) {
  require("w4_shape_of", format, block_operation::matmul_w4);
  const packed_as& as = packed_of(format);
  const bool e2m1 = format == block_format::mxfp4 || format == block_format::nvfp4;
  w4_shape shape{.n = n, .k = k, .group = as.group};
  shape.codes = e2m1 ? w4_codes::e2m1 : w4_codes::int4;
  shape.scales = format == block_format::mxfp4   ? w4_scale_type::e8m0
                 : format == block_format::nvfp4 ? w4_scale_type::e4m3
                 : as.offsets                    ? w4_scale_type::f32
                                                 : w4_scale_type::f16;
  shape.offsets = as.offsets;
  shape.zero = as.offsets ? 0 : 8;
  return shape;
}

w8_shape w8_shape_of(block_format format, std::int64_t n, std::int64_t k) {
  require("w8_shape_of", format, block_operation::matmul_w8);
  const packed_as& as = packed_of(format);
  return {.n = n, .k = k, .group = as.group, .offsets = as.offsets};
}

void repack(const stream& s, const gguf_blocks& source, const w4_weights& to) {
  s.properties();  // a null stream is refused before anything is looked at
  require("repack", source.format, block_operation::matmul_w4);
  run_repack_blocks(s, source, to, w4_shape_of(source.format, to.shape.n, to.shape.k));
}

void repack(const stream& s, const gguf_blocks& source, const w8_weights& to) {
  s.properties();
  require("repack", source.format, block_operation::matmul_w8);
  run_repack_blocks(s, source, detail::as_w4_weights(to),
                    detail::as_w4_shape(w8_shape_of(source.format, to.shape.n, to.shape.k)));
}

void warm_up_repack_blocks(const runtime::device& gpu) { gpu.warmup(repack_blocks.image()); }

void list_repack_blocks_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&repack_blocks.image());
}

}  // namespace kaio::ops
