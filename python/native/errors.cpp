#include "errors.hpp"

#include <nanobind/stl/string.h>

namespace kaio::python {

namespace nb = nanobind;

namespace {
thread_local PyObject* cause = nullptr;  // a reference
}

void set_cause(nb::handle exception) { Py_XDECREF(std::exchange(cause, Py_NewRef(exception.ptr()))); }

nb::object errors_of(kaio_status status) {
  const nb::module_ errors = nb::module_::import_("kaio.errors");
  return errors.attr("by_status").attr("get")(kaio_status_name(status), errors.attr("Error"));
}

void raise(kaio_status status, const std::string& message) {
  const nb::object type = errors_of(status), of = nb::steal(std::exchange(cause, nullptr));
  if (status == KAIO_COMMUNICATION_FAILED && of.is_valid()) {
    const nb::object exception = type(message);
    PyException_SetCause(exception.ptr(), Py_NewRef(of.ptr()));
    PyErr_SetObject(type.ptr(), exception.ptr());
  } else {
    PyErr_SetString(type.ptr(), message.c_str());
  }
  throw nb::python_error();
}

std::string name_of_type(nb::handle object) {
  return nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

std::string kind_of(nb::handle object) {
  if (object.is_none()) return "None";
  const std::string name = name_of_type(object);
  return (std::string("aeiouAEIOU").find(name[0]) == std::string::npos ? "a " : "an ") + name;
}

void raise_type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

}  // namespace kaio::python
