#include "call.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <cctype>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "arguments.hpp"
#include "description.hpp"
#include "errors.hpp"
#include "tensors.hpp"

namespace kaio::python {

namespace {

// The bytes of workspace of recent calls of a thread. A measurement may change them: it counts up `measurements`.
std::atomic<unsigned> measurements = 0;

class known_workspaces {
 public:
  // Null: not known.
  const std::uint64_t* find(const function& of, const question& asked) const noexcept {
    if (!asked.is_known()) return nullptr;
    const entry& e = entries_[place_of(of, asked)];
    return e.of == &of && e.measurements == measurements.load(std::memory_order_relaxed) && e.key == asked.key() ? &e.bytes : nullptr;
  }
  void remember(const function& of, const question& asked, std::uint64_t bytes) {
    if (!asked.is_known()) return;
    entry& e = entries_[place_of(of, asked)];
    e.of = &of;
    e.measurements = measurements.load(std::memory_order_relaxed);
    e.key = asked.key();
    e.bytes = bytes;
  }

 private:
  struct entry {
    const function* of = nullptr;
    unsigned measurements = 0;
    std::string key;
    std::uint64_t bytes = 0;
  };
  static std::size_t place_of(const function& of, const question& asked) noexcept {
    return (std::hash<std::string_view>()(asked.key()) ^ (reinterpret_cast<std::uintptr_t>(&of) >> 4)) % entries;
  }
  static constexpr std::size_t entries = 64;
  entry entries_[entries];
};

// What the calls of this thread do; the results of those that do not run.
struct thread_state {
  mode now = mode::run;
  kaio_tune_options how;
  std::uint64_t bytes;
  kaio_kernel_choice choice;
  kaio_tune_report report;
  bool has_result;
};
thread_local thread_state state;

// A message of the C interface with Python's names of the function and its arguments.
std::string in_python(const function& f, std::string message) {
  const std::string name = f.name;
  for (const std::string& query : {name + "_workspace_bytes: ", name + "_choice: ", name + "_warmup: ", "tune_" + name + ": "})
    if (const std::size_t at = message.find(query); at != std::string::npos) message.replace(at, query.size(), name + ": ");
  for (const field& a : f.arguments) {
    if (std::strcmp(a.name, a.c_name) == 0) continue;
    for (const std::string before : {"argument ", "output ", " of "}) {
      const std::string old = before + a.c_name;
      for (std::size_t at = 0; (at = message.find(old, at)) != std::string::npos; at += before.size()) {
        const char next = at + old.size() < message.size() ? message[at + old.size()] : ' ';
        if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_') message.replace(at, old.size(), before + a.name);
      }
    }
  }
  return message;
}

// The workspace that makes a call fast, if it has none.
void add_workspace(const function& f, borrowed_tensors& tensors, reader& in, void* stream, bool is_current) {
  if (f.workspace_argument < 0 || f.workspace_bytes == nullptr) return;
  argument_value& options = in.values()[f.workspace_argument];
  if (options.pointer == nullptr) return;
  const DLTensor* given = nullptr;
  std::byte* const place = static_cast<std::byte*>(options.pointer) + f.workspace_offset;
  std::memcpy(&given, place, sizeof given);
  if (given != nullptr) return;
  thread_local known_workspaces known;
  std::uint64_t bytes = 0;
  if (const std::uint64_t* const found = known.find(f, in.asked())) {
    bytes = *found;
  } else {
    const kaio_status status = f.workspace_bytes(in.values(), &bytes);
    if (status != KAIO_OK) raise(status, in_python(f, kaio_last_error()));
    known.remember(f, in.asked(), bytes);
  }
  if (bytes == 0) return;
  given = tensors.allocate(bytes, stream, is_current);
  std::memcpy(place, &given, sizeof given);
}

kaio_status ask(const function& f, mode what, const argument_value* values) {
  const char* missing = nullptr;
  switch (what) {
    case mode::warmup:
      if (f.warmup == nullptr) return KAIO_OK;
      {
        const nb::gil_scoped_release released;
        return f.warmup(values);
      }
    case mode::workspace_bytes:
      state.bytes = 0;
      state.has_result = true;
      return f.workspace_bytes != nullptr ? f.workspace_bytes(values, &state.bytes) : KAIO_OK;
    case mode::choice:
      missing = "choice";
      if (f.choice == nullptr) break;
      state.choice = kaio_kernel_choice_default();
      state.has_result = true;
      return f.choice(values, &state.choice);
    default:
      missing = "measurement of kernels";
      if (f.tune == nullptr) break;
      state.report = kaio_tune_report_default();
      state.has_result = true;
      {
        const nb::gil_scoped_release released;
        const kaio_status status = f.tune(values, &state.how, &state.report);
        measurements.fetch_add(1, std::memory_order_relaxed);
        return status;
      }
  }
  raise_type_error("kaio: " + std::string(f.name) + " has no " + missing);
}

// (stream, argument...). The stream `...` is the current one, and says that the tensors' signs and gradients were looked at.
// Returns whether outputs that were made have to become arrays of jax.
bool call(const function& f, PyObject* const* given, Py_ssize_t count) {
  if (count != static_cast<Py_ssize_t>(f.arguments.size()) + 1) raise_type_error("kaio: a call has other arguments than its description");
  const bool is_checked = given[0] == Py_Ellipsis;
  borrowed_tensors tensors(f.name, !is_checked);
  reader in(f, tensors);
  in.arguments(given + 1);
  const nb::handle given_stream(is_checked ? Py_None : given[0]);
  void* const stream = tensors.stream(given_stream);
  const mode now = state.now;
  // A question is about the call as it runs, with its workspace.
  if (now != mode::workspace_bytes) add_workspace(f, tensors, in, stream, given_stream.is_none());
  kaio_status status = KAIO_OK;
  if (now != mode::run) [[unlikely]] {
    status = ask(f, now, in.values());
  } else {
    // Other threads of Python go on: a call waits where the queue of a GPU is full, and the emulator computes.
    PyThreadState* const saved = PyEval_SaveThread();
    status = f.run(stream, in.values());
    PyEval_RestoreThread(saved);
  }
  if (status != KAIO_OK) [[unlikely]]
    raise(status, in_python(f, kaio_last_error()));
  return tensors.is_for_jax();
}

// Runs the body of a function of Python. An exception becomes Python's, and the result null.
template <class Body>
PyObject* guarded(const Body& body) noexcept {
  try {
    return Py_NewRef(body() ? Py_True : Py_False);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "kaio: an argument has a type that no call takes");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "kaio: an unknown failure");
  }
  return nullptr;
}

