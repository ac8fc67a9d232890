#pragma once
// Python's objects as the arguments of a function of the C interface. call.cpp makes the call.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "description.hpp"
#include "errors.hpp"
#include "ranks.hpp"
#include "tensors.hpp"

namespace kaio::python {

inline constexpr std::size_t most_arguments = 16;

// Memory for the structs and lists of a call: its own room, and the heap beyond it.
class arena {
 public:
  void* take(std::size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > sizeof room_ - used_) {
      more_.push_back(std::make_unique<std::byte[]>(bytes));
      return more_.back().get();
    }
    void* const memory = room_ + used_;
    used_ += bytes;
    return memory;
  }

 private:
  alignas(16) std::byte room_[2048];
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> more_;
};

// What the bytes of a workspace depend on: every value of a call, and the shape, elements and alignment of every tensor.
class question {
 public:
  void add(const void* bytes, std::size_t size) noexcept {
    if (size > sizeof room_ - size_) {
      is_known_ = false;
      return;
    }
    std::memcpy(room_ + size_, bytes, size);
    size_ += size;
  }
  template <class T>
  void add(const T& value) noexcept {
    add(&value, sizeof value);
  }
  void add(const DLTensor& t) noexcept {
    add(t.dtype);
    add(t.device);
    add(t.ndim);
    add(static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset));
    const std::size_t bytes = static_cast<std::size_t>(t.ndim) * sizeof(std::int64_t);
    add(t.shape, bytes);
    if (t.strides != nullptr) add(t.strides, bytes);
  }
  void give_up() noexcept { is_known_ = false; }

  bool is_known() const noexcept { return is_known_; }
  std::string_view key() const noexcept { return {reinterpret_cast<const char*>(room_), size_}; }

 private:
  std::byte room_[768];
  std::size_t size_ = 0;
  bool is_known_ = true;
};

// Structs whose options were the same objects in an earlier call need no reading. The interpreter's lock protects them.
class known_options {
 public:
  static constexpr std::size_t most_fields = 40, most_bytes = 320;

  // Copies the struct of the last call with these values to `to`. Tensors may differ: `differ` gets their numbers.
  bool find(const record& of, nb::handle given, std::size_t count, std::byte* to, question& asked, std::uint64_t& differ) const {
    const entry& e = entries_[place_of(of)];
    if (e.of != &of || e.count != count) return false;
    differ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i)) == e.values[i]) continue;
      if (of.fields[i].kind != field_kind::tensor && of.fields[i].kind != field_kind::workspace) return false;
      differ |= std::uint64_t{1} << i;
    }
    std::memcpy(to, e.bytes, of.bytes);
    asked.add(e.bytes, of.bytes);
    return true;
  }

  // Keeps a struct without tensors and other memory.
  void remember(const record& of, nb::handle given, std::size_t count, const std::byte* bytes) {
    if (count > most_fields || of.bytes > most_bytes) return;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_number = of.fields[i].kind == field_kind::f32 || of.fields[i].kind == field_kind::f64 ||
                             of.fields[i].kind == field_kind::flag || of.fields[i].kind == field_kind::enumeration ||
                             of.fields[i].kind == field_kind::i32 || of.fields[i].kind == field_kind::u32 ||
                             of.fields[i].kind == field_kind::i64 || of.fields[i].kind == field_kind::u64;
      PyObject* const value = PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i));
      if (value == Py_None) continue;
      // An array that serves as a number, such as a tensor without dimensions, may change and stay the same object.
      const bool is_constant = PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || PyUnicode_CheckExact(value);
      if (!is_number || !is_constant) return;
    }
    entry& e = entries_[place_of(of)];
    const entry old = e;
    e.of = &of;
    e.count = count;
    for (std::size_t i = 0; i < count; ++i) Py_INCREF(e.values[i] = PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i)));
    std::memcpy(e.bytes, bytes, of.bytes);
    for (std::size_t i = 0; i < old.count; ++i) Py_DECREF(old.values[i]);
  }

 private:
  struct entry {
    const record* of = nullptr;
    std::size_t count = 0;
    PyObject* values[most_fields];
    std::byte bytes[most_bytes];
  };
  static constexpr std::size_t entries = 32;
  static std::size_t place_of(const record& of) noexcept { return reinterpret_cast<std::uintptr_t>(&of) / sizeof(record) % entries; }
  entry entries_[entries];
};
known_options earlier_options;

