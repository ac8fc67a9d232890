/* kaio's C interface: operations on tensors in GPU memory, described by DLPack's DLTensor. C99, and C++ without
 * exceptions and RTTI. Link libkaio.so: one file that needs no other library of kaio.
 *
 *   kaio_matmul_options options = kaio_matmul_options_default();
 *   options.activation = KAIO_MATMUL_ACTIVATION_GELU;
 *   options.bias = &bias;
 *   if (kaio_matmul(stream, &a, &b, &c, &options) != KAIO_OK) fprintf(stderr, "%s\n", kaio_last_error());
 *
 * All tensors of a call are on one device, on which the call runs. Operations queue work on the caller's stream and
 * return; they allocate nothing. Arguments are checked first, and a message names the wrong one. A pointer to options
 * may be NULL: all defaults.
 */
#ifndef KAIO_C_KAIO_H
#define KAIO_C_KAIO_H

#include <kaio/c/attention.h>
#include <kaio/c/attention_backward.h>
#include <kaio/c/attention_decode.h>
#include <kaio/c/base.h>
#include <kaio/c/block_mask.h>
#include <kaio/c/cache.h>
#include <kaio/c/cross_entropy.h>
#include <kaio/c/device.h>
#include <kaio/c/distributed.h>
#include <kaio/c/elementwise.h>
#include <kaio/c/embedding.h>
#include <kaio/c/kernels.h>
#include <kaio/c/matmul.h>
#include <kaio/c/matmul_8bit.h>
#include <kaio/c/norm.h>
#include <kaio/c/norm_backward.h>
#include <kaio/c/packed_weights.h>
#include <kaio/c/peers.h>
#include <kaio/c/pool.h>
#include <kaio/c/projections.h>
#include <kaio/c/qk_norm_rotary.h>
#include <kaio/c/reductions.h>
#include <kaio/c/repack_w4.h>
#include <kaio/c/repack_w8.h>
#include <kaio/c/runtime.h>
#include <kaio/c/sampling.h>
#include <kaio/c/shared.h>
#include <kaio/c/softmax.h>
#include <kaio/c/weight_formats.h>
#include <kaio/c/weights.h>

#endif
