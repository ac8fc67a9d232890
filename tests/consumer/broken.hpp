#pragma once
// A kernel that breaks a rule, the step of its loop is 0, and is never launched.

#include <kaio/kaio.hpp>

inline constexpr auto add_all = kaio::kernel<"add_all", 256>(
    [](kaio::thread t, kaio::in<kaio::f32> x, kaio::inout<kaio::f32> y, kaio::val<kaio::u32> n) {
      for (auto k : t.range(t.global_id(), n, 0u)) y[k] += x[k];
    });
