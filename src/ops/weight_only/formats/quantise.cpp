// quantise_weights into blocks of codes: the checks and the launches.

#include <kaio/ops/weight_only/formats/quantise_blocks.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "ops/weight_only/formats/check.hpp"
#include "ops/weight_only/formats/kernels.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::string_view operation = "quantise_weights";

bool is_flat(const quantised_output& to) {
  return to.kind == quantised_kind::nf4 || to.kind == quantised_kind::fp4;
}
bool is_of_blocks(const quantised_output& to) { return to.kind <= quantised_kind::q8_0; }

// Checks the output's extents, and that it shares no memory with other arguments.
void check_output(const validation& check, const any_view& w, const quantised_output& to) {
  const std::int64_t n = w.extents[0], k = w.extents[1];
  if (!is_flat(to) && k % to.size != 0)
    refuse_format(operation, "argument w has rows of " + std::to_string(k) + " elements, and blocks have " +
                                 std::to_string(to.size));
  check.output(to.codes_name, to.codes);
  check.apart(to.codes_name, to.codes, "w", w);
  if (!is_of_blocks(to)) {
    check.output(to.scales_name, to.scales);
    check.apart(to.scales_name, to.scales, "w", w);
    check.apart(to.scales_name, to.scales, to.codes_name, to.codes);
  }
  if (is_of_blocks(to)) {
    check_line(operation, to.codes_name, to.codes);
    const block_format format = to.kind == quantised_kind::q4_0 ? block_format::q4_0 : block_format::q8_0;
    check.extent(to.codes_name, to.codes, 0, static_cast<std::int64_t>(packed_bytes(format, n * k)),
                 "the bytes of w's blocks");
    if (to.codes.address % 2 != 0)
      refuse_format(operation, "argument bytes begins at an odd address; blocks hold 16-bit numbers");
  } else if (is_flat(to)) {
    if (to.size < 32 || to.size > 65536 || !std::has_single_bit(static_cast<std::uint64_t>(to.size)))
      refuse_format(operation, "blocksize is " + std::to_string(to.size) +
                                   "; a power of two from 32 to 65536 is needed");
    check_line(operation, to.codes_name, to.codes);
    check_line(operation, to.scales_name, to.scales);
    check.extent(to.codes_name, to.codes, 0, n * k / 2 + n * k % 2, "half the elements of w");
    check.extent(to.scales_name, to.scales, 0, n * k / to.size + (n * k % to.size != 0), "the blocks of w");
    if (k % to.size != 0 && n > 1 && w.strides[0] != k)
      refuse_format(operation, "argument w has gaps between its rows, and blocks of " +
                                   std::to_string(to.size) + " do not end with rows of " + std::to_string(k) +
                                   "; copy it to memory of its own");
  } else {
    check_matrix(operation, to.codes_name, to.codes);
    check_matrix(operation, to.scales_name, to.scales);
    check.extent(to.codes_name, to.codes, 0, n, "the rows of w");
    check.extent(to.codes_name, to.codes, 1, k / 2, "half the columns of w");
    check.extent(to.scales_name, to.scales, 0, n, "the rows of w");
    check.extent(to.scales_name, to.scales, 1, k / to.size, "the blocks of a row");
  }
  if (!to.global.exists()) return;
  check.output("global", to.global);
  check.extent("global", to.global, 0, 1, "one number");
  check.apart("global", to.global, "w", w);
  check.apart("global", to.global, to.codes_name, to.codes);
  check.apart("global", to.global, to.scales_name, to.scales);
}

void run_tensor_scale(const stream& s, const any_view& w, const any_view& global) {
  const std::int64_t row = (w.extents[1] + 7) / 8;
  tensor_scale_problem p{.x = w.address,
                         .x_row = w.strides[0],
                         .type = element_type_of(w.type),
                         .x_by_16 = rows_begin_at(w, 16) ? 1u : 0u,
                         .columns = static_cast<u32>(w.extents[1]),
                         .eights = static_cast<u32>(w.extents[0] * row),
                         .row_eights = divisor::of(static_cast<u32>(row)),
                         .phase = 0};
  device_pointer<u32> scale(global.address, 1);
  for (p.phase = 0; p.phase < 3; ++p.phase)
    tensor_scale.launch(s, over(p.phase == 1 ? p.eights : 1u), scale, p);
}

}  // namespace

