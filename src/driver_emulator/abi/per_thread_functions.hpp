#pragma once
// The symbols whose stream 0 is the calling thread's own stream instead of the legacy one, as
// X(symbol, the function that it is otherwise, parameters, arguments). cuda.h maps a program's calls to them
// when it is compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM.

#include "driver_emulator/abi/functions.hpp"

#define KAIO_CUDA_PER_THREAD_FUNCTIONS(X)                                                                    \
  X(cuMemcpy_ptds, cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, std::size_t byte_count),                     \
    (dst, src, byte_count))                                                                                  \
  X(cuMemcpyPeer_ptds, cuMemcpyPeer,                                                                         \
    (CUdeviceptr dst_device, CUcontext dst_context, CUdeviceptr src_device, CUcontext src_context,           \
     std::size_t byte_count),                                                                                \
    (dst_device, dst_context, src_device, src_context, byte_count))                                          \
  X(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2,                                                                   \
    (CUdeviceptr dst_device, const void* src_host, std::size_t byte_count),                                  \
    (dst_device, src_host, byte_count))                                                                      \
  X(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2, (void* dst_host, CUdeviceptr src_device, std::size_t byte_count), \
    (dst_host, src_device, byte_count))                                                                      \
  X(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2,                                                                   \
    (CUdeviceptr dst_device, CUdeviceptr src_device, std::size_t byte_count),                                \
    (dst_device, src_device, byte_count))                                                                    \
  X(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2, (const CUDA_MEMCPY2D* copy), (copy))                                  \
  X(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D* copy), (copy))                \
  X(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2, (const CUDA_MEMCPY3D* copy), (copy))                                  \
  X(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER* copy), (copy))                           \
  X(cuMemcpyAsync_ptsz, cuMemcpyAsync,                                                                       \
    (CUdeviceptr dst, CUdeviceptr src, std::size_t byte_count, CUstream stream),                             \
    (dst, src, byte_count, stream))                                                                          \
  X(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync,                                                               \
    (CUdeviceptr dst_device, CUcontext dst_context, CUdeviceptr src_device, CUcontext src_context,           \
     std::size_t byte_count, CUstream stream),                                                               \
    (dst_device, dst_context, src_device, src_context, byte_count, stream))                                  \
  X(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2,                                                         \
    (CUdeviceptr dst_device, const void* src_host, std::size_t byte_count, CUstream stream),                 \
    (dst_device, src_host, byte_count, stream))                                                              \
  X(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2,                                                         \
    (void* dst_host, CUdeviceptr src_device, std::size_t byte_count, CUstream stream),                       \
    (dst_host, src_device, byte_count, stream))                                                              \
  X(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2,                                                         \
    (CUdeviceptr dst_device, CUdeviceptr src_device, std::size_t byte_count, CUstream stream),               \
    (dst_device, src_device, byte_count, stream))                                                            \
  X(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* copy, CUstream stream),               \
    (copy, stream))                                                                                          \
  X(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* copy, CUstream stream),               \
    (copy, stream))                                                                                          \
  X(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER* copy, CUstream stream),        \
    (copy, stream))                                                                                          \
  X(cuMemsetD8_v2_ptds, cuMemsetD8_v2, (CUdeviceptr dst_device, unsigned char value, std::size_t count),     \
    (dst_device, value, count))                                                                              \
  X(cuMemsetD16_v2_ptds, cuMemsetD16_v2, (CUdeviceptr dst_device, unsigned short value, std::size_t count),  \
    (dst_device, value, count))                                                                              \
  X(cuMemsetD32_v2_ptds, cuMemsetD32_v2, (CUdeviceptr dst_device, unsigned value, std::size_t count),        \
    (dst_device, value, count))                                                                              \
  X(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2,                                                                   \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned char value, std::size_t width,                  \
     std::size_t height),                                                                                    \
    (dst_device, dst_pitch, value, width, height))                                                           \
  X(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2,                                                                 \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned short value, std::size_t width,                 \
     std::size_t height),                                                                                    \
    (dst_device, dst_pitch, value, width, height))                                                           \
  X(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2,                                                                 \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned value, std::size_t width, std::size_t height),  \
    (dst_device, dst_pitch, value, width, height))                                                           \
  X(cuMemsetD8Async_ptsz, cuMemsetD8Async,                                                                   \
    (CUdeviceptr dst_device, unsigned char value, std::size_t count, CUstream stream),                       \
    (dst_device, value, count, stream))                                                                      \
  X(cuMemsetD16Async_ptsz, cuMemsetD16Async,                                                                 \
    (CUdeviceptr dst_device, unsigned short value, std::size_t count, CUstream stream),                      \
    (dst_device, value, count, stream))                                                                      \
  X(cuMemsetD32Async_ptsz, cuMemsetD32Async,                                                                 \
    (CUdeviceptr dst_device, unsigned value, std::size_t count, CUstream stream),                            \
    (dst_device, value, count, stream))                                                                      \
  X(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async,                                                               \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned char value, std::size_t width,                  \
     std::size_t height, CUstream stream),                                                                   \
    (dst_device, dst_pitch, value, width, height, stream))                                                   \
  X(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async,                                                             \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned short value, std::size_t width,                 \
     std::size_t height, CUstream stream),                                                                   \
    (dst_device, dst_pitch, value, width, height, stream))                                                   \
  X(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async,                                                             \
    (CUdeviceptr dst_device, std::size_t dst_pitch, unsigned value, std::size_t width, std::size_t height,   \
     CUstream stream),                                                                                       \
    (dst_device, dst_pitch, value, width, height, stream))                                                   \
  X(cuMemFreeAsync_ptsz, cuMemFreeAsync, (CUdeviceptr dptr, CUstream stream), (dptr, stream))                \
  X(cuMemAllocAsync_ptsz, cuMemAllocAsync, (CUdeviceptr * dptr, std::size_t bytesize, CUstream stream),      \
    (dptr, bytesize, stream))                                                                                \
  X(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync,                                                   \
    (CUdeviceptr * dptr, std::size_t bytesize, CUmemoryPool pool, CUstream stream),                          \
    (dptr, bytesize, pool, stream))                                                                          \
  X(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2,                                                       \
    (CUdeviceptr dev_ptr, std::size_t count, CUmemLocation location, unsigned flags, CUstream stream),       \
    (dev_ptr, count, location, flags, stream))                                                               \
  X(cuStreamGetPriority_ptsz, cuStreamGetPriority, (CUstream stream, int* priority), (stream, priority))     \
  X(cuStreamGetDevice_ptsz, cuStreamGetDevice, (CUstream stream, CUdevice * device), (stream, device))       \
  X(cuStreamGetFlags_ptsz, cuStreamGetFlags, (CUstream stream, unsigned* flags), (stream, flags))            \
  X(cuStreamGetId_ptsz, cuStreamGetId, (CUstream stream, unsigned long long* stream_id),                     \
    (stream, stream_id))                                                                                     \
  X(cuStreamGetCtx_ptsz, cuStreamGetCtx, (CUstream stream, CUcontext * pctx), (stream, pctx))                \
  X(cuStreamWaitEvent_ptsz, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),             \
    (stream, event, flags))                                                                                  \
  X(cuStreamAddCallback_ptsz, cuStreamAddCallback,                                                           \
    (CUstream stream, CUstreamCallback callback, void* user_data, unsigned flags),                           \
    (stream, callback, user_data, flags))                                                                    \
  X(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode),      \
    (stream, mode))                                                                                          \
  X(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph,                                           \
    (CUstream stream, CUgraph graph, const CUgraphNode* dependencies,                                        \
     const CUgraphEdgeData* dependency_data, std::size_t num_dependencies, CUstreamCaptureMode mode),        \
    (stream, graph, dependencies, dependency_data, num_dependencies, mode))                                  \
  X(cuStreamEndCapture_ptsz, cuStreamEndCapture, (CUstream stream, CUgraph * graph), (stream, graph))        \
  X(cuStreamIsCapturing_ptsz, cuStreamIsCapturing,                                                           \
    (CUstream stream, CUstreamCaptureStatus * capture_status), (stream, capture_status))                     \
  X(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3,                                               \
    (CUstream stream, CUstreamCaptureStatus * capture_status_out, std::uint64_t * id_out,                    \
     CUgraph * graph_out, const CUgraphNode** dependencies_out, const CUgraphEdgeData** edge_data_out,       \
     std::size_t* num_dependencies_out),                                                                     \
    (stream, capture_status_out, id_out, graph_out, dependencies_out, edge_data_out, num_dependencies_out))  \
  X(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2,                         \
    (CUstream stream, CUgraphNode * dependencies, const CUgraphEdgeData* dependency_data,                    \
     std::size_t num_dependencies, unsigned flags),                                                          \
    (stream, dependencies, dependency_data, num_dependencies, flags))                                        \
  X(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync,                                                     \
    (CUstream stream, CUdeviceptr dptr, std::size_t length, unsigned flags), (stream, dptr, length, flags))  \
  X(cuStreamQuery_ptsz, cuStreamQuery, (CUstream stream), (stream))                                          \
  X(cuStreamSynchronize_ptsz, cuStreamSynchronize, (CUstream stream), (stream))                              \
  X(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes, (CUstream dst, CUstream src), (dst, src))           \
  X(cuStreamGetAttribute_ptsz, cuStreamGetAttribute,                                                         \
    (CUstream stream, CUlaunchAttributeID attr, CUlaunchAttributeValue * value_out),                         \
    (stream, attr, value_out))                                                                               \
  X(cuStreamSetAttribute_ptsz, cuStreamSetAttribute,                                                         \
    (CUstream stream, CUlaunchAttributeID attr, const CUlaunchAttributeValue* value), (stream, attr, value)) \
  X(cuEventRecord_ptsz, cuEventRecord, (CUevent event, CUstream stream), (event, stream))                    \
  X(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),   \
    (event, stream, flags))                                                                                  \
  X(cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32_v2,                                                     \
    (CUstream stream, CUdeviceptr addr, std::uint32_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64_v2,                                                     \
    (CUstream stream, CUdeviceptr addr, std::uint64_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32_v2,                                                   \
    (CUstream stream, CUdeviceptr addr, std::uint32_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64_v2,                                                   \
    (CUstream stream, CUdeviceptr addr, std::uint64_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuLaunchKernel_ptsz, cuLaunchKernel,                                                                     \
    (CUfunction function, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z,                     \
     unsigned block_dim_x, unsigned block_dim_y, unsigned block_dim_z, unsigned shared_mem_bytes,            \
     CUstream stream, void** kernel_params, void** extra),                                                   \
    (function, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z, shared_mem_bytes,  \
     stream, kernel_params, extra))                                                                          \
  X(cuLaunchKernelEx_ptsz, cuLaunchKernelEx,                                                                 \
    (const CUlaunchConfig* config, CUfunction function, void** kernel_params, void** extra),                 \
    (config, function, kernel_params, extra))                                                                \
  X(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel,                                               \
    (CUfunction function, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z,                     \
     unsigned block_dim_x, unsigned block_dim_y, unsigned block_dim_z, unsigned shared_mem_bytes,            \
     CUstream stream, void** kernel_params),                                                                 \
    (function, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z, shared_mem_bytes,  \
     stream, kernel_params))                                                                                 \
  X(cuLaunchHostFunc_ptsz, cuLaunchHostFunc, (CUstream stream, CUhostFn callback, void* user_data),          \
    (stream, callback, user_data))                                                                           \
  X(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams,                                         \
    (CUgraphExec * graph_exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS * instantiate_params),           \
    (graph_exec, graph, instantiate_params))                                                                 \
  X(cuGraphUpload_ptsz, cuGraphUpload, (CUgraphExec graph_exec, CUstream stream), (graph_exec, stream))      \
  X(cuGraphLaunch_ptsz, cuGraphLaunch, (CUgraphExec graph_exec, CUstream stream), (graph_exec, stream))      \
  X(cuStreamWriteValue32_ptsz, cuStreamWriteValue32,                                                         \
    (CUstream stream, CUdeviceptr addr, std::uint32_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWaitValue32_ptsz, cuStreamWaitValue32,                                                           \
    (CUstream stream, CUdeviceptr addr, std::uint32_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWriteValue64_ptsz, cuStreamWriteValue64,                                                         \
    (CUstream stream, CUdeviceptr addr, std::uint64_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuStreamWaitValue64_ptsz, cuStreamWaitValue64,                                                           \
    (CUstream stream, CUdeviceptr addr, std::uint64_t value, unsigned flags), (stream, addr, value, flags))  \
  X(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync,                                                             \
    (CUdeviceptr dev_ptr, std::size_t count, CUdevice dst_device, CUstream stream),                          \
    (dev_ptr, count, dst_device, stream))                                                                    \
  X(cuStreamBeginCapture_ptsz, cuStreamBeginCapture, (CUstream stream), (stream))                            \
  X(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo,                                                     \
    (CUstream stream, CUstreamCaptureStatus * capture_status_out, std::uint64_t * id_out),                   \
    (stream, capture_status_out, id_out))                                                                    \
  X(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2,                                               \
    (CUstream stream, CUstreamCaptureStatus * capture_status_out, std::uint64_t * id_out,                    \
     CUgraph * graph_out, const CUgraphNode** dependencies_out, std::size_t* num_dependencies_out),          \
    (stream, capture_status_out, id_out, graph_out, dependencies_out, num_dependencies_out))                 \
  X(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies,                               \
    (CUstream stream, CUgraphNode * dependencies, std::size_t num_dependencies, unsigned flags),             \
    (stream, dependencies, num_dependencies, flags))

#if !defined(KAIO_CUDA_LIST_ONLY)

namespace kaio::driver_emulator {

#define KAIO_CUDA_DECLARE(name, base, parameters, arguments) \
  KAIO_CUDA_API CUresult KAIO_CUDAAPI name parameters;
KAIO_CUDA_PER_THREAD_FUNCTIONS(KAIO_CUDA_DECLARE)
#undef KAIO_CUDA_DECLARE

}  // namespace kaio::driver_emulator

#endif
