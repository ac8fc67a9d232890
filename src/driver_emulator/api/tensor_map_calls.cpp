// Tensor maps: encodes a program's description as the emulator's own 128 bytes.

#include "driver_emulator/state/entry.hpp"
#include "emulator/memory/tensor_map.hpp"

#include <cstdio>
#include <cstring>
#include <optional>

namespace kaio::driver_emulator {
namespace {

static_assert(sizeof(CUtensorMap) == sizeof(emulator::tensor_map));

// Numbers of the driver become the emulator's enumerations, which have the same order.
template <class Enum>
Enum checked(int value, Enum last) {
  require(value >= 0 && value <= static_cast<int>(last));
  return static_cast<Enum>(value);
}

void finish(CUtensorMap* to, const emulator::tensor_map& map,
            const std::optional<emulator::tensor_map_failure>& failed, const char* function) {
  if (failed) {
    std::fprintf(stderr, "kaio: %s: argument %u: %s\n", function, failed->argument + 1,
                 failed->reason.c_str());
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  std::memcpy(to, &map, sizeof map);
}

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, int element, std::uint32_t rank, void* address,
                                const std::uint64_t* sizes, const std::uint64_t* strides,
                                const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                                int swizzle, int promotion, int fill) {
  return call(function_id::cuTensorMapEncodeTiled, [&] {
    require(to != nullptr && sizes != nullptr && box != nullptr && steps != nullptr);
    require(strides != nullptr || rank == 1);
    emulator::tensor_map map;
    const auto failed = emulator::encode_tiled(
        map, checked(element, emulator::tensor_element::tfloat32_ftz), rank, number_of(address), sizes,
        strides, box, steps, checked(interleave, emulator::tensor_interleave::b32),
        checked(swizzle, emulator::tensor_swizzle::b128), static_cast<std::uint32_t>(promotion),
        checked(fill, emulator::tensor_fill::nan));
    finish(to, map, failed, "cuTensorMapEncodeTiled");
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* to, int element, std::uint32_t rank, void* address,
                                 const std::uint64_t* sizes, const std::uint64_t* strides, const int* lower,
                                 const int* upper, std::uint32_t channels, std::uint32_t pixels,
                                 const std::uint32_t* steps, int interleave, int swizzle, int promotion,
                                 int fill) {
  return call(function_id::cuTensorMapEncodeIm2col, [&] {
    require(to != nullptr && sizes != nullptr && strides != nullptr && lower != nullptr && upper != nullptr &&
            steps != nullptr);
    emulator::tensor_map map;
    const auto failed = emulator::encode_im2col(
        map, checked(element, emulator::tensor_element::tfloat32_ftz), rank, number_of(address), sizes,
        strides, lower, upper, channels, pixels, steps, checked(interleave, emulator::tensor_interleave::b32),
        checked(swizzle, emulator::tensor_swizzle::b128), static_cast<std::uint32_t>(promotion),
        checked(fill, emulator::tensor_fill::nan));
    finish(to, map, failed, "cuTensorMapEncodeIm2col");
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* to, void* address) {
  return call(function_id::cuTensorMapReplaceAddress, [&] {
    require(to != nullptr);
    emulator::tensor_map map;
    std::memcpy(static_cast<void*>(&map), to, sizeof map);
    require(map.signature == emulator::tensor_map::valid && number_of(address) % 16 == 0);
    map.address = number_of(address);
    require(emulator::problem_of(map).empty());
    std::memcpy(to, &map, sizeof map);
  });
}

}  // namespace kaio::driver_emulator
