/* Ranks that compute together. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/distributed.json. */
#ifndef KAIO_C_DISTRIBUTED_H
#define KAIO_C_DISTRIBUTED_H

#include <kaio/c/base.h>
#include <kaio/c/attention.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rank of a group. It belongs to one thread at a time; kaio_communicator_abort may be called by any
 * thread. */
typedef struct kaio_communicator kaio_communicator;

/* Gathers bytes of the host: byte r * bytes of `all` and those after it get those of rank r. Every rank
 * calls it, with the same `bytes`. It waits for the others for `time_limit` seconds at most. 0: done;
 * another number: it failed. */
typedef int32_t (*kaio_communicator_gather)(void* data, const void* mine, uint64_t bytes, void* all, double time_limit);

/* Allocates `bytes` of device memory on each rank, at a multiple of 256, that the kernels of all can read
 * and write. memory[r] gets the address of rank r's memory in this process, `token` a name of it. Every
 * rank calls it. With an emulator it may be memory of the host, which processes share. 0: done; another
 * number: it failed. */
typedef int32_t (*kaio_communicator_allocate)(void* data, uint64_t bytes, void** memory, void** token);

/* This rank uses the memory no more; others may. Any thread calls it, when the last handle goes. 0: done;
 * another number: it failed. */
typedef int32_t (*kaio_communicator_release)(void* data, void* token);

/* kaio_context_layout: How the rows of a sequence are divided. */
enum {
  KAIO_CONTEXT_LAYOUT_CONTIGUOUS = 0, /* the r-th of as many pieces as there are ranks */
  KAIO_CONTEXT_LAYOUT_ZIGZAG = 1 /* rank r has pieces r and 2 x ranks - 1 - r of 2 x ranks pieces, of each packed sequence */
};

/* Options of a group of ranks. */
typedef struct kaio_communicator_options {
  uint32_t size; /* sizeof(kaio_communicator_options) */
  int32_t reserved_4; /* 0 */
  double time_limit; /* default 60; seconds that a call waits for the other ranks */
  uint64_t staging_bytes; /* default 8388608; device memory of each rank that sums pass through */
  int32_t compare; /* default 1; NCCL: 1: the host compares each call with those of the other ranks */
  int32_t reserved_28; /* 0 */
} kaio_communicator_options;
static inline kaio_communicator_options kaio_communicator_options_default(void) {
  kaio_communicator_options it;
  it.size = sizeof(kaio_communicator_options);
  it.reserved_4 = 0;
  it.time_limit = 60.0;
  it.staging_bytes = 8388608;
  it.compare = 1;
  it.reserved_28 = 0;
  return it;
}

/* What a program does for its rank of a group. The thread of a call of the communicator calls these
 * functions. */
typedef struct kaio_communicator_means {
  uint32_t size; /* sizeof(kaio_communicator_means) */
  int32_t reserved_4; /* 0 */
  void* data; /* the first argument of each function; lives as long as the communicator and its memory */
  kaio_communicator_gather gather; /* never NULL */
  kaio_communicator_allocate allocate; /* NULL: the group has no memory of all ranks, and moves no tensors */
  kaio_communicator_release release; /* given with allocate */
} kaio_communicator_means;
static inline kaio_communicator_means kaio_communicator_means_default(void) {
  kaio_communicator_means it;
  it.size = sizeof(kaio_communicator_means);
  it.reserved_4 = 0;
  it.data = NULL;
  it.gather = NULL;
  it.allocate = NULL;
  it.release = NULL;
  return it;
}

