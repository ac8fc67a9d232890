#include "tensors.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string>
#include <string_view>

#include "array.hpp"
#include "errors.hpp"

namespace kaio::python {

namespace {

struct element {
  const char* name;
  std::uint8_t code, bits;
  const char* interface;  // of __array_interface__, without the byte order
  const char* numpy;      // the name of NumPy's type, which for types of ml_dtypes says more than the interface
};
constexpr element elements[] = {
    {"f32", kDLFloat, 32, "f4", "float32"},
    {"f16", kDLFloat, 16, "f2", "float16"},
    {"bf16", kDLBfloat, 16, "", "bfloat16"},
    {"f64", kDLFloat, 64, "f8", "float64"},
    {"e4m3", kDLFloat8_e4m3fn, 8, "", "float8_e4m3fn"},
    {"e5m2", kDLFloat8_e5m2, 8, "", "float8_e5m2"},
    {"e8m0", kDLFloat8_e8m0fnu, 8, "", "float8_e8m0fnu"},
    {"i8", kDLInt, 8, "i1", "int8"},
    {"i16", kDLInt, 16, "i2", "int16"},
    {"i32", kDLInt, 32, "i4", "int32"},
    {"i64", kDLInt, 64, "i8", "int64"},
    {"u8", kDLUInt, 8, "u1", "uint8"},
    {"u16", kDLUInt, 16, "u2", "uint16"},
    {"u32", kDLUInt, 32, "u4", "uint32"},
    {"u64", kDLUInt, 64, "u8", "uint64"},
    {"bool", kDLBool, 8, "b1", "bool"},
};

// An attribute, or a null object if there is none.
nb::object attribute(nb::handle object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
  if (found == nullptr) PyErr_Clear();
  return nb::steal(found);
}

// What is asked of torch's tensors in each call, looked up once. The references are kept forever.
struct {
  PyObject *is_neg = nullptr, *is_grad_enabled = nullptr, *requires_grad = nullptr;
} of_torch;

bool is_subclass(nb::handle type, nb::handle base) {
  if (!base.is_valid()) return false;
  const int answer = PyObject_IsSubclass(type.ptr(), base.ptr());
  if (answer < 0) PyErr_Clear();
  return answer == 1;
}

// A module that the program has imported, or a null object.
nb::object imported(const char* name) {
  nb::object module = nb::module_::import_("sys").attr("modules").attr("get")(name);
  return module.is_none() ? nb::object() : module;
}

tensor_type inspect(PyTypeObject* type) {
  tensor_type found;
  found.type = type;
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  if (object.is(nb::type<array>())) {
    found.is_own = true;
    return found;
  }
  const std::string module = nb::cast<std::string>(nb::str(attribute(object, "__module__")));
  if (const nb::object torch = imported("torch"); torch.is_valid()) {
    const nb::object tensor = attribute(torch, "Tensor");
    if (is_subclass(object, tensor)) {
      found.is_torch = true;
      // A subclass with a dispatch of its own, such as FakeTensor and DTensor, is more than its memory.
      if (!attribute(object, "__torch_dispatch__").is(attribute(tensor, "__torch_dispatch__")))
        found.refused = "whose value is not in its memory; use the operation in kaio.torch";
      if (of_torch.is_neg == nullptr) {
        nb::object is_neg = tensor.attr("is_neg"), enabled = torch.attr("is_grad_enabled");
        of_torch.requires_grad = PyUnicode_InternFromString("requires_grad");
        of_torch.is_grad_enabled = enabled.release().ptr();
        of_torch.is_neg = is_neg.release().ptr();
      }
    }
  }
  if (const nb::object numpy = imported("numpy"); numpy.is_valid()) {
    const nb::object masked = imported("numpy.ma");
    if (is_subclass(object, attribute(numpy, "generic"))) found.refused = "a number of NumPy, which has no memory; use numpy.asarray";
    else if (masked.is_valid() && is_subclass(object, attribute(masked, "MaskedArray")))
      found.refused = "whose mask kaio does not read; call .filled()";
  }
  if (const nb::object jax = imported("jax"); jax.is_valid()) {
    if (const nb::object core = imported("jax.core"); core.is_valid() && is_subclass(object, attribute(core, "Tracer")))
      found.refused = "a value that jax traces and that has no memory yet; call kaio outside of jax.jit, or by jax.pure_callback";
    else
      found.is_jax = is_subclass(object, attribute(jax, "Array")) || module.starts_with("jaxlib");
  }
  if (found.refused != nullptr) return found;
  const nb::object capsule = attribute(object, "__dlpack_c_exchange_api__");
  if (capsule.is_valid() && PyCapsule_CheckExact(capsule.ptr()) && !found.is_jax) {
    const auto* const api = static_cast<const exchange_api*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api == nullptr)
      PyErr_Clear();
    else if (api->header.version.major == 1 && api->borrow != nullptr)
      found.exchange = api;
  }
  return found;
}

// Each needs the interpreter's lock.
std::uintptr_t address_of(nb::handle number) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (value == ~0ull && PyErr_Occurred() != nullptr) throw nb::python_error();
  return static_cast<std::uintptr_t>(value);
}

