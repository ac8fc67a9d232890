#pragma once
// Queries of keys and of values, q and qv, as one: [qv | q], next to a cache whose rows are [v | k]. Such a call is
// one of values in the keys; its queries are copied next to each other into the workspace.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/validation.hpp>

namespace kaio::ops::detail {

// The call as one whose q is [qv | q]; it refers to `options`, which it fills. q has no memory yet. A call without qv
// is what it was. Throws invalid_argument: qv does not fit, or K and V are not the parts of one row.
attention_decode_arguments join_queries(const validation& check, const attention_decode_arguments& arguments,
                                        attention_decode_options& options);

}  // namespace kaio::ops::detail
