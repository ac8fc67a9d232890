#include "kernels.hpp"

#include <kaio/c/kaio.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "tensors.hpp"

namespace kaio::python {

namespace {

// The library of a file. Its kernels keep it open.
class opened_library {
 public:
  explicit opened_library(const char* file) { check(kaio_kernel_library_open(file, &library_)); }
  opened_library(const opened_library&) = delete;
  opened_library& operator=(const opened_library&) = delete;
  ~opened_library() { kaio_kernel_library_close(library_); }
  const kaio_kernel_library* get() const noexcept { return library_; }

 private:
  kaio_kernel_library* library_ = nullptr;
};

// A kernel, with what a call asks of it.
struct known_kernel {
  std::shared_ptr<opened_library> library;
  const kaio_kernel* kernel = nullptr;
  kaio_kernel_info info = kaio_kernel_info_default();
  std::string called;  // "kernel saxpy"
  std::vector<kaio_kernel_parameter> parameters;
  std::vector<std::string> numbers;  // "1", "2", ...

  known_kernel(std::shared_ptr<opened_library> of, const kaio_kernel* it) : library(std::move(of)), kernel(it) {
    check(kaio_kernel_info_of(kernel, &info));
    called = std::string("kernel ") + info.name;
    for (std::uint32_t i = 0; i < info.parameters; ++i) {
      kaio_kernel_parameter& p = parameters.emplace_back(kaio_kernel_parameter_default());
      check(kaio_kernel_parameter_of(kernel, i, &p));
      numbers.push_back(std::to_string(i + 1));
    }
  }
  [[noreturn]] void refuse(std::size_t index, const std::string& why) const {
    raise(KAIO_INVALID_ARGUMENT, "kaio: " + called + ": argument " + numbers[index] + " " + why);
  }
};

// The grid of a launch. `of_elements`: x counts elements.
struct grid_shape {
  kaio_kernel_grid grid;

  grid_shape(bool of_elements, nb::handle x, nb::handle y, nb::handle z, std::uint32_t per_thread, std::uint32_t shared_bytes,
             nb::handle cluster, bool programmatic, nb::handle device)
      : grid(kaio_kernel_grid_default()) {
    grid.unit = of_elements ? KAIO_GRID_UNIT_ELEMENTS : KAIO_GRID_UNIT_BLOCKS;
    grid.x = extent(x);
    grid.y = extent(y);
    grid.z = extent(z);
    grid.per_thread = per_thread;
    grid.shared_bytes = shared_bytes;
    grid.programmatic = programmatic;
    if (!cluster.is_none()) set_cluster(cluster);
    if (!device.is_none()) grid.device = device_named(nb::cast<std::string>(device).c_str());
  }
  explicit grid_shape(nb::handle blocks) : grid(kaio_kernel_grid_default()) {
    if (!PyTuple_Check(blocks.ptr())) {
      grid.x = extent(blocks);
      return;
    }
    const auto count = PyTuple_Size(blocks.ptr());
    if (count < 1 || count > 3) raise_type_error("kaio: a grid has 1 to 3 extents, in blocks; " + std::to_string(count) + " were given");
    std::uint64_t* const extents[] = {&grid.x, &grid.y, &grid.z};
    for (Py_ssize_t d = 0; d < count; ++d) *extents[d] = extent(PyTuple_GetItem(blocks.ptr(), d));
  }

 private:
  // Integers of any kind.
  static std::uint64_t extent(nb::handle value) {
    if (!PyLong_Check(value.ptr())) {
      PyObject* const index = PyNumber_Index(value.ptr());
      if (index == nullptr) {
        PyErr_Clear();
        raise_type_error("kaio: a kernel is launched by kernel[over(n)](...), or by kernel[x], kernel[x, y] or kernel[x, y, z] in "
                         "blocks; " + name_of_type(value) + " is no number of blocks");
      }
      const nb::object held = nb::steal(index);
      return extent(held);
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || number < 0)
      raise(KAIO_INVALID_ARGUMENT, "kaio: the extent of a grid is " + nb::cast<std::string>(nb::str(value)) +
                                       "; it has to be 0 or more, and below 2**63");
    return static_cast<std::uint64_t>(number);
  }
  void set_cluster(nb::handle cluster) {
    grid.cluster[0] = grid.cluster[1] = grid.cluster[2] = 1;
    if (!PyTuple_Check(cluster.ptr())) {
      grid.cluster[0] = nb::cast<std::uint32_t>(cluster);
      return;
    }
    const auto extents = nb::cast<std::vector<std::uint32_t>>(cluster);
    if (extents.empty() || extents.size() > 3) raise_type_error("kaio: a cluster has 1 to 3 extents, in blocks");
    std::copy(extents.begin(), extents.end(), grid.cluster);
  }
};

// A tensor with any strides, for a kernel that takes them.
struct strided_tensor {
  nb::object tensor;
};

bool is_strided(nb::handle value) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<strided_tensor>().ptr());
  return Py_TYPE(value.ptr()) == type;
}

