#pragma once
// The few functions of the CUDA driver that these libraries call, from the driver that the process has: the emulator's.

#include <cstddef>
#include <cstdint>

namespace kaio::cuda_libraries {

// The ordinal of the device of the current context; -1: there is none.
int current_device();

// Copies device memory to the host when the work of the stream has ended. False: the driver refused, or the stream is captured.
bool copy_to_host(void* to, const void* from, std::size_t bytes, void* stream);

// Rows of bytes from the host to the device, or back, in the order of the stream. False: the driver refused.
enum class transfer { to_device, to_host };
bool copy_rows(transfer direction, void* to, std::size_t pitch_to, const void* from, std::size_t pitch_from,
               std::size_t bytes, std::size_t rows, void* stream);
bool wait_for(void* stream);

// A kernel of a text, loaded into the context that is current at its first launch.
class loaded_kernel {
 public:
  loaded_kernel() = default;
  ~loaded_kernel();
  loaded_kernel(const loaded_kernel&) = delete;
  loaded_kernel& operator=(const loaded_kernel&) = delete;

  // `text` ends in a zero. False: the driver refused, with a line on the standard error stream.
  bool launch(const char* text, const char* name, unsigned blocks, unsigned threads, void* stream,
              void** parameters);

 private:
  void* module_ = nullptr;
  void* function_ = nullptr;
};

}  // namespace kaio::cuda_libraries
