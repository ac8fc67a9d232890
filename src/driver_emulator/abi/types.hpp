#pragma once
// The types of the CUDA driver API that the library's functions take, besides those that the runtime itself
// uses (driver_abi/types.hpp). Type names are the driver's own; tests/driver_emulator/abi.cpp compares sizes,
// offsets of members and values with cuda.h. Source: CUDA Driver API reference manual.

#include "driver_abi/types.hpp"

#include <cstddef>
#include <cstdint>

namespace kaio::driver_emulator {

// The types of driver_abi are this namespace's too.
using namespace driver_abi;

using CUlibrary = struct CUlib_st*;
using CUlinkState = struct CUlinkState_st*;
using CUgreenCtx = struct CUgreenCtx_st*;
using CUmemGenericAllocationHandle = unsigned long long;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUuserObject = struct CUuserObject_st*;

using CUstreamCallback = void(KAIO_CUDAAPI*)(CUstream, CUresult, void*);
using CUoccupancyB2DSize = std::size_t(KAIO_CUDAAPI*)(int);

struct CUuuid {
  char bytes[16];
};

enum CUlimit : int {
  CU_LIMIT_STACK_SIZE = 0,
  CU_LIMIT_PRINTF_FIFO_SIZE = 1,
  CU_LIMIT_MALLOC_HEAP_SIZE = 2,
  CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
  CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
  CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
  CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
  CU_LIMIT_SHMEM_SIZE = 7,
  CU_LIMIT_CIG_ENABLED = 8,
  CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
};
enum CUgraphNodeType : int {
  CU_GRAPH_NODE_TYPE_KERNEL = 0,
  CU_GRAPH_NODE_TYPE_MEMCPY = 1,
  CU_GRAPH_NODE_TYPE_MEMSET = 2,
  CU_GRAPH_NODE_TYPE_HOST = 3,
  CU_GRAPH_NODE_TYPE_GRAPH = 4,
  CU_GRAPH_NODE_TYPE_EMPTY = 5,
  CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
  CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
  CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
  CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9,
  CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
  CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
  CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
  CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
};
enum CUgraphInstantiateResult : int {
  CUDA_GRAPH_INSTANTIATE_SUCCESS = 0,
  CUDA_GRAPH_INSTANTIATE_ERROR = 1,
  CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
  CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
  CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4,
  CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5,
};
enum CUjitInputType : int {
  CU_JIT_INPUT_CUBIN = 0,
  CU_JIT_INPUT_PTX = 1,
  CU_JIT_INPUT_FATBINARY = 2,
  CU_JIT_INPUT_OBJECT = 3,
  CU_JIT_INPUT_LIBRARY = 4,
  CU_JIT_INPUT_NVVM = 5,
};
enum CUdriverProcAddressQueryResult : int {
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
};

// Macros and flags of cuda.h, by their values.
inline constexpr std::uintptr_t legacy_stream = 1;                     // CU_STREAM_LEGACY
inline constexpr std::uintptr_t per_thread_stream = 2;                 // CU_STREAM_PER_THREAD
inline constexpr std::uintptr_t launch_parameters_end = 0;             // CU_LAUNCH_PARAM_END
inline constexpr std::uintptr_t launch_parameters_buffer_pointer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER
inline constexpr std::uintptr_t launch_parameters_buffer_size = 2;     // CU_LAUNCH_PARAM_BUFFER_SIZE
inline constexpr unsigned host_portable = 1, host_device_map = 2, host_write_combined = 4;
inline constexpr unsigned host_register_io_memory = 4, host_register_read_only = 8;

inline constexpr unsigned array_layered = 1, array_surface = 2, array_cubemap = 4, array_gather = 8;

enum CUarray_format : int {
  CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
  CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
  CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
  CU_AD_FORMAT_SIGNED_INT8 = 0x08,
  CU_AD_FORMAT_SIGNED_INT16 = 0x09,
  CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
  CU_AD_FORMAT_HALF = 0x10,
  CU_AD_FORMAT_FLOAT = 0x20,
  CU_AD_FORMAT_UNORM_INT8X1 = 0xc0,
  CU_AD_FORMAT_UNORM_INT8X2 = 0xc1,
  CU_AD_FORMAT_UNORM_INT8X4 = 0xc2,
  CU_AD_FORMAT_UNORM_INT16X1 = 0xc3,
  CU_AD_FORMAT_UNORM_INT16X2 = 0xc4,
  CU_AD_FORMAT_UNORM_INT16X4 = 0xc5,
  CU_AD_FORMAT_SNORM_INT8X1 = 0xc6,
  CU_AD_FORMAT_SNORM_INT8X2 = 0xc7,
  CU_AD_FORMAT_SNORM_INT8X4 = 0xc8,
  CU_AD_FORMAT_SNORM_INT16X1 = 0xc9,
  CU_AD_FORMAT_SNORM_INT16X2 = 0xca,
  CU_AD_FORMAT_SNORM_INT16X4 = 0xcb,
};

struct CUDA_ARRAY_DESCRIPTOR {
  std::size_t width, height;  // elements
  CUarray_format format;
  unsigned channels;
};

struct CUDA_ARRAY3D_DESCRIPTOR {
  std::size_t width, height, depth;  // elements; 0: the array has fewer dimensions
  CUarray_format format;
  unsigned channels;
  unsigned flags;
};

inline constexpr CUdevice processor = -1;         // CU_DEVICE_CPU
inline constexpr CUdevice no_device = -2;         // CU_DEVICE_INVALID
inline constexpr int pinned_memory = 1;           // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int file_descriptor_handle = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

struct CUmemAllocationProp {
  int type;
  int handle_types;
  CUmemLocation location;
  void* security_attributes;
  struct {
    unsigned char compression, direct_rdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

enum CUmem_range_attribute : int {
  CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
  CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
  CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
  CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5,
  CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
};
enum CUmem_advise : int {
  CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
  CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
  CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
  CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
  CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
  CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
};

enum CUmemcpySrcAccessOrder : int {
  CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
  CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
  CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3,
};
struct CUmemcpyAttributes {
  CUmemcpySrcAccessOrder order;
  CUmemLocation source_hint, target_hint;
  unsigned flags;
};
enum CUmemcpy3DOperandType : int {
  CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
  CU_MEMCPY_OPERAND_TYPE_ARRAY = 2,
};
// One side of a copy of a batch. Lengths, offsets and extents are in elements of the array that takes part, or
// else in bytes.
struct CUmemcpy3DOperand_pointer {
  CUdeviceptr address;
  std::size_t row_length, layer_height;  // 0: as the extent
  CUmemLocation hint;
};
struct CUmemcpy3DOperand_array {
  CUarray array;
  std::size_t x, y, z;
};
struct CUmemcpy3DOperand {
  CUmemcpy3DOperandType type;
  union {
    CUmemcpy3DOperand_pointer pointer;
    CUmemcpy3DOperand_array array;
  };
};
struct CUDA_MEMCPY3D_BATCH_OP {
  CUmemcpy3DOperand source, target;
  std::size_t width, height, depth;
  CUmemcpySrcAccessOrder order;
  unsigned flags;
};

enum CUstreamBatchMemOpType : int {
  CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
  CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
  CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
  CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
  CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
  CU_STREAM_MEM_OP_BARRIER = 6,
};
// A word that is written or waited for; the other operations have their type alone.
struct CUstreamBatchMemOpParams {
  CUstreamBatchMemOpType operation;
  CUdeviceptr address;
  std::uint64_t value;  // its low half for operations of 32 bits
  unsigned flags;
  CUdeviceptr alias;
  std::uint64_t padding;
};

// ---- texture and surface objects ----

using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;

enum CUresourcetype : int {
  CU_RESOURCE_TYPE_ARRAY = 0,
  CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
  CU_RESOURCE_TYPE_LINEAR = 2,
  CU_RESOURCE_TYPE_PITCH2D = 3,
};
enum CUaddress_mode : int {
  CU_TR_ADDRESS_MODE_WRAP = 0,
  CU_TR_ADDRESS_MODE_CLAMP = 1,
  CU_TR_ADDRESS_MODE_MIRROR = 2,
  CU_TR_ADDRESS_MODE_BORDER = 3,
};
enum CUfilter_mode : int {
  CU_TR_FILTER_MODE_POINT = 0,
  CU_TR_FILTER_MODE_LINEAR = 1,
};

// The flags of a texture descriptor: CU_TRSF_READ_AS_INTEGER and its like.
inline constexpr unsigned read_as_integer = 0x01, normalized_coordinates = 0x02, srgb = 0x10,
                          no_trilinear_optimization = 0x20, seamless_cubemap = 0x40;

struct CUDA_RESOURCE_DESC {
  struct linear_memory {
    CUdeviceptr address;
    CUarray_format format;
    unsigned channels;
    std::size_t bytes;
  };
  struct pitched_memory {
    CUdeviceptr address;
    CUarray_format format;
    unsigned channels;
    std::size_t width, height;  // elements
    std::size_t pitch;          // bytes
  };
  CUresourcetype type;
  union {
    CUarray array;
    CUmipmappedArray mipmapped;
    linear_memory linear;
    pitched_memory pitched;
    int reserved[32];
  };
  unsigned flags;
};

struct CUDA_TEXTURE_DESC {
  CUaddress_mode address[3];
  CUfilter_mode filter;
  unsigned flags;
  unsigned anisotropy;
  CUfilter_mode mipmap_filter;
  float mipmap_bias, least_mipmap_level, greatest_mipmap_level;
  float border_color[4];
  int reserved[12];
};

struct CUDA_RESOURCE_VIEW_DESC {
  int format;  // 0: the array's
  std::size_t width, height, depth;
  unsigned first_mipmap_level, last_mipmap_level;
  unsigned first_layer, last_layer;
  unsigned reserved[16];
};

struct CUdevprop {
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int shared_memory_per_block;
  int total_constant_memory;
  int simd_width;
  int memory_pitch;
  int registers_per_block;
  int clock_rate;
  int texture_alignment;
};

struct CUexecAffinityParam {
  int type;
  unsigned multiprocessors;
};

struct CUctxCreateParams {
  CUexecAffinityParam* affinity;
  int affinity_count;
  void* graphics;
};

// As CUDA_MEMCPY3D, with a context on each side.
struct CUDA_MEMCPY3D_PEER {
  std::size_t source_x, source_y, source_z, source_lod;
  CUmemorytype source_type;
  const void* source_host;
  CUdeviceptr source_device;
  CUarray source_array;
  CUcontext source_context;
  std::size_t source_pitch, source_height;
  std::size_t target_x, target_y, target_z, target_lod;
  CUmemorytype target_type;
  void* target_host;
  CUdeviceptr target_device;
  CUarray target_array;
  CUcontext target_context;
  std::size_t target_pitch, target_height;
  std::size_t width, height, depth;
};

struct CUDA_KERNEL_NODE_PARAMS_v1 {
  CUfunction function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

struct CUDA_MEM_ALLOC_NODE_PARAMS {
  CUmemPoolProps pool;
  const CUmemAccessDesc* access;
  std::size_t access_count;
  std::size_t bytes;
  CUdeviceptr address;
};

struct CUDA_MEMCPY_NODE_PARAMS {
  int flags;
  int reserved;
  CUcontext context;
  CUDA_MEMCPY3D copy;
};

struct CUDA_MEMSET_NODE_PARAMS_v2 {
  CUDA_MEMSET_NODE_PARAMS fill;
  CUcontext context;
};

struct CUDA_CHILD_GRAPH_NODE_PARAMS {
  CUgraph graph;
  int ownership;
};

// What cuGraphAddNode takes for a node of any type.
union CUgraphNodeParams_of_type {
  long long reserved[29];
  CUDA_KERNEL_NODE_PARAMS kernel;
  CUDA_MEMCPY_NODE_PARAMS memcpy;
  CUDA_MEMSET_NODE_PARAMS_v2 memset;
  CUDA_HOST_NODE_PARAMS host;
  CUDA_CHILD_GRAPH_NODE_PARAMS graph;
  CUevent event;
  CUDA_MEM_ALLOC_NODE_PARAMS alloc;
  CUdeviceptr free;
};
struct CUgraphNodeParams {
  CUgraphNodeType type;
  int reserved0[3];
  CUgraphNodeParams_of_type of;
  long long reserved2;
};

struct CUgraphEdgeData {
  unsigned char from_port, to_port, type;
  unsigned char reserved[5];
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  std::uint64_t flags;
  CUstream upload_stream;
  CUgraphNode error_node;
  CUgraphInstantiateResult result;
};

}  // namespace kaio::driver_emulator
