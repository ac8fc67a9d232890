// Managed variables: the host uses them at the address that kernels use.

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

const char* const text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 8 .u32 total[2] = {7, 9};
.visible .global .align 4 .u32 plain;
.visible .entry add()
{
  .reg .b32 %r<2>;
  ld.global.u32 %r0, [total+4];
  add.u32 %r1, %r0, 30;
  st.global.u32 [total], %r1;
  ret;
}
)";

}  // namespace

TEST_CASE("a managed variable has its value, before a context and in kernels") {
  kaio_emulator_reset();
  MUST(cuInit(0));
  CUlibrary library = nullptr;
  MUST(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  REFUSED(cuLibraryGetManaged(&address, &bytes, library, "plain"), CUDA_ERROR_NOT_FOUND);
  REFUSED(cuLibraryGetManaged(&address, &bytes, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  MUST(cuLibraryGetManaged(&address, &bytes, library, "total"));
  CHECK(bytes == 8);
  auto* const total = reinterpret_cast<volatile std::uint32_t*>(address);
  CHECK(total[0] == 7);
  total[1] = 12;
  {
    const session s;
    CUkernel add = nullptr;
    MUST(cuLibraryGetKernel(&add, library, "add"));
    MUST(cuLaunchKernel(reinterpret_cast<CUfunction>(add), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    MUST(cuCtxSynchronize());
    CHECK(total[0] == 42);
    CUdeviceptr again = 0;
    MUST(cuLibraryGetGlobal(&again, &bytes, library, "total"));
    CHECK(again == address);
    CUcontext other = nullptr;
    MUST(cuCtxCreate_v2(&other, 0, 0));
    REFUSED(cuLibraryGetGlobal(&again, &bytes, library, "total"), CUDA_ERROR_NOT_SUPPORTED);
    MUST(cuCtxDestroy_v2(other));
    MUST(cuLibraryUnload(library));
  }
}