/* Options of an attention over ranks. */
typedef struct kaio_context_attention_options {
  uint32_t size; /* sizeof(kaio_context_attention_options) */
  float scale; /* the factor of q . k; 0: 1 / sqrt(head size of q) */
  float softcap; /* above 0: the score x becomes softcap * tanh(x / softcap) */
  int32_t causal; /* kaio_causal_alignment: both alignments agree here */
  int32_t layout; /* default 1; kaio_context_layout */
  int32_t reserved_20; /* 0 */
  int64_t window_left; /* default -1; keys before a query's own one that it attends to; -1: all */
  int64_t window_right; /* default -1; keys after its own one; -1: all; causal makes it 0 */
  const DLTensor* sinks; /* (heads); f32, f16 or bf16; the score of an extra key without a value */
  /* (batches, heads, rows); f32; gets ln of the sum of exp(x); not written by gradients */
  const DLTensor* lse;
  /* default 1; ranks that exchange heads for rows; divides the ranks and the heads of k */
  int32_t head_ranks;
  int32_t reserved_60; /* 0 */
  /* needed: kaio_context_attention_workspace_bytes, or of the gradients, at a multiple of 256 bytes */
  const DLTensor* workspace;
  /* rows of packed sequences, host memory, equal on all ranks; batches is then 1; NULL: one sequence */
  const int64_t* lengths;
  uint64_t length_count; /* the number of packed sequences */
  /* (heads); f32, f16 or bf16; written by the gradients, equal on all ranks; takes workspace; NULL: not
   * wanted */
  const DLTensor* dsinks;
} kaio_context_attention_options;
static inline kaio_context_attention_options kaio_context_attention_options_default(void) {
  kaio_context_attention_options it;
  it.size = sizeof(kaio_context_attention_options);
  it.scale = 0.0f;
  it.softcap = 0.0f;
  it.causal = 0;
  it.layout = 1;
  it.reserved_20 = 0;
  it.window_left = -1;
  it.window_right = -1;
  it.sinks = NULL;
  it.lse = NULL;
  it.head_ranks = 1;
  it.reserved_60 = 0;
  it.workspace = NULL;
  it.lengths = NULL;
  it.length_count = 0;
  it.dsinks = NULL;
  return it;
}

/* Makes a group of ranks in this process, rank r on devices[r].
 * direct: 1: every device may use the memory of every other one, else KAIO_UNSUPPORTED_DEVICE. Each rank
 * is used by a thread of its own.
 *   options        NULL: all defaults
 *   communicators  gets `ranks` handles */
KAIO_API kaio_status kaio_communicators_create(const DLDevice* devices, uint64_t ranks, int32_t direct,
                                               const kaio_communicator_options* options,
                                               kaio_communicator** communicators);

/* Makes the 128 bytes that name a group of NCCL. One rank makes them, and sends them to the others.
 *   id  128 bytes */
KAIO_API kaio_status kaio_nccl_create_id(uint8_t* id);

/* Makes a rank of a group of NCCL, in one or several processes. All ranks call it.
 *   id            128 bytes, used once
 *   options       NULL: all defaults */
KAIO_API kaio_status kaio_communicator_create_nccl(DLDevice device, const uint8_t* id, int32_t ranks,
                                                   int32_t rank, const kaio_communicator_options* options,
                                                   kaio_communicator** communicator);

/* Makes a rank of a group whose ranks the program connects, in processes of one host. All ranks call it.
 * A failure of `means` is KAIO_COMMUNICATION_FAILED, and ends the group for this rank; the others find it
 * missing.
 *   options       NULL: all defaults */
KAIO_API kaio_status kaio_communicator_create_program(DLDevice device, const kaio_communicator_means* means,
                                                      int32_t ranks, int32_t rank,
                                                      const kaio_communicator_options* options,
                                                      kaio_communicator** communicator);

/* Ends a rank's part in its group: later calls of the others fail. NULL is destroyed without effect. */
KAIO_API kaio_status kaio_communicator_destroy(kaio_communicator* communicator);

/* Ends the group: calls that wait, and later ones, fail with KAIO_COMMUNICATION_FAILED on all ranks. From
 * any thread. */
KAIO_API kaio_status kaio_communicator_abort(const kaio_communicator* communicator, const char* why);

/* Gathers the tensors of all ranks, those of rank 0 first.
 * Tensors of collectives have no gaps. Calls that do not match fail with KAIO_INVALID_ARGUMENT on all
 * ranks, before anything is sent.
 *   from          any; f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
 *   to            writes ranks times the elements of from; elements of from */
KAIO_API kaio_status kaio_all_gather(const kaio_communicator* communicator, void* stream,
                                     const DLTensor* from, const DLTensor* to);

