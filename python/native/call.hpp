#pragma once
// Calls of the C interface with Python's objects.

#include <nanobind/nanobind.h>

namespace kaio::python {

void bind_calls(nanobind::module_& m);

// Whether calls on this thread load what they launch, and do not run (kaio.warmup).
bool is_warmup() noexcept;

}  // namespace kaio::python
