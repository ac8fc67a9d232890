// Separately compiled texts as one module: names that belong to one text, weak definitions, declarations of what
// another text defines.

#include <cstring>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";

// Calls twice() of the other text, its own half() and the weak seven(), and reads both `table`s.
const std::string kernels = head + R"(.file 1 "kernels.cu"
.extern .func (.param .b32 result) twice(.param .b32 value);
.extern .global .align 4 .u32 calls;
.const .align 4 .u32 table[2] = {1, 2}; // belongs to this text
.weak .func (.param .b32 result) seven()
{
  .reg .b32 %r<1>;
  mov.u32 %r0, 7;
  st.param.b32 [result], %r0;
  ret;
}
.func (.param .b32 result) half(.param .b32 value)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r0, [value];
  shr.u32 %r1, %r0, 1;
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry work(.param .u64 to)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<1>;
  .loc 1 12 3
  ld.param.u64 %d0, [to];
  ld.const.u32 %r0, [table+4];
  st.global.u32 [%d0], %r0;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], 20; call (q), twice, (p); ld.param.b32 %r1, [q]; }
  st.global.u32 [%d0+4], %r1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], 20; call (q), half, (p); ld.param.b32 %r2, [q]; }
  st.global.u32 [%d0+8], %r2;
  { .param .b32 q; call (q), seven, (); ld.param.b32 %r3, [q]; }
  st.global.u32 [%d0+12], %r3;
  ld.global.u32 %r4, [calls];
  st.global.u32 [%d0+16], %r4;
  ret;
}
)";

const std::string functions = head + R"(.file 1 "functions.cu"
/* table { is another one */
.const .align 4 .u32 table[2] = {1000, 2000};
.visible .global .align 4 .u32 calls = 40;
.weak .func (.param .b32 result) seven()
{
  .reg .b32 %r<1>;
  mov.u32 %r0, 8;
  st.param.b32 [result], %r0;
  ret;
}
.func (.param .b32 result) half(.param .b32 value)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r0, [value];
  add.u32 %r1, %r0, 500;
  st.param.b32 [result], %r1;
  ret;
}
.visible .func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<6>;
  .loc 1 30 1
  ld.param.b32 %r0, [value];
  add.u32 %r1, %r0, %r0;
  ld.const.u32 %r2, [table+4];
  add.u32 %r1, %r1, %r2;
  ld.global.u32 %r3, [calls];
  add.u32 %r3, %r3, 1;
  st.global.u32 [calls], %r3;
  st.param.b32 [result], %r1;
  ret;
}
)";

}  // namespace

TEST_CASE("texts are linked as objects are") {
  const session s;
  CUlinkState link = nullptr;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  for (std::string text : {kernels, functions})
    MUST(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr, nullptr));
  void* image = nullptr;
  std::size_t bytes = 0;
  MUST(cuLinkComplete(link, &image, &bytes));
  CHECK(bytes == std::strlen(static_cast<const char*>(image)) + 1);
  {
    const loaded module(std::string(static_cast<const char*>(image)));
    const numbers to(5);
    CUdeviceptr address = to.address;
    void* parameters[] = {&address};
    MUST(cuLaunchKernel(module["work"], 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    std::uint32_t seen[5] = {};
    MUST(cuMemcpyDtoH_v2(seen, address, sizeof seen));
    CHECK(seen[0] == 2);
    CHECK(seen[1] == 40 + 2000);
    CHECK(seen[2] == 10);
    CHECK(seen[3] == 7);
    CHECK(seen[4] == 41);
  }
  MUST(cuLinkDestroy(link));
}

TEST_CASE("two visible definitions of a name are not linked") {
  const session s;
  CUlinkState link = nullptr;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  std::string text = functions;
  for (int i = 0; i < 2; ++i)
    MUST(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr, nullptr));
  void* image = nullptr;
  REFUSED(cuLinkComplete(link, &image, nullptr), CUDA_ERROR_INVALID_PTX);
  MUST(cuLinkDestroy(link));
}
