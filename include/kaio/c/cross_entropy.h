/* Cross entropy of logits, and of a linear layer. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/cross_entropy.json. */
#ifndef KAIO_C_CROSS_ENTROPY_H
#define KAIO_C_CROSS_ENTROPY_H

#include <kaio/c/base.h>
#include <kaio/c/matmul.h>
#include <kaio/c/shared.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_loss_reduction: What becomes of the losses of rows. */
enum {
  KAIO_LOSS_REDUCTION_NONE = 0,
  KAIO_LOSS_REDUCTION_SUM = 1,
  KAIO_LOSS_REDUCTION_MEAN = 2 /* divided by the weights of the targets that are not ignored */
};

/* Options of cross_entropy. */
typedef struct kaio_cross_entropy_options {
  uint32_t size; /* sizeof(kaio_cross_entropy_options) */
  int32_t reduction; /* default 2; kaio_loss_reduction */
  int64_t ignore_index; /* default -100; rows with this target count for nothing */
  float label_smoothing; /* 0 to 1 */
  float z_loss; /* its product with lse^2 is added to a row's loss */
  float softcap; /* logits become softcap * tanh(x / softcap); 0: none */
  int32_t reserved_28; /* 0 */
  const DLTensor* weights; /* (classes); f32 */
  const DLTensor* lse; /* (rows); f32; gets the logarithms of the sums of exponentials */
  const DLTensor* total_weight; /* (1); f32; gets what a mean is divided by */
  /* kaio_cross_entropy_workspace_bytes, at a multiple of 16 bytes; needed unless the reduction is none */
  const DLTensor* workspace;
} kaio_cross_entropy_options;
static inline kaio_cross_entropy_options kaio_cross_entropy_options_default(void) {
  kaio_cross_entropy_options it;
  it.size = sizeof(kaio_cross_entropy_options);
  it.reduction = 2;
  it.ignore_index = -100;
  it.label_smoothing = 0.0f;
  it.z_loss = 0.0f;
  it.softcap = 0.0f;
  it.reserved_28 = 0;
  it.weights = NULL;
  it.lse = NULL;
  it.total_weight = NULL;
  it.workspace = NULL;
  return it;
}

/* Options of the gradient of cross_entropy: those of the forward call. */
typedef struct kaio_cross_entropy_backward_options {
  uint32_t size; /* sizeof(kaio_cross_entropy_backward_options) */
  int32_t reduction; /* default 2; kaio_loss_reduction */
  int64_t ignore_index; /* default -100 */
  float label_smoothing;
  float z_loss;
  float softcap;
  int32_t reserved_28; /* 0 */
  const DLTensor* weights; /* (classes); f32 */
  const DLTensor* total_weight; /* (1); f32; that of the forward call; a mean needs it */
} kaio_cross_entropy_backward_options;
static inline kaio_cross_entropy_backward_options kaio_cross_entropy_backward_options_default(void) {
  kaio_cross_entropy_backward_options it;
  it.size = sizeof(kaio_cross_entropy_backward_options);
  it.reduction = 2;
  it.ignore_index = -100;
  it.label_smoothing = 0.0f;
  it.z_loss = 0.0f;
  it.softcap = 0.0f;
  it.reserved_28 = 0;
  it.weights = NULL;
  it.total_weight = NULL;
  return it;
}