class reader {
 public:
  reader(const function& of, borrowed_tensors& tensors) : function_(of), tensors_(tensors) {}

  // Reads the arguments in their order.
  void arguments(PyObject* const* given) {
    for (std::size_t i = 0; i < function_.arguments.size(); ++i) {
      const field& f = function_.arguments[i];
      const nb::handle value(given[i]);
      argument_value& to = values_[i];
      to.integer = 0;
      switch (f.kind) {
        case field_kind::tensor:
        case field_kind::workspace:
          if (!value.is_none()) to.pointer = const_cast<DLTensor*>(borrow(f, value, f.is_output));
          else if (!f.is_optional) refuse(f.name, "is None; it is needed");
          else asked_.add(std::uint8_t{0});
          break;
        case field_kind::tensors: to.pointer = list_of_tensors(f, value, values_[0]); break;
        case field_kind::count: break;  // that of the first list
        case field_kind::record:
          if (!value.is_none()) to.pointer = read(*f.of, value, f.name);
          else if (!f.is_optional) refuse(f.name, "is None; it is needed");
          break;
        case field_kind::peer_workspace: to.pointer = handle_of(f, value, workspace_of(value), "kaio.PeerWorkspace"); break;
        case field_kind::peer_buffer: to.pointer = handle_of(f, value, peer_buffer_of(value), "kaio.PeerBuffer"); break;
        case field_kind::device: to.device = device_of(f, value); break;
        case field_kind::f32: to.f32 = static_cast<float>(number(f, value)); break;
        case field_kind::f64: to.f64 = number(f, value); break;
        case field_kind::string: to.pointer = const_cast<char*>(string(f, value)); break;
        case field_kind::enumeration: to.integer = enumerated(f, value); break;
        default: to.integer = integer(f, value); break;
      }
      const bool is_memory = f.kind == field_kind::tensor || f.kind == field_kind::workspace || f.kind == field_kind::record;
      if (f.kind == field_kind::string) asked_.give_up();
      if (!is_memory) asked_.add(to);
    }
  }

  argument_value* values() noexcept { return values_; }
  const question& asked() const noexcept { return asked_; }

 private:
  [[noreturn]] void refuse(const char* name, const std::string& why) const {
    raise_type_error("kaio: " + std::string(function_.name) + ": argument " + name + " " + why);
  }
  // A value of the right type that no call takes.
  [[noreturn]] void refuse_value(const char* name, const std::string& why) const {
    raise(KAIO_INVALID_ARGUMENT, "kaio: " + std::string(function_.name) + ": argument " + name + " " + why);
  }

  const DLTensor* borrow(const field& f, nb::handle value, bool written) {
    const DLTensor* const t = tensors_.borrow(f.name, value, written);
    asked_.add(*t);
    return t;
  }

  void* handle_of(const field& f, nb::handle value, const void* found, const char* type) const {
    if (found == nullptr) refuse(f.name, "is " + kind_of(value) + "; it has to be a " + type);
    tensors_.keep(nb::borrow(value));
    return const_cast<void*>(found);
  }

  bool truth(const field& f, nb::handle value) const {
    if (value.is(Py_True)) return true;
    if (value.is(Py_False)) return false;
    const std::string type = name_of_type(value);
    if (!PyLong_Check(value.ptr()) && type != "bool" && type != "bool_")
      refuse(f.name, "is " + kind_of(value) + "; it has to be True or False");
    const int answer = PyObject_IsTrue(value.ptr());
    if (answer < 0) throw nb::python_error();
    return answer != 0;
  }

