#pragma once
// Dequantises a file's blocks into a matrix. A thread decodes eight neighbours of a row and stores them at
// once. A warp reads neighbouring bytes: 256 elements, 84 to 272 bytes. One kernel serves all element types
// and all formats: block_layout.hpp describes them in numbers.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/formats/block_values.hpp>
#include <kaio/ops/weight_only/formats/store_eight.hpp>

#include <cstdint>

namespace kaio::ops {

struct block_problem {
  block_layout layout;
  u32 codes_alignment, high_alignment;  // 1, 2, 4 or 8: alignment of an eight-byte load
  u32 eights_log2;                      // eights per block
  u64 bytes, out;
  i64 out_row;  // in elements
  u32 eights;   // in all
  divisor row;  // eights per row
  u32 type;     // an element_type
  u32 out_by_16;
};

inline constexpr u32 dequantise_threads = 256;

// Launched with one thread per eight elements.
template <std::uint16_t Sm>
inline constexpr auto dequantise_blocks =
    kaio::kernel<"dequantise_blocks_sm" + decimal<Sm>, block_size{dequantise_threads},
                 kernel_options{.contract = false, .target = {Sm}}>([](thread t, val<block_problem> problem) {
      const val index = t.global_id();
      if (auto in_range = t.when(index < problem[&block_problem::eights])) {
        const auto layout = problem[&block_problem::layout];
        const val log2 = t.let(problem[&block_problem::eights_log2]);
        const val which = t.let(index >> log2);
        const val j = t.let(index - (which << log2));
        const val block =
            t.let(problem[&block_problem::bytes] + mul_wide(which, t.let(layout[&block_layout::bytes])));
        const val codes_alignment = t.let(problem[&block_problem::codes_alignment]);
        const val high_alignment = t.let(problem[&block_problem::high_alignment]);
        const auto x = block_values(t, layout, block, j, codes_alignment, high_alignment);
        const quotient at = divide(t, index, problem[&block_problem::row]);
        const val first =
            t.let(cast<i64>(at.whole) * problem[&block_problem::out_row] + cast<i64>(at.rest * 8u));
        const val type = t.let(problem[&block_problem::type]);
        const val out = t.let(problem[&block_problem::out]);
        store_eight<Sm>(t, out, first, type, t.let(problem[&block_problem::out_by_16]), x);
      }
    });

}  // namespace kaio::ops
