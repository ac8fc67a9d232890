// Control flow, composition, printing and assertions.
#include "tests/kernels/control/composition.hpp"
#include "tests/kernels/control/control_loops.hpp"
#include "tests/kernels/control/debug_kernels.hpp"
#include "tests/kernels/control/inline_ptx_kernels.hpp"
#include "tests/kernels/control/pitfalls.hpp"
#include "tests/kernels/kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("control", [] {
  using namespace tests;
  return images(branches, early_exits, ranges<i32>, ranges<u32>, ranges<i64>, ranges<u64>, conditions,
                snapshots, scopes, constants, literal_operands, inner_names, widths, signed_indices, tails,
                reductions_in_a_row, moving_bound, flags, attention_row<16, 200, 64>,
                attention_row<33, 200, 48>, map_tiles<f32, 4, ptx::oldest_target, square_plus_one>,
                statistics, moving_sums, holders, constant_steps<i8, -7>, constant_steps<u64, 3>,
                run_time_steps<i64>, run_time_steps<u8>, known_rounds<i32>, nested_copies, shared_rounds<u32>,
                shared_rounds<i64>, loops_in_a_row<u32>, loops_in_a_row<u8>, places, prints_everything,
                prints_by_lane, asserts, asserts_nothing, inline_expressions, inline_pairs, inline_statements,
                inline_matrix);
});

}  // namespace
}  // namespace kaio::tools