/* Options of linear_cross_entropy. */
typedef struct kaio_linear_cross_entropy_options {
  uint32_t size; /* sizeof(kaio_linear_cross_entropy_options) */
  int32_t reduction; /* default 2; kaio_loss_reduction */
  int32_t precision; /* kaio_matmul_precision: how products of f32 are computed */
  int32_t reserved_12; /* 0 */
  int64_t ignore_index; /* default -100; rows with this target count for nothing */
  float logit_scale; /* default 1; logits are logit_scale * x * weight^T + bias */
  float label_smoothing; /* 0 to 1 */
  float z_loss; /* its product with lse^2 is added to a row's loss */
  float softcap; /* logits become softcap * tanh(logits / softcap); 0: none */
  const DLTensor* bias; /* (classes); f32, f16 or bf16 */
  const DLTensor* weights; /* (classes); f32; factors of the losses by target */
  const DLTensor* lse; /* (rows); f32; gets the logarithms of the sums of exponentials */
  const DLTensor* total_weight; /* (1); f32; gets what a mean is divided by */
  /* kaio_linear_cross_entropy_workspace_bytes, or less, at a multiple of 16 bytes; needed */
  const DLTensor* workspace;
} kaio_linear_cross_entropy_options;
static inline kaio_linear_cross_entropy_options kaio_linear_cross_entropy_options_default(void) {
  kaio_linear_cross_entropy_options it;
  it.size = sizeof(kaio_linear_cross_entropy_options);
  it.reduction = 2;
  it.precision = 0;
  it.reserved_12 = 0;
  it.ignore_index = -100;
  it.logit_scale = 1.0f;
  it.label_smoothing = 0.0f;
  it.z_loss = 0.0f;
  it.softcap = 0.0f;
  it.bias = NULL;
  it.weights = NULL;
  it.lse = NULL;
  it.total_weight = NULL;
  it.workspace = NULL;
  return it;
}

/* Options of the gradients of linear_cross_entropy: those of the forward call. */
typedef struct kaio_linear_cross_entropy_backward_options {
  uint32_t size; /* sizeof(kaio_linear_cross_entropy_backward_options) */
  int32_t reduction; /* default 2; kaio_loss_reduction */
  int32_t precision; /* kaio_matmul_precision */
  int32_t reserved_12; /* 0 */
  int64_t ignore_index; /* default -100 */
  float logit_scale; /* default 1 */
  float label_smoothing;
  float z_loss;
  float softcap;
  const DLTensor* bias; /* (classes); f32, f16 or bf16 */
  const DLTensor* weights; /* (classes); f32 */
  const DLTensor* total_weight; /* (1); f32; that of the forward call; a mean needs it */
  /* (classes); f32, f16 or bf16; gets the gradient of the bias; the element type of x, or f32 */
  const DLTensor* dbias;
  /* kaio_linear_cross_entropy_backward_workspace_bytes, or less, at a multiple of 16 bytes; needed */
  const DLTensor* workspace;
} kaio_linear_cross_entropy_backward_options;
static inline kaio_linear_cross_entropy_backward_options kaio_linear_cross_entropy_backward_options_default(void) {
  kaio_linear_cross_entropy_backward_options it;
  it.size = sizeof(kaio_linear_cross_entropy_backward_options);
  it.reduction = 2;
  it.precision = 0;
  it.reserved_12 = 0;
  it.ignore_index = -100;
  it.logit_scale = 1.0f;
  it.label_smoothing = 0.0f;
  it.z_loss = 0.0f;
  it.softcap = 0.0f;
  it.bias = NULL;
  it.weights = NULL;
  it.total_weight = NULL;
  it.dbias = NULL;
  it.workspace = NULL;
  return it;
}

/* The cross entropy of rows of logits with classes as targets.
 * The loss comes from the f32 lse. Ignored rows have the loss 0, and a target that is no class gives NaN.
 *   logits   (rows, classes); f32, f16 or bf16
 *   targets  (rows); i64 or i32
 *   loss     writes (rows), or (1) with a reduction; f32 */
