#pragma once
// A stand-in for libcuda.so.1, backed by host memory: kaio loads it through KAIO_CUDA_LIBRARY, so that the
// driver's half of the runtime is tested on machines without a GPU. It runs no kernels: it records launches,
// fails the calls that a test tells it to, and counts what is alive.

#include <cstddef>
#include <cstdint>

struct fake_driver {
  // What the machine is.
  int device_count = 1;
  int driver_version = 13000;
  int sm = 90;
  std::size_t total_memory = std::size_t{1} << 30;

  // What goes wrong.
  long fail_call = -1;  // the number, from 0, of the call that fails; counted from the last reset
  int fail_code = 0;
  bool stay_failed = false;  // and all calls after it, as after an illegal access
  int jit_code = 0;          // cuModuleLoadDataEx returns it, with jit_log
  unsigned jit_level = 99;   // what the last cuModuleLoadDataEx asked for
  const char* jit_log = "";
  bool capturing = false;            // every stream is being captured
  int most_threads = 1024;           // of a block, for every function
  int blocks_of_multiprocessor = 2;  // what it holds at a time, of every function

  // What was done.
  long calls = 0;
  long loads = 0;
  long launches = 0;
  long misuses = 0;  // freed twice, unknown handle, call without a current context
  unsigned grid[3] = {}, block[3] = {};
  unsigned shared = 0;       // dynamic shared memory of the last launch
  bool cooperative = false;  // the last launch
  long shared_settings = 0;  // how often a function was given more dynamic shared memory
  void* stream = nullptr;
  std::uint64_t values[8] = {};     // the first arguments of the last launch
  std::size_t value_count = 0;      // how many of them to read
  void* current_context = nullptr;  // of the calling thread, at the last launch

  // What is alive.
  long contexts = 0, allocations = 0, host_allocations = 0, streams = 0, events = 0, modules = 0;
  long alive() const { return contexts + allocations + host_allocations + streams + events + modules; }
};

extern "C" {
fake_driver* fake_driver_state();
// Forgets what went wrong and what was done; what is alive stays counted.
void fake_driver_reset();
// The calling thread's current context, as another user of CUDA would set it.
void fake_driver_set_current(void* context);
void* fake_driver_current();
}