std::int64_t integer_of(nb::handle number) {
  const long long value = PyLong_AsLongLong(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

void refuse_stream(nb::handle given) {
  raise_type_error("kaio: stream is " + kind_of(given) +
                   "; give a CUstream as a number, a stream of torch or CuPy, or None for the current one");
}

}  // namespace

// Types live as long as they are in the table: it holds a reference. The interpreter's lock protects it.
tensor_type type_of(PyObject* object) {
  static std::array<tensor_type, 16> recent;
  static std::size_t next = 0;
  PyTypeObject* const type = Py_TYPE(object);
  for (const tensor_type& t : recent)
    if (t.type == type) [[likely]]
      return t;
  const tensor_type fresh = inspect(type);  // may run Python, and so other threads
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  PyTypeObject* const old = recent[next].type;
  recent[next] = fresh;
  next = (next + 1) % recent.size();
  Py_XDECREF(reinterpret_cast<PyObject*>(old));
  return fresh;
}

const char* name_of(const DLDataType& type) {
  for (const element& e : elements)
    if (e.code == type.code && e.bits == type.bits && type.lanes == 1) return e.name;
  PyErr_Format(PyExc_ValueError, "kaio: no name for elements with DLPack's code %d of %d bits", int{type.code}, int{type.bits});
  throw nb::python_error();
}

DLDataType type_named(const char* name) {
  const std::string_view text = name;
  for (const element& e : elements)
    if (text == e.name || text == e.numpy) return {e.code, e.bits, 1};
  PyErr_Format(PyExc_ValueError,
               "kaio: there is no element type '%s'; there are f32, f16, bf16, f64, e4m3, e5m2, e8m0, i8 to i64, u8 to u64 and bool",
               name);
  throw nb::python_error();
}

borrowed_tensors::~borrowed_tensors() {
  for (managed_tensor* m : managed_)
    if (m->deleter != nullptr) m->deleter(m);
  for (PyObject* o : objects_) Py_DECREF(o);
  for (room* r : rooms_) delete r;
  for (void* m : memory_) release_host(m);
}

void borrowed_tensors::keep(nb::object object) {
  objects_.push_back(object.ptr());
  object.release();
}

void borrowed_tensors::refuse(const char* argument, const std::string& why) const {
  const std::string where = operation_ == nullptr ? "" : std::string(operation_) + ": ";
  raise_type_error("kaio: " + where + "argument " + argument + " " + why);
}

DLTensor& borrowed_tensors::next() {
  if (count_ < usual_tensors) [[likely]]
    return tensors_[count_];
  if (more_.size() == count_ - usual_tensors) more_.emplace_back();  // else: one whose reading has failed
  return more_.back();
}

borrowed_tensors::room& borrowed_tensors::room_for(DLTensor& tensor, int dimensions) {
  rooms_.reserve(rooms_.size() + 1);
  room* const made = new room;
  rooms_.push_back(made);
  tensor.ndim = dimensions;
  tensor.shape = made->shape;
  tensor.strides = made->strides;
  return *made;
}

void borrowed_tensors::check_torch(const char* argument, nb::handle object, const DLDataType& type) const {
  // A negated view is a part of a conjugated complex tensor, and has its elements: f16, f32 or f64.
  if (type.code == kDLFloat) {
    const nb::object negated = nb::handle(of_torch.is_neg)(object);
    if (negated.is(Py_True)) refuse(argument, "is a negated view, whose memory has the other sign; call .resolve_neg()");
  }
  const nb::object gradient = nb::steal(PyObject_GetAttr(object.ptr(), of_torch.requires_grad));
  if (!gradient.is_valid()) throw nb::python_error();
  if (gradient.is(Py_True) && nb::handle(of_torch.is_grad_enabled)().is(Py_True))
    refuse(argument, "requires a gradient, which this call does not record; use kaio.torch, or torch.no_grad()");
}

// A dict of __array_interface__ or __cuda_array_interface__.
void borrowed_tensors::from_interface(const char* argument, nb::handle interface, DLTensor& to, bool written) {
  const auto entry = [&](const char* name) {
    PyObject* const found = PyDict_GetItemString(interface.ptr(), name);
    return found == nullptr ? nb::none() : nb::borrow(found);
  };
  const nb::object data = entry("data"), shape = entry("shape"), strides = entry("strides");
  if (!PyTuple_Check(data.ptr()) || PyTuple_Size(data.ptr()) != 2 || !PyTuple_Check(shape.ptr()))
    refuse(argument, "has an array interface without an address or a shape");
  if (!entry("mask").is_none()) refuse(argument, "has a mask, which kaio does not read");
  const int read_only = PyObject_IsTrue(PyTuple_GetItem(data.ptr(), 1));
  if (read_only < 0) throw nb::python_error();
  if (written && read_only != 0) refuse(argument, "is read-only, and the call writes it");
  to.data = reinterpret_cast<void*>(address_of(PyTuple_GetItem(data.ptr(), 0)));
  const auto dimensions = static_cast<int>(PyTuple_Size(shape.ptr()));
  if (dimensions > most_dimensions) refuse(argument, "has more than 8 dimensions");
  room& r = room_for(to, dimensions);
  const std::int64_t bytes = to.dtype.bits / 8;
  for (int d = 0; d < dimensions; ++d) r.shape[d] = integer_of(PyTuple_GetItem(shape.ptr(), d));
  if (strides.is_none()) {
    std::int64_t step = 1;
    for (int d = dimensions; d-- > 0;) r.strides[d] = step, step *= r.shape[d];
    return;
  }
  if (!PyTuple_Check(strides.ptr()) || PyTuple_Size(strides.ptr()) != dimensions)
    refuse(argument, "has an array interface with other strides than extents");
  for (int d = 0; d < dimensions; ++d) {
    const std::int64_t step = integer_of(PyTuple_GetItem(strides.ptr(), d));
    if (step % bytes != 0) refuse(argument, "has a stride that is no multiple of its element's size");
    r.strides[d] = step / bytes;
  }
}

// An array of NumPy, CuPy, Numba or another with an array interface; else one with __dlpack__.
void borrowed_tensors::from_array(const char* argument, nb::handle object, DLTensor& to, bool written) {
  nb::object interface = attribute(object, "__cuda_array_interface__");
  const bool on_gpu = interface.is_valid();
  if (!on_gpu) interface = attribute(object, "__array_interface__");
  if (!interface.is_valid() || !PyDict_Check(interface.ptr())) {
    from_dlpack(argument, object, to, written);
    return;
  }
  PyObject* const typestr = PyDict_GetItemString(interface.ptr(), "typestr");
  const std::string text = typestr != nullptr && PyUnicode_Check(typestr) ? nb::cast<std::string>(nb::handle(typestr)) : "";
  to.dtype = {};
  to.byte_offset = 0;
  if (text.size() > 1 && (text[0] == '<' || text[0] == '|'))
    for (const element& e : elements)
      if (text.substr(1) == e.interface) to.dtype = {e.code, e.bits, 1};
  if (to.dtype.bits == 0) {
    const nb::object dtype = attribute(object, "dtype");
    const std::string name = dtype.is_valid() ? nb::cast<std::string>(nb::str(dtype)) : text;
    for (const element& e : elements)
      if (name == e.numpy) to.dtype = {e.code, e.bits, 1};
    if (to.dtype.bits == 0) refuse(argument, "has elements of " + name + ", which no operation takes");
  }
  to.device = {on_gpu ? kDLCUDA : kDLCPU, 0};
  from_interface(argument, interface, to, written);
  keep(interface);  // it may own the memory
  if (on_gpu && to.data != nullptr) {
    DLDevice owner;
    if (kaio_device_of_pointer(to.data, &owner) == KAIO_OK) to.device = owner;
  }
}

void borrowed_tensors::from_dlpack(const char* argument, nb::handle object, DLTensor& to, bool written) {
  nb::object method = attribute(object, "__dlpack__");
  if (!method.is_valid() || PyType_Check(object.ptr()))
    refuse(argument, "is " + kind_of(object) +
                         "; it has to be an array: of torch, NumPy, CuPy, JAX, Numba, or another with __dlpack__");
  nb::object source = nb::borrow(object);
  if (type_of(object.ptr()).is_torch && nb::cast<bool>(object.attr("requires_grad"))) {
    source = object.attr("detach")();
    method = source.attr("__dlpack__");
  }
  // Before its version 2.10 torch exports no floats of 8 bits: they go as bytes.
  const element* of_bytes = nullptr;
  if (type_of(object.ptr()).is_torch) {
    const auto name = nb::cast<std::string>(nb::str(attribute(source, "dtype")));
    for (const element& e : elements)
      if (e.bits == 8 && e.code >= kDLFloat8_e4m3fn && name == std::string("torch.") + e.numpy) of_bytes = &e;
    if (of_bytes != nullptr) {
      source = source.attr("view")(nb::module_::import_("torch").attr("uint8"));
      method = source.attr("__dlpack__");
    }
  }
  const auto kind = nb::cast<std::pair<int, int>>(source.attr("__dlpack_device__")());
  // -1: the producer does not wait for a stream. The call runs in the producer's current stream, or in the given one. JAX takes
  // None for that: its arrays were waited for.
  const bool says_none = kind.first != kDLCUDA || type_of(object.ptr()).is_jax;
  const nb::object stream = says_none ? nb::none() : nb::object(nb::int_(-1));
  nb::object capsule;
  try {
    capsule = method(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 3));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = method(nb::arg("stream") = stream);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* const m = static_cast<managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (m->version.major != 1) refuse(argument, "gives a DLPack capsule of another version than 1");
    if (written && (m->flags & 1) != 0) refuse(argument, "is read-only, and the call writes it");
    to = m->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    to = static_cast<old_managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor;
  } else {
    refuse(argument, "gives no DLPack capsule");
  }
  if (of_bytes != nullptr) to.dtype = {of_bytes->code, of_bytes->bits, 1};
  keep(capsule);  // it deletes its tensor with itself
}

