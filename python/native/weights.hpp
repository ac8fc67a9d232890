#pragma once
// Files of weights and their quantised layers (kaio/c/weights.h), and the shapes of packed weights. kaio/weights.py wraps them.

#include <nanobind/nanobind.h>

namespace kaio::python {

void bind_weights(nanobind::module_& m);

}  // namespace kaio::python
