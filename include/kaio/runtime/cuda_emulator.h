#ifndef KAIO_RUNTIME_CUDA_EMULATOR_H
#define KAIO_RUNTIME_CUDA_EMULATOR_H
/* The exports of libkaio_cuda_emulator.so beyond the CUDA driver API: they make chosen calls fail, and report
   what a program did and left alive. A test that runs a program in place of libcuda uses them to see that the
   program survives every failure of the driver:

     for (int64_t call = 0; call < calls; ++call) {
       kaio_emulator_reset();
       kaio_emulator_fail_call(call, 2, 0);      // CUDA_ERROR_OUT_OF_MEMORY
       run_the_program();
       kaio_emulator_counters now;
       kaio_emulator_count(&now);
       assert(kaio_emulator_alive(&now) == 0);
     }

   An environment variable does this for any program, without code:

     KAIO_CUDA_FAIL="call=17,error=2"
     KAIO_CUDA_FAIL="name=cuMemAlloc_v2,occurrence=3,error=2,sticky"

   `call` counts the calls of driver functions from 0; `occurrence` counts those of one function, from 0 too.
   `sticky` makes every later call fail in the same way. A call that fails in this way does nothing. Only a
   function that frees, destroys or waits does so before it fails, as the driver does, also while a stream is captured.

   Other environment variables: KAIO_EMULATOR_ARCH (sm_70 to sm_121a; sm_90a by default),
   KAIO_EMULATOR_DEVICES (the number of GPUs; 1 by default), KAIO_STREAMS=delayed (work of a stream runs only
   when the program waits for or queries it, which exposes a missing wait), CUDA_LAUNCH_BLOCKING=1 (a launch
   itself returns the error of its kernel), and those of the emulator, such as KAIO_SCHEDULE. A kernel that
   runs longer than KAIO_LAUNCH_SECONDS is CUDA_ERROR_LAUNCH_TIMEOUT. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(modernize-use-using): C has no other way.
typedef struct kaio_emulator_counters {
  /* Since the last reset. */
  uint64_t calls;    /* of driver functions, other than those that explain an error code */
  uint64_t launches; /* of kernels that were accepted */
  uint64_t loads;    /* of modules and libraries that were accepted */
  int64_t jit_level; /* CU_JIT_OPTIMIZATION_LEVEL of the last module, -1 where it was not given */
  uint64_t misuses;  /* dead or unknown handles and addresses, and calls without a context that they need */
  /* Alive now. */
  uint64_t contexts; /* and how often primary contexts are retained */
  uint64_t allocations;
  uint64_t host_allocations; /* and registered ranges */
  uint64_t streams;
  uint64_t events;
  uint64_t modules; /* and libraries */
  uint64_t graphs;  /* and executable ones */
  uint64_t pools;
} kaio_emulator_counters;

typedef struct kaio_emulator_launch {
  char kernel[256];
  uint32_t grid[3], block[3], cluster[3];
  uint32_t shared_bytes; /* dynamic */
  int cooperative;
  void* stream;  /* CUstream, as the program gave it */
  void* context; /* CUcontext that was current */
  uint32_t parameter_bytes;
  unsigned char parameters[4096]; /* the first of them, laid out as the kernel has them */
} kaio_emulator_launch;

typedef struct kaio_emulator_machine {
  int devices;
  const char* architecture; /* "sm_90a" */
  int driver_version;       /* what cuDriverGetVersion returns, as 13000 */
  uint64_t memory_bytes;    /* of each device */
} kaio_emulator_machine;
// NOLINTEND(modernize-use-using)

/* The call with this number, from 0 since the last reset, fails with the CUresult `error`; with `sticky`, all
   calls after it too. One failure is set at a time. */
void kaio_emulator_fail_call(int64_t call, int error, int sticky);
/* Makes a call of one function fail in this way. Returns 0 if the library has no such name, else 1. */
int kaio_emulator_fail_function(const char* name, int64_t occurrence, int error, int sticky);
/* Forgets the failure, and what was counted since the last reset; what is alive stays counted. */
void kaio_emulator_reset(void);

void kaio_emulator_count(kaio_emulator_counters* counters);
/* Calls of one function since the last reset; 0 for a name that the library does not have. */
uint64_t kaio_emulator_calls_of(const char* name);
uint64_t kaio_emulator_alive(const kaio_emulator_counters* counters);
/* The last launch that was accepted since the last reset. Returns 0 if there was none, and else 1. */
int kaio_emulator_last_launch(kaio_emulator_launch* launch);

/* Replaces the GPUs, if nothing is alive on them. Members that are 0 keep their values; a negative number of
   devices means none. If something is alive or a value is impossible, changes nothing and returns 0, else 1. */
int kaio_emulator_set_machine(const kaio_emulator_machine* machine);

#ifdef __cplusplus
}
#endif

#endif
