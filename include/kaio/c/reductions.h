/* Reductions. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/reductions.json. */
#ifndef KAIO_C_REDUCTIONS_H
#define KAIO_C_REDUCTIONS_H

#include <kaio/c/base.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_reduction: How elements are combined. */
enum {
  KAIO_REDUCTION_SUM = 0,
  KAIO_REDUCTION_MEAN = 1,
  KAIO_REDUCTION_MAX = 2, /* NaN, if an element is NaN */
  KAIO_REDUCTION_MIN = 3 /* NaN, if an element is NaN */
};

/* Options of reduce. */
typedef struct kaio_reduce_options {
  uint32_t size; /* sizeof(kaio_reduce_options) */
  int32_t reserved_4; /* 0 */
  int64_t axis; /* default -1; below 0: counted from the last dimension */
  int32_t all; /* 1: reduces all dimensions */
  int32_t reserved_20; /* 0 */
  const DLTensor* workspace; /* kaio_reduce_workspace_bytes, at a multiple of 16 bytes */
} kaio_reduce_options;
static inline kaio_reduce_options kaio_reduce_options_default(void) {
  kaio_reduce_options it;
  it.size = sizeof(kaio_reduce_options);
  it.reserved_4 = 0;
  it.axis = -1;
  it.all = 0;
  it.reserved_20 = 0;
  it.workspace = NULL;
  return it;
}

/* Options of scan. */
typedef struct kaio_scan_options {
  uint32_t size; /* sizeof(kaio_scan_options) */
  int32_t exclusive; /* 1: each sum is of the elements before its own */
  const DLTensor* workspace; /* kaio_scan_workspace_bytes, at a multiple of 16 bytes */
} kaio_scan_options;
static inline kaio_scan_options kaio_scan_options_default(void) {
  kaio_scan_options it;
  it.size = sizeof(kaio_scan_options);
  it.exclusive = 0;
  it.workspace = NULL;
  return it;
}

/* Options of histogram. */
typedef struct kaio_histogram_options {
  uint32_t size; /* sizeof(kaio_histogram_options) */
  int32_t reserved_4; /* 0 */
  int64_t first; /* integers: the value of the first bin */
  float low; /* f32: the lower edge of the first bin */
  float high; /* f32: the upper edge of the last bin, which includes it */
  int32_t accumulate; /* 1: adds to the counts */
  int32_t reserved_28; /* 0 */
  const DLTensor* outside; /* (3); u32; gets the number of elements below, above, and of NaN */
} kaio_histogram_options;
static inline kaio_histogram_options kaio_histogram_options_default(void) {
  kaio_histogram_options it;
  it.size = sizeof(kaio_histogram_options);
  it.reserved_4 = 0;
  it.first = 0;
  it.low = 0.0f;
  it.high = 0.0f;
  it.accumulate = 0;
  it.reserved_28 = 0;
  it.outside = NULL;
  return it;
}

/* out = the sum, mean, largest or smallest element of x along one dimension, or along all.
 * Accumulators are f32. Equal calls give equal bits.
 *   how      kaio_reduction
 *   x        any; f32, f16 or bf16
 *   out      writes x without the axis, or with 1 in its place; f32, f16 or bf16; the type of x, or f32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_reduce(void* stream, int32_t how, const DLTensor* x, const DLTensor* out,
                                 const kaio_reduce_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_reduce; memory is not read. */
KAIO_API kaio_status kaio_reduce_warmup(int32_t how, const DLTensor* x, const DLTensor* out,
                                        const kaio_reduce_options* options);

/* The bytes of workspace that the call needs; 0 if it needs none. For kaio_reduce; memory is not read. */
KAIO_API kaio_status kaio_reduce_workspace_bytes(int32_t how, const DLTensor* x, const DLTensor* out,
                                                 const kaio_reduce_options* options, uint64_t* bytes);

/* Sums along the last dimension: out[..., i] = x[..., 0] + ... + x[..., i].
 * In the type of the elements; integers wrap. Equal calls give equal bits.
 *   x        (..., size); f32, i32, u32, i64 or u64
 *   out      writes as x; elements of x; may be x itself
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_scan(void* stream, const DLTensor* x, const DLTensor* out,
                               const kaio_scan_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_scan; memory is not read. */
KAIO_API kaio_status kaio_scan_warmup(const DLTensor* x, const DLTensor* out,
                                      const kaio_scan_options* options);

/* The bytes of workspace that the call needs; 0 if it needs none. For kaio_scan; memory is not read. */
KAIO_API kaio_status kaio_scan_workspace_bytes(const DLTensor* x, const DLTensor* out,
                                               const kaio_scan_options* options, uint64_t* bytes);

/* Counts the elements of x in bins: integers by value, f32 in bins of equal width.
 * Elements outside of the bins are not counted in them. Counts wrap at 2^32.
 *   x        any; u8, i32, u32 or f32
 *   counts   writes (bins); u32
 *   options  NULL: all defaults */
KAIO_API kaio_status kaio_histogram(void* stream, const DLTensor* x, const DLTensor* counts,
                                    const kaio_histogram_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_histogram; memory is not read. */
KAIO_API kaio_status kaio_histogram_warmup(const DLTensor* x, const DLTensor* counts,
                                           const kaio_histogram_options* options);

#ifdef __cplusplus
}
#endif

#endif
