#pragma once
// Machine code of kernels, made with ptxas when a program is built, so that the first launch on a GPU need not
// wait for the driver's compiler. CMake's kaio_precompile writes a source file that adds such code to a program
// or a library; a kernel finds its own by the content of its text. Where there is none for a GPU, or where its
// driver does not take it, the text is compiled as ever.

#include <cstddef>

namespace kaio::runtime {

// The code of some kernels, as cmake/precompile.py lays it out. Constant-initialised, and without a destructor:
// static objects may launch before it is added and after it is removed.
struct precompiled_kernels {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  precompiled_kernels* next = nullptr;  // set while it is added
};

// From here on until it is removed, kernels that are loaded are looked up in this code too. Data of another
// layout has no kernels. Any thread may call both; loading kernels in other threads waits for some microseconds.
void add_precompiled(precompiled_kernels& kernels) noexcept;
// Kernels that were loaded from it stay loaded; the memory may be unmapped when the call returns.
void remove_precompiled(precompiled_kernels& kernels) noexcept;

}  // namespace kaio::runtime
