#ifndef KAIO_RUNTIME_CUDA_EMULATOR_H
#define KAIO_RUNTIME_CUDA_EMULATOR_H
/* What libkaio_cuda_emulator.so exports beyond the CUDA driver API: failing chosen calls, and looking at what
   a program did and what it left alive. A test that runs a program in place of libcuda uses it to see that
   every failure of the driver is survived:

     for (long call = 0; call < calls; ++call) {
       kaio_emulator_reset();
       kaio_emulator_fail_call(call, 2, 0);      // CUDA_ERROR_OUT_OF_MEMORY
       run_the_program();
       kaio_emulator_counters now;
       kaio_emulator_count(&now);
       assert(kaio_emulator_alive(&now) == 0);
     }

   The same without a line of code, for any program:

     KAIO_CUDA_FAIL="call=17,error=2"
     KAIO_CUDA_FAIL="name=cuMemAlloc_v2,occurrence=3,error=2,sticky"

   `call` counts the calls of driver functions from 0, and `occurrence` those of one function, from 0 too;
   `sticky` makes every later call fail in the same way. A call that fails in this way does nothing, except
   that a function which frees, destroys or waits does so before it fails, as the driver does.

   Other variables of the environment: KAIO_EMULATOR_ARCH (sm_70 to sm_121a; sm_90a by default),
   KAIO_EMULATOR_DEVICES (how many GPUs there are; 1), KAIO_STREAMS=delayed (work of a stream runs only when
   the program waits for or queries it, so that a program that forgets to wait is found),
   CUDA_LAUNCH_BLOCKING=1 (a launch itself returns the error of its kernel), and those of the emulator, as
   KAIO_SCHEDULE, and KAIO_LAUNCH_SECONDS: a kernel that runs longer is CUDA_ERROR_LAUNCH_TIMEOUT. */

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
void kaio_emulator_fail_call(long call, int error, int sticky);
/* The same for one function's calls. Returns 0 for a name that the library does not have, and else 1. */
int kaio_emulator_fail_function(const char* name, long occurrence, int error, int sticky);
/* Forgets the failure, and what was counted since the last reset; what is alive stays counted. */
void kaio_emulator_reset(void);

void kaio_emulator_count(kaio_emulator_counters* counters);
/* Calls of one function since the last reset; 0 for a name that the library does not have. */
uint64_t kaio_emulator_calls_of(const char* name);
uint64_t kaio_emulator_alive(const kaio_emulator_counters* counters);
/* The last launch that was accepted since the last reset. Returns 0 if there was none, and else 1. */
int kaio_emulator_last_launch(kaio_emulator_launch* launch);

/* Replaces the GPUs by others, while nothing is alive on them; members that are 0 stay as they are, and a
   negative number of devices means none. Returns 0 and changes nothing if something is alive or the values
   cannot be, and else 1. */
int kaio_emulator_set_machine(const kaio_emulator_machine* machine);

#ifdef __cplusplus
}
#endif

#endif
