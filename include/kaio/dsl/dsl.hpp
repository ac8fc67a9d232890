#pragma once
// The language: everything that a kernel author writes with. Header-only; launching needs a stream, such as
// the runtime's.

#include <kaio/dsl/body.hpp>

#include <kaio/dsl/kernel/launch.hpp>

#include <kaio/dsl/kernel/report.hpp>

#include <kaio/dsl/kernel/compilation.hpp>

#include <kaio/dsl/kernel/kernel.hpp>
