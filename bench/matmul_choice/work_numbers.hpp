#pragma once
// The cost model's view of a kernel of matmul and of its work on a problem, as numbers in the order that
// fits read.

#include <kaio/ops/matmul/choice/variant.hpp>

#include <array>

#include "ops/matmul/choice/cost.hpp"

namespace kaio::bench {

inline std::array<double, 27> work_numbers(const ops::matmul_variant& v, const ops::kernel_work& w) {
  return {v.start_clocks,
          v.rate,
          v.step_clocks,
          w.blocks,
          w.at_once,
          w.steps,
          w.clusters ? 1.0 : 0.0,
          w.exchanges ? 1.0 : 0.0,
          w.halves ? 1.0 : 0.0,
          w.cluster_splits,
          w.operations,
          w.operations_in_clock,
          w.shared_bytes,
          w.loaded_bytes,
          w.copied,
          w.crossing_bytes,
          w.short_lines,
          w.odd_vectors,
          w.outside_vectors,
          w.results,
          w.outside,
          w.result_bytes,
          w.bias,
          w.addends,
          static_cast<double>(w.activation),
          w.read_and_written,
          w.sums};
}

}  // namespace kaio::bench
