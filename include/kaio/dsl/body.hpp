#pragma once
// All that the body of a kernel is written with: the language but for the kernel itself. The headers are included
// one by one, what others need first: a compiler's message about a header names every file that it was
// included through, a line each.

#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/dsl/number/index_list.hpp>
#include <kaio/dsl/number/scalar.hpp>

#include <kaio/dsl/trace/trace.hpp>

#include <kaio/dsl/expression/expression.hpp>
#include <kaio/dsl/expression/conversion.hpp>
#include <kaio/dsl/expression/statement.hpp>

#include <kaio/dsl/expression/array.hpp>
#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/packed.hpp>
#include <kaio/dsl/expression/pure.hpp>
#include <kaio/dsl/expression/special_register.hpp>
#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/expression/var.hpp>

#include <kaio/dsl/control/control.hpp>
#include <kaio/dsl/control/loop.hpp>
#include <kaio/dsl/control/range.hpp>
#include <kaio/dsl/control/thread.hpp>

#include <kaio/dsl/control/debug.hpp>
#include <kaio/dsl/control/print_format.hpp>

#include <kaio/dsl/memory/location.hpp>
#include <kaio/dsl/memory/vec.hpp>
#include <kaio/dsl/memory/vector.hpp>
#include <kaio/dsl/memory/member.hpp>
#include <kaio/dsl/memory/cell.hpp>
#include <kaio/dsl/memory/vector_cell.hpp>
#include <kaio/dsl/memory/place.hpp>

#include <kaio/dsl/memory/access.hpp>
#include <kaio/dsl/memory/atomic.hpp>
#include <kaio/dsl/memory/local.hpp>
#include <kaio/dsl/memory/pointer.hpp>
#include <kaio/dsl/memory/pointer_at.hpp>
#include <kaio/dsl/memory/policy.hpp>
#include <kaio/dsl/memory/shared.hpp>
#include <kaio/dsl/memory/tensor_map.hpp>
#include <kaio/dsl/memory/vector_cast.hpp>

#include <kaio/dsl/math.hpp>
#include <kaio/dsl/bits.hpp>

#include <kaio/dsl/integer/count.hpp>
#include <kaio/dsl/integer/field.hpp>
#include <kaio/dsl/integer/product.hpp>
#include <kaio/dsl/integer/rounding.hpp>
#include <kaio/dsl/integer/support.hpp>

#include <kaio/dsl/tile.hpp>

#include <kaio/dsl/warp.hpp>

#include <kaio/dsl/async.hpp>

#include <kaio/dsl/block.hpp>

#include <kaio/dsl/cluster.hpp>

#include <kaio/dsl/mma.hpp>
