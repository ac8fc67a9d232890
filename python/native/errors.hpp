#pragma once
// A kaio_status as a Python exception. kaio/errors.py has the classes, by the status' name.

#include <kaio/c/kaio.h>
#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace kaio::python {

// The Python class of a status.
nanobind::object errors_of(kaio_status status);

// Sets the exception of a status, and throws nb::python_error.
[[noreturn]] void raise(kaio_status status, const std::string& message);

// What a function of Python raised while the library called it on this thread: the cause of the next communication failure.
void set_cause(nanobind::handle exception);

inline void check(kaio_status status) {
  if (status != KAIO_OK) [[unlikely]]
    raise(status, kaio_last_error());
}

// "Tensor": the type of an object, for messages.
std::string name_of_type(nanobind::handle object);

// "an int", "a Tensor", "None": what an object is, for messages.
std::string kind_of(nanobind::handle object);

[[noreturn]] void raise_type_error(const std::string& message);

}  // namespace kaio::python
