#pragma once
// Driver calls that kaio's runtime does not have: a CUDA graph of the work in a stream, and a device's
// identity for NVML.

#include "bench/matmul/shared_library.hpp"

#include <kaio/runtime/stream.hpp>

#include <stdexcept>
#include <string>

namespace kaio::bench {

class driver_functions {
 public:
  driver_functions() : library_({"libcuda.so.1"}) {}

  template <class... A>
  void call(const char* name, A... arguments) const {
    auto* const f = library_.function<int(A...)>(name);
    const int result = f == nullptr ? -1 : f(arguments...);
    if (result != 0)
      throw std::runtime_error(std::string("kaio: ") + name + " failed with code " + std::to_string(result));
  }
  // "00000000:0B:00.0"
  std::string bus_id(int ordinal) const {
    int device = 0;
    char text[64] = {};
    call("cuDeviceGet", &device, ordinal);
    call("cuDeviceGetPCIBusId", &text[0], static_cast<int>(sizeof text), device);
    return text;
  }

 private:
  shared_library library_;
};

// The work of `enqueue`, captured once; launch() runs it with the launches' gaps as short as the device has
// them.
class driver_graph {
 public:
  template <class Enqueue>
  driver_graph(const driver_functions& driver, const stream& s, Enqueue enqueue)
      : driver_(driver), stream_(s) {
    void* const native = s.native_handle();
    driver_.call("cuStreamBeginCapture_v2", native, 1);  // thread-local: other threads may go on
    void* graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      driver_.call("cuStreamEndCapture", native, &graph);
      throw;
    }
    driver_.call("cuStreamEndCapture", native, &graph);
    driver_.call("cuGraphInstantiateWithFlags", &executable_, graph, 0ull);
    driver_.call("cuGraphDestroy", graph);
  }
  ~driver_graph() {
    if (executable_ == nullptr) return;
    try {
      driver_.call("cuGraphExecDestroy", executable_);
    } catch (const std::exception&) {  // the process ends with it
    }
  }
  driver_graph(const driver_graph&) = delete;
  driver_graph& operator=(const driver_graph&) = delete;

  void launch() const { driver_.call("cuGraphLaunch", executable_, stream_.native_handle()); }

 private:
  const driver_functions& driver_;
  const stream& stream_;
  void* executable_ = nullptr;
};

}  // namespace kaio::bench