quantised_output quantised_output_of(block_format format, const tensor_view<u8, 1>& bytes) {
  if (format != block_format::q4_0 && format != block_format::q8_0)
    refuse_format(operation, std::string(facts(format).name) + " cannot be written; write Q4_0 or Q8_0");
  const u32 kind = format == block_format::q4_0 ? u32{quantised_kind::q4_0} : u32{quantised_kind::q8_0};
  return {.kind = kind, .size = 32, .codes_name = "bytes", .scales_name = "", .codes = bytes, .scales = {}};
}
quantised_output quantised_output_of(const bnb_4bit_output& to) {
  return {.kind = to.code == bnb_code::nf4 ? u32{quantised_kind::nf4} : u32{quantised_kind::fp4},
          .size = to.blocksize,
          .codes_name = "weight",
          .scales_name = "absmax",
          .codes = to.weight,
          .scales = to.absmax};
}
quantised_output quantised_output_of(const mxfp4_output& to) {
  return {.kind = quantised_kind::mxfp4,
          .size = 32,
          .codes_name = "packed",
          .scales_name = "scales",
          .codes = to.packed,
          .scales = to.scales};
}
quantised_output quantised_output_of(const nvfp4_output& to) {
  return {.kind = quantised_kind::nvfp4,
          .size = 16,
          .codes_name = "packed",
          .scales_name = "scales",
          .codes = to.packed,
          .scales = to.scales,
          .global = to.global.is_null() ? any_view{} : any_view(to.global)};
}

void run_quantise_weights(const stream& s, const any_view& w, const quantised_output& to) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("w", w);
  check_matrix(operation, "w", w);
  check_output(check, w, to);
  std::int64_t n = w.extents[0], k = w.extents[1];
  if (n == 0 || k == 0) return;
  if (is_flat(to) && k % to.size != 0) {
    k *= n;
    n = 1;
    if (k > std::numeric_limits<std::int32_t>::max() - to.size)
      refuse_format(operation,
                    "argument w has 2^31 elements or more, and its blocks span rows; quantise it in parts");
  }
  const std::int64_t row_blocks = k / to.size + (k % to.size != 0);
  const std::int64_t lanes = std::min<std::int64_t>(32, to.size / 8);
  quantise_blocks_problem p{};
  p.x = w.address;
  p.x_row = w.strides[0];
  p.type = element_type_of(w.type);
  p.x_by_16 = n == 1 ? (w.address % 16 == 0 ? 1u : 0u) : rows_begin_at(w, 16) ? 1u : 0u;
  p.kind = to.kind;
  p.columns = static_cast<u32>(k);
  p.size = static_cast<u32>(to.size);
  p.lanes = static_cast<u32>(lanes);
  p.lanes_log2 = static_cast<u32>(std::countr_zero(p.lanes));
  p.steps = static_cast<u32>(to.size / (8 * lanes));
  p.blocks = static_cast<u32>(n * row_blocks);
  p.row_blocks = divisor::of(static_cast<u32>(row_blocks));
  p.codes = to.codes.address;
  p.scales = to.scales.address;
  p.codes_row = is_of_blocks(to) ? row_blocks * (to.kind == quantised_kind::q4_0 ? 18 : 34)
                : is_flat(to)    ? k / 2
                                 : to.codes.strides[0];
  p.scales_row = is_flat(to) ? row_blocks : to.scales.strides[0];
  p.codes_by_4 = p.codes % 4 == 0 && (n == 1 || p.codes_row % 4 == 0) ? 1 : 0;
  if (to.global.exists()) {
    run_tensor_scale(s, w, to.global);
    p.factor = to.global.address;
  }
  quantise_blocks.launch(s, over(u64{p.blocks} << p.lanes_log2), p);
}

}  // namespace detail

void quantise_weights_warmup(const runtime::device& gpu) {
  gpu.warmup(quantise_blocks.image());
  gpu.warmup(tensor_scale.image());
  warm_up_quantise_w4(gpu);
}

void list_quantise_blocks_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&quantise_blocks.image());
  list.push_back(&tensor_scale.image());
}

}  // namespace kaio::ops
