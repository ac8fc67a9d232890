#pragma once
// The language: everything that a kernel author writes with. Header-only; launching needs a stream, such as
// the runtime's.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/bits.hpp>
#include <kaio/dsl/block.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/control/control.hpp>
#include <kaio/dsl/control/debug.hpp>
#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/expression/array.hpp>
#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/packed.hpp>
#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/expression/var.hpp>
#include <kaio/dsl/inline_ptx/ptx_op.hpp>
#include <kaio/dsl/integer/rounding.hpp>
#include <kaio/dsl/kernel/kernel.hpp>
#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/math.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/dsl/warp.hpp>