bool is_tensor(nb::handle value) {
  const tensor_type& type = type_of(value.ptr());
  return type.exchange != nullptr || type.is_own || type.is_torch || nb::hasattr(value, "__dlpack__") ||
         nb::hasattr(value, "__cuda_array_interface__");
}

// The arguments of one call, on the stack.
class packed_arguments {
 public:
  packed_arguments(const known_kernel& of, borrowed_tensors& tensors, nb::handle given) : of_(of), tensors_(tensors) {
    const auto count = static_cast<std::size_t>(PyTuple_Size(given.ptr()));
    if (count > few_.size()) many_.resize(count);
    kaio_kernel_argument* const to = many_.empty() ? few_.data() : many_.data();
    const std::size_t known = std::min(count, of.parameters.size());  // a wrong number is refused by the launch
    for (std::size_t i = 0; i < known; ++i) to[i] = read(i, nb::handle(PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i))));
    count_ = count;
  }
  const kaio_kernel_argument* data() const noexcept { return many_.empty() ? few_.data() : many_.data(); }
  std::uint64_t size() const noexcept { return count_; }

 private:
  kaio_kernel_argument read(std::size_t i, nb::handle value) {
    const kaio_kernel_parameter& p = of_.parameters[i];
    if (value.is_none()) of_.refuse(i, std::string("is None, and the parameter is ") + p.text);
    if (p.access == KAIO_ACCESS_VALUE) return p.type.bits == 0 ? structure(i, value) : number(i, value);
    const bool written = p.access != KAIO_ACCESS_IN;
    if (is_strided(value))
      return kaio_argument_strided(tensors_.borrow(of_.numbers[i].c_str(), nb::inst_ptr<strided_tensor>(value)->tensor, written));
    if (PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr())) return number(i, value);  // refused with what it is
    return kaio_argument_tensor(tensors_.borrow(of_.numbers[i].c_str(), value, written));
  }

  kaio_kernel_argument number(std::size_t i, nb::handle value) const {
    if (PyFloat_Check(value.ptr())) return kaio_argument_number(PyFloat_AsDouble(value.ptr()));
    if (PyBool_Check(value.ptr())) return kaio_argument_scalar({kDLBool, 8, 1}, value.is(Py_True));
    if (PyLong_Check(value.ptr())) return integer(i, value);
    return other_number(i, value);
  }

  kaio_kernel_argument integer(std::size_t i, nb::handle value) const {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return kaio_argument_integer(small);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      of_.refuse(i, "is " + nb::cast<std::string>(nb::str(value)) + ", which the parameter, " + of_.parameters[i].text + ", cannot hold");
    }
    return kaio_argument_unsigned(large);
  }

  // NumPy's numbers and their like: integers first, then what converts to a float. A tensor is none, though it has one element.
  kaio_kernel_argument other_number(std::size_t i, nb::handle value) const {
    const kaio_kernel_parameter& p = of_.parameters[i];
    const std::string type = name_of_type(value);
    if (!is_tensor(value)) {
      if (type == "bool" || type == "bool_") return kaio_argument_scalar({kDLBool, 8, 1}, PyObject_IsTrue(value.ptr()) == 1);
      if (const nb::object index = nb::steal(PyNumber_Index(value.ptr())); index.is_valid()) return integer(i, index);
      PyErr_Clear();
      if (PyNumber_Check(value.ptr()))
        if (const nb::object real = nb::steal(PyNumber_Float(value.ptr())); real.is_valid())
          return kaio_argument_number(PyFloat_AsDouble(real.ptr()));
      PyErr_Clear();
    }
    of_.refuse(i, "is a " + type + ", and the parameter is " + p.text + "; pass a number" +
                      (is_tensor(value) ? ", for instance .item() of it" : ""));
  }

  // Bytes, or what has them: a ctypes.Structure, a record of NumPy.
  kaio_kernel_argument structure(std::size_t i, nb::handle value) {
    if (PyLong_Check(value.ptr())) return kaio_argument_integer(0);  // refused with what it is
    if (PyFloat_Check(value.ptr())) return kaio_argument_number(0);
    nb::object bytes = nb::borrow(value);
    if (!PyBytes_Check(value.ptr())) {
      const nb::object view = nb::steal(PyMemoryView_FromObject(value.ptr()));
      if (!view.is_valid()) {
        PyErr_Clear();
        of_.refuse(i, "is a " + name_of_type(value) + ", and the parameter is " + of_.parameters[i].text +
                          "; pass bytes, or an object that has them, such as a ctypes.Structure");
      }
      bytes = nb::steal(PyObject_Bytes(view.ptr()));
      if (!bytes.is_valid()) throw nb::python_error();
    }
    held_.push_back(bytes);
    return kaio_argument_struct(PyBytes_AsString(bytes.ptr()), static_cast<std::uint64_t>(PyBytes_Size(bytes.ptr())));
  }

  const known_kernel& of_;
  borrowed_tensors& tensors_;
  std::array<kaio_kernel_argument, 16> few_;
  std::vector<kaio_kernel_argument> many_;
  std::vector<nb::object> held_;
  std::size_t count_ = 0;
};

