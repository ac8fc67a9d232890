/* Operations of several ranks by peer memory. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/peers.json. */
#ifndef KAIO_C_PEERS_H
#define KAIO_C_PEERS_H

#include <kaio/c/base.h>
#include <kaio/c/distributed.h>
#include <kaio/c/matmul.h>
#include <kaio/c/norm.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of a rank that operations of several ranks share. It belongs to one thread at a time. */
typedef struct kaio_peer_workspace kaio_peer_workspace;

/* Device memory that the kernels of all ranks can read and write. */
typedef struct kaio_peer_buffer kaio_peer_buffer;

/* kaio_gather_schedule: How all_gather_matmul computes the products of the ranks' rows. */
enum {
  KAIO_GATHER_SCHEDULE_LAUNCHES = 0, /* one product for each rank's rows */
  KAIO_GATHER_SCHEDULE_ONE_LAUNCH = 1 /* one persistent kernel, whose loads wait for the rows; sm_90a, f16 and bf16 */
};

/* Options of a workspace. */
typedef struct kaio_peer_workspace_options {
  uint32_t size; /* sizeof(kaio_peer_workspace_options) */
  int32_t reserved_4; /* 0 */
  uint64_t sum_bytes; /* default 8388608; the largest tensor that is added by peer memory */
  uint64_t one_shot_bytes; /* default 524288; up to here every rank adds all */
  uint64_t product_bytes; /* memory for the parts of one product; a rank has twice as much */
  uint32_t blocks; /* default 64; blocks of the kernels that add; 1 to 1024 */
  int32_t compares_repeated_calls; /* default 1; 0: a call that was made before is not compared again */
} kaio_peer_workspace_options;
static inline kaio_peer_workspace_options kaio_peer_workspace_options_default(void) {
  kaio_peer_workspace_options it;
  it.size = sizeof(kaio_peer_workspace_options);
  it.reserved_4 = 0;
  it.sum_bytes = 8388608;
  it.one_shot_bytes = 524288;
  it.product_bytes = 0;
  it.blocks = 64;
  it.compares_repeated_calls = 1;
  return it;
}

/* Options of products whose sums are over ranks. */
typedef struct kaio_matmul_reduce_options {
  uint32_t size; /* sizeof(kaio_matmul_reduce_options) */
  float alpha; /* default 1; multiplies the product */
  int32_t f32_parts; /* 1: parts are sent as f32 */
  int32_t precision; /* kaio_matmul_precision: how products of f32 are computed */
  const DLTensor* workspace; /* the workspace of the product */
  int32_t constant; /* kaio_constant_inputs */
  int32_t reserved_28; /* 0 */
  const char* variant; /* name of the kernel; NULL: the best one */
} kaio_matmul_reduce_options;
static inline kaio_matmul_reduce_options kaio_matmul_reduce_options_default(void) {
  kaio_matmul_reduce_options it;
  it.size = sizeof(kaio_matmul_reduce_options);
  it.alpha = 1.0f;
  it.f32_parts = 0;
  it.precision = 0;
  it.workspace = NULL;
  it.constant = 0;
  it.reserved_28 = 0;
  it.variant = NULL;
  return it;
}

/* Makes a rank's workspace. All ranks call it with the same options.
 *   options       NULL: all defaults */
KAIO_API kaio_status kaio_peer_workspace_create(const kaio_communicator* communicator,
                                                const kaio_peer_workspace_options* options,
                                                kaio_peer_workspace** workspace);

/* Ends a rank's use of the workspace. NULL is destroyed without effect. */
KAIO_API kaio_status kaio_peer_workspace_destroy(kaio_peer_workspace* workspace);

/* Allocates zeros on each rank. All ranks call it with the same size. */
KAIO_API kaio_status kaio_peer_buffer_create(const kaio_communicator* communicator, uint64_t bytes,
                                             kaio_peer_buffer** buffer);

/* The memory of a rank, on which it is like its own memory. */
KAIO_API kaio_status kaio_peer_buffer_pointer(const kaio_peer_buffer* buffer, int32_t rank, void** memory);

/* Ends a rank's use of the buffer. The memory goes when all ranks have destroyed theirs. NULL is destroyed
 * without effect. */
