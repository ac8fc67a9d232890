/* What several operations share. Include <kaio/c/kaio.h>.
 * Made by src/c/generate.py from src/c/operations/shared.json. */
#ifndef KAIO_C_SHARED_H
#define KAIO_C_SHARED_H

#include <kaio/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* kaio_constant_inputs: Inputs that no earlier work in the stream writes. A hint: a call may read them
 * before that work has ended. They are added up. */
enum {
  KAIO_CONSTANT_INPUTS_NONE = 0,
  KAIO_CONSTANT_INPUTS_A = 1, /* operand a of a product */
  KAIO_CONSTANT_INPUTS_B = 2, /* operand b of a product */
  KAIO_CONSTANT_INPUTS_WEIGHTS = 2, /* the weights of a layer */
  KAIO_CONSTANT_INPUTS_BOTH = 3,
  KAIO_CONSTANT_INPUTS_INDICES = 4 /* lengths, page tables, lists and positions of sequences */
};

/* The kernel that a call runs. */
typedef struct kaio_kernel_choice {
  uint32_t size; /* sizeof(kaio_kernel_choice) */
  uint32_t splits; /* parts of K, or of the keys of a decode step */
  int32_t in_cluster; /* 1: the splits of a tile are the blocks of a cluster */
  int32_t reserved_12; /* 0 */
  char name[256]; /* a value for options.variant; empty: the call has nothing to do */
} kaio_kernel_choice;
static inline kaio_kernel_choice kaio_kernel_choice_default(void) {
  kaio_kernel_choice it;
  it.size = sizeof(kaio_kernel_choice);
  it.splits = 1;
  it.in_cluster = 0;
  it.reserved_12 = 0;
  it.name[0] = '\0';
  return it;
}

/* How the kernels of a call are measured. */
typedef struct kaio_tune_options {
  uint32_t size; /* sizeof(kaio_tune_options) */
  uint32_t repetitions; /* default 20; runs of each kernel; the median counts */
  int32_t remember; /* default 1; 0: measure only */
  int32_t use_files; /* default 1; 0: the result holds for this process alone */
} kaio_tune_options;
static inline kaio_tune_options kaio_tune_options_default(void) {
  kaio_tune_options it;
  it.size = sizeof(kaio_tune_options);
  it.repetitions = 20;
  it.remember = 1;
  it.use_files = 1;
  return it;
}

/* What measuring has found. Names are empty if the call has nothing to do. */
typedef struct kaio_tune_report {
  uint32_t size; /* sizeof(kaio_tune_report) */
  int32_t saved; /* 1: the result is in a file, for later processes */
  double seconds; /* time of the fastest kernel */
  double seconds_before; /* time of the kernel that calls took until now */
  char variant[256]; /* the fastest kernel */
  char variant_before[256]; /* the kernel that calls took until now */
} kaio_tune_report;
static inline kaio_tune_report kaio_tune_report_default(void) {
  kaio_tune_report it;
  it.size = sizeof(kaio_tune_report);
  it.saved = 0;
  it.seconds = 0.0;
  it.seconds_before = 0.0;
  it.variant[0] = '\0';
  it.variant_before[0] = '\0';
  return it;
}

/* What a device is and can do. */
typedef struct kaio_device_properties {
  uint32_t size; /* sizeof(kaio_device_properties) */
  int32_t ordinal; /* N of cuda:N; -1: an emulator */
  int32_t emulator; /* N of emulator:N; -1: a GPU */
  int32_t sm; /* the architecture: 90 for sm_90 */
  int32_t arch_specific; /* 1: code for exactly this architecture, such as sm_90a, runs too */
  uint32_t multiprocessors;
  uint32_t max_threads_per_block;
  uint32_t max_blocks_per_cluster; /* 1: there are no clusters */
  uint32_t shared_per_block_optin; /* bytes */
  uint32_t shared_per_multiprocessor; /* bytes */
  uint32_t l2_bytes;
  uint32_t driver_version; /* the driver's CUDA version: 13000 is 13.0; 0: an emulator */
  uint64_t total_memory; /* bytes */
  char name[256]; /* "NVIDIA H200", "emulator" */
} kaio_device_properties;
static inline kaio_device_properties kaio_device_properties_default(void) {
  kaio_device_properties it;
  it.size = sizeof(kaio_device_properties);
  it.ordinal = 0;
  it.emulator = 0;
  it.sm = 0;
  it.arch_specific = 0;
  it.multiprocessors = 0;
  it.max_threads_per_block = 0;
  it.max_blocks_per_cluster = 0;
  it.shared_per_block_optin = 0;
  it.shared_per_multiprocessor = 0;
  it.l2_bytes = 0;
  it.driver_version = 0;
  it.total_memory = 0;
  it.name[0] = '\0';
  return it;
}

#ifdef __cplusplus
}
#endif

#endif
