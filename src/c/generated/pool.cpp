// Made by src/c/generate.py from src/c/operations/pool.json.
// clang-format off

#include <kaio/c/pool.h>
#include <kaio/runtime/memory_pool.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(runtime::pool_kind::stream_ordered) == KAIO_POOL_KIND_STREAM_ORDERED);
static_assert(static_cast<int>(runtime::pool_kind::caching) == KAIO_POOL_KIND_CACHING);
static_assert(runtime::memory_pool_options{}.kind == static_cast<runtime::pool_kind>(0));
static_assert(runtime::memory_pool_options{}.limit == 0);
static_assert(runtime::memory_pool_options{}.keep == UINT64_MAX);

void read(call& in, const char* name, const kaio_pool_options* given, runtime::memory_pool_options& to) {
  kaio_pool_options from = kaio_pool_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("kind", from.kind, 2, to.kind);
  to.limit = from.limit;
  to.keep = from.keep;
}

void give(const call& out, const char* name, const runtime::memory_pool_statistics& from, kaio_pool_statistics* given) {
  kaio_pool_statistics to = kaio_pool_statistics_default();
  to.in_use = from.in_use;
  to.most_in_use = from.most_in_use;
  to.reserved = from.reserved;
  to.most_reserved = from.most_reserved;
  to.allocations = from.allocations;
  out.give(name, given, &to, sizeof to);
}

}  // namespace kaio::c
