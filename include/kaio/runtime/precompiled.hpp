#pragma once
// Machine code of kernels, made with ptxas when a program is built. The first launch on a GPU then does not wait
// for the driver's compiler. CMake's kaio_precompile writes a source file that adds such code to a program
// or a library. A kernel finds its code by the hash of its text. If there is none for the GPU, or the driver
// refuses it, the text is compiled as usual.

#include <kaio/ptx/standard.hpp>

#include <cstddef>

namespace kaio::runtime {

// The code of some kernels, in the layout of cmake/precompile.py. Constant-initialised, without a destructor:
// static objects may launch before it is added and after it is removed.
struct precompiled_kernels {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  precompiled_kernels* next = nullptr;  // set while it is added
};

// Until the code is removed, loading a kernel also searches it. Data of another layout has no kernels. Any
// thread may call both; other threads that load kernels meanwhile wait some microseconds.
void add_precompiled(precompiled_kernels& kernels) noexcept;
// Kernels that were loaded from it stay loaded; the memory may be unmapped when the call returns.
void remove_precompiled(precompiled_kernels& kernels) noexcept;

}  // namespace kaio::runtime
