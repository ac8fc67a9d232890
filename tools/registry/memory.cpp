// Memory: vectors, policies, structs, arrays, atomics.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/memory/atomic_kernels.hpp"
#include "tests/kernels/memory/memory_kernels.hpp"
#include "tests/kernels/memory/pointer_kernels.hpp"
#include "tests/kernels/memory/record_kernels.hpp"
#include "tests/kernels/number/float8_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("memory", [] {
  using namespace tests;
  return images(
      far_index, vectors<f32x4>, vectors<f64x2>, vectors<f16x8>, vectors<i8x16>, vectors<u16x2>, policies,
      last_block, structs, indexed_arrays, dynamic_arrays, large_arrays, rows, far_addresses,
      constant_parameters, pointers_in_memory, contention<u32, 70>, contention<f32, 70>, contention<i64, 70>,
      contention<bf16, 70>, contention<bf16x2, 90>, exchanges<f64>, exchanges<u16>, vector_sums<f32x4, 90>,
      vector_sums<f16x8, 90>, vector_sums<bf16x4, 90>, float8_decoded<e4m3, 70>, float8_decoded<e5m2, 70>,
      float8_decoded<e4m3, 89>, float8_decoded<e5m2, 89>, float8_encoded<f32, 70>, float8_encoded<f64, 70>,
      float8_encoded<f32, 89>, float8_encoded<f64, 89>, float8_encoded<u64, 89>, float8_vectors<e4m3, 70>,
      float8_vectors<e4m3, 89>, float8_vectors<e5m2, 89>, float8_places<e4m3>, float8_places<e5m2>,
      pointer_sums, pointer_elements, exact_indices, cell_operators<u32>, cell_operators<u8>,
      cell_operators<u64>, member_operators, complex_powers, whole_structs);
});

}  // namespace
}  // namespace kaio::tools