const DLTensor* borrowed_tensors::borrow(const char* argument, nb::handle object, bool written) {
  DLTensor& to = next();
  const tensor_type type = type_of(object.ptr());
  if (type.exchange != nullptr) [[likely]] {
    if (type.exchange->borrow(object.ptr(), &to) != 0) throw nb::python_error();
    if (type.is_torch && computes_) check_torch(argument, object, to.dtype);
    if (count_ == 0 || (framework_ == nullptr && to.device.device_type == kDLCUDA)) framework_ = type.exchange;
  } else if (type.is_own) {
    nb::inst_ptr<array>(object)->describe(to);
  } else if (type.refused != nullptr) {
    refuse(argument, "is " + kind_of(object) + ", " + type.refused);
  } else if (type.is_torch) {
    from_dlpack(argument, object, to, written);
    if (computes_) check_torch(argument, object, to.dtype);
  } else if (type.is_jax) {
    if (written) refuse(argument, "is an array of jax, which cannot be written; leave it out, and take the result");
    object.attr("block_until_ready")();
    from_dlpack(argument, object, to, written);
    if (count_ == 0) for_jax_ = true;
  } else {
    from_array(argument, object, to, written);
  }
  if (count_++ == 0) first_object_ = object.ptr();
  return &to;
}

const DLTensor* borrowed_tensors::allocate(std::uint64_t bytes, void* stream, bool is_current) {
  const DLDevice device = first().device;
  auto size = static_cast<std::int64_t>(bytes);
  if (device.device_type == kDLCPU) {
    DLTensor& to = next();
    memory_.reserve(memory_.size() + 1);
    void* const memory = allocate_host(bytes);
    if (memory == nullptr) {
      PyErr_NoMemory();
      throw nb::python_error();
    }
    memory_.push_back(memory);
    to = {memory, device, 1, {kDLUInt, 8, 1}, nullptr, nullptr, 0};
    room_for(to, 1).shape[0] = size;
    to.strides = nullptr;
    ++count_;
    return &to;
  }
  if (framework_ != nullptr && framework_->allocate != nullptr && is_current) {
    DLTensor& to = next();
    DLTensor like{nullptr, device, 1, {kDLUInt, 8, 1}, &size, nullptr, 0};
    managed_tensor* made = nullptr;
    managed_.reserve(managed_.size() + 1);
    const auto failed = [](void*, const char* kind, const char* message) {
      PyErr_Format(PyExc_MemoryError, "kaio: a workspace could not be allocated: %s: %s", kind, message);
    };
    if (framework_->allocate(&like, &made, nullptr, failed) != 0) throw nb::python_error();
    managed_.push_back(made);
    to = made->tensor;
    ++count_;
    return &to;
  }
  const nb::object made = nb::module_::import_("kaio._arrays").attr("workspace")(
      nb::handle(first_object_), bytes, is_current ? nb::none() : nb::object(nb::int_(reinterpret_cast<std::uintptr_t>(stream))));
  keep(made);
  return borrow("workspace", made, true);
}

