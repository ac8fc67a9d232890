#pragma once
// DLPack's C exchange API (DLPack 1.3, https://github.com/dmlc/dlpack): a framework's functions between its tensors and
// DLTensor, found on the tensor's type as __dlpack_c_exchange_api__. Declared here, so that no header of a framework is needed.

#include <kaio/c/base.h>

#include <cstdint>

namespace kaio::python {

struct dlpack_version {
  std::uint32_t major, minor;
};

struct managed_tensor {  // DLManagedTensorVersioned
  dlpack_version version;
  void* manager_context;
  void (*deleter)(managed_tensor*);
  std::uint64_t flags;  // 1: read-only
  DLTensor tensor;
};

struct old_managed_tensor {  // DLManagedTensor, before DLPack 1.0
  DLTensor tensor;
  void* manager_context;
  void (*deleter)(old_managed_tensor*);
};

struct exchange_header {
  dlpack_version version;
  exchange_header* previous;
};

struct exchange_api {
  exchange_header header;
  int (*allocate)(DLTensor* prototype, managed_tensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, managed_tensor** out);
  int (*object_from_managed)(managed_tensor* tensor, void** object);  // takes the tensor over
  int (*borrow)(void* object, DLTensor* out);                         // valid while the object is
  int (*current_stream)(DLDeviceType type, std::int32_t device, void** stream);
};

}  // namespace kaio::python
