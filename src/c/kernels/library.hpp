#pragma once
// A kernel library that was opened: its kernels, with the texts and types that a launch checks against.

#include <kaio/c/kernels.h>
#include <kaio/ptx/kernel_library.hpp>

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace kaio::c {

struct parameter {
  ptx::access access = ptx::access::scalar;
  ptx::parameter_type type;
  DLDataType element{};  // bits 0: a struct or a tensor map
  std::string number;    // "1", for the first
  std::string text;      // "in<f32>"
  const char* name() const noexcept { return number.c_str(); }
};

}  // namespace kaio::c

struct kaio_kernel {
  const kaio::ptx::kernel_image* image = nullptr;
  std::string name;       // of the PTX entry
  std::string object;     // of the C++ object
  std::string called;     // "kernel saxpy": how errors begin
  std::string signature;  // "saxpy(in<f32>, val<u32>)"
  std::vector<kaio::c::parameter> parameters;
  mutable std::mutex reading;
  mutable std::string text;  // of the PTX module, once it was asked for
};

struct kaio_kernel_library {
  kaio_kernel_library() = default;
  kaio_kernel_library(const kaio_kernel_library&) = delete;
  kaio_kernel_library& operator=(const kaio_kernel_library&) = delete;
  ~kaio_kernel_library();

  void* object = nullptr;  // of dlopen
  std::string file, version;
  std::deque<kaio_kernel> kernels;  // at fixed addresses
};

namespace kaio::c {

// Reads a table into the library, whose `object` and `file` are set. Throws file_error: the table is of another version, or
// its kernels belong to another object.
void read_table(kaio_kernel_library& library, const ptx::kernel_library* table);

// The kernel of that name: of its entry, of its C++ object, or of the latter without namespaces. Throws invalid_argument.
const kaio_kernel& find_kernel(const kaio_kernel_library& library, const std::string& name);

}  // namespace kaio::c