void* borrowed_tensors::stream(nb::handle given) const {
  if (given.is_none()) {
    if (count_ == 0) return nullptr;
    const DLDevice device = first().device;
    if (device.device_type != kDLCUDA && device.device_type != kDLCUDAManaged) return nullptr;
    void* stream = nullptr;
    if (framework_ != nullptr && framework_->current_stream != nullptr) {
      if (framework_->current_stream(kDLCUDA, device.device_id, &stream) != 0) throw nb::python_error();
      return stream;
    }
    const nb::object current = nb::module_::import_("kaio._arrays").attr("current_stream")(nb::handle(first_object_), device.device_id);
    return reinterpret_cast<void*>(address_of(current));
  }
  if (PyLong_Check(given.ptr()) && !PyBool_Check(given.ptr())) return reinterpret_cast<void*>(address_of(given));
  const nb::object protocol = attribute(given, "__cuda_stream__");
  if (protocol.is_valid()) {
    const nb::object pair = PyCallable_Check(protocol.ptr()) ? protocol() : protocol;
    if (!PyTuple_Check(pair.ptr()) || PyTuple_Size(pair.ptr()) != 2) refuse_stream(given);
    return reinterpret_cast<void*>(address_of(PyTuple_GetItem(pair.ptr(), 1)));
  }
  for (const char* name : {"cuda_stream", "ptr", "handle"}) {  // torch, CuPy, Numba
    nb::object number = attribute(given, name);
    if (number.is_valid() && attribute(number, "value").is_valid()) {  // a pointer of ctypes
      number = number.attr("value");
      if (number.is_none()) return nullptr;
    }
    if (number.is_valid() && PyLong_Check(number.ptr())) return reinterpret_cast<void*>(address_of(number));
  }
  refuse_stream(given);
  return nullptr;
}