// `self` is a capsule with a `function`.
PyObject* call_from_python(PyObject* self, PyObject* const* given, Py_ssize_t count) noexcept {
  return guarded([&] { return call(*static_cast<const function*>(PyCapsule_GetPointer(self, nullptr)), given, count); });
}

PyObject* are_plain_from_python(PyObject*, PyObject* const* given, Py_ssize_t count) noexcept {
  return guarded([&] { return are_plain(given, count); });
}

// A function of Python that takes its arguments as an array. nanobind's functions cost twice as much.
nb::object fast_function(const char* name, PyObject* (*body)(PyObject*, PyObject* const*, Py_ssize_t) noexcept, PyObject* self) {
  // Lives as long as the process: functions of Python refer to it.
  auto* const method = new PyMethodDef{name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(body)), METH_FASTCALL, nullptr};
  PyObject* const made = PyCFunction_NewEx(method, self, nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

nb::object function_of(const function& f) {
  if (f.arguments.size() > most_arguments) throw nb::import_error("kaio: an operation has more arguments than the module takes");
  const nb::object self = nb::steal(PyCapsule_New(const_cast<function*>(&f), nullptr, nullptr));
  if (!self.is_valid()) throw nb::python_error();
  return fast_function(f.name, &call_from_python, self.ptr());
}

}  // namespace

bool is_warmup() noexcept { return state.now == mode::warmup; }

void bind_calls(nb::module_& m) {
  m.def("operation", [](const char* name) {
    for (const function& f : functions())
      if (std::strcmp(f.name, name) == 0) return function_of(f);
    PyErr_Format(PyExc_ValueError, "kaio: there is no operation '%s'", name);
    throw nb::python_error();
  });
  m.attr("are_plain") = fast_function("are_plain", &are_plain_from_python, nullptr);
  // Until end_mode(), calls on this thread answer a question instead of running.
  m.def("begin_mode", [](int what, unsigned repetitions, bool remember, bool use_files) {
    state = {};
    state.now = static_cast<mode>(what);
    state.how = kaio_tune_options_default();
    state.how.repetitions = repetitions;
    state.how.remember = remember;
    state.how.use_files = use_files;
  });
  m.def("end_mode", []() -> nb::object {
    const thread_state last = state;
    state = {};
    if (!last.has_result) return nb::none();
    switch (last.now) {
      case mode::workspace_bytes: return nb::int_(last.bytes);
      case mode::choice: return nb::make_tuple(last.choice.name, last.choice.splits, last.choice.in_cluster != 0);
      case mode::tune:
        return nb::make_tuple(last.report.variant, last.report.seconds, last.report.variant_before, last.report.seconds_before,
                              last.report.saved != 0);
      default: return nb::none();
    }
  });
}

}  // namespace kaio::python
