#pragma once
// The part of the CUDA driver API that kaio calls, declared by kaio itself, so that building needs no CUDA
// file. Names are the driver's own; functions carry the version suffix of the symbol in the library. The
// values and signatures are compared with the real cuda.h, where there is one, by
// tests/unit/runtime_driver_abi.cpp. Source: CUDA Driver API reference manual.

#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
#define KAIO_CUDAAPI __stdcall
#else
#define KAIO_CUDAAPI
#endif

namespace kaio::runtime::driver {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_DEVICE_NOT_LICENSED = 102,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_INVALID_SOURCE = 300,
  CUDA_ERROR_OPERATING_SYSTEM = 304,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_SYSTEM_NOT_READY = 802,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
  CUDA_ERROR_EXTERNAL_DEVICE = 911,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUlaunchAttributeID : int { CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2 };

// A union in cuda.h, of which this is the only member that is used.
struct alignas(8) CUlaunchAttributeValue {
  int cooperative;
  char unused[60];
};

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};

enum CUjit_option : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
};

enum CUstream_flags : unsigned { CU_STREAM_NON_BLOCKING = 1 };
enum CUevent_flags : unsigned { CU_EVENT_DEFAULT = 0 };
enum CUstreamCaptureStatus : int { CU_STREAM_CAPTURE_STATUS_NONE = 0 };
enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
inline constexpr unsigned mem_host_alloc_portable = 1;  // CU_MEMHOSTALLOC_PORTABLE, a macro in cuda.h

// Every function, as X(symbol in the library, parameters). All return CUresult.
#define KAIO_DRIVER_FUNCTIONS(X)                                                                         \
  X(cuInit, (unsigned flags))                                                                            \
  X(cuDriverGetVersion, (int* version))                                                                  \
  X(cuGetErrorName, (CUresult error, const char** name))                                                 \
  X(cuGetErrorString, (CUresult error, const char** text))                                               \
  X(cuDeviceGetCount, (int* count))                                                                      \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                                                       \
  X(cuDeviceGetName, (char* name, int length, CUdevice device))                                          \
  X(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                         \
  X(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device))                   \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                    \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                     \
  X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active))                         \
  X(cuCtxGetCurrent, (CUcontext * context))                                                              \
  X(cuCtxSetCurrent, (CUcontext context))                                                                \
  X(cuCtxSynchronize, ())                                                                                \
  X(cuModuleLoadDataEx,                                                                                  \
    (CUmodule * module, const void* image, unsigned option_count, CUjit_option* options, void** values)) \
  X(cuModuleUnload, (CUmodule module))                                                                   \
  X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                     \
  X(cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction function))               \
  X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                         \
    (int* blocks, CUfunction function, int block_size, std::size_t dynamic_shared))                      \
  X(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,        \
                     CUstream stream, void** parameters, void** extra))                                  \
  X(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t bytes))                                           \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                 \
  X(cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))                                 \
  X(cuMemFreeHost, (void* address))                                                                      \
  X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                          \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))        \
  X(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))              \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream))        \
  X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream))          \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                 \
  X(cuStreamDestroy_v2, (CUstream stream))                                                               \
  X(cuStreamSynchronize, (CUstream stream))                                                              \
  X(cuStreamQuery, (CUstream stream))                                                                    \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                                 \
  X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))                              \
  X(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode))                                     \
  X(cuEventCreate, (CUevent * event, unsigned flags))                                                    \
  X(cuEventDestroy_v2, (CUevent event))                                                                  \
  X(cuEventRecord, (CUevent event, CUstream stream))                                                     \
  X(cuEventSynchronize, (CUevent event))                                                                 \
  X(cuEventQuery, (CUevent event))                                                                       \
  X(cuEventElapsedTime, (float* milliseconds, CUevent begin, CUevent end))

// Newer than the oldest driver that kaio takes; null where the library has none.
#define KAIO_DRIVER_OPTIONAL_FUNCTIONS(X) \
  X(cuFuncLoad, (CUfunction function))    \
  X(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra))

struct functions {
#define KAIO_DRIVER_MEMBER(name, parameters) CUresult(KAIO_CUDAAPI* name) parameters = nullptr;
  KAIO_DRIVER_FUNCTIONS(KAIO_DRIVER_MEMBER)
  KAIO_DRIVER_OPTIONAL_FUNCTIONS(KAIO_DRIVER_MEMBER)
#undef KAIO_DRIVER_MEMBER
};

}  // namespace kaio::runtime::driver