KAIO_API kaio_status kaio_peer_buffer_destroy(kaio_peer_buffer* buffer);

/* Adds the tensors of all ranks in f32, rank 0 first, by peer memory.
 * Calls that do not match fail with KAIO_INVALID_ARGUMENT on all ranks, before anything is sent.
 *   from       any; f32, f16 or bf16
 *   to         writes as from; may be from; elements of from */
KAIO_API kaio_status kaio_all_reduce(const kaio_peer_workspace* workspace, void* stream, const DLTensor* from,
                                     const DLTensor* to);

/* Adds x of all ranks, and a residual, and computes the RMS norm of rows, in one kernel if x is small.
 *   x          (rows, size); f32, f16 or bf16
 *   weight     (size); f32, f16 or bf16
 *   out        writes as x; elements of x
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_all_reduce_rms_norm(const kaio_peer_workspace* workspace, void* stream,
                                              const DLTensor* x, const DLTensor* weight, const DLTensor* out,
                                              const kaio_rms_norm_options* options);

/* kaio_all_reduce_rms_norm into codes, with a scale for each row, or for each 128 neighbours of a row. x
 * becomes the sum of all ranks.
 *   x          writes (rows, size); f32, f16 or bf16
 *   weight     (size); f32, f16 or bf16
 *   codes      writes as x; e4m3 or i8
 *   scales     writes (rows), or (rows, ceil(size / 128)); f32
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_all_reduce_rms_norm_codes(const kaio_peer_workspace* workspace, void* stream,
                                                    const DLTensor* x, const DLTensor* weight,
                                                    const DLTensor* codes, const DLTensor* scales,
                                                    const kaio_rms_norm_options* options);

/* c = A b, where each rank has some rows of A. Rows are sent while products run.
 *   a          (m, k), this rank's rows; f32, f16, bf16, e4m3 or e5m2
 *   b          (k, n); elements of a
 *   c          writes (ranks m, n); f32, f16 or bf16
 *   schedule   kaio_gather_schedule: one_launch refuses what its kernel does not take
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_all_gather_matmul(const kaio_peer_workspace* workspace, void* stream,
                                            const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                            int32_t schedule, const kaio_matmul_options* options);

/* c = this rank's rows of the sum of a b over ranks. Parts are sent while products run.
 *   a          (ranks m, k), this rank's columns; f32, f16, bf16, e4m3 or e5m2
 *   b          (k, n), its rows; elements of a
 *   c          writes (m, n); f32, f16 or bf16
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_matmul_reduce_scatter(const kaio_peer_workspace* workspace, void* stream,
                                                const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                                const kaio_matmul_reduce_options* options);

/* c = the sum of a b over ranks, on all ranks.
 *   a          (m, k), this rank's columns; f32, f16, bf16, e4m3 or e5m2
 *   b          (k, n), its rows; elements of a
 *   c          writes (m, n); f32, f16 or bf16
 *   options    NULL: all defaults */
KAIO_API kaio_status kaio_matmul_all_reduce(const kaio_peer_workspace* workspace, void* stream,
                                            const DLTensor* a, const DLTensor* b, const DLTensor* c,
                                            const kaio_matmul_reduce_options* options);

/* Sends sorted rows to the ranks of their experts.
 *   x              (rows, size); f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
 *   rows           (choices); i32; NULL: sorted row i is row i of x
 *   offsets        (experts + 1); i32
 *   local_offsets  writes (experts / ranks + 1); i32 */
KAIO_API kaio_status kaio_send_to_experts(const kaio_peer_workspace* workspace, void* stream,
                                          const DLTensor* x, const DLTensor* rows, const DLTensor* offsets,
                                          const kaio_peer_buffer* to, const DLTensor* local_offsets);

/* Sends rows of experts back to the ranks that sent them, into their sorted order.
 *   z          (capacity, size); f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
 *   offsets    (experts + 1); i32 */
KAIO_API kaio_status kaio_return_from_experts(const kaio_peer_workspace* workspace, void* stream,
                                              const DLTensor* z, const DLTensor* offsets,
                                              const kaio_peer_buffer* to);

#ifdef __cplusplus
}
#endif

#endif
