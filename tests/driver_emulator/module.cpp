// Code: PTX text and fat binaries become modules and libraries, and errors in it are reported in the log.

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "driver_emulator/fat_binary.hpp"
#include "driver_emulator/support.hpp"
#include "host/system/process.hpp"

using namespace driver_emulator_test;

namespace {

const std::string two_kernels = ptx(R"(.visible .global .align 4 .u32 counter = 7;
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry first(.param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [to];
  ld.global.u32 %r0, [counter];
  st.global.u32 [%d0], %r0;
  ret;
}
.visible .entry second(.param .u8 a, .param .align 8 .b8 b[16], .param .f32 c)
.maxntid 64, 2, 1
{
  .shared .align 4 .b8 tile[1024];
  .local .align 4 .b8 own[40];
  ret;
}
)");

struct logs {
  char error[512] = {}, info[512] = {};
  CUjit_option options[5] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                             CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE};
  void* values[5] = {error, reinterpret_cast<void*>(sizeof error), info, reinterpret_cast<void*>(sizeof info),
                     reinterpret_cast<void*>(1)};
  CUresult load(CUmodule* m, const std::string& text) {
    return cuModuleLoadDataEx(m, text.c_str(), 5, options, values);
  }
  std::size_t error_bytes() const { return reinterpret_cast<std::uintptr_t>(values[1]); }
  std::size_t info_bytes() const { return reinterpret_cast<std::uintptr_t>(values[3]); }
};

bool says(const char* text, const char* what) { return std::strstr(text, what) != nullptr; }

std::string constant_kernel(const char* target, int value) {
  return ptx(
      ".visible .entry tell(.param .u64 to)\n{\n  .reg .b64 %d;\n  ld.param.u64 %d, [to];\n"
      "  st.global.u32 [%d], " +
          std::to_string(value) + ";\n  ret;\n}\n",
      target);
}

std::uint32_t told(CUfunction f) {
  const numbers to(1);
  CUdeviceptr address = to.address;
  void* parameters[] = {&address};
  MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  return to.read()[0];
}

}  // namespace

