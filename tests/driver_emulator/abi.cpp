// The library's declarations of the driver's ABI agree with the real cuda.h. Compiled to nothing without a
// cuda.h, or with one that is older than the library's version.

#if __has_include(<cuda.h>)

// The older forms of functions too.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#if CUDA_VERSION >= 13000

#include <cstddef>
#include <type_traits>

#include "driver_emulator/abi/types.hpp"

namespace kaio::driver_emulator {
namespace {

// The kind of a type in the ABI: handles and pointers to structures are pointers, enumerations are integers,
// and a structure that is passed by value is its size.
template <std::size_t Bytes>
struct value_of {};
template <class T>
struct plain {
  using type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct plain<T> {
  using type = std::make_signed_t<std::underlying_type_t<T>>;
};
template <class T>
  requires std::is_class_v<T> || std::is_union_v<T>
struct plain<T> {
  using type = value_of<sizeof(T)>;
};
template <class T>
struct plain<T*> {
  using type = typename plain<T>::type*;
};
template <class T>
  requires std::is_class_v<T> || std::is_union_v<T>
struct plain<T*> {
  using type = void*;
};
template <class T>
  requires std::is_class_v<T> || std::is_union_v<T>
struct plain<const T*> {
  using type = const void*;
};
template <class T>
struct plain<const T> {
  using type = const typename plain<T>::type;
};
template <class Result, class... Parameters>
struct plain<Result(Parameters...)> {
  using type = typename plain<Result>::type(typename plain<Parameters>::type...);
};
// One of the two unsigned types of 64 bits, whichever a header uses.
template <>
struct plain<unsigned long> {
  using type = unsigned long long;
};

template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<typename plain<Ours>::type, typename plain<Theirs>::type>;

#define KAIO_DRIVER_FUNCTION(symbol, types) static_assert(same<CUresult types, decltype(::symbol)>, #symbol);
#define KAIO_DRIVER_PER_THREAD_FUNCTION(symbol, base, types) KAIO_DRIVER_FUNCTION(symbol, types)
#include "driver_abi/functions.def"

#define KAIO_SAME_SIZE(type) static_assert(sizeof(type) == sizeof(::type), #type)
#define KAIO_SAME_MEMBER(type, member, name)                                         \
  static_assert(offsetof(type, member) == offsetof(::type, name), #type "::" #name); \
  static_assert(sizeof(type::member) == sizeof(::type::name), #type "::" #name)

KAIO_SAME_SIZE(CUDA_ARRAY_DESCRIPTOR);
KAIO_SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, width, Width);
KAIO_SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, height, Height);
KAIO_SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, format, Format);
KAIO_SAME_MEMBER(CUDA_ARRAY_DESCRIPTOR, channels, NumChannels);
KAIO_SAME_SIZE(CUDA_ARRAY3D_DESCRIPTOR);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, width, Width);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, height, Height);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, depth, Depth);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, format, Format);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, channels, NumChannels);
KAIO_SAME_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, flags, Flags);
KAIO_SAME_SIZE(CUmemAllocationProp);
KAIO_SAME_MEMBER(CUmemAllocationProp, type, type);
KAIO_SAME_MEMBER(CUmemAllocationProp, handle_types, requestedHandleTypes);
KAIO_SAME_MEMBER(CUmemAllocationProp, location, location);
KAIO_SAME_MEMBER(CUmemAllocationProp, security_attributes, win32HandleMetaData);
KAIO_SAME_MEMBER(CUmemAllocationProp, flags, allocFlags);
KAIO_SAME_SIZE(CUmemcpyAttributes);
KAIO_SAME_MEMBER(CUmemcpyAttributes, order, srcAccessOrder);
KAIO_SAME_MEMBER(CUmemcpyAttributes, source_hint, srcLocHint);
KAIO_SAME_MEMBER(CUmemcpyAttributes, target_hint, dstLocHint);
KAIO_SAME_MEMBER(CUmemcpyAttributes, flags, flags);
KAIO_SAME_SIZE(CUmemcpy3DOperand);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, type, type);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, pointer, op.ptr);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, array, op.array);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, pointer.row_length, op.ptr.rowLength);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, pointer.layer_height, op.ptr.layerHeight);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, array.x, op.array.offset.x);
KAIO_SAME_MEMBER(CUmemcpy3DOperand, array.z, op.array.offset.z);
KAIO_SAME_SIZE(CUDA_MEMCPY3D_BATCH_OP);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, source, src);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, target, dst);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, width, extent.width);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, depth, extent.depth);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, order, srcAccessOrder);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_BATCH_OP, flags, flags);
KAIO_SAME_SIZE(CUstreamBatchMemOpParams);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, operation, operation);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, address, waitValue.address);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, value, waitValue.value64);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, flags, waitValue.flags);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, alias, waitValue.alias);
KAIO_SAME_MEMBER(CUstreamBatchMemOpParams, flags, writeValue.flags);
KAIO_SAME_SIZE(CUDA_MEMCPY2D);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_x, srcXInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_y, srcY);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_type, srcMemoryType);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_host, srcHost);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_device, srcDevice);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_array, srcArray);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, source_pitch, srcPitch);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_x, dstXInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_y, dstY);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_type, dstMemoryType);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_host, dstHost);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_device, dstDevice);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_array, dstArray);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, target_pitch, dstPitch);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, width, WidthInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY2D, height, Height);
KAIO_SAME_SIZE(CUDA_MEMCPY3D);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_x, srcXInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_y, srcY);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_z, srcZ);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_lod, srcLOD);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_type, srcMemoryType);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_host, srcHost);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_device, srcDevice);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_array, srcArray);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_pitch, srcPitch);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, source_height, srcHeight);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_x, dstXInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_y, dstY);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_z, dstZ);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_lod, dstLOD);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_type, dstMemoryType);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_host, dstHost);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_device, dstDevice);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_array, dstArray);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_pitch, dstPitch);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, target_height, dstHeight);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, width, WidthInBytes);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, height, Height);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D, depth, Depth);
KAIO_SAME_SIZE(CUDA_MEMCPY3D_PEER);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_PEER, source_context, srcContext);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_PEER, target_context, dstContext);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_PEER, source_pitch, srcPitch);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_PEER, target_height, dstHeight);
KAIO_SAME_MEMBER(CUDA_MEMCPY3D_PEER, depth, Depth);
KAIO_SAME_SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, function, func);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, grid_x, gridDimX);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, grid_y, gridDimY);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, grid_z, gridDimZ);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, block_x, blockDimX);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, block_y, blockDimY);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, block_z, blockDimZ);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, shared_bytes, sharedMemBytes);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, parameters, kernelParams);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, extra, extra);
KAIO_SAME_SIZE(CUDA_KERNEL_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, function, func);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, grid_x, gridDimX);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, block_z, blockDimZ);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, shared_bytes, sharedMemBytes);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, parameters, kernelParams);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, extra, extra);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, kernel, kern);
KAIO_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, context, ctx);
KAIO_SAME_SIZE(CUDA_MEMSET_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, target, dst);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, pitch, pitch);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, value, value);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, element_size, elementSize);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, width, width);
KAIO_SAME_MEMBER(CUDA_MEMSET_NODE_PARAMS, height, height);
KAIO_SAME_SIZE(CUDA_HOST_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_HOST_NODE_PARAMS, function, fn);
KAIO_SAME_MEMBER(CUDA_HOST_NODE_PARAMS, data, userData);
KAIO_SAME_SIZE(CUDA_MEM_ALLOC_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, pool, poolProps);
KAIO_SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, access, accessDescs);
KAIO_SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, access_count, accessDescCount);
KAIO_SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, bytes, bytesize);
KAIO_SAME_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, address, dptr);
KAIO_SAME_SIZE(CUmemPoolProps);
KAIO_SAME_MEMBER(CUmemPoolProps, allocation_type, allocType);
KAIO_SAME_MEMBER(CUmemPoolProps, handle_types, handleTypes);
KAIO_SAME_MEMBER(CUmemPoolProps, location, location);
KAIO_SAME_MEMBER(CUmemPoolProps, maximum_size, maxSize);
KAIO_SAME_MEMBER(CUmemPoolProps, usage, usage);
KAIO_SAME_SIZE(CUmemLocation);
KAIO_SAME_MEMBER(CUmemLocation, type, type);
KAIO_SAME_MEMBER(CUmemLocation, id, id);
KAIO_SAME_SIZE(CUmemAccessDesc);
KAIO_SAME_MEMBER(CUmemAccessDesc, location, location);
KAIO_SAME_MEMBER(CUmemAccessDesc, flags, flags);
KAIO_SAME_SIZE(CUdevprop);
KAIO_SAME_MEMBER(CUdevprop, max_threads_per_block, maxThreadsPerBlock);
KAIO_SAME_MEMBER(CUdevprop, max_threads_dim, maxThreadsDim);
KAIO_SAME_MEMBER(CUdevprop, max_grid_size, maxGridSize);
KAIO_SAME_MEMBER(CUdevprop, shared_memory_per_block, sharedMemPerBlock);
KAIO_SAME_MEMBER(CUdevprop, total_constant_memory, totalConstantMemory);
KAIO_SAME_MEMBER(CUdevprop, simd_width, SIMDWidth);
KAIO_SAME_MEMBER(CUdevprop, memory_pitch, memPitch);
KAIO_SAME_MEMBER(CUdevprop, registers_per_block, regsPerBlock);
KAIO_SAME_MEMBER(CUdevprop, clock_rate, clockRate);
KAIO_SAME_MEMBER(CUdevprop, texture_alignment, textureAlign);
KAIO_SAME_SIZE(CUDA_RESOURCE_DESC);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, type, resType);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, array, res.array.hArray);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, mipmapped, res.mipmap.hMipmappedArray);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, linear.address, res.linear.devPtr);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, linear.format, res.linear.format);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, linear.channels, res.linear.numChannels);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, linear.bytes, res.linear.sizeInBytes);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.address, res.pitch2D.devPtr);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.format, res.pitch2D.format);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.channels, res.pitch2D.numChannels);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.width, res.pitch2D.width);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.height, res.pitch2D.height);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, pitched.pitch, res.pitch2D.pitchInBytes);
KAIO_SAME_MEMBER(CUDA_RESOURCE_DESC, flags, flags);
KAIO_SAME_SIZE(CUDA_TEXTURE_DESC);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, address, addressMode);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, filter, filterMode);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, flags, flags);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, anisotropy, maxAnisotropy);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, mipmap_filter, mipmapFilterMode);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, mipmap_bias, mipmapLevelBias);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, least_mipmap_level, minMipmapLevelClamp);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, greatest_mipmap_level, maxMipmapLevelClamp);
KAIO_SAME_MEMBER(CUDA_TEXTURE_DESC, border_color, borderColor);
KAIO_SAME_SIZE(CUDA_RESOURCE_VIEW_DESC);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, format, format);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, width, width);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, height, height);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, depth, depth);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, first_mipmap_level, firstMipmapLevel);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, last_mipmap_level, lastMipmapLevel);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, first_layer, firstLayer);
KAIO_SAME_MEMBER(CUDA_RESOURCE_VIEW_DESC, last_layer, lastLayer);
KAIO_SAME_SIZE(CUexecAffinityParam);
KAIO_SAME_MEMBER(CUexecAffinityParam, type, type);
KAIO_SAME_MEMBER(CUexecAffinityParam, multiprocessors, param);
KAIO_SAME_SIZE(CUctxCreateParams);
KAIO_SAME_MEMBER(CUctxCreateParams, affinity, execAffinityParams);
KAIO_SAME_MEMBER(CUctxCreateParams, affinity_count, numExecAffinityParams);
KAIO_SAME_MEMBER(CUctxCreateParams, graphics, cigParams);
KAIO_SAME_SIZE(CUDA_MEMCPY_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_MEMCPY_NODE_PARAMS, flags, flags);
KAIO_SAME_MEMBER(CUDA_MEMCPY_NODE_PARAMS, context, copyCtx);
KAIO_SAME_MEMBER(CUDA_MEMCPY_NODE_PARAMS, copy, copyParams);
KAIO_SAME_SIZE(CUDA_CHILD_GRAPH_NODE_PARAMS);
KAIO_SAME_MEMBER(CUDA_CHILD_GRAPH_NODE_PARAMS, graph, graph);
KAIO_SAME_MEMBER(CUDA_CHILD_GRAPH_NODE_PARAMS, ownership, ownership);
KAIO_SAME_SIZE(CUgraphEdgeData);
KAIO_SAME_MEMBER(CUgraphEdgeData, from_port, from_port);
KAIO_SAME_MEMBER(CUgraphEdgeData, to_port, to_port);
KAIO_SAME_MEMBER(CUgraphEdgeData, type, type);
KAIO_SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
KAIO_SAME_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, flags, flags);
KAIO_SAME_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, upload_stream, hUploadStream);
KAIO_SAME_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, error_node, hErrNode_out);
KAIO_SAME_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, result, result_out);
KAIO_SAME_SIZE(CUgraphExecUpdateResultInfo);
KAIO_SAME_MEMBER(CUgraphExecUpdateResultInfo, result, result);
KAIO_SAME_MEMBER(CUgraphExecUpdateResultInfo, error_node, errorNode);
KAIO_SAME_MEMBER(CUgraphExecUpdateResultInfo, error_from_node, errorFromNode);
KAIO_SAME_SIZE(CUgraphNodeParams);
KAIO_SAME_MEMBER(CUgraphNodeParams, type, type);
KAIO_SAME_MEMBER(CUgraphNodeParams, of, reserved1);
KAIO_SAME_MEMBER(CUgraphNodeParams, reserved2, reserved2);
KAIO_SAME_SIZE(CUuuid);
KAIO_SAME_SIZE(CUtensorMap);
KAIO_SAME_SIZE(CUlaunchConfig);
KAIO_SAME_SIZE(CUlaunchAttribute);
KAIO_SAME_SIZE(CUlaunchAttributeValue);
static_assert(offsetof(CUlaunchAttribute, value) == offsetof(::CUlaunchAttribute, value));
static_assert(alignof(CUtensorMap) <= alignof(::CUtensorMap));
static_assert(offsetof(CUDA_MEMSET_NODE_PARAMS_v2, context) == offsetof(::CUDA_MEMSET_NODE_PARAMS_v2, ctx));
KAIO_SAME_MEMBER(CUlaunchAttributeValue, cooperative, cooperative);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, cluster, clusterDim);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, programmatic_event, programmaticEvent);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, priority, priority);
KAIO_SAME_MEMBER(CUlaunchAttributeValue, shared_memory_carveout, sharedMemCarveout);
// The union of a node's parameters is where cuda.h has its nameless one.
static_assert(offsetof(CUgraphNodeParams, of) == offsetof(::CUgraphNodeParams, kernel));

}  // namespace
}  // namespace kaio::driver_emulator

#endif
#endif
