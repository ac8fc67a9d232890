#pragma once
// Kernels that the runtime's tests launch, as a program would get them from the language: text, parameters,
// block.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/runtime.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "environment.hpp"
#include "thrown.hpp"

namespace runtime_test {

// y[i] = a * x[i] for i < n
inline constexpr std::string_view scale_text[] = {".version 6.0\n.target sm_70\n.address_size 64\n",
                                                  R"(
.visible .entry scale(.param .u64 scale_param_0, .param .u64 scale_param_1,
  .param .f32 scale_param_2, .param .u32 scale_param_3)
.maxntid 64, 1, 1
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [scale_param_0];
  ld.param.u64 %rd2, [scale_param_1];
  ld.param.f32 %f1, [scale_param_2];
  ld.param.u32 %r1, [scale_param_3];
)",
                                                  R"(  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  setp.lt.u32 %p1, %r5, %r1;
  @!%p1 bra L0;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mad.wide.u32 %rd5, %r5, 4, %rd3;
  mad.wide.u32 %rd6, %r5, 4, %rd4;
  ld.global.f32 %f2, [%rd5];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd6], %f3;
L0:
  ret;
}
)"};
inline constexpr kaio::ptx::parameter scale_parameters[] = {
    {kaio::ptx::type::f32, kaio::ptx::access::in},
    {kaio::ptx::type::f32, kaio::ptx::access::out},
    {kaio::ptx::type::f32, kaio::ptx::access::scalar},
    {kaio::ptx::type::u32, kaio::ptx::access::scalar},
};
inline constexpr kaio::ptx::kernel_image scale{
    .name = "scale",
    .segments = scale_text,
    .segment_count = 3,
    .parameters = scale_parameters,
    .parameter_count = 4,
    .block = {64, 1, 1},
    .needs =
        {.target = {70, false}, .version = {6, 0}, .shared_bytes = 0, .max_threads = 64, .instructions = 18},
};

inline std::uint64_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Launches as `scale.launch(s, over(n), x, y, a, n)` does.
template <class X, class Y>
void launch_scale(const kaio::stream& s, const X& x, const Y& y, float a, std::uint32_t n,
                  const kaio::ptx::kernel_image& kernel = scale) {
  const kaio::ptx::argument arguments[] = {x.as_argument(), y.as_argument(), {bits_of(a)}, {n}};
  s.launch(kernel, {(std::uint64_t{n} + 63) / 64, 1, 1}, arguments, 4);
}

inline std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

using kaio::tests::catch_error;
using kaio::tests::environment;
using kaio::tests::thrown;

}  // namespace runtime_test
