#pragma once
// Joins q and qv, the queries of keys and of values, to [qv | q], for a cache with rows [v | k]. Such a call
// has its values in the keys. Its queries are copied into the workspace, next to each other.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/validation.hpp>

namespace kaio::ops::detail {

// Returns the call with q = [qv | q]. It refers to `options`, which are filled. q has no memory yet. A call
// without qv is returned as it is. Throws invalid_argument if qv does not fit, or K and V are not the splits
// of one row.
attention_decode_arguments join_queries(const validation& check, const attention_decode_arguments& arguments,
                                        attention_decode_options& options);

}  // namespace kaio::ops::detail
