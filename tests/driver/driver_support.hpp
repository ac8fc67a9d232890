#pragma once
// Shared by the tests of the driver's half of the runtime: the controls of the emulated driver, and kernels
// for it. These programs run with KAIO_CUDA_LIBRARY set to libkaio_cuda_emulator.so.

#include <kaio/runtime/cuda_emulator.h>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/runtime.hpp>

#include <cstring>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "thrown.hpp"

namespace driver_test {

// The driver that kaio loads too, as another user of it in the same process would see it.
class fresh_driver {
 public:
  // Every test begins and ends with nothing alive, on one sm_90a with 1 GB.
  fresh_driver();
  ~fresh_driver();
  fresh_driver(const fresh_driver&) = delete;
  fresh_driver& operator=(const fresh_driver&) = delete;

  kaio_emulator_counters counted() const;
  long calls() const { return static_cast<long>(counted().calls); }
  long launches() const { return static_cast<long>(counted().launches); }
  long loads() const { return static_cast<long>(counted().loads); }
  long alive() const;
  long calls_of(const char* function) const;
  kaio_emulator_launch last() const;  // fails the test where nothing was launched

  void reset() const;
  void fail(long call, int code, bool stay = false) const;
  // The next call of this function.
  void fail_next(const char* function, int code) const;
  void recover() const { fail(-1, 0); }
  void be(int devices, const char* architecture = "sm_90a", int version = 13000) const;

  // The calling thread's current context.
  void* current() const;
  void set_current(void* context) const;
  void* create_context(int ordinal = 0) const;  // and makes it current
  void destroy_context(void* context) const;
  void* retain_primary(int ordinal) const;  // and makes it current
  void release_primary(int ordinal) const;

  // A stream of the current context.
  void* create_stream() const;
  void destroy_stream(void* stream) const;

  void begin_capture(void* stream) const;
  void end_capture(void* stream) const;
  // The capture's executable graph, to be launched any number of times and destroyed.
  void* end_capture_as_graph(void* stream) const;
  void launch_graph(void* executable, void* stream) const;
  void destroy_executable(void* executable) const;
};

inline constexpr std::string_view scale_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n",
    ".visible .entry scale(.param .u64 scale_param_0, .param .f32 scale_param_1, .param .u32 "
    "scale_param_2)\n",
    R"({
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<2>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [scale_param_0];
  ld.param.f32 %f0, [scale_param_1];
  ld.param.u32 %r0, [scale_param_2];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra done;
  mad.wide.u32 %d1, %r4, 4, %d0;
  ld.global.f32 %f1, [%d1];
  mul.f32 %f1, %f1, %f0;
  st.global.f32 [%d1], %f1;
done:
  ret;
}
)",
};
inline constexpr kaio::ptx::parameter scale_parameters[] = {
    {kaio::ptx::type::f32, kaio::ptx::access::inout},
    {kaio::ptx::type::f32, kaio::ptx::access::scalar},
    {kaio::ptx::type::u32, kaio::ptx::access::scalar},
};
// scale(x, factor, n): x[i] *= factor
inline constexpr kaio::ptx::kernel_image scale{
    .name = "scale",
    .segments = scale_text,
    .segment_count = 3,
    .parameters = scale_parameters,
    .parameter_count = 3,
    .block = {256, 1, 1},
    .needs = {},
};

// The kernel `scale` with an unknown instruction, whose source line is known.
inline constexpr std::string_view broken_text[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n",
    ".visible .entry scale(.param .u64 scale_param_0, .param .f32 scale_param_1, .param .u32 "
    "scale_param_2)\n",
    "{\n  rett;\n}\n",
};
inline constexpr kaio::ptx::source_line broken_statements[] = {{"scale.hpp", 12}};
inline constexpr std::uint16_t broken_lines[] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0, 0xffff};
inline constexpr kaio::ptx::kernel_image broken{
    .name = "scale",
    .segments = broken_text,
    .segment_count = 3,
    .parameters = scale_parameters,
    .parameter_count = 3,
    .block = {256, 1, 1},
    .needs = {},
    .statements = broken_statements,
    .statement_count = 1,
    .statement_of_line = broken_lines,
    .line_count = 7,
};

// x[i] *= 2, for the 1024 elements of x.
inline void launch_scale(const kaio::stream& s, const kaio::buffer<float>& x, std::uint64_t blocks = 4) {
  const kaio::ptx::argument arguments[] = {x.as_argument(), {0x40000000u}, {1024}};
  s.launch(scale, {blocks, 1, 1}, arguments, 3);
}

// The bits of an argument of the last launch, at its place among the parameters.
template <class Value>
Value value_at(const kaio_emulator_launch& launch, std::size_t offset) {
  Value v{};
  std::memcpy(&v, launch.parameters + offset, sizeof v);
  return v;
}

// Sanitizers keep memory that was freed, and end the program over allocations that are too large.
bool has_a_sanitizer();

using kaio::tests::catch_error;
using kaio::tests::thrown;

}  // namespace driver_test
