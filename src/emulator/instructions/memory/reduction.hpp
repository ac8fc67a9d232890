#pragma once
// The reductions of bulk copies: combine each element in memory with the arriving one (PTX ISA,
// "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor", "red.async"). They do what the atomics of these
// names do, on untyped memory.
//
//   const reduction add = reduction_of(atomic_form::add, ptx::type::f16);
//   add(to, from, bytes);

#include "emulator/program/program.hpp"

#include <kaio/ptx/type.hpp>

#include <cstddef>

namespace kaio::emulator {

using reduction = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

// nullptr if there is no such reduction. Sums of f32 flush subnormal values to zero; those of halves do not.
reduction reduction_of(atomic_form form, ptx::type type);

}  // namespace kaio::emulator
