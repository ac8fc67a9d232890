#pragma once
// Everything that a kernel author and a host program need: the language and the runtime.
//
//   inline constexpr auto scale = kaio::kernel<"scale", 256>([](kaio::thread t, kaio::inout<kaio::f32> x, ...) { ... });
//   kaio::device gpu = kaio::device::open();

// The headers of dsl.hpp, for the reason that body.hpp gives.
#include <kaio/dsl/body.hpp>

#include <kaio/dsl/kernel/launch.hpp>

#include <kaio/dsl/kernel/report.hpp>

#include <kaio/dsl/kernel/compilation.hpp>

#include <kaio/dsl/kernel/kernel.hpp>

#include <kaio/dsl/dsl.hpp>
#include <kaio/runtime/runtime.hpp>
