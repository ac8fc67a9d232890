#pragma once
// Every kernel of the repository: what kaio-tool lists and prints, and what ptxas is asked to assemble. A
// kernel that is not named here is not verified, so each new one gets its line.
//
//   boost::hana::for_each(registry, [](const auto& kernel) { use(kernel.image()); });

#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/saxpy/saxpy.hpp"
#include "showcase/softmax/softmax.hpp"
#include "tests/kernels/kernels.hpp"

#include <boost/hana/tuple.hpp>

namespace kaio::tools {

inline constexpr auto registry = boost::hana::make_tuple(
    showcase::saxpy, showcase::fused_silu_gate, showcase::softmax, tests::every_operation<f32>,
    tests::every_operation<f64>, tests::every_operation<i32>, tests::every_operation<u32>,
    tests::every_operation<i64>, tests::every_operation<u64>, tests::every_conversion<f32>,
    tests::every_conversion<f64>, tests::every_conversion<i32>, tests::every_conversion<u32>,
    tests::every_conversion<i64>, tests::every_conversion<u64>, tests::elementary<f32>,
    tests::elementary<f64>, tests::branches, tests::early_exits, tests::ranges<i32>, tests::ranges<u32>,
    tests::ranges<i64>, tests::ranges<u64>, tests::conditions, tests::snapshots, tests::scopes,
    tests::far_index, tests::constants, tests::transpose, tests::shuffles<f32>, tests::shuffles<i64>,
    tests::reductions<f32, 1>, tests::reductions<f32, 48>, tests::reductions<f64, 256>,
    tests::reductions<i32, 1000>, tests::reductions<u64, 1024>, tests::repeated_reduction);

}  // namespace kaio::tools