  std::int64_t integer(const field& f, nb::handle value) const {
    if (f.kind == field_kind::flag) return truth(f, value) ? 1 : 0;
    if (f.is_optional && value.is_none()) return 0;
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
      PyErr_Clear();
      refuse(f.name, "is " + kind_of(value) + "; it has to be an integer");
    }
    if (f.kind == field_kind::u64) {
      const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
      if (number == ~0ull && PyErr_Occurred() != nullptr) refuse_number(f, index);
      return static_cast<std::int64_t>(number);
    }
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) refuse_number(f, index);
    bool fits = true;
    switch (f.kind) {
      case field_kind::i32: fits = number == static_cast<std::int32_t>(number); break;
      case field_kind::u32: fits = number == static_cast<std::uint32_t>(number); break;
      case field_kind::byte: fits = number == static_cast<std::uint8_t>(number); break;
      default: break;
    }
    if (!fits) refuse_number(f, index);
    return number;
  }

  [[noreturn]] void refuse_number(const field& f, nb::handle number) const {
    PyErr_Clear();
    refuse_value(f.name, "is " + nb::cast<std::string>(nb::str(number)) + ", which it cannot be");
  }

  double number(const field& f, nb::handle value) const {
    if (f.is_optional && value.is_none()) return 0;
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse(f.name, "is " + kind_of(value) + "; it has to be a number");
    }
    return number;
  }

  const char* string(const field& f, nb::handle value) const {
    if (value.is_none()) return nullptr;
    const char* const text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), nullptr) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      refuse(f.name, "is " + kind_of(value) + "; it has to be a str");
    }
    return text;
  }

  // The names of an enumeration; those of a set are joined with '|'. A number is taken as it is.
  std::int32_t enumerated(const field& f, nb::handle value) const {
    if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
      const long number = PyLong_AsLong(value.ptr());
      if (number != static_cast<std::int32_t>(number) || (number == -1 && PyErr_Occurred() != nullptr)) refuse_number(f, value);
      return static_cast<std::int32_t>(number);
    }
    if (value.is_none()) return 0;
    std::string_view rest = string(f, value);
    std::int32_t sum = 0;
    do {
      const std::size_t bar = f.values->is_set ? rest.find('|') : std::string_view::npos;
      const std::string_view word = rest.substr(0, bar);
      rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
      const enumeration::value* found = nullptr;
      for (const enumeration::value& v : f.values->values)
        if (word == v.name) found = &v;
      if (found == nullptr) {
        std::string names;
        for (const enumeration::value& v : f.values->values) names += (names.empty() ? "" : ", ") + std::string(v.name);
        refuse_value(f.name, "is '" + std::string(word) + "'; it has to be one of " + names +
                                 (f.values->is_set ? ", or several joined with '|'" : ""));
      }
      sum |= found->number;
    } while (!rest.empty());
    return sum;
  }

  DLDevice device_of(const field& f, nb::handle value) const {
    if (PyUnicode_Check(value.ptr())) return device_named(string(f, value));
    if (tensors_.any()) return tensors_.first().device;
    return tensors_.borrow(f.name, value)->device;
  }

  // A copy of a sequence, held until the end of the call: another thread may change the list of the caller.
  nb::handle items(const field& f, nb::handle value, const char* of) const {
    nb::object list = nb::steal(PySequence_List(value.ptr()));
    if (!list.is_valid()) {
      PyErr_Clear();
      refuse(f.name, "is " + kind_of(value) + "; it has to be a list of " + of);
    }
    tensors_.keep(list);
    return list;
  }

  // A list of tensors, all lists of a call with equally many.
  void* list_of_tensors(const field& f, nb::handle value, argument_value& count) {
    asked_.give_up();
    const nb::handle list = items(f, value, "arrays");
    const auto length = static_cast<std::size_t>(PyList_Size(list.ptr()));
    if (!has_count_) count.integer = static_cast<std::int64_t>(length);
    has_count_ = true;
    if (static_cast<std::size_t>(count.integer) != length)
      refuse_value(f.name, "has " + std::to_string(length) + " arrays, and the first list has " + std::to_string(count.integer));
    auto* const to = static_cast<DLTensor*>(arena_.take((length != 0 ? length : 1) * sizeof(DLTensor)));
    for (std::size_t i = 0; i < length; ++i)
      to[i] = *tensors_.borrow(f.name, PyList_GetItem(list.ptr(), static_cast<Py_ssize_t>(i)), f.is_output);
    return to;
  }

  // A struct: its fields are a tuple's values in order, or an object's attributes.
  void* read(const record& of, nb::handle given, const char* name) {
    auto* const to = static_cast<std::byte*>(arena_.take(of.bytes));
    of.set_defaults(to);
    const bool positional = PyTuple_CheckExact(given.ptr());
    if (!positional && std::string_view(name_of_type(given)) != of.name)
      refuse(name, "is " + kind_of(given) + "; it has to be a kaio." + of.name);
    const std::size_t given_fields = positional ? static_cast<std::size_t>(PyTuple_Size(given.ptr())) : of.fields.size();
    if (given_fields > of.fields.size()) refuse(name, "has more values than fields");
    std::uint64_t differ = 0;
    if (positional && earlier_options.find(of, given, given_fields, to, asked_, differ)) {
      for (std::size_t i = 0; differ != 0; ++i, differ >>= 1) {
        if ((differ & 1) == 0) continue;
        asked_.add(static_cast<std::uint8_t>(i));
        put(of.fields[i], PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i)), to);
      }
      return to;
    }
    for (std::size_t i = 0; i < given_fields; ++i) {  // the others keep their defaults
      const field& f = of.fields[i];
      if (positional) {
        put(f, PyTuple_GetItem(given.ptr(), static_cast<Py_ssize_t>(i)), to);
      } else {
        const nb::object value = given.attr(f.name);
        tensors_.keep(value);  // another thread may change the object
        put(f, value, to);
      }
    }
    if (positional) earlier_options.remember(of, given, given_fields, to);
    return to;
  }

  template <class T>
  void store(std::byte* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
    asked_.add(value);
  }

  template <class T>
  void put_list(const field& f, nb::handle value, std::byte* record) {
    asked_.give_up();
    const nb::handle list = items(f, value, "numbers");
    const auto length = static_cast<std::size_t>(PyList_Size(list.ptr()));
    auto* const to = static_cast<T*>(arena_.take((length != 0 ? length : 1) * sizeof(T)));
    for (std::size_t i = 0; i < length; ++i) {
      const nb::handle item(PyList_GetItem(list.ptr(), static_cast<Py_ssize_t>(i)));
      if (!nb::try_cast<T>(item, to[i]))
        refuse(f.name, "has " + nb::cast<std::string>(nb::repr(item)) + " at index " + std::to_string(i) + ", which it cannot have");
    }
    const T* const first = to;
    std::memcpy(record + f.offset, &first, sizeof first);
    const std::uint64_t count = length;
    std::memcpy(record + f.count_offset, &count, sizeof count);
  }

  void put(const field& f, nb::handle value, std::byte* record) {
    std::byte* const to = record + f.offset;
    switch (f.kind) {
      case field_kind::tensor:
      case field_kind::workspace:
        if (value.is_none() || value.is(Py_False)) {
          asked_.add(std::uint8_t{0});
        } else {
          const DLTensor* const t = borrow(f, value, f.is_output || f.kind == field_kind::workspace);
          std::memcpy(to, &t, sizeof t);
        }
        return;
      case field_kind::record:
        if (!value.is_none()) {
          const void* const inner = read(*f.of, value, f.name);
          std::memcpy(to, &inner, sizeof inner);
        }
        return;
      case field_kind::f32: store(to, static_cast<float>(number(f, value))); return;
      case field_kind::f64: store(to, number(f, value)); return;
      case field_kind::string: {
        const char* const text = string(f, value);
        if (text != nullptr) asked_.add(text, std::strlen(text) + 1);
        std::memcpy(to, &text, sizeof text);
        return;
      }
      case field_kind::enumeration: store(to, enumerated(f, value)); return;
      case field_kind::i64:
      case field_kind::u64: store(to, integer(f, value)); return;
      case field_kind::list_f64:
        if (!value.is_none()) put_list<double>(f, value, record);
        return;
      case field_kind::list_u32:
        if (!value.is_none()) put_list<std::uint32_t>(f, value, record);
        return;
      case field_kind::list_i64:
        if (!value.is_none()) put_list<std::int64_t>(f, value, record);
        return;
      case field_kind::count: return;
      default: store(to, static_cast<std::int32_t>(integer(f, value))); return;
    }
  }

  const function& function_;
  borrowed_tensors& tensors_;
  arena arena_;
  question asked_;
  argument_value values_[most_arguments];
  bool has_count_ = false;
};

}  // namespace kaio::python
