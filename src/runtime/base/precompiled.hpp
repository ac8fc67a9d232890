#pragma once
// The machine code that add_precompiled was given, by the content of a kernel's text.
//
//   if (const auto code = find_precompiled(ptx::hash_of_text(kernel), device.target)) load(code->image);
//
// Layout, little endian (cmake/precompile.py writes it):
//   char[8] "kaiocode"; u32 1; u32 entries
//   an entry, 48 bytes, in ascending order of hash and sm:
//     u64 low, high      hash of the text: kaio/ptx/text_hash.hpp
//     u32 sm, specific   sm_90 is {90, 0}, sm_90a is {90, 1}
//     u64 offset         of the code, from the first byte of all
//     u64 stored, size   its bytes here, and as the driver takes it; if fewer here: a zlib stream

#include <kaio/ptx/target.hpp>
#include <kaio/ptx/text_hash.hpp>
#include <kaio/runtime/precompiled.hpp>

#include <optional>
#include <string>

namespace kaio::runtime {

struct machine_code {
  std::string image;  // a cubin
  ptx::target target;
};

// Finds the code for the newest architecture that a GPU runs: with its major version, and not above its minor one.
// Arch-specific code (sm_90a) is preferred, but only for exactly that architecture. Nothing: there is no code, or it is
// damaged.
std::optional<machine_code> find_precompiled(const ptx::text_hash& text, ptx::target device);
// Whether there is such code; it is not checked for damage.
bool has_precompiled(const ptx::text_hash& text, ptx::target device) noexcept;

}  // namespace kaio::runtime