/* Adds the tensors of all ranks in f32, rank 0 first; each rank gets its part.
 *   from          any; f32, f16 or bf16
 *   to            writes the elements of from divided by the ranks; elements of from */
KAIO_API kaio_status kaio_reduce_scatter(const kaio_communicator* communicator, void* stream,
                                         const DLTensor* from, const DLTensor* to);

/* Adds the tensors of all ranks in f32, rank 0 first; each rank gets the sum.
 *   from          any; f32, f16 or bf16
 *   to            writes as from; may be from; elements of from */
KAIO_API kaio_status kaio_communicator_all_reduce(const kaio_communicator* communicator, void* stream,
                                                  const DLTensor* from, const DLTensor* to);

/* Part p of `from` becomes part r of `to` on rank p, where r is this rank.
 *   from          any; f32, f16, bf16, e4m3, e5m2, i8, i32 or i64
 *   to            writes the elements of from; elements of from */
KAIO_API kaio_status kaio_all_to_all(const kaio_communicator* communicator, void* stream,
                                     const DLTensor* from, const DLTensor* to);

/* Copies the tensor of rank `root` to all others.
 *   memory        writes any; f32, f16, bf16, e4m3, e5m2, i8, i32 or i64 */
KAIO_API kaio_status kaio_broadcast(const kaio_communicator* communicator, void* stream,
                                    const DLTensor* memory, int32_t root);

/* The bytes of workspace of kaio_context_attention. All ranks call it.
 *   q             (B, rows, Hq, D); f32, f16 or bf16
 *   k             (B, rows, Hkv, D); elements of q
 *   v             (B, rows, Hkv, Dv); elements of q
 *   options       NULL: all defaults */
KAIO_API kaio_status kaio_context_attention_workspace_bytes(const kaio_communicator* communicator,
                                                            const DLTensor* q, const DLTensor* k,
                                                            const DLTensor* v,
                                                            const kaio_context_attention_options* options,
                                                            uint64_t* bytes);

/* Attention over a sequence whose rows are divided among ranks. Each rank has its rows of q, k, v and out.
 *   q             (B, rows, Hq, D); f32, f16 or bf16
 *   k             (B, rows, Hkv, D); elements of q
 *   v             (B, rows, Hkv, Dv); elements of q
 *   out           writes (B, rows, Hq, Dv); elements of q */
KAIO_API kaio_status kaio_context_attention(const kaio_communicator* communicator, void* stream,
                                            const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                            const DLTensor* out,
                                            const kaio_context_attention_options* options);

/* The bytes of workspace of kaio_context_attention_backward. All ranks call it.
 *   q             (B, rows, Hq, D); f32, f16 or bf16
 *   k             (B, rows, Hkv, D); elements of q
 *   v             (B, rows, Hkv, Dv); elements of q
 *   options       NULL: all defaults */
KAIO_API kaio_status kaio_context_attention_backward_workspace_bytes(const kaio_communicator* communicator,
                                                                     const DLTensor* q, const DLTensor* k,
                                                                     const DLTensor* v,
                                                                     const kaio_context_attention_options* options,
                                                                     uint64_t* bytes);

/* The gradients of kaio_context_attention. out and lse are those that it wrote with these options.
 *   dout          (B, rows, Hq, Dv); elements of q
 *   q             (B, rows, Hq, D); f32, f16 or bf16
 *   k             (B, rows, Hkv, D); elements of q
 *   v             (B, rows, Hkv, Dv); elements of q
 *   out           (B, rows, Hq, Dv); elements of q
 *   lse           (B, Hq, rows); f32
 *   dq            writes as q; elements of q; NULL: not computed
 *   dk            writes as k; elements of q; NULL: not computed
 *   dv            writes as v; elements of q; NULL: not computed */
KAIO_API kaio_status kaio_context_attention_backward(const kaio_communicator* communicator, void* stream,
                                                     const DLTensor* dout, const DLTensor* q,
                                                     const DLTensor* k, const DLTensor* v,
                                                     const DLTensor* out, const DLTensor* lse,
                                                     const DLTensor* dq, const DLTensor* dk,
                                                     const DLTensor* dv,
                                                     const kaio_context_attention_options* options);

#ifdef __cplusplus
}
#endif

#endif