nb::object empty(nb::handle like, const std::int64_t* shape, int dimensions, const DLDataType* type) {
  const tensor_type of = type_of(like.ptr());
  if (of.exchange != nullptr && of.exchange->allocate != nullptr) {
    DLTensor prototype;
    if (of.exchange->borrow(like.ptr(), &prototype) != 0) throw nb::python_error();
    prototype.data = nullptr;
    prototype.byte_offset = 0;
    if (type != nullptr) prototype.dtype = *type;
    prototype.ndim = dimensions;
    prototype.shape = const_cast<std::int64_t*>(shape);
    prototype.strides = nullptr;
    managed_tensor* made = nullptr;
    const auto failed = [](void*, const char* kind, const char* message) {
      PyErr_Format(PyExc_MemoryError, "kaio: an output could not be allocated: %s: %s", kind, message);
    };
    if (of.exchange->allocate(&prototype, &made, nullptr, failed) != 0) throw nb::python_error();
    void* object = nullptr;
    if (of.exchange->object_from_managed(made, &object) != 0) throw nb::python_error();
    return nb::steal(static_cast<PyObject*>(object));
  }
  if (of.is_own) {
    const array& a = *nb::inst_ptr<array>(like);
    return nb::cast(new array(a.device(), type != nullptr ? *type : a.type(), {shape, shape + dimensions}),
                    nb::rv_policy::take_ownership);
  }
  nb::list extents;
  for (int d = 0; d < dimensions; ++d) extents.append(shape[d]);
  const nb::object named = type != nullptr ? nb::object(nb::str(name_of(*type))) : nb::none();
  return nb::module_::import_("kaio._arrays").attr("empty")(like, nb::tuple(extents), named);
}

