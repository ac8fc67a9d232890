// dequantise of a file's blocks: the checks and the launch.

#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/weight_only/formats/dequantise_blocks.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <bit>
#include <string>
#include <vector>

#include "ops/weight_only/formats/check.hpp"
#include "ops/weight_only/formats/kernels.hpp"

namespace kaio::ops {

namespace detail {

void run_dequantise_blocks(const stream& s, block_format format, const any_view& bytes, const any_view& out) {
  constexpr std::string_view operation = "dequantise";
  const operation_scope traced(operation);
  const auto& properties = s.properties();  // a null stream is refused before anything is looked at
  const validation check(operation, s.device_identity());
  check.input("bytes", bytes);
  check.output("out", out);
  check_matrix(operation, "out", out);
  check_line(operation, "bytes", bytes);
  const std::string name(facts(format).name);
  const block_layout layout = layout_of(format);
  const std::int64_t n = out.extents[0], k = out.extents[1];
  if (k % layout.elements != 0)
    refuse_format(operation, "argument out has rows of " + std::to_string(k) + " elements, and blocks of " +
                                 name + " have " + std::to_string(layout.elements));
  check.extent("bytes", bytes, 0, static_cast<std::int64_t>(packed_bytes(format, n * k)),
               "the bytes of " + name + " for out");
  check.apart("out", out, "bytes", bytes);
  const bool has_halves = layout.scales != block_scales::e8m0 && layout.scales != block_scales::ue4m3;
  if (has_halves && bytes.address % 2 != 0)
    refuse_format(operation,
                  "argument bytes begins at an odd address, and " + name + " has numbers of 16 bits");
  if (n == 0 || k == 0) return;
  const block_problem problem{
      .layout = layout,
      .codes_alignment = common_alignment((bytes.address + layout.codes_at) | layout.bytes),
      .high_alignment = common_alignment((bytes.address + layout.high_at) | layout.bytes),
      .eights_log2 = static_cast<u32>(std::countr_zero(layout.elements / 8)),
      .bytes = bytes.address,
      .out = out.address,
      .out_row = out.strides[0],
      .eights = static_cast<u32>(n * k / 8),
      .row = divisor::of(static_cast<u32>(k / 8)),
      .type = element_type_of(out.type),
      .out_by_16 = rows_begin_at(out, 16) ? 1u : 0u};
  if (properties.target.sm >= 80)
    dequantise_blocks<80>.launch(s, over(problem.eights), problem);
  else
    dequantise_blocks<70>.launch(s, over(problem.eights), problem);
}

}  // namespace detail

void warm_up_dequantise_blocks(const runtime::device& gpu) {
  gpu.warmup(gpu.properties().target.sm >= 80 ? dequantise_blocks<80>.image()
                                              : dequantise_blocks<70>.image());
}

void list_dequantise_blocks_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&dequantise_blocks<70>.image());
  list.push_back(&dequantise_blocks<80>.image());
}

}  // namespace kaio::ops
