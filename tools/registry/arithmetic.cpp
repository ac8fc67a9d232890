// The operators and conversions of the language.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/number/literal_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("arithmetic", [] {
  using namespace tests;
  return images(every_operation<f32>, every_operation<f64>, every_operation<i32>, every_operation<u32>,
                every_operation<i64>, every_operation<u64>, every_operation<i8>, every_operation<i16>,
                every_operation<u8>, every_operation<u16>, every_operation<f16>, every_operation<bf16>,
                every_operation<f16, 80>, every_operation<bf16, 80>, every_operation<bf16, 90>,
                every_conversion<f32>, every_conversion<f64>, every_conversion<i32>, every_conversion<u32>,
                every_conversion<i64>, every_conversion<u64>, every_conversion<i8>, every_conversion<i16>,
                every_conversion<u8>, every_conversion<u16>, every_conversion<f16>, every_conversion<bf16>,
                every_conversion<bool>, every_conversion<f64, 80>, every_conversion<f32, 80>,
                every_conversion<i64, 80>, literals);
});

}  // namespace
}  // namespace kaio::tools
