#pragma once
// The checks of new keys and values of an attention_decode, but for what append_kv checks itself.

#include <kaio/ops/attention/decode/call/arguments.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <cstdint>

namespace kaio::ops::detail {

// Throw invalid_argument: what an append reads and writes shares memory with the rest of the call; options that
// do not belong together.
void check_append_apart(const validation& check, const attention_decode_arguments& arguments);
void check_append(const validation& check, const attention_decode_arguments& arguments,
                  std::int64_t sequences);

}  // namespace kaio::ops::detail
