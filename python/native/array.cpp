#include "array.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nanobind/stl/pair.h>

#include <cstring>

#include "errors.hpp"
#include "tensors.hpp"

namespace kaio::python {

array::memory::~memory() {
  if (device.device_type == kDLCPU)
    release_host(address);
  else if (address != nullptr)
    kaio_free(device, address);
}

array::array(DLDevice device, DLDataType type, std::vector<std::int64_t> shape)
    : device_(device), type_(type), shape_(std::move(shape)), strides_(shape_.size()), memory_(std::make_shared<memory>(device)) {
  std::uint64_t elements = 1;
  std::int64_t step = 1;
  if (shape_.size() > most_dimensions) throw nb::value_error("kaio: an array has at most 8 dimensions");
  for (std::size_t d = shape_.size(); d-- > 0;) {
    if (shape_[d] < 0) throw nb::value_error("kaio: an extent of an array is negative");
    strides_[d] = step;
    step *= shape_[d];
    if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(shape_[d]), &elements) || elements >= (1ull << 60))
      throw nb::value_error("kaio: an array has more elements than memory can hold");
  }
  bytes_ = elements * (type.bits / 8u);
  if (device.device_type != kDLCPU) {
    check(kaio_allocate(device, bytes_, &memory_->address));
  } else if (bytes_ != 0) {
    memory_->address = allocate_host(bytes_);
    if (memory_->address == nullptr) raise(KAIO_OUT_OF_MEMORY, "kaio: the host has no memory for an array; free some of it");
    std::memset(memory_->address, 0, rounded_up(bytes_));
  }
}

void array::describe(DLTensor& to) noexcept {
  to = {memory_->address, device_, static_cast<std::int32_t>(shape_.size()), type_, shape_.data(), strides_.data(), 0};
}

namespace {

template <class Tensor>
struct exported {
  Tensor tensor;
  array owner;
};

template <class Tensor>
nb::object capsule_of(const array& owner, const char* name, void (*destroy)(PyObject*)) {
  auto out = std::make_unique<exported<Tensor>>(exported<Tensor>{{}, owner});
  out->tensor.manager_context = out.get();
  out->tensor.deleter = [](Tensor* t) { delete static_cast<exported<Tensor>*>(t->manager_context); };
  out->owner.describe(out->tensor.tensor);
  if constexpr (requires { out->tensor.version; }) out->tensor.version = {1, 0};
  PyObject* const capsule = PyCapsule_New(&out->tensor, name, destroy);
  if (capsule == nullptr) throw nb::python_error();
  out.release();
  return nb::steal(capsule);
}

// Deletes the tensor of a capsule that no consumer has taken: a consumer renames it.
template <class Tensor>
void destroy(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* const t = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  t->deleter(t);
}

void refuse_buffer(const std::string& why) {
  PyErr_SetString(PyExc_BufferError, ("kaio: an Array " + why).c_str());
  throw nb::python_error();
}

// DLPack's Python protocol.
nb::object dlpack(const array& a, nb::handle stream, nb::handle max_version, nb::handle dl_device, nb::handle copy) {
  if (!dl_device.is_none()) {
    const auto device = nb::cast<std::pair<int, int>>(dl_device);
    if (device.first != static_cast<int>(a.device().device_type) || device.second != a.device().device_id)
      refuse_buffer("is not copied to another device; take .numpy() first");
  }
  if (copy.is(Py_True)) refuse_buffer("is not copied for DLPack; copy what is made of it");
  // kaio's calls run in streams that the array does not know. The consumer uses the memory next, in a stream of its own.
  const bool waits = a.device().device_type != kDLCPU && !(PyLong_Check(stream.ptr()) && PyLong_AsLong(stream.ptr()) == -1);
  PyErr_Clear();
  if (waits) {
    PyThreadState* const saved = PyEval_SaveThread();
    const kaio_status status = kaio_device_synchronize(a.device());
    PyEval_RestoreThread(saved);
    check(status);
  }
  return a.to_dlpack(!max_version.is_none() && nb::cast<std::pair<int, int>>(max_version).first >= 1);
}

}  // namespace

