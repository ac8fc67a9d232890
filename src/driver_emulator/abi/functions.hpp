#pragma once
// Every function of the CUDA driver API that the library implements, as X(symbol in the library, parameter
// types); all return CUresult. From this list come the declarations below, the numbers by which calls are
// counted and made to fail, and the answers of cuGetProcAddress; tests/driver_emulator compares it with cuda.h.
// Functions that take a stream also have a `_ptsz` or `_ptds` symbol, for which stream 0 is the thread's own
// (per_thread_functions.hpp); what the driver has beyond these is in unsupported_functions.hpp.

#include "driver_emulator/abi/types.hpp"

#include <cstdint>

#define KAIO_CUDA_FUNCTIONS(X)                                                                             \
  /* The driver itself */                                                                                  \
  X(cuInit, (unsigned))                                                                                    \
  X(cuDriverGetVersion, (int*))                                                                            \
  X(cuGetErrorName, (CUresult, const char**))                                                              \
  X(cuGetErrorString, (CUresult, const char**))                                                            \
  X(cuGetProcAddress, (const char*, void**, int, std::uint64_t))                                           \
  X(cuGetProcAddress_v2, (const char*, void**, int, std::uint64_t, CUdriverProcAddressQueryResult*))       \
  X(cuGetExportTable, (const void**, const CUuuid*))                                                       \
  /* Devices */                                                                                            \
  X(cuDeviceGetCount, (int*))                                                                              \
  X(cuDeviceGet, (CUdevice*, int))                                                                         \
  X(cuDeviceGetName, (char*, int, CUdevice))                                                               \
  X(cuDeviceGetUuid, (CUuuid*, CUdevice))                                                                  \
  X(cuDeviceGetUuid_v2, (CUuuid*, CUdevice))                                                               \
  X(cuDeviceGetLuid, (char*, unsigned*, CUdevice))                                                         \
  X(cuDeviceTotalMem_v2, (std::size_t*, CUdevice))                                                         \
  X(cuDeviceGetAttribute, (int*, CUdevice_attribute, CUdevice))                                            \
  X(cuDeviceComputeCapability, (int*, int*, CUdevice))                                                     \
  X(cuDeviceGetProperties, (CUdevprop*, CUdevice))                                                         \
  X(cuDeviceGetPCIBusId, (char*, int, CUdevice))                                                           \
  X(cuDeviceGetByPCIBusId, (CUdevice*, const char*))                                                       \
  X(cuDeviceCanAccessPeer, (int*, CUdevice, CUdevice))                                                     \
  X(cuDeviceGetP2PAttribute, (int*, int, CUdevice, CUdevice))                                              \
  X(cuDeviceGetExecAffinitySupport, (int*, int, CUdevice))                                                 \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool*, CUdevice))                                                  \
  X(cuDeviceGetMemPool, (CUmemoryPool*, CUdevice))                                                         \
  X(cuDeviceSetMemPool, (CUdevice, CUmemoryPool))                                                          \
  X(cuDeviceGetGraphMemAttribute, (CUdevice, int, void*))                                                  \
  X(cuDeviceSetGraphMemAttribute, (CUdevice, int, void*))                                                  \
  X(cuDeviceGraphMemTrim, (CUdevice))                                                                      \
  X(cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                                      \
  X(cuDevicePrimaryCtxRelease, (CUdevice))                                                                 \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                              \
  X(cuDevicePrimaryCtxReset, (CUdevice))                                                                   \
  X(cuDevicePrimaryCtxReset_v2, (CUdevice))                                                                \
  X(cuDevicePrimaryCtxSetFlags, (CUdevice, unsigned))                                                      \
  X(cuDevicePrimaryCtxSetFlags_v2, (CUdevice, unsigned))                                                   \
  X(cuDevicePrimaryCtxGetState, (CUdevice, unsigned*, int*))                                               \
  /* Contexts */                                                                                           \
  X(cuCtxCreate, (CUcontext*, unsigned, CUdevice))                                                         \
  X(cuCtxCreate_v2, (CUcontext*, unsigned, CUdevice))                                                      \
  X(cuCtxCreate_v3, (CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice))                           \
  X(cuCtxCreate_v4, (CUcontext*, CUctxCreateParams*, unsigned, CUdevice))                                  \
  X(cuCtxDestroy, (CUcontext))                                                                             \
  X(cuCtxDestroy_v2, (CUcontext))                                                                          \
  X(cuCtxAttach, (CUcontext*, unsigned))                                                                   \
  X(cuCtxDetach, (CUcontext))                                                                              \
  X(cuCtxPushCurrent, (CUcontext))                                                                         \
  X(cuCtxPushCurrent_v2, (CUcontext))                                                                      \
  X(cuCtxPopCurrent, (CUcontext*))                                                                         \
  X(cuCtxPopCurrent_v2, (CUcontext*))                                                                      \
  X(cuCtxSetCurrent, (CUcontext))                                                                          \
  X(cuCtxGetCurrent, (CUcontext*))                                                                         \
  X(cuCtxGetDevice, (CUdevice*))                                                                           \
  X(cuCtxGetDevice_v2, (CUdevice*, CUcontext))                                                             \
  X(cuCtxGetFlags, (unsigned*))                                                                            \
  X(cuCtxSetFlags, (unsigned))                                                                             \
  X(cuCtxGetId, (CUcontext, unsigned long long*))                                                          \
  X(cuCtxSynchronize, ())                                                                                  \
  X(cuCtxSynchronize_v2, (CUcontext))                                                                      \
  X(cuCtxSetLimit, (CUlimit, std::size_t))                                                                 \
  X(cuCtxGetLimit, (std::size_t*, CUlimit))                                                                \
  X(cuCtxGetCacheConfig, (int*))                                                                           \
  X(cuCtxSetCacheConfig, (int))                                                                            \
  X(cuCtxGetSharedMemConfig, (int*))                                                                       \
  X(cuCtxSetSharedMemConfig, (int))                                                                        \
  X(cuCtxGetApiVersion, (CUcontext, unsigned*))                                                            \
  X(cuCtxGetStreamPriorityRange, (int*, int*))                                                             \
  X(cuCtxResetPersistingL2Cache, ())                                                                       \
  X(cuCtxGetExecAffinity, (CUexecAffinityParam*, int))                                                     \
  X(cuCtxEnablePeerAccess, (CUcontext, unsigned))                                                          \
  X(cuCtxDisablePeerAccess, (CUcontext))                                                                   \
  X(cuCtxRecordEvent, (CUcontext, CUevent))                                                                \
  X(cuCtxWaitEvent, (CUcontext, CUevent))                                                                  \
  /* Modules, libraries, linking */                                                                        \
  X(cuModuleLoad, (CUmodule*, const char*))                                                                \
  X(cuModuleLoadData, (CUmodule*, const void*))                                                            \
  X(cuModuleLoadDataEx, (CUmodule*, const void*, unsigned, CUjit_option*, void**))                         \
  X(cuModuleLoadFatBinary, (CUmodule*, const void*))                                                       \
  X(cuModuleUnload, (CUmodule))                                                                            \
  X(cuModuleGetLoadingMode, (int*))                                                                        \
  X(cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                                             \
  X(cuModuleGetFunctionCount, (unsigned*, CUmodule))                                                       \
  X(cuModuleEnumerateFunctions, (CUfunction*, unsigned, CUmodule))                                         \
  X(cuModuleGetGlobal_v2, (CUdeviceptr*, std::size_t*, CUmodule, const char*))                             \
  X(cuLibraryLoadData, (CUlibrary*, const void*, CUjit_option*, void**, unsigned, int*, void**, unsigned)) \
  X(cuLibraryLoadFromFile,                                                                                 \
    (CUlibrary*, const char*, CUjit_option*, void**, unsigned, int*, void**, unsigned))                    \
  X(cuLibraryUnload, (CUlibrary))                                                                          \
  X(cuLibraryGetKernel, (CUkernel*, CUlibrary, const char*))                                               \
  X(cuLibraryGetKernelCount, (unsigned*, CUlibrary))                                                       \
  X(cuLibraryEnumerateKernels, (CUkernel*, unsigned, CUlibrary))                                           \
  X(cuLibraryGetModule, (CUmodule*, CUlibrary))                                                            \
  X(cuLibraryGetGlobal, (CUdeviceptr*, std::size_t*, CUlibrary, const char*))                              \
  X(cuLibraryGetManaged, (CUdeviceptr*, std::size_t*, CUlibrary, const char*))                             \
  X(cuKernelGetFunction, (CUfunction*, CUkernel))                                                          \
  X(cuKernelGetLibrary, (CUlibrary*, CUkernel))                                                            \
  X(cuKernelGetAttribute, (int*, CUfunction_attribute, CUkernel, CUdevice))                                \
  X(cuKernelSetAttribute, (CUfunction_attribute, int, CUkernel, CUdevice))                                 \
  X(cuKernelSetCacheConfig, (CUkernel, int, CUdevice))                                                     \
  X(cuKernelGetName, (const char**, CUkernel))                                                             \
  X(cuKernelGetParamInfo, (CUkernel, std::size_t, std::size_t*, std::size_t*))                             \
  X(cuLinkCreate, (unsigned, CUjit_option*, void**, CUlinkState*))                                         \
  X(cuLinkCreate_v2, (unsigned, CUjit_option*, void**, CUlinkState*))                                      \
  X(cuLinkAddData,                                                                                         \
    (CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned, CUjit_option*, void**))       \
  X(cuLinkAddData_v2,                                                                                      \
    (CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned, CUjit_option*, void**))       \
  X(cuLinkAddFile, (CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**))            \
  X(cuLinkAddFile_v2, (CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**))         \
  X(cuLinkComplete, (CUlinkState, void**, std::size_t*))                                                   \
  X(cuLinkDestroy, (CUlinkState))                                                                          \
  /* Functions, launches, occupancy */                                                                     \
  X(cuFuncGetAttribute, (int*, CUfunction_attribute, CUfunction))                                          \
  X(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int))                                           \
  X(cuFuncSetCacheConfig, (CUfunction, int))                                                               \
  X(cuFuncSetSharedMemConfig, (CUfunction, int))                                                           \
  X(cuFuncGetModule, (CUmodule*, CUfunction))                                                              \
  X(cuFuncGetName, (const char**, CUfunction))                                                             \
  X(cuFuncGetParamInfo, (CUfunction, std::size_t, std::size_t*, std::size_t*))                             \
  X(cuFuncIsLoaded, (int*, CUfunction))                                                                    \
  X(cuFuncLoad, (CUfunction))                                                                              \
  X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                     CUstream, void**, void**))                                                            \
  X(cuLaunchKernelEx, (const CUlaunchConfig*, CUfunction, void**, void**))                                 \
  X(cuLaunchCooperativeKernel,                                                                             \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**))  \
  X(cuLaunchHostFunc, (CUstream, CUhostFn, void*))                                                         \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int*, CUfunction, int, std::size_t))                     \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int*, CUfunction, int, std::size_t, unsigned))  \
  X(cuOccupancyMaxPotentialBlockSize, (int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t, int))      \
  X(cuOccupancyMaxPotentialBlockSizeWithFlags,                                                             \
    (int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t, int, unsigned))                              \
  X(cuOccupancyAvailableDynamicSMemPerBlock, (std::size_t*, CUfunction, int, int))                         \
  X(cuOccupancyMaxPotentialClusterSize, (int*, CUfunction, const CUlaunchConfig*))                         \
  X(cuOccupancyMaxActiveClusters, (int*, CUfunction, const CUlaunchConfig*))                               \
  /* Memory */                                                                                             \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                                         \
  X(cuMemAlloc_v2, (CUdeviceptr*, std::size_t))                                                            \
  X(cuMemAllocPitch_v2, (CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned))                  \
  X(cuMemFree_v2, (CUdeviceptr))                                                                           \
  X(cuMemGetAddressRange_v2, (CUdeviceptr*, std::size_t*, CUdeviceptr))                                    \
  X(cuMemAllocHost_v2, (void**, std::size_t))                                                              \
  X(cuMemFreeHost, (void*))                                                                                \
  X(cuMemHostAlloc, (void**, std::size_t, unsigned))                                                       \
  X(cuMemHostRegister_v2, (void*, std::size_t, unsigned))                                                  \
  X(cuMemHostUnregister, (void*))                                                                          \
  X(cuMemHostGetDevicePointer_v2, (CUdeviceptr*, void*, unsigned))                                         \
  X(cuMemHostGetFlags, (unsigned*, void*))                                                                 \
  X(cuMemAllocManaged, (CUdeviceptr*, std::size_t, unsigned))                                              \
  X(cuMemAllocAsync, (CUdeviceptr*, std::size_t, CUstream))                                                \
  X(cuMemAllocFromPoolAsync, (CUdeviceptr*, std::size_t, CUmemoryPool, CUstream))                          \
  X(cuMemFreeAsync, (CUdeviceptr, CUstream))                                                               \
  X(cuMemPoolCreate, (CUmemoryPool*, const CUmemPoolProps*))                                               \
  X(cuMemPoolDestroy, (CUmemoryPool))                                                                      \
  X(cuMemPoolTrimTo, (CUmemoryPool, std::size_t))                                                          \
  X(cuMemPoolSetAttribute, (CUmemoryPool, CUmemPool_attribute, void*))                                     \
  X(cuMemPoolGetAttribute, (CUmemoryPool, CUmemPool_attribute, void*))                                     \
  X(cuMemPoolSetAccess, (CUmemoryPool, const CUmemAccessDesc*, std::size_t))                               \
  X(cuMemPoolGetAccess, (CUmemAccess_flags*, CUmemoryPool, CUmemLocation*))                                \
  X(cuMemAdvise, (CUdeviceptr, std::size_t, int, CUdevice))                                                \
  X(cuMemAdvise_v2, (CUdeviceptr, std::size_t, int, CUmemLocation))                                        \
  X(cuMemPrefetchAsync, (CUdeviceptr, std::size_t, CUdevice, CUstream))                                    \
  X(cuMemPrefetchAsync_v2, (CUdeviceptr, std::size_t, CUmemLocation, unsigned, CUstream))                  \
  X(cuPointerGetAttribute, (void*, CUpointer_attribute, CUdeviceptr))                                      \
  X(cuPointerGetAttributes, (unsigned, CUpointer_attribute*, void**, CUdeviceptr))                         \
  X(cuPointerSetAttribute, (const void*, CUpointer_attribute, CUdeviceptr))                                \
  /* Copies and fills */                                                                                   \
  X(cuMemcpy, (CUdeviceptr, CUdeviceptr, std::size_t))                                                     \
  X(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, std::size_t, CUstream))                                      \
  X(cuMemcpyPeer, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t))                           \
  X(cuMemcpyPeerAsync, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t, CUstream))            \
  X(cuMemcpyHtoD_v2, (CUdeviceptr, const void*, std::size_t))                                              \
  X(cuMemcpyDtoH_v2, (void*, CUdeviceptr, std::size_t))                                                    \
  X(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, std::size_t))                                              \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, std::size_t, CUstream))                               \
  X(cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, std::size_t, CUstream))                                     \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, std::size_t, CUstream))                               \
  X(cuMemcpy2D_v2, (const CUDA_MEMCPY2D*))                                                                 \
  X(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D*))                                                        \
  X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D*, CUstream))                                                  \
  X(cuMemcpy3D_v2, (const CUDA_MEMCPY3D*))                                                                 \
  X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D*, CUstream))                                                  \
  X(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER*))                                                           \
  X(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER*, CUstream))                                            \
  X(cuMemsetD8_v2, (CUdeviceptr, unsigned char, std::size_t))                                              \
  X(cuMemsetD16_v2, (CUdeviceptr, unsigned short, std::size_t))                                            \
  X(cuMemsetD32_v2, (CUdeviceptr, unsigned, std::size_t))                                                  \
  X(cuMemsetD2D8_v2, (CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t))                  \
  X(cuMemsetD2D16_v2, (CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t))                \
  X(cuMemsetD2D32_v2, (CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t))                      \
  X(cuMemsetD8Async, (CUdeviceptr, unsigned char, std::size_t, CUstream))                                  \
  X(cuMemsetD16Async, (CUdeviceptr, unsigned short, std::size_t, CUstream))                                \
  X(cuMemsetD32Async, (CUdeviceptr, unsigned, std::size_t, CUstream))                                      \
  X(cuMemsetD2D8Async, (CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream))      \
  X(cuMemsetD2D16Async, (CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream))    \
  X(cuMemsetD2D32Async, (CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream))          \
  /* Streams and events */                                                                                 \
  X(cuStreamCreate, (CUstream*, unsigned))                                                                 \
  X(cuStreamCreateWithPriority, (CUstream*, unsigned, int))                                                \
  X(cuStreamDestroy, (CUstream))                                                                           \
  X(cuStreamDestroy_v2, (CUstream))                                                                        \
  X(cuStreamSynchronize, (CUstream))                                                                       \
  X(cuStreamQuery, (CUstream))                                                                             \
  X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                                      \
  X(cuStreamAddCallback, (CUstream, CUstreamCallback, void*, unsigned))                                    \
  X(cuStreamAttachMemAsync, (CUstream, CUdeviceptr, std::size_t, unsigned))                                \
  X(cuStreamGetPriority, (CUstream, int*))                                                                 \
  X(cuStreamGetFlags, (CUstream, unsigned*))                                                               \
  X(cuStreamGetId, (CUstream, unsigned long long*))                                                        \
  X(cuStreamGetDevice, (CUstream, CUdevice*))                                                              \
  X(cuStreamGetCtx, (CUstream, CUcontext*))                                                                \
  X(cuStreamCopyAttributes, (CUstream, CUstream))                                                          \
  X(cuStreamGetAttribute, (CUstream, CUlaunchAttributeID, CUlaunchAttributeValue*))                        \
  X(cuStreamSetAttribute, (CUstream, CUlaunchAttributeID, const CUlaunchAttributeValue*))                  \
  X(cuStreamBeginCapture, (CUstream))                                                                      \
  X(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode))                                              \
  X(cuStreamBeginCaptureToGraph,                                                                           \
    (CUstream, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, std::size_t, CUstreamCaptureMode))     \
  X(cuStreamEndCapture, (CUstream, CUgraph*))                                                              \
  X(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus*))                                               \
  X(cuStreamGetCaptureInfo, (CUstream, CUstreamCaptureStatus*, std::uint64_t*))                            \
  X(cuStreamGetCaptureInfo_v2,                                                                             \
    (CUstream, CUstreamCaptureStatus*, std::uint64_t*, CUgraph*, const CUgraphNode**, std::size_t*))       \
  X(cuStreamGetCaptureInfo_v3, (CUstream, CUstreamCaptureStatus*, std::uint64_t*, CUgraph*,                \
                                const CUgraphNode**, const CUgraphEdgeData**, std::size_t*))               \
  X(cuStreamUpdateCaptureDependencies, (CUstream, CUgraphNode*, std::size_t, unsigned))                    \
  X(cuStreamUpdateCaptureDependencies_v2,                                                                  \
    (CUstream, CUgraphNode*, const CUgraphEdgeData*, std::size_t, unsigned))                               \
  X(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode*))                                             \
  X(cuStreamWriteValue32, (CUstream, CUdeviceptr, std::uint32_t, unsigned))                                \
  X(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, std::uint32_t, unsigned))                             \
  X(cuStreamWriteValue64, (CUstream, CUdeviceptr, std::uint64_t, unsigned))                                \
  X(cuStreamWriteValue64_v2, (CUstream, CUdeviceptr, std::uint64_t, unsigned))                             \
  X(cuStreamWaitValue32, (CUstream, CUdeviceptr, std::uint32_t, unsigned))                                 \
  X(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, std::uint32_t, unsigned))                              \
  X(cuStreamWaitValue64, (CUstream, CUdeviceptr, std::uint64_t, unsigned))                                 \
  X(cuStreamWaitValue64_v2, (CUstream, CUdeviceptr, std::uint64_t, unsigned))                              \
  X(cuEventCreate, (CUevent*, unsigned))                                                                   \
  X(cuEventDestroy, (CUevent))                                                                             \
  X(cuEventDestroy_v2, (CUevent))                                                                          \
  X(cuEventRecord, (CUevent, CUstream))                                                                    \
  X(cuEventRecordWithFlags, (CUevent, CUstream, unsigned))                                                 \
  X(cuEventQuery, (CUevent))                                                                               \
  X(cuEventSynchronize, (CUevent))                                                                         \
  X(cuEventElapsedTime, (float*, CUevent, CUevent))                                                        \
  X(cuEventElapsedTime_v2, (float*, CUevent, CUevent))                                                     \
  /* Graphs */                                                                                             \
  X(cuGraphCreate, (CUgraph*, unsigned))                                                                   \
  X(cuGraphDestroy, (CUgraph))                                                                             \
  X(cuGraphClone, (CUgraph*, CUgraph))                                                                     \
  X(cuGraphNodeFindInClone, (CUgraphNode*, CUgraphNode, CUgraph))                                          \
  X(cuGraphAddKernelNode,                                                                                  \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS_v1*))           \
  X(cuGraphAddKernelNode_v2,                                                                               \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS*))              \
  X(cuGraphKernelNodeGetParams, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*))                                \
  X(cuGraphKernelNodeGetParams_v2, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS*))                                \
  X(cuGraphKernelNodeSetParams, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*))                          \
  X(cuGraphKernelNodeSetParams_v2, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*))                          \
  X(cuGraphKernelNodeCopyAttributes, (CUgraphNode, CUgraphNode))                                           \
  X(cuGraphKernelNodeGetAttribute, (CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue*))            \
  X(cuGraphKernelNodeSetAttribute, (CUgraphNode, CUlaunchAttributeID, const CUlaunchAttributeValue*))      \
  X(cuGraphAddMemcpyNode,                                                                                  \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_MEMCPY3D*, CUcontext))             \
  X(cuGraphMemcpyNodeGetParams, (CUgraphNode, CUDA_MEMCPY3D*))                                             \
  X(cuGraphMemcpyNodeSetParams, (CUgraphNode, const CUDA_MEMCPY3D*))                                       \
  X(cuGraphAddMemsetNode,                                                                                  \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_MEMSET_NODE_PARAMS*, CUcontext))   \
  X(cuGraphMemsetNodeGetParams, (CUgraphNode, CUDA_MEMSET_NODE_PARAMS*))                                   \
  X(cuGraphMemsetNodeSetParams, (CUgraphNode, const CUDA_MEMSET_NODE_PARAMS*))                             \
  X(cuGraphAddHostNode,                                                                                    \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_HOST_NODE_PARAMS*))                \
  X(cuGraphHostNodeGetParams, (CUgraphNode, CUDA_HOST_NODE_PARAMS*))                                       \
  X(cuGraphHostNodeSetParams, (CUgraphNode, const CUDA_HOST_NODE_PARAMS*))                                 \
  X(cuGraphAddChildGraphNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraph))           \
  X(cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph*))                                                \
  X(cuGraphAddEmptyNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t))                         \
  X(cuGraphAddEventRecordNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUevent))          \
  X(cuGraphEventRecordNodeGetEvent, (CUgraphNode, CUevent*))                                               \
  X(cuGraphEventRecordNodeSetEvent, (CUgraphNode, CUevent))                                                \
  X(cuGraphAddEventWaitNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUevent))            \
  X(cuGraphEventWaitNodeGetEvent, (CUgraphNode, CUevent*))                                                 \
  X(cuGraphEventWaitNodeSetEvent, (CUgraphNode, CUevent))                                                  \
  X(cuGraphAddMemAllocNode,                                                                                \
    (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUDA_MEM_ALLOC_NODE_PARAMS*))                 \
  X(cuGraphMemAllocNodeGetParams, (CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS*))                              \
  X(cuGraphAddMemFreeNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUdeviceptr))          \
  X(cuGraphMemFreeNodeGetParams, (CUgraphNode, CUdeviceptr*))                                              \
  X(cuGraphAddNode, (CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*))          \
  X(cuGraphAddNode_v2,                                                                                     \
    (CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, std::size_t, CUgraphNodeParams*))  \
  X(cuGraphNodeSetParams, (CUgraphNode, CUgraphNodeParams*))                                               \
  X(cuGraphNodeGetType, (CUgraphNode, CUgraphNodeType*))                                                   \
  X(cuGraphGetNodes, (CUgraph, CUgraphNode*, std::size_t*))                                                \
  X(cuGraphGetRootNodes, (CUgraph, CUgraphNode*, std::size_t*))                                            \
  X(cuGraphGetEdges, (CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*))                                  \
  X(cuGraphGetEdges_v2, (CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, std::size_t*))             \
  X(cuGraphNodeGetDependencies, (CUgraphNode, CUgraphNode*, std::size_t*))                                 \
  X(cuGraphNodeGetDependencies_v2, (CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*))            \
  X(cuGraphNodeGetDependentNodes, (CUgraphNode, CUgraphNode*, std::size_t*))                               \
  X(cuGraphNodeGetDependentNodes_v2, (CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*))          \
  X(cuGraphAddDependencies, (CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t))                \
  X(cuGraphAddDependencies_v2,                                                                             \
    (CUgraph, const CUgraphNode*, const CUgraphNode*, const CUgraphEdgeData*, std::size_t))                \
  X(cuGraphRemoveDependencies, (CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t))             \
  X(cuGraphRemoveDependencies_v2,                                                                          \
    (CUgraph, const CUgraphNode*, const CUgraphNode*, const CUgraphEdgeData*, std::size_t))                \
  X(cuGraphDestroyNode, (CUgraphNode))                                                                     \
  X(cuGraphInstantiate, (CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t))                         \
  X(cuGraphInstantiate_v2, (CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t))                      \
  X(cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))                              \
  X(cuGraphInstantiateWithParams, (CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*))                 \
  X(cuGraphExecGetFlags, (CUgraphExec, std::uint64_t*))                                                    \
  X(cuGraphExecKernelNodeSetParams, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*))         \
  X(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*))         \
  X(cuGraphExecMemcpyNodeSetParams, (CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D*, CUcontext))           \
  X(cuGraphExecMemsetNodeSetParams, (CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS*, CUcontext)) \
  X(cuGraphExecHostNodeSetParams, (CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS*))                \
  X(cuGraphExecChildGraphNodeSetParams, (CUgraphExec, CUgraphNode, CUgraph))                               \
  X(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec, CUgraphNode, CUevent))                               \
  X(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec, CUgraphNode, CUevent))                                 \
  X(cuGraphExecNodeSetParams, (CUgraphExec, CUgraphNode, CUgraphNodeParams*))                              \
  X(cuGraphNodeSetEnabled, (CUgraphExec, CUgraphNode, unsigned))                                           \
  X(cuGraphNodeGetEnabled, (CUgraphExec, CUgraphNode, unsigned*))                                          \
  X(cuGraphUpload, (CUgraphExec, CUstream))                                                                \
  X(cuGraphLaunch, (CUgraphExec, CUstream))                                                                \
  X(cuGraphExecDestroy, (CUgraphExec))                                                                     \
  X(cuGraphExecUpdate, (CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*))                     \
  X(cuGraphExecUpdate_v2, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*))                            \
  X(cuGraphDebugDotPrint, (CUgraph, const char*, unsigned))                                                \
  X(cuUserObjectCreate, (CUuserObject*, void*, CUhostFn, unsigned, unsigned))                              \
  X(cuUserObjectRetain, (CUuserObject, unsigned))                                                          \
  X(cuUserObjectRelease, (CUuserObject, unsigned))                                                         \
  X(cuGraphRetainUserObject, (CUgraph, CUuserObject, unsigned, unsigned))                                  \
  X(cuGraphReleaseUserObject, (CUgraph, CUuserObject, unsigned))                                           \
  /* Tensor maps and the profiler */                                                                       \
  X(cuTensorMapEncodeTiled,                                                                                \
    (CUtensorMap*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,                  \
     const std::uint32_t*, const std::uint32_t*, int, int, int, int))                                      \
  X(cuTensorMapEncodeIm2col,                                                                               \
    (CUtensorMap*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*, const int*,      \
     const int*, std::uint32_t, std::uint32_t, const std::uint32_t*, int, int, int, int))                  \
  X(cuTensorMapReplaceAddress, (CUtensorMap*, void*))                                                      \
  X(cuProfilerStart, ())                                                                                   \
  X(cuProfilerStop, ())

#if !defined(KAIO_CUDA_LIST_ONLY)

#if defined(_WIN32)
#define KAIO_CUDA_API extern "C" __declspec(dllexport)
#else
#define KAIO_CUDA_API extern "C" __attribute__((visibility("default")))
#endif

namespace kaio::driver_emulator {

#define KAIO_CUDA_DECLARE(name, parameters) KAIO_CUDA_API CUresult KAIO_CUDAAPI name parameters;
KAIO_CUDA_FUNCTIONS(KAIO_CUDA_DECLARE)
#undef KAIO_CUDA_DECLARE

// The number of a function, in the order of the list.
enum class function_id : std::uint16_t {
#define KAIO_CUDA_NUMBER(name, parameters) name,
  KAIO_CUDA_FUNCTIONS(KAIO_CUDA_NUMBER)
#undef KAIO_CUDA_NUMBER
      count
};

}  // namespace kaio::driver_emulator

#endif
