// The private tables that the CUDA runtime library asks the driver for.

#include "driver_emulator/runtime_library/md2.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <pthread.h>

#include "driver_emulator/support.hpp"
#include "host/system/process.hpp"

using namespace driver_emulator_test;
using kaio::driver_emulator::hmac_md2;
using kaio::driver_emulator::md2;

namespace {

std::string hexadecimal(const md2::digest& digest) {
  std::string text;
  for (const unsigned byte : digest) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

std::string md2_of(std::string_view text) {
  md2 hash;
  hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return hexadecimal(hash.finish());
}

const void* const* table(std::vector<unsigned char> uuid) {
  CUuuid id{};
  REQUIRE(uuid.size() == sizeof id.bytes);
  std::memcpy(id.bytes, uuid.data(), sizeof id.bytes);
  const void* found = nullptr;
  MUST(cuGetExportTable(&found, &id));
  return static_cast<const void* const*>(found);
}
const void* const* runtime_interface() {
  return table(
      {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9});
}
const void* const* context_storage() {
  return table(
      {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93});
}
const void* const* validity() {
  return table(
      {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2});
}

template <class Function>
Function* entry(const void* const* from, std::size_t index) {
  return reinterpret_cast<Function*>(const_cast<void*>(from[index]));
}

int ended = 0;
void end(CUcontext, void* key, void* value) {
  if (key == &ended && value == reinterpret_cast<void*>(&end)) ++ended;
}

}  // namespace

TEST_CASE("MD2 gives the digests of RFC 1319") {
  CHECK(md2_of("") == "8350e5a3e24c153df2275c9f80692773");
  CHECK(md2_of("abc") == "da853b0d3f88d99b30283a69e6ded6bb");
  CHECK(md2_of("abcdefghijklmnopqrstuvwxyz") == "4e8ddff3650292ab5a4108c3aa47940b");
  CHECK(md2_of("12345678901234567890123456789012345678901234567890123456789012345678901234567890") ==
        "d5976f79d83d3a0dc9806c3c66f3efd8");
}

TEST_CASE("the runtime's tables have their sizes, and entries without a meaning are refused") {
  MUST(cuInit(0));
  CHECK(reinterpret_cast<std::uintptr_t>(runtime_interface()[0]) == 13 * sizeof(void*));
  CHECK(reinterpret_cast<std::uintptr_t>(validity()[0]) == 3 * sizeof(void*));
  CHECK(context_storage()[3] == nullptr);
  CHECK(runtime_interface() == runtime_interface());
  for (const std::size_t index : {3u, 4u, 5u, 9u, 10u, 11u})
    CHECK(entry<CUresult()>(runtime_interface(), index)() == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("the runtime gets a primary context that is not active yet, and makes it current") {
  MUST(cuInit(0));
  CUcontext early = nullptr, retained = nullptr;
  auto* const primary = entry<CUresult(CUcontext*, CUdevice)>(runtime_interface(), 2);
  CHECK(primary(&early, 9) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(primary(nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(primary(&early, 0) == CUDA_SUCCESS);
  unsigned flags = 0;
  int active = 1;
  MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 0);
  MUST(cuCtxSetCurrent(early));
  MUST(cuDevicePrimaryCtxRetain(&retained, 0));
  CHECK(retained == early);
  MUST(cuCtxSynchronize());
  MUST(cuDevicePrimaryCtxRelease_v2(0));
  MUST(cuCtxSetCurrent(nullptr));
}

TEST_CASE("a context keeps the runtime's values until it ends") {
  using put = CUresult(CUcontext, void*, void*, void (*)(CUcontext, void*, void*));
  using take = CUresult(CUcontext, void*);
  using get = CUresult(void**, CUcontext, void*);
  MUST(cuInit(0));
  const void* const* const storage = context_storage();
  CUcontext c = nullptr;
  void* value = nullptr;
  CHECK(entry<get>(storage, 2)(&value, nullptr, &ended) == CUDA_ERROR_INVALID_CONTEXT);
  MUST(cuDevicePrimaryCtxRetain(&c, 0));
  MUST(cuCtxSetCurrent(c));
  CHECK(entry<get>(storage, 2)(&value, nullptr, &ended) == CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(entry<put>(storage, 0)(nullptr, &ended, reinterpret_cast<void*>(&end), &end) == CUDA_SUCCESS);
  REQUIRE(entry<get>(storage, 2)(&value, c, &ended) == CUDA_SUCCESS);
  CHECK(value == reinterpret_cast<void*>(&end));
  REQUIRE(entry<put>(storage, 0)(c, &value, &value, nullptr) == CUDA_SUCCESS);
  CHECK(entry<take>(storage, 1)(c, &value) == CUDA_SUCCESS);
  CHECK(entry<take>(storage, 1)(c, &value) == CUDA_ERROR_INVALID_HANDLE);
  ended = 0;
  MUST(cuDevicePrimaryCtxRelease_v2(0));
  CHECK(ended == 1);
  MUST(cuCtxSetCurrent(nullptr));
}

TEST_CASE("the answer to the runtime's question is a digest of the driver, the process and the devices") {
  MUST(cuInit(0));
  const void* const* const from = validity();
  auto* const ask = entry<CUresult(std::uint32_t, std::uint64_t, std::uint64_t*)>(from, 1);
  std::uint64_t answer[2] = {};
  CHECK(ask(13002, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
  constexpr std::uint64_t seconds = 1700000000;
  REQUIRE(ask(13002, seconds, answer) == CUDA_SUCCESS);

  std::vector<std::uint8_t> message;
  const auto add = [&](const void* from_bytes, std::size_t bytes) {
    const auto* const first = static_cast<const std::uint8_t*>(from_bytes);
    message.insert(message.end(), first, first + bytes);
  };
  const auto add_word = [&](std::uint32_t word) { add(&word, sizeof word); };
  int version = 0, count = 0;
  MUST(cuDriverGetVersion(&version));
  MUST(cuDeviceGetCount(&count));
  add_word(static_cast<std::uint32_t>(version));
  add_word(13002);
  add_word(static_cast<std::uint32_t>(kaio::host::process_number()));
  add_word(static_cast<std::uint32_t>(kaio::host::thread_number()));
  for (const void* const pointer :
       {static_cast<const void*>(runtime_interface()), static_cast<const void*>(from), from[1]})
    add(&pointer, sizeof pointer);
  add(&seconds, sizeof seconds);
  for (CUdevice d = 0; d < count; ++d) {
    CUuuid uuid{};
    MUST(cuDeviceGetUuid_v2(&uuid, d));
    add(uuid.bytes, sizeof uuid.bytes);
    for (const auto attribute : {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                                 CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID}) {
      int value = 0;
      MUST(cuDeviceGetAttribute(&value, attribute, d));
      add_word(static_cast<std::uint32_t>(value));
    }
  }
  const md2::digest wanted = hmac_md2(
      {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f},
      message);
  CHECK(std::memcmp(answer, wanted.data(), sizeof answer) == 0);
}