nb::object array::to_dlpack(bool versioned) const {
  if (versioned)
    return capsule_of<managed_tensor>(*this, "dltensor_versioned", [](PyObject* c) { destroy<managed_tensor>(c, "dltensor_versioned"); });
  return capsule_of<old_managed_tensor>(*this, "dltensor", [](PyObject* c) { destroy<old_managed_tensor>(c, "dltensor"); });
}

DLDevice device_named(const char* name) {
  if (std::strcmp(name, "cpu") == 0) return {kDLCPU, 0};
  DLDevice device;
  check(kaio_device_open(name, &device));
  return device;
}

std::string name_of(DLDevice device) {
  if (device.device_type == kDLCPU) return "cpu";
  return (device.device_type == kDLExtDev ? "emulator:" : "cuda:") + std::to_string(device.device_id);
}

void bind_arrays(nb::module_& m) {
  nb::class_<array>(m, "Array", nb::is_final(),
                    "Memory of a device, without gaps, for programs without a framework. kaio.array() and kaio.zeros() make it. "
                    "It speaks DLPack, so that torch, CuPy, JAX and NumPy take it without a copy.")
      .def_prop_ro("shape", [](const array& a) { return nb::tuple(nb::cast(a.shape())); })
      .def_prop_ro("ndim", [](const array& a) { return a.shape().size(); })
      .def_prop_ro("dtype", [](const array& a) { return name_of(a.type()); })
      .def_prop_ro("device", [](const array& a) { return name_of(a.device()); })
      .def_prop_ro("nbytes", &array::bytes)
      .def_prop_ro("_address", [](const array& a) { return reinterpret_cast<std::uintptr_t>(a.data()); })
      .def_prop_ro("_for_jax", [](const array& a) { return a.is_for_jax; })
      .def("_read", [](const array& a, std::uintptr_t to) {
        if (a.bytes() == 0) return;
        const nb::gil_scoped_release released;
        if (a.device().device_type == kDLCPU) {
          std::memcpy(reinterpret_cast<void*>(to), a.data(), a.bytes());
          return;
        }
        // Waits for the work of the device: the host uses the bytes next.
        kaio_status status = kaio_device_synchronize(a.device());
        if (status == KAIO_OK) status = kaio_copy_to_host(a.device(), nullptr, reinterpret_cast<void*>(to), a.data(), a.bytes());
        if (status == KAIO_OK) status = kaio_stream_synchronize(a.device(), nullptr);
        const nb::gil_scoped_acquire again;
        check(status);
      })
      .def("_write", [](array& a, std::uintptr_t from) {
        if (a.bytes() == 0) return;
        const nb::gil_scoped_release released;
        if (a.device().device_type == kDLCPU) {
          std::memcpy(a.data(), reinterpret_cast<const void*>(from), a.bytes());
          return;
        }
        kaio_status status = kaio_copy_to_device(a.device(), nullptr, a.data(), reinterpret_cast<const void*>(from), a.bytes());
        if (status == KAIO_OK) status = kaio_stream_synchronize(a.device(), nullptr);
        const nb::gil_scoped_acquire again;
        check(status);
      })
      .def("__dlpack_device__", [](const array& a) {
        return nb::make_tuple(static_cast<int>(a.device().device_type), a.device().device_id);
      })
      .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none());
  m.def("allocate", [](const char* device, const std::vector<std::int64_t>& shape, const char* type, bool for_jax) {
    auto made = std::make_unique<array>(device_named(device), type_named(type), shape);
    made->is_for_jax = for_jax;
    return made.release();
  }, nb::arg(), nb::arg(), nb::arg(), nb::arg("for_jax") = false);
}

}  // namespace kaio::python
