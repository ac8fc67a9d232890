#pragma once
// NCCL, loaded at run time: the file that KAIO_NCCL_LIBRARY names; else the one that the process has loaded (PyTorch's); else
// nvidia/nccl/lib/libnccl.so.2 in a folder above kaio's library (Python's wheels); else the system's.

#include <string>

#include "ops/distributed/nccl/abi.hpp"

namespace kaio::ops::detail::nccl {

struct library {
  functions call;
  int version = 0;   // major * 10000 + minor * 100 + patch
  std::string file;  // for messages
};

// Throws unsupported_device, which names what was tried: there is no NCCL, or one before 2.17. Loaded once; a failure is
// not remembered.
const library& load();

// Makes the primary context of a GPU current on this thread for a scope; does nothing for an emulator (ordinal -1).
class current_device {
 public:
  explicit current_device(int ordinal);
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;
  ~current_device();

 private:
  bool pushed_ = false;
};

}  // namespace kaio::ops::detail::nccl
