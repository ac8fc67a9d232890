#pragma once
// kaio.Array: memory of a GPU, of an emulator or of the CPU, for programs without a framework.

#include <kaio/c/kaio.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kaio::python {

class array {
 public:
  // Zero-filled, without gaps, at a multiple of 256 bytes. Throws as kaio_allocate.
  array(DLDevice device, DLDataType type, std::vector<std::int64_t> shape);

  // Describes the memory; `to` is valid while the array is.
  void describe(DLTensor& to) noexcept;
  DLDevice device() const noexcept { return device_; }
  const DLDataType& type() const noexcept { return type_; }
  const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  void* data() const noexcept { return memory_->address; }
  // A capsule of DLPack, which keeps the memory alive: of version 1, or of before 1.0.
  nanobind::object to_dlpack(bool versioned) const;
  // Made as an output for arrays of jax.
  bool is_for_jax = false;

 private:
  struct memory {
    DLDevice device;
    void* address = nullptr;
    ~memory();
  };
  DLDevice device_;
  DLDataType type_;
  std::vector<std::int64_t> shape_, strides_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<memory> memory_;
};

// The device of "cuda:0", "emulator", "emulator:1" or "cpu".
DLDevice device_named(const char* name);
std::string name_of(DLDevice device);

void bind_arrays(nanobind::module_& m);

}  // namespace kaio::python
