// Functions by name, functions that the emulator does not have, and tensor maps.

#include <cstdint>
#include <cstring>
#include <fstream>

#include "driver_emulator/support.hpp"
#include "host/system/library.hpp"

using namespace driver_emulator_test;

extern "C" CUresult cuGreenCtxDestroy(void*);

namespace {

// Where the library has a function.
template <class Function>
void* address_of(Function* f) {
  void* at = reinterpret_cast<void*>(f);
#if defined(_WIN32)
  // The program's own address is that of a jump: ff 25, and how far from its end the library's address is.
  const auto* const code = static_cast<const unsigned char*>(at);
  if (code[0] == 0xff && code[1] == 0x25) {
    std::int32_t distance = 0;
    std::memcpy(&distance, code + 2, sizeof distance);
    std::memcpy(&at, code + 6 + distance, sizeof at);
  }
#endif
  return at;
}

// Null: the library does not export it.
const void* exported(const char* name) {
  // A library that is linked is found by an address of its own.
  std::string reason;
  static void* const library =
      kaio::host::open_library(kaio::host::file_of_library_of(address_of(&cuInit)), reason);
  return kaio::host::find_symbol(library, name);
}

void* found(const char* name, int version = 13000, std::uint64_t flags = 0) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  MUST(cuGetProcAddress_v2(name, &address, version, flags, &status));
  CHECK((status == CU_GET_PROC_ADDRESS_SUCCESS) == (address != nullptr));
  return address;
}

}  // namespace

TEST_CASE("a name means the form that the program's version of the driver has") {
  CHECK(found("cuInit") == address_of(&cuInit));
  CHECK(found("cuMemAlloc") == address_of(&cuMemAlloc_v2));
  CHECK(found("cuMemAlloc_v2") == address_of(&cuMemAlloc_v2));
  CHECK(found("cuCtxCreate", 11000) == address_of(&cuCtxCreate_v2));
  CHECK(found("cuCtxCreate", 12000) == address_of(&cuCtxCreate_v3));
  CHECK(found("cuCtxCreate", 13000) == address_of(&cuCtxCreate_v4));
  CHECK(found("cuGraphInstantiate", 12000) == address_of(&cuGraphInstantiateWithFlags));
  CHECK(found("cuGraphExecUpdate", 11000) == address_of(&cuGraphExecUpdate));
  CHECK(found("cuCtxGetDevice", 12000) == address_of(&cuCtxGetDevice));
  CHECK(found("cuLaunchKernel", 13000, 2) == address_of(&cuLaunchKernel_ptsz));
  CHECK(found("cuMemcpyHtoD", 13000, 2) == address_of(&cuMemcpyHtoD_v2_ptds));
  CHECK(found("cuLaunchKernel", 13000, 1) == address_of(&cuLaunchKernel));
  CHECK(found("cuNothingOfTheKind") == nullptr);
  CHECK(found("cuStreamGetCtx", 12000) == address_of(&cuStreamGetCtx));
  CHECK(found("cuStreamGetCtx", 13000) == address_of(&cuStreamGetCtx_v2));
  CHECK(found("cuMemcpyBatchAsync", 12080) == address_of(&cuMemcpyBatchAsync));
  CHECK(found("cuMemcpyBatchAsync", 13000) == address_of(&cuMemcpyBatchAsync_v2));
  CHECK(found("cuGreenCtxDestroy") == address_of(&cuGreenCtxDestroy));
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  MUST(cuGetProcAddress_v2("cuGraphAddNode", &address, 11000, 0, &status));
  CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(address == nullptr);
  REFUSED(cuGetProcAddress("cuNothingOfTheKind", &address, 12000, 0), CUDA_ERROR_NOT_FOUND);
  REFUSED(cuGetProcAddress_v2(nullptr, &address, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuGetProcAddress_v2("cuInit", &address, 12000, 3, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("every function of the list is exported under its own name, and found by it") {
  for (const char* name : {
#define KAIO_DRIVER_FUNCTION(symbol, types) #symbol,
#include "driver_abi/functions.def"
       }) {
    INFO(name);
    CHECK(exported(name) != nullptr);
    CHECK(kaio_emulator_fail_function(name, 0, 0, 0) == 1);
  }
  for (const char* name : {
#define KAIO_DRIVER_PER_THREAD_FUNCTION(symbol, base, types) #symbol,
#define KAIO_DRIVER_UNSUPPORTED_FUNCTION(symbol) #symbol,
#include "driver_abi/functions.def"
       }) {
    INFO(name);
    CHECK(exported(name) != nullptr);
  }
  kaio_emulator_reset();
}

#if defined(KAIO_CUDA_HEADER)
// The names that a cuda.h declares, after "CUDAAPI". A header of another version has others: then none.
static std::vector<std::string> declared_in(const char* header) {
  std::ifstream file(header);
  REQUIRE(file.is_open());
  std::vector<std::string> names;
  std::string word, before;
  bool after = false, listed = false;
  while (file >> word) {
    listed |= before == "CUDA_VERSION" && word == "13000";
    before = word;
    if (after && word.rfind("cu", 0) == 0 && word.find('(') != std::string::npos)
      names.push_back(word.substr(0, word.find('(')));
    after = word == "CUDAAPI";
  }
  if (!listed) names.clear();
  return names;
}

TEST_CASE("whatever cuda.h declares is exported, and found by its name") {
  const std::vector<std::string> names = declared_in(KAIO_CUDA_HEADER);
  if (names.empty()) {
    WARN("cuda.h is not of CUDA 13.0");
    return;
  }
  CHECK(names.size() > 500);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(exported(name.c_str()) != nullptr);
    CHECK(found(name.c_str()) != nullptr);
  }
}
#endif

TEST_CASE("a function that the emulator does not have reports it") {
  REFUSED(cuGreenCtxDestroy(nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("tensor maps are encoded, refused and given other addresses") {
  const session s;
  const numbers x(64 * 64);
  CUtensorMap map{}, before{};
  auto* address = reinterpret_cast<void*>(x.address);
  const std::uint64_t sizes[] = {64, 64}, strides[] = {256};
  const std::uint32_t box[] = {32, 8}, steps[] = {1, 1};
  constexpr int float32 = 7;
  MUST(cuTensorMapEncodeTiled(&map, float32, 2, address, sizes, strides, box, steps, 0, 3, 0, 0));
  before = map;
  MUST(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(x.address + 1024)));
  CHECK(std::memcmp(&map, &before, sizeof map) != 0);
  MUST(cuTensorMapReplaceAddress(&map, address));
  CHECK(std::memcmp(&map, &before, sizeof map) == 0);
  REFUSED(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(x.address + 4)), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuTensorMapEncodeTiled(nullptr, float32, 2, address, sizes, strides, box, steps, 0, 0, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuTensorMapEncodeTiled(&map, float32, 6, address, sizes, strides, box, steps, 0, 0, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
  const std::uint64_t odd[] = {200};
  REFUSED(cuTensorMapEncodeTiled(&map, float32, 2, address, sizes, odd, box, steps, 0, 0, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuTensorMapEncodeTiled(&map, 99, 2, address, sizes, strides, box, steps, 0, 0, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
  CUtensorMap zero{};
  REFUSED(cuTensorMapReplaceAddress(&zero, address), CUDA_ERROR_INVALID_VALUE);
}
