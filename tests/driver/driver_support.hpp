#pragma once
// What the tests of the driver's half of the runtime share: the stand-in driver's controls, and a kernel for
// it. These programs run with KAIO_CUDA_LIBRARY set to the stand-in.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/runtime.hpp>

#include <string>
#include <string_view>

#include "catch.hpp"
#include "fake_driver/fake_driver.hpp"
#include "thrown.hpp"

namespace driver_test {

// The controls, through the library that kaio loads too.
struct controls {
  fake_driver* state;
  void (*reset)();
  void (*set_current)(void*);
  void* (*current)();
};
const controls& fake();

// Every test begins and ends with nothing alive.
struct fresh_driver {
  fresh_driver() {
    fake().reset();
    fake().set_current(nullptr);
    REQUIRE(fake().state->alive() == 0);
  }
  ~fresh_driver() {
    CHECK(fake().state->alive() == 0);
    CHECK(fake().state->misuses == 0);
    fake().reset();
  }
  fresh_driver(const fresh_driver&) = delete;
  fresh_driver& operator=(const fresh_driver&) = delete;
  fake_driver* operator->() const { return fake().state; }
};

inline constexpr std::string_view scale_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n",
    ".visible .entry scale(.param .u64 scale_param_0, .param .f32 scale_param_1, .param .u32 "
    "scale_param_2)\n",
    "{\n  ret;\n}\n",
};
inline constexpr kaio::ptx::parameter scale_parameters[] = {
    {kaio::ptx::type::f32, kaio::ptx::access::inout},
    {kaio::ptx::type::f32, kaio::ptx::access::scalar},
    {kaio::ptx::type::u32, kaio::ptx::access::scalar},
};
inline constexpr kaio::ptx::source_line scale_statements[] = {{"scale.hpp", 12}};
inline constexpr std::uint16_t scale_lines[] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0xffff};
inline constexpr kaio::ptx::kernel_image scale{
    .name = "scale",
    .segments = scale_text,
    .segment_count = 3,
    .parameters = scale_parameters,
    .parameter_count = 3,
    .block = {256, 1, 1},
    .needs = {},
    .statements = scale_statements,
    .statement_count = 1,
    .statement_of_line = scale_lines,
    .line_count = 7,
};

inline void launch_scale(const kaio::stream& s, const kaio::buffer<float>& x, std::uint64_t blocks = 4) {
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  s.launch(scale, {blocks, 1, 1}, arguments, 3);
}

using kaio::tests::catch_error;
using kaio::tests::thrown;

}  // namespace driver_test
