// Bit operations, divisions by constants, rounded and saturated arithmetic, packed pairs.
#include "tests/kernels/number/bits_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("bits", [] {
  using namespace tests;
  return images(every_bit_operation<i8>, every_bit_operation<i16>, every_bit_operation<i32>,
                every_bit_operation<i64>, every_bit_operation<u8>, every_bit_operation<u16>,
                every_bit_operation<u32>, every_bit_operation<u64>, constant_division<i8, 0, 48>,
                constant_division<i8, 48, 96>, constant_division<i16, 0, 48>, constant_division<i16, 48, 96>,
                constant_division<i32, 0, 48>, constant_division<i32, 48, 96>, constant_division<i64, 0, 48>,
                constant_division<i64, 48, 96>, constant_division<u8, 0, 48>, constant_division<u8, 48, 96>,
                constant_division<u16, 0, 48>, constant_division<u16, 48, 96>, constant_division<u32, 0, 48>,
                constant_division<u32, 48, 96>, constant_division<u64, 0, 48>, constant_division<u64, 48, 96>,
                bit_constants, every_rounding<f32>, every_rounding<f64>, every_saturation<f32, 70>,
                every_saturation<f64, 70>, every_saturation<f16, 70>, every_saturation<bf16, 70>,
                every_saturation<bf16, 80>, every_packed_operation<f16x2, 70>,
                every_packed_operation<f16x2, 80>, every_packed_operation<bf16x2, 70>,
                every_packed_operation<bf16x2, 80>, every_packed_operation<bf16x2, 90>);
});

}  // namespace
}  // namespace kaio::tools