namespace {

// The element type that a name means.
DLDataType type_of_name(nb::handle name) {
  const char* const text = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8AndSize(name.ptr(), nullptr) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    raise_type_error("kaio: argument dtype is " + kind_of(name) + "; it has to be the name of an element type, as \"bf16\"");
  }
  return type_named(text);
}

}  // namespace

nb::object empty_like(nb::handle like, nb::handle type, const char* argument) {
  borrowed_tensors tensors(nullptr, false);
  const DLTensor* const t = tensors.borrow(argument, like);
  if (type.is_none()) return empty(like, t->shape, t->ndim, nullptr);
  const DLDataType named = type_of_name(type);
  return empty(like, t->shape, t->ndim, &named);
}

nb::object empty_product(nb::handle a, nb::handle b, nb::handle type) {
  borrowed_tensors tensors(nullptr, false);
  const DLTensor* const x = tensors.borrow("a", a);
  const DLTensor* const y = tensors.borrow("b", b);
  for (const DLTensor* t : {x, y})
    if (t->ndim != 2 && t->ndim != 3) {
      PyErr_Format(errors_of(KAIO_INVALID_ARGUMENT).ptr(),
                   "kaio: argument %s has %d dimensions; it has to be a matrix, or a batch of matrices", t == x ? "a" : "b", int{t->ndim});
      throw nb::python_error();
    }
  const bool batch_of_a = x->ndim == 3 && (y->ndim == 2 || x->shape[0] != 1);
  std::int64_t shape[3];
  int d = 0;
  if (batch_of_a || y->ndim == 3) shape[d++] = batch_of_a ? x->shape[0] : y->shape[0];
  shape[d++] = x->shape[x->ndim - 2];
  shape[d++] = y->shape[y->ndim - 1];
  const bool is_small = x->dtype.code == kDLFloat8_e4m3fn || x->dtype.code == kDLFloat8_e5m2;
  const DLDataType named = !type.is_none() ? type_of_name(type) : is_small ? DLDataType{kDLBfloat, 16, 1} : x->dtype;
  return empty(a, shape, d, &named);
}

bool are_plain(PyObject* const* given, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (given[i] == Py_None) continue;
    const tensor_type type = type_of(given[i]);
    if (!type.is_torch || type.refused != nullptr || !nb::handle(of_torch.is_neg)(nb::handle(given[i])).is(Py_False)) return false;
  }
  return true;
}

nb::object describe(nb::handle object) {
  borrowed_tensors tensors(nullptr, false);
  const DLTensor* const t = tensors.borrow("x", object);
  return nb::make_tuple(static_cast<int>(t->device.device_type), t->device.device_id, name_of(t->dtype));
}

}  // namespace kaio::python
