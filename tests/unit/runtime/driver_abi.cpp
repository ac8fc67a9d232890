// kaio's own declarations of the driver's ABI agree with the real cuda.h. Compiled to nothing where there
// is no cuda.h.

#if __has_include(<cuda.h>)

#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include <kaio/runtime/tensor_map.hpp>

#include "runtime/driver/functions.hpp"

namespace {

// The kind of a type in the ABI: handles are pointers, enumerations are integers.
template <class T>
struct plain {
  using type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct plain<T> {
  using type =
      std::make_signed_t<std::underlying_type_t<T>>;  // C leaves the sign of an enumeration to the compiler
};
template <class T>
  requires(std::is_class_v<T> || std::is_union_v<T>)
struct plain<T> {
  using type = void;
};
template <class T>
struct plain<T*> {
  using type = typename plain<T>::type*;
};
template <class T>
struct plain<const T> {
  using type = const typename plain<T>::type;
};
template <class Result, class... Parameters>
struct plain<Result(Parameters...)> {
  using type = typename plain<Result>::type(typename plain<Parameters>::type...);
};

template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<typename plain<Ours>::type, typename plain<Theirs>::type>;

namespace ours = kaio::runtime::driver;

// cuda.h maps each name to the version that it declares: cuMemAlloc to cuMemAlloc_v2.
#define KAIO_DRIVER_NEEDED_FUNCTION(symbol, types) \
  static_assert(same<std::remove_pointer_t<decltype(ours::functions::symbol)>, decltype(::symbol)>, #symbol);
#if CUDA_VERSION >= 12040
#define KAIO_DRIVER_OPTIONAL_FUNCTION(symbol, types) KAIO_DRIVER_NEEDED_FUNCTION(symbol, types)
#endif
#include "driver_abi/functions.def"

static_assert(same<ours::CUdevice, ::CUdevice> && same<ours::CUdeviceptr, ::CUdeviceptr>);
static_assert(same<ours::CUcontext, ::CUcontext> && same<ours::CUmodule, ::CUmodule>);
static_assert(same<ours::CUstream, ::CUstream> && same<ours::CUevent, ::CUevent>);
static_assert(same<ours::CUfunction, ::CUfunction>);

#define KAIO_SAME_VALUE(name) \
  static_assert(static_cast<long long>(ours::name) == static_cast<long long>(::name), #name)

// The results of cuda.h; results that an older one does not have yet are ours.
struct listed {
#define KAIO_DRIVER_RESULT(name, value, text) static constexpr int name = value;
#include "driver_abi/results.def"
};
struct theirs : listed {
  using enum ::cudaError_enum;
};
#define KAIO_DRIVER_RESULT(name, value, text) \
  static_assert(static_cast<int>(ours::name) == static_cast<int>(theirs::name), #name);
#include "driver_abi/results.def"

KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
KAIO_SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
KAIO_SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER);
KAIO_SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
KAIO_SAME_VALUE(CU_JIT_OPTIMIZATION_LEVEL);
KAIO_SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
KAIO_SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
KAIO_SAME_VALUE(CU_STREAM_NON_BLOCKING);
KAIO_SAME_VALUE(CU_EVENT_DEFAULT);
KAIO_SAME_VALUE(CU_STREAM_CAPTURE_STATUS_NONE);
KAIO_SAME_VALUE(CU_STREAM_CAPTURE_MODE_RELAXED);
#if CUDA_VERSION >= 11080  // the first with cuLaunchKernelEx
KAIO_SAME_VALUE(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
KAIO_SAME_VALUE(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
KAIO_SAME_VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
KAIO_SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
#define KAIO_SAME_MEMBER(type, member, name)                                               \
  static_assert(offsetof(ours::type, member) == offsetof(::type, name), #type "::" #name); \
  static_assert(sizeof(ours::type::member) == sizeof(::type::name), #type "::" #name)
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(::CUlaunchConfig));
static_assert(sizeof(ours::CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
KAIO_SAME_MEMBER(CUlaunchConfig, grid_x, gridDimX);
KAIO_SAME_MEMBER(CUlaunchConfig, grid_y, gridDimY);
KAIO_SAME_MEMBER(CUlaunchConfig, grid_z, gridDimZ);
KAIO_SAME_MEMBER(CUlaunchConfig, block_x, blockDimX);
KAIO_SAME_MEMBER(CUlaunchConfig, block_y, blockDimY);
KAIO_SAME_MEMBER(CUlaunchConfig, block_z, blockDimZ);
KAIO_SAME_MEMBER(CUlaunchConfig, shared_bytes, sharedMemBytes);
KAIO_SAME_MEMBER(CUlaunchConfig, stream, hStream);
KAIO_SAME_MEMBER(CUlaunchConfig, attributes, attrs);
KAIO_SAME_MEMBER(CUlaunchConfig, attribute_count, numAttrs);
KAIO_SAME_MEMBER(CUlaunchAttribute, id, id);
KAIO_SAME_MEMBER(CUlaunchAttribute, value, value);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, cooperative, cooperative);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, cluster, clusterDim);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, programmatic_stream_serialization,
                 programmaticStreamSerializationAllowed);
#endif
#if CUDA_VERSION >= 12000  // the first with tensor maps
static_assert(sizeof(ours::CUtensorMap) == sizeof(::CUtensorMap));
static_assert(alignof(ours::CUtensorMap) <= alignof(::CUtensorMap));
// The driver's values of the public enumerations of kaio/runtime/tensor_map.hpp.
using element = kaio::runtime::detail::tensor_element;
#define KAIO_SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(::theirs))
KAIO_SAME_NUMBER(element::uint8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
KAIO_SAME_NUMBER(element::uint16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
KAIO_SAME_NUMBER(element::uint32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
KAIO_SAME_NUMBER(element::int32, CU_TENSOR_MAP_DATA_TYPE_INT32);
KAIO_SAME_NUMBER(element::uint64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
KAIO_SAME_NUMBER(element::int64, CU_TENSOR_MAP_DATA_TYPE_INT64);
KAIO_SAME_NUMBER(element::float16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
KAIO_SAME_NUMBER(element::float32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
KAIO_SAME_NUMBER(element::float64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
KAIO_SAME_NUMBER(element::bfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
KAIO_SAME_NUMBER(element::float32_ftz, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
KAIO_SAME_NUMBER(element::tfloat32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
KAIO_SAME_NUMBER(element::tfloat32_ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
KAIO_SAME_NUMBER(kaio::tensor_swizzle::none, CU_TENSOR_MAP_SWIZZLE_NONE);
KAIO_SAME_NUMBER(kaio::tensor_swizzle::bytes_32, CU_TENSOR_MAP_SWIZZLE_32B);
KAIO_SAME_NUMBER(kaio::tensor_swizzle::bytes_64, CU_TENSOR_MAP_SWIZZLE_64B);
KAIO_SAME_NUMBER(kaio::tensor_swizzle::bytes_128, CU_TENSOR_MAP_SWIZZLE_128B);
KAIO_SAME_NUMBER(kaio::l2_promotion::none, CU_TENSOR_MAP_L2_PROMOTION_NONE);
KAIO_SAME_NUMBER(kaio::l2_promotion::bytes_64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
KAIO_SAME_NUMBER(kaio::l2_promotion::bytes_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
KAIO_SAME_NUMBER(kaio::l2_promotion::bytes_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
KAIO_SAME_NUMBER(kaio::tensor_fill::zero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
KAIO_SAME_NUMBER(kaio::tensor_fill::nan, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
#endif
static_assert(ours::mem_host_alloc_portable == CU_MEMHOSTALLOC_PORTABLE);

}  // namespace

#endif
