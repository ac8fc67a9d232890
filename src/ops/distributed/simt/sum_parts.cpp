#include "ops/distributed/simt/sum_parts.hpp"

#include <kaio/ops/distributed/simt/sum_parts.hpp>

#include <algorithm>
#include <vector>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

void launch_sum(const stream& s, const summed_rows& to, const summed_rows& from, std::uint64_t part,
                u32 parts, std::uint64_t rows, std::uint64_t size, bool accumulate) {
  if (rows == 0 || size == 0) return;
  constexpr std::uint64_t block = std::uint64_t{sum_parts_threads} * run_size, most_rows = 65535;
  sum_parts_problem problem{};
  problem.size = size;
  problem.to_row = to.row;
  problem.from_row = from.row;
  problem.from_part = part;
  problem.parts = parts;
  problem.to_type = element_type_of(to.type);
  problem.from_type = element_type_of(from.type);
  problem.to_aligned = (to.address | to.row) % 16 == 0 ? 1 : 0;
  problem.from_aligned = (from.address | from.row | part) % 16 == 0 ? 1 : 0;
  problem.accumulate = accumulate ? 1 : 0;
  for (std::uint64_t first = 0; first < rows; first += most_rows) {
    problem.to = to.address + first * to.row;
    problem.from = from.address + first * from.row;
    sum_parts.launch(s, grid((size + block - 1) / block, std::min(rows - first, most_rows)), problem);
  }
}

void sum_warmup(const device& gpu) { gpu.warmup(sum_parts.image()); }

}  // namespace detail

void list_distributed_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&sum_parts.image());
}

}  // namespace kaio::ops
