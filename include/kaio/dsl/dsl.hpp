#pragma once
// The language: everything that a kernel author writes with. Header-only; launching needs a stream, such as
// the runtime's.

#include <kaio/dsl/array.hpp>
#include <kaio/dsl/async.hpp>
#include <kaio/dsl/bits.hpp>
#include <kaio/dsl/block.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/control.hpp>
#include <kaio/dsl/debug.hpp>
#include <kaio/dsl/fixed_string.hpp>
#include <kaio/dsl/kernel.hpp>
#include <kaio/dsl/launch.hpp>
#include <kaio/dsl/math.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/operators.hpp>
#include <kaio/dsl/packed.hpp>
#include <kaio/dsl/rounding.hpp>
#include <kaio/dsl/thread.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/dsl/val.hpp>
#include <kaio/dsl/var.hpp>
#include <kaio/dsl/warp.hpp>
