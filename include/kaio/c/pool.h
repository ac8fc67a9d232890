/* Options and statistics of pools. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/pool.json. */
#ifndef KAIO_C_POOL_H
#define KAIO_C_POOL_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_pool_kind: Where the memory of a pool comes from. */
enum {
  KAIO_POOL_KIND_STREAM_ORDERED = 0, /* the driver's pool: a released block serves other streams when it is free */
  KAIO_POOL_KIND_CACHING = 1 /* cuMemAlloc, kept in lists by kaio: a released block serves its own stream */
};

/* Options of a pool. */
typedef struct kaio_pool_options {
  uint32_t size; /* sizeof(kaio_pool_options) */
  int32_t kind; /* kaio_pool_kind */
  uint64_t limit; /* the most bytes in use at a time; 0: what the device has */
  uint64_t keep; /* default UINT64_MAX; bytes that stay in the pool after their release */
} kaio_pool_options;
static inline kaio_pool_options kaio_pool_options_default(void) {
  kaio_pool_options it;
  it.size = sizeof(kaio_pool_options);
  it.kind = 0;
  it.limit = 0;
  it.keep = UINT64_MAX;
  return it;
}

/* Use of a pool. */
typedef struct kaio_pool_statistics {
  uint32_t size; /* sizeof(kaio_pool_statistics) */
  int32_t reserved_4; /* 0 */
  uint64_t in_use; /* bytes */
  uint64_t most_in_use; /* bytes */
  uint64_t reserved; /* bytes that the pool has taken from the device */
  uint64_t most_reserved; /* bytes */
  uint64_t allocations; /* so far */
} kaio_pool_statistics;
static inline kaio_pool_statistics kaio_pool_statistics_default(void) {
  kaio_pool_statistics it;
  it.size = sizeof(kaio_pool_statistics);
  it.reserved_4 = 0;
  it.in_use = 0;
  it.most_in_use = 0;
  it.reserved = 0;
  it.most_reserved = 0;
  it.allocations = 0;
  return it;
}

#ifdef __cplusplus
}
#endif

#endif
