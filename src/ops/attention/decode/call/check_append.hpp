#pragma once
// The checks of new keys and values of an attention_decode, except those of append_kv itself.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <cstdint>

namespace kaio::ops::detail {

// Both throw invalid_argument. check_append_apart refuses memory that an append shares with the rest of the
// call. check_append refuses options that do not belong together.
void check_append_apart(const validation& check, const attention_decode_arguments& arguments);
void check_append(const validation& check, const attention_decode_arguments& arguments,
                  std::int64_t sequences);

}  // namespace kaio::ops::detail
