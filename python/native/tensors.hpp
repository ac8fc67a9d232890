#pragma once
// Any framework's tensor as a DLTensor, for the time of one call.
//
//   borrowed_tensors tensors("matmul");
//   const DLTensor* a = tensors.borrow("a", object);      // throws a Python exception that names the argument
//   void* stream = tensors.stream(stream_object);         // of the framework that has the first tensor on a GPU
//
// Taken in this order: kaio.Array; DLPack's exchange API (torch from 2.10 on); __cuda_array_interface__ (CuPy, Numba);
// __array_interface__ (NumPy); __dlpack__ (older torch, JAX, everything else).

#include <kaio/c/kaio.h>
#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <deque>
#include <new>
#include <string>
#include <vector>

#include "exchange.hpp"

namespace kaio::python {

namespace nb = nanobind;

inline constexpr int most_dimensions = 8;

// Memory of the host for an array: whole multiples of 256 bytes at one. jax takes multiples of 64. Null if there is none.
inline constexpr std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
inline void* allocate_host(std::uint64_t bytes) noexcept { return ::operator new(rounded_up(bytes), std::align_val_t{256}, std::nothrow); }
inline void release_host(void* memory) noexcept { ::operator delete(memory, std::align_val_t{256}); }

// What a Python type's tensors are.
struct tensor_type {
  PyTypeObject* type = nullptr;
  const exchange_api* exchange = nullptr;
  const char* refused = nullptr;  // why no array of this type is taken
  bool is_torch = false;          // a tensor of torch, which may require a gradient or be a negated view
  bool is_jax = false;            // immutable, and computed later
  bool is_own = false;            // kaio.Array
};
// Found once for each type. A copy: other threads may replace the entry of the table.
tensor_type type_of(PyObject* object);

class borrowed_tensors {
 public:
  // `computes`: the call uses values, so that tensors of torch whose memory is not their value are refused, and those that
  // require a gradient.
  explicit borrowed_tensors(const char* operation, bool computes = true) noexcept : operation_(operation), computes_(computes) {}
  borrowed_tensors(const borrowed_tensors&) = delete;
  borrowed_tensors& operator=(const borrowed_tensors&) = delete;
  ~borrowed_tensors();

  // `written`: memory that is read-only is refused.
  const DLTensor* borrow(const char* argument, nb::handle object, bool written = false);
  // Memory of the framework of the first tensor on the first tensor's device; it is held until the end of the call. `stream`
  // uses it next; `is_current`: it is the framework's current stream, which its allocator assumes.
  const DLTensor* allocate(std::uint64_t bytes, void* stream, bool is_current);
  // Holds a reference until the end of the call.
  void keep(nb::object object);
  // None: the current stream of the framework of the first tensor on a GPU. A number, or an object of a framework.
  void* stream(nb::handle given) const;

  bool any() const noexcept { return count_ != 0; }
  // The first tensor: its device is that of the call.
  const DLTensor& first() const noexcept { return tensors_[0]; }
  // Whether jax gave the first tensor: outputs that were made for it become arrays of jax.
  bool is_for_jax() const noexcept { return for_jax_; }

 private:
  static constexpr std::size_t usual_tensors = 24;
  struct room {
    std::int64_t shape[most_dimensions], strides[most_dimensions];
  };

  DLTensor& next();
  room& room_for(DLTensor& tensor, int dimensions);
  void check_torch(const char* argument, nb::handle object, const DLDataType& type) const;
  void from_interface(const char* argument, nb::handle interface, DLTensor& to, bool written);
  void from_array(const char* argument, nb::handle object, DLTensor& to, bool written);
  void from_dlpack(const char* argument, nb::handle object, DLTensor& to, bool written);
  [[noreturn]] void refuse(const char* argument, const std::string& why) const;

  const char* operation_;
  bool computes_;
  std::array<DLTensor, usual_tensors> tensors_;
  std::deque<DLTensor> more_;  // beyond the usual number; their addresses stay
  std::size_t count_ = 0;
  bool for_jax_ = false;
  const exchange_api* framework_ = nullptr;  // of the first tensor
  PyObject* first_object_ = nullptr;
  std::vector<room*> rooms_;
  std::vector<PyObject*> objects_;        // references
  std::vector<managed_tensor*> managed_;  // tensors to delete
  std::vector<void*> memory_;             // of the host
};

// "bf16" of a DLDataType, and back. Throw ValueError.
const char* name_of(const DLDataType& type);
DLDataType type_named(const char* name);

// A new tensor of `like`'s framework, on its device: `shape` without gaps, elements of `type`, or of `like` if it is null.
nb::object empty(nb::handle like, const std::int64_t* shape, int dimensions, const DLDataType* type);
// A new tensor with the shape, framework and device of `like`. `type`: its elements; None: those of `like`. `argument`: its name, for
// errors.
nb::object empty_like(nb::handle like, nb::handle type, const char* argument);
// A new tensor for A * B, for matrices or batches of them. Without a type: the elements of A, or bf16 for those of 8 bits.
nb::object empty_product(nb::handle a, nb::handle b, nb::handle type);
// Whether tensors of torch are plain: their memory is their value. `given` are tensors or None.
bool are_plain(PyObject* const* given, Py_ssize_t count);
// (device type, device number, name of the element type) of any tensor.
nb::object describe(nb::handle object);

}  // namespace kaio::python
