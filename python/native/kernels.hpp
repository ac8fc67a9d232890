#pragma once
// Kernels of a C++ program: kaio.load, kaio.compile and kaio.check are made of these.

#include <nanobind/nanobind.h>

namespace kaio::python {

void bind_kernels(nanobind::module_& m);

}  // namespace kaio::python