// kernel[over(n)]: it is called with the arguments.
struct launcher {
  std::shared_ptr<known_kernel> kernel;
  kaio_kernel_grid grid;

  void call(const nb::args& given, const nb::kwargs& keywords) const {
    const known_kernel& k = *kernel;
    nb::object stream = nb::none();
    if (PyDict_Size(keywords.ptr()) != 0) stream = read_keywords(keywords);
    borrowed_tensors tensors(k.called.c_str());
    const packed_arguments arguments(k, tensors, given);
    kaio_status status = KAIO_OK;
    if (is_warmup()) {
      const DLDevice device = tensors.any() ? tensors.first().device : grid.device;
      status = kaio_kernel_warmup(k.kernel, device);
    } else {
      void* const handle = tensors.stream(stream);
      PyThreadState* const saved = PyEval_SaveThread();
      status = kaio_kernel_launch(handle, k.kernel, &grid, arguments.data(), arguments.size());
      PyEval_RestoreThread(saved);
    }
    check(status);
  }

 private:
  nb::object read_keywords(const nb::kwargs& keywords) const {
    PyObject* const stream = PyDict_GetItemString(keywords.ptr(), "stream");
    if (stream == nullptr || PyDict_Size(keywords.ptr()) != 1)
      raise_type_error("kaio: " + kernel->called + " takes its arguments by position, as the C++ lambda has them, and stream by its name");
    return nb::borrow(stream);
  }
};