KAIO_API kaio_status kaio_cross_entropy(void* stream, const DLTensor* logits, const DLTensor* targets,
                                        const DLTensor* loss, const kaio_cross_entropy_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_cross_entropy; memory is not read. */
KAIO_API kaio_status kaio_cross_entropy_warmup(const DLTensor* logits, const DLTensor* targets,
                                               const DLTensor* loss,
                                               const kaio_cross_entropy_options* options);

/* The bytes of workspace that the reductions sum and mean take. For kaio_cross_entropy; memory is not
 * read. */
KAIO_API kaio_status kaio_cross_entropy_workspace_bytes(const DLTensor* logits, uint64_t* bytes);

/* The gradient of the logits of cross_entropy.
 * In f32, rounded once. Ignored rows become 0, those of a target that is no class NaN.
 *   logits   (rows, classes); f32, f16 or bf16
 *   targets  (rows); i64 or i32
 *   lse      (rows); f32; that of the forward call
 *   dloss    (rows), or (1) with a reduction; f32; the gradient of the loss
 *   dlogits  writes as logits; elements of logits; may be logits itself */
KAIO_API kaio_status kaio_cross_entropy_backward(void* stream, const DLTensor* logits,
                                                 const DLTensor* targets, const DLTensor* lse,
                                                 const DLTensor* dloss, const DLTensor* dlogits,
                                                 const kaio_cross_entropy_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_cross_entropy_backward; memory is not read. */
KAIO_API kaio_status kaio_cross_entropy_backward_warmup(const DLTensor* logits, const DLTensor* targets,
                                                        const DLTensor* lse, const DLTensor* dloss,
                                                        const DLTensor* dlogits,
                                                        const kaio_cross_entropy_backward_options* options);

/* The cross entropy of logits x * weight^T, which are never in memory as a whole.
 * Logits are f32. The loss, ignored rows and targets that are no class are as for kaio_cross_entropy.
 *   x        (rows, features); f32, f16 or bf16
 *   weight   (classes, features); elements of x
 *   targets  (rows); i64 or i32
 *   loss     writes (rows), or (1) with a reduction; f32 */
KAIO_API kaio_status kaio_linear_cross_entropy(void* stream, const DLTensor* x, const DLTensor* weight,
                                               const DLTensor* targets, const DLTensor* loss,
                                               const kaio_linear_cross_entropy_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_linear_cross_entropy; memory is not read. */
KAIO_API kaio_status kaio_linear_cross_entropy_warmup(const DLTensor* x, const DLTensor* weight,
                                                      const DLTensor* targets, const DLTensor* loss,
                                                      const kaio_linear_cross_entropy_options* options);

/* The bytes of workspace with which the call is fastest. For kaio_linear_cross_entropy; memory is not
 * read. */
KAIO_API kaio_status kaio_linear_cross_entropy_workspace_bytes(const DLTensor* x, const DLTensor* weight,
                                                               uint64_t* bytes);

/* The gradients of x, weight and bias of linear_cross_entropy.
 * The gradient of the logits is formed in f32 and rounded once to the element type of x; sums are f32.
 * Ignored rows add nothing.
 *   x        (rows, features); f32, f16 or bf16
 *   weight   (classes, features); elements of x
 *   targets  (rows); i64 or i32
 *   lse      (rows); f32; that of the forward call
 *   dloss    (rows), or (1) with a reduction; f32; the gradient of the loss
 *   dx       writes as x; f32, f16 or bf16; the element type of x, or f32; NULL: not computed
 *   dweight  writes as weight; f32, f16 or bf16; the element type of x, or f32; NULL: not computed */
KAIO_API kaio_status kaio_linear_cross_entropy_backward(void* stream, const DLTensor* x,
                                                        const DLTensor* weight, const DLTensor* targets,
                                                        const DLTensor* lse, const DLTensor* dloss,
                                                        const DLTensor* dx, const DLTensor* dweight,
                                                        const kaio_linear_cross_entropy_backward_options* options);

/* Loads what the call launches: its first run then takes no longer than others, and may be captured into a
 * graph. For kaio_linear_cross_entropy_backward; memory is not read. */
KAIO_API kaio_status kaio_linear_cross_entropy_backward_warmup(const DLTensor* x, const DLTensor* weight,
                                                               const DLTensor* targets, const DLTensor* lse,
                                                               const DLTensor* dloss, const DLTensor* dx,
                                                               const DLTensor* dweight,
                                                               const kaio_linear_cross_entropy_backward_options* options);

/* The bytes of workspace with which the call is fastest. For kaio_linear_cross_entropy_backward; memory is
 * not read. */
KAIO_API kaio_status kaio_linear_cross_entropy_backward_workspace_bytes(const DLTensor* x,
                                                                        const DLTensor* weight,
                                                                        uint64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
