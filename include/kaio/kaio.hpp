#pragma once
// Everything that a kernel author and a host program need: the language and the runtime.
//
//   inline constexpr auto scale = kaio::kernel<"scale", 256>([](kaio::thread t, kaio::inout<kaio::f32> x, ...) { ... });
//   kaio::device gpu = kaio::device::open();

#include <kaio/dsl/dsl.hpp>
#include <kaio/runtime/runtime.hpp>