TEST_CASE("a module has functions, variables and attributes") {
  const session s;
  const loaded m(two_kernels);
  unsigned count = 0;
  MUST(cuModuleGetFunctionCount(&count, m.module));
  CHECK(count == 2);
  CUfunction all[2] = {};
  MUST(cuModuleEnumerateFunctions(all, 2, m.module));
  CHECK(all[0] == m["first"]);
  CHECK(all[1] == m["second"]);
  const char* name = nullptr;
  MUST(cuFuncGetName(&name, all[1]));
  CHECK(std::string(name) == "second");
  CUmodule owner = nullptr;
  MUST(cuFuncGetModule(&owner, all[1]));
  CHECK(owner == m.module);
  std::size_t offset = 0, bytes = 0;
  MUST(cuFuncGetParamInfo(all[1], 1, &offset, &bytes));
  CHECK(offset == 8);
  CHECK(bytes == 16);
  MUST(cuFuncGetParamInfo(all[1], 2, &offset, &bytes));
  CHECK(offset == 24);
  CHECK(bytes == 4);
  REFUSED(cuFuncGetParamInfo(all[1], 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  const auto attribute = [&](CUfunction_attribute a) {
    int value = -7;
    MUST(cuFuncGetAttribute(&value, a, all[1]));
    return value;
  };
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 128);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 1024);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 16);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) >= 40);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION) == 70);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION) == 90);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == 48 * 1024 - 1024);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS) >= 1);
  MUST(cuFuncSetAttribute(all[1], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024));
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == 100 * 1024);
  REFUSED(cuFuncSetAttribute(all[1], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuFuncSetAttribute(all[1], CU_FUNC_ATTRIBUTE_NUM_REGS, 3), CUDA_ERROR_INVALID_VALUE);
  MUST(cuFuncSetAttribute(all[1], CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
  MUST(cuFuncSetCacheConfig(all[1], 1));
  MUST(cuFuncLoad(all[1]));
  CUdeviceptr counter = 0;
  MUST(cuModuleGetGlobal_v2(&counter, &bytes, m.module, "counter"));
  CHECK(bytes == 4);
  CHECK(told(all[0]) == 7);
  MUST(cuMemsetD32_v2(counter, 9, 1));
  CHECK(told(all[0]) == 9);
  REFUSED(cuModuleGetGlobal_v2(&counter, &bytes, m.module, "nothing"), CUDA_ERROR_NOT_FOUND);
  CUfunction none = nullptr;
  REFUSED(cuModuleGetFunction(&none, m.module, "third"), CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("two modules of one text have variables of their own") {
  const session s;
  const loaded a(two_kernels), b(two_kernels);
  CUdeviceptr in_a = 0, in_b = 0;
  MUST(cuModuleGetGlobal_v2(&in_a, nullptr, a.module, "counter"));
  MUST(cuModuleGetGlobal_v2(&in_b, nullptr, b.module, "counter"));
  CHECK(in_a != in_b);
  MUST(cuMemsetD32_v2(in_a, 1, 1));
  CHECK(told(a["first"]) == 1);
  CHECK(told(b["first"]) == 7);
}

TEST_CASE("what is wrong with a text is in the error log, by its line") {
  const session s;
  CUmodule m = nullptr;
  logs l;
  REFUSED(
      l.load(&m, ptx(".visible .entry broken()\n{\n  .reg .b32 %r;\n  frobnicate.u32 %r, 1;\n  ret;\n}\n")),
      CUDA_ERROR_INVALID_PTX);
  CHECK(says(l.error, "ptxas application ptx input, line 7; error   : "));
  CHECK(says(l.error, "frobnicate"));
  CHECK(says(l.error, "ptxas fatal   : Ptx assembly aborted due to errors"));
  CHECK(l.error_bytes() == std::strlen(l.error) + 1);
  CHECK(l.info_bytes() == 0);

  logs newer;
  const std::string head = ".version 9.9\n.target sm_70\n.address_size 64\n";
  REFUSED(newer.load(&m, (head + ".entry k() { frobnicate; ret; }\n").c_str()),
          CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK(says(newer.error, "it knows instructions up to PTX ISA"));
  MUST(newer.load(&m, (head + ".entry k() { ret; }\n").c_str()));
  MUST(cuModuleUnload(m));
  m = nullptr;
  logs other;
  REFUSED(other.load(&m, ".version 8.7\n.target sm_100\n.address_size 64\n"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(says(other.error, "sm_100"));

  // A small buffer holds the part that fits, and ends in a zero.
  char small[20];
  std::memset(small, 'x', sizeof small);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {small, reinterpret_cast<void*>(sizeof small)};
  REFUSED(cuModuleLoadDataEx(&m, "nonsense", 2, options, values), CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(small) == "ptxas application p");
  CHECK(values[1] == reinterpret_cast<void*>(20));
  CHECK(m == nullptr);

  REFUSED(cuModuleLoadData(&m, nullptr), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuModuleLoadData(nullptr, add_text.c_str()), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuModuleLoadData(&m, ""), CUDA_ERROR_INVALID_IMAGE);
  REFUSED(cuModuleLoadData(&m, "\x01\x02\x03\x04\x05"), CUDA_ERROR_INVALID_IMAGE);
  REFUSED(cuModuleLoadData(&m,
                           "\x7f"
                           "ELF and what follows"),
          CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE("a good text leaves an info log when it is asked to") {
  const session s;
  CUmodule m = nullptr;
  logs l;
  MUST(l.load(&m, two_kernels));
  CHECK(l.error_bytes() == 0);
  CHECK(says(l.info, "Compiling entry function 'second' for 'sm_90a'"));
  CHECK(says(l.info, "1024 bytes smem"));
  CHECK(l.info_bytes() == std::strlen(l.info) + 1);
  MUST(cuModuleUnload(m));
  REFUSED(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
  CUfunction f = nullptr;
  REFUSED(cuModuleGetFunction(&f, m, "first"), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(cuModuleGetFunction(&f, nullptr, "first"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("a function of an unloaded module is no function any more") {
  const session s;
  CUfunction f = nullptr;
  {
    const loaded m(add_text);
    f = m["add"];
  }
  int value = 0;
  REFUSED(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f), CUDA_ERROR_INVALID_HANDLE);
  const numbers x(4);
  REFUSED(launch_add(f, x.address, 1, 4), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("of a fat binary the newest text that the device runs is taken") {
  const session s;
  CUmodule m = nullptr;
  const std::string fat = fat_binary({{1, 75, constant_kernel("sm_75", 75)},
                                      {2, 90,
                                       "\x7f"
                                       "ELF"},
                                      {1, 80, constant_kernel("sm_80", 80)},
                                      {1, 100, constant_kernel("sm_100", 100)}});
  MUST(cuModuleLoadFatBinary(&m, fat.data()));
  CUfunction f = nullptr;
  MUST(cuModuleGetFunction(&f, m, "tell"));
  CHECK(told(f) == 80);
  MUST(cuModuleUnload(m));
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data;
    const void* more = nullptr;
  } wrapper;
  wrapper.data = fat.data();
  MUST(cuModuleLoadData(&m, &wrapper));
  MUST(cuModuleUnload(m));
  const std::string machine_code = fat_binary({{2, 90,
                                                "\x7f"
                                                "ELF"}});
  REFUSED(cuModuleLoadData(&m, machine_code.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE("a module is loaded from a file") {
  const session s;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("kaio_module_" + std::to_string(kaio::host::process_number()) + ".ptx"))
                               .string();
  std::ofstream(path) << add_text;
  CUmodule m = nullptr;
  MUST(cuModuleLoad(&m, path.c_str()));
  MUST(cuModuleUnload(m));
  std::remove(path.c_str());
  REFUSED(cuModuleLoad(&m, path.c_str()), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_CASE("a library belongs to no context, and its kernels are launched in any") {
  const session s;
  CUlibrary l = nullptr;
  MUST(cuLibraryLoadData(&l, add_text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  MUST(cuLibraryGetKernelCount(&count, l));
  CHECK(count == 1);
  CUkernel k = nullptr, same = nullptr;
  MUST(cuLibraryGetKernel(&k, l, "add"));
  MUST(cuLibraryEnumerateKernels(&same, 1, l));
  CHECK(k == same);
  REFUSED(cuLibraryGetKernel(&same, l, "sub"), CUDA_ERROR_NOT_FOUND);
  const char* name = nullptr;
  MUST(cuKernelGetName(&name, k));
  CHECK(std::string(name) == "add");
  CUlibrary owner = nullptr;
  MUST(cuKernelGetLibrary(&owner, k));
  CHECK(owner == l);
  int value = 0;
  MUST(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
  CHECK(value == 1024);
  MUST(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, k, 0));
  std::size_t offset = 0, bytes = 0;
  MUST(cuKernelGetParamInfo(k, 1, &offset, &bytes));
  CHECK(offset == 8);
  const numbers x(std::vector<std::uint32_t>{1, 2, 3});
  MUST(launch_add(reinterpret_cast<CUfunction>(k), x.address, 10, 3));
  CUfunction f = nullptr;
  MUST(cuKernelGetFunction(&f, k));
  MUST(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  CHECK(value == 65536);
  MUST(launch_add(f, x.address, 100, 2));
  CHECK(x.read() == std::vector<std::uint32_t>{111, 112, 13});
  CUmodule m = nullptr;
  MUST(cuLibraryGetModule(&m, l));
  MUST(cuLibraryUnload(l));
  REFUSED(cuLibraryUnload(l), CUDA_ERROR_INVALID_HANDLE);
  REFUSED(launch_add(f, x.address, 100, 2), CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("the linker joins texts") {
  const session s;
  CUlinkState link = nullptr;
  MUST(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  std::string first = add_text, second = constant_kernel("sm_70", 5);
  MUST(
      cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, first.data(), first.size() + 1, "first", 0, nullptr, nullptr));
  MUST(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, second.data(), second.size(), "second", 0, nullptr, nullptr));
  REFUSED(cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, second.data(), 8, "third", 0, nullptr, nullptr),
          CUDA_ERROR_NO_BINARY_FOR_GPU);
  void* image = nullptr;
  std::size_t bytes = 0;
  MUST(cuLinkComplete(link, &image, &bytes));
  CHECK(bytes > first.size());
  CUmodule m = nullptr;
  MUST(cuModuleLoadData(&m, image));
  MUST(cuLinkDestroy(link));
  CUfunction f = nullptr;
  MUST(cuModuleGetFunction(&f, m, "add"));
  MUST(cuModuleGetFunction(&f, m, "tell"));
  CHECK(told(f) == 5);
  MUST(cuModuleUnload(m));
}