std::vector<std::string> signatures_of(const known_kernel& kernel) {
  std::vector<std::string> texts;
  for (const kaio_kernel_parameter& p : kernel.parameters) texts.emplace_back(p.text);
  return texts;
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<grid_shape>(m, "Grid").def("__repr__", [](const grid_shape& s) {
    const kaio_kernel_grid& g = s.grid;
    if (g.unit == KAIO_GRID_UNIT_ELEMENTS) return "over(" + std::to_string(g.x) + ")";
    return "grid(" + std::to_string(g.x) + ", " + std::to_string(g.y) + ", " + std::to_string(g.z) + ")";
  });
  m.def(
      "over",
      [](nb::handle n, std::uint32_t per_thread, std::uint32_t shared_bytes, nb::handle cluster, bool programmatic, nb::handle device) {
        const nb::int_ one(1);
        return grid_shape(true, n, one, one, per_thread, shared_bytes, cluster, programmatic, device);
      },
      nb::arg("n"), nb::arg("per_thread") = 1, nb::kw_only(), nb::arg("shared_bytes") = 0, nb::arg("cluster") = nb::none(),
      nb::arg("programmatic") = false, nb::arg("device") = nb::none(),
      nb::sig("def over(n: int, per_thread: int = 1, *, shared_bytes: int = 0, cluster: int | None = None, programmatic: bool = False, "
              "device: str | None = None) -> Grid"),
      "The grid of a launch: one thread for each of n elements, or for `per_thread` of them. The last block may be partial.");
  m.def(
      "grid",
      [](nb::handle x, nb::handle y, nb::handle z, std::uint32_t shared_bytes, nb::handle cluster, bool programmatic, nb::handle device) {
        return grid_shape(false, x, y, z, 0, shared_bytes, cluster, programmatic, device);
      },
      nb::arg("x"), nb::arg("y") = 1, nb::arg("z") = 1, nb::kw_only(), nb::arg("shared_bytes") = 0, nb::arg("cluster") = nb::none(),
      nb::arg("programmatic") = false, nb::arg("device") = nb::none(),
      nb::sig("def grid(x: int, y: int = 1, z: int = 1, *, shared_bytes: int = 0, cluster: int | tuple[int, ...] | None = None, "
              "programmatic: bool = False, device: str | None = None) -> Grid"),
      "The grid of a launch, in blocks.");
  nb::class_<strided_tensor>(m, "strided", "Marks an array that has gaps, for a kernel that takes its strides.")
      .def("__init__", [](strided_tensor* to, nb::object tensor) { new (to) strided_tensor{std::move(tensor)}; }, nb::arg("array"));

  nb::class_<launcher>(m, "Launch").def("__call__", &launcher::call);
  nb::class_<known_kernel>(m, "Kernel", "A kernel of a library: kernel[over(n)](...) launches it.")
      .def("__getitem__",
           [](const std::shared_ptr<known_kernel>& kernel, nb::handle shape) {
             if (nb::inst_check(shape) && nb::isinstance<grid_shape>(shape)) return launcher{kernel, nb::inst_ptr<grid_shape>(shape)->grid};
             return launcher{kernel, grid_shape(shape).grid};
           })
      .def("__call__",
           [](const known_kernel& kernel, const nb::args&, const nb::kwargs&) {
             raise_type_error("kaio: " + kernel.called + " needs a grid: " + kernel.info.name + "[over(n)](...), or " + kernel.info.name +
                              "[x, y, z](...) in blocks");
           })
      .def("__repr__", [](const known_kernel& kernel) { return std::string("<kaio kernel ") + kernel.info.signature + ">"; })
      .def_prop_ro("name", [](const known_kernel& kernel) { return kernel.info.name; }, "The name of its PTX entry.")
      .def_prop_ro("object", [](const known_kernel& kernel) { return kernel.info.object; }, "The C++ expression that names it.")
      .def_prop_ro("signature", [](const known_kernel& kernel) { return kernel.info.signature; })
      .def_prop_ro("parameters", &signatures_of, "The parameters in C++: ['in<f32>', 'val<u32>'].")
      .def_prop_ro("block", [](const known_kernel& kernel) {
        return nb::make_tuple(kernel.info.block[0], kernel.info.block[1], kernel.info.block[2]);
      }, "Threads of a block.")
      .def_prop_ro("ptx", [](const known_kernel& kernel) {
        const char* text = nullptr;
        check(kaio_kernel_ptx(kernel.kernel, &text));
        return text;
      }, "The text of its PTX module.");
  nb::class_<opened_library>(m, "OpenedLibrary")
      .def(nb::init<const char*>())
      .def("version", [](const opened_library& library) { return kaio_kernel_library_version(library.get()); })
      .def("kernels",
           [](const std::shared_ptr<opened_library>& library) {
             std::uint64_t count = 0;
             check(kaio_kernel_library_count(library->get(), &count));
             std::vector<std::shared_ptr<known_kernel>> all;
             for (std::uint64_t i = 0; i < count; ++i) {
               const kaio_kernel* kernel = nullptr;
               check(kaio_kernel_library_at(library->get(), i, &kernel));
               all.push_back(std::make_shared<known_kernel>(library, kernel));
             }
             return all;
           })
      .def("find", [](const std::shared_ptr<opened_library>& library, const char* name) {
        const kaio_kernel* kernel = nullptr;
        check(kaio_kernel_library_find(library->get(), name, &kernel));
        return std::make_shared<known_kernel>(library, kernel);
      });
  m.def("begin_checks", [](std::optional<std::string> checks, std::uint64_t reports) {
    check(kaio_sanitizer_begin(checks ? checks->c_str() : nullptr, reports));
  }, nb::arg().none(), nb::arg());
  m.def("end_checks", [] {
    std::uint64_t launches = 0, failed = 0;
    const char* text = nullptr;
    check(kaio_sanitizer_end(&launches, &failed, &text));
    return nb::make_tuple(launches, failed, text);
  });
}

}  // namespace kaio::python
