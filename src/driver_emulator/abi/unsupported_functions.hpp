#pragma once
// Functions of the driver that the emulator does not have: textures and arrays, virtual memory management,
// other processes' objects, graphics, green contexts, and the 32-bit symbols of before CUDA 4. They are
// exported, so that a program which only may call them loads; a call says so and returns
// CUDA_ERROR_NOT_SUPPORTED. cuGetProcAddress does not know them.

// clang-format off
#define KAIO_CUDA_UNSUPPORTED_FUNCTIONS(X) \
  X(cuArray3DCreate) X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor) X(cuArray3DGetDescriptor_v2) \
  X(cuArrayCreate) X(cuArrayCreate_v2) X(cuArrayDestroy) X(cuArrayGetDescriptor) \
  X(cuArrayGetDescriptor_v2) X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) \
  X(cuArrayGetSparseProperties) X(cuCheckpointProcessCheckpoint) \
  X(cuCheckpointProcessGetRestoreThreadId) X(cuCheckpointProcessGetState) X(cuCheckpointProcessLock) \
  X(cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock) X(cuCoredumpGetAttribute) \
  X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute) X(cuCoredumpSetAttributeGlobal) \
  X(cuCtxFromGreenCtx) X(cuCtxGetDevResource) X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) \
  X(cuDevResourceGenerateDesc) X(cuDevSmResourceSplitByCount) X(cuDeviceGetDevResource) \
  X(cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetNvSciSyncAttributes) \
  X(cuDeviceGetP2PAtomicCapabilities) X(cuDeviceGetTexture1DLinearMaxWidth) \
  X(cuDeviceRegisterAsyncNotification) X(cuDeviceTotalMem) X(cuDeviceUnregisterAsyncNotification) \
  X(cuExternalMemoryGetMappedBuffer) X(cuExternalMemoryGetMappedMipmappedArray) \
  X(cuFlushGPUDirectRDMAWrites) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize) \
  X(cuGraphAddBatchMemOpNode) X(cuGraphAddExternalSemaphoresSignalNode) \
  X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphBatchMemOpNodeGetParams) \
  X(cuGraphBatchMemOpNodeSetParams) X(cuGraphConditionalHandleCreate) \
  X(cuGraphExecBatchMemOpNodeSetParams) X(cuGraphExecExternalSemaphoresSignalNodeSetParams) \
  X(cuGraphExecExternalSemaphoresWaitNodeSetParams) X(cuGraphExternalSemaphoresSignalNodeGetParams) \
  X(cuGraphExternalSemaphoresSignalNodeSetParams) X(cuGraphExternalSemaphoresWaitNodeGetParams) \
  X(cuGraphExternalSemaphoresWaitNodeSetParams) X(cuGraphicsMapResources) X(cuGraphicsMapResources_ptsz) \
  X(cuGraphicsResourceGetMappedMipmappedArray) X(cuGraphicsResourceGetMappedPointer) \
  X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceSetMapFlags) \
  X(cuGraphicsResourceSetMapFlags_v2) X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources) \
  X(cuGraphicsUnmapResources_ptsz) X(cuGraphicsUnregisterResource) X(cuGreenCtxCreate) \
  X(cuGreenCtxDestroy) X(cuGreenCtxGetDevResource) X(cuGreenCtxGetId) X(cuGreenCtxRecordEvent) \
  X(cuGreenCtxStreamCreate) X(cuGreenCtxWaitEvent) X(cuImportExternalMemory) \
  X(cuImportExternalSemaphore) X(cuIpcCloseMemHandle) X(cuIpcGetEventHandle) X(cuIpcGetMemHandle) \
  X(cuIpcOpenEventHandle) X(cuIpcOpenMemHandle) X(cuIpcOpenMemHandle_v2) X(cuLaunch) \
  X(cuLaunchCooperativeKernelMultiDevice) X(cuLaunchGrid) X(cuLaunchGridAsync) \
  X(cuLibraryGetUnifiedFunction) X(cuLogsCurrent) X(cuLogsDumpToFile) X(cuLogsDumpToMemory) \
  X(cuLogsRegisterCallback) X(cuLogsUnregisterCallback) X(cuMemAddressFree) X(cuMemAddressReserve) \
  X(cuMemAlloc) X(cuMemAllocHost) X(cuMemAllocPitch) X(cuMemBatchDecompressAsync) \
  X(cuMemBatchDecompressAsync_ptsz) X(cuMemCreate) X(cuMemDiscardAndPrefetchBatchAsync) \
  X(cuMemDiscardAndPrefetchBatchAsync_ptsz) X(cuMemDiscardBatchAsync) X(cuMemDiscardBatchAsync_ptsz) \
  X(cuMemExportToShareableHandle) X(cuMemFree) X(cuMemGetAccess) X(cuMemGetAddressRange) \
  X(cuMemGetAllocationGranularity) X(cuMemGetAllocationPropertiesFromHandle) X(cuMemGetDefaultMemPool) \
  X(cuMemGetHandleForAddressRange) X(cuMemGetInfo) X(cuMemGetMemPool) X(cuMemHostGetDevicePointer) \
  X(cuMemHostRegister) X(cuMemImportFromShareableHandle) X(cuMemMap) X(cuMemMapArrayAsync) \
  X(cuMemMapArrayAsync_ptsz) X(cuMemPoolExportPointer) X(cuMemPoolExportToShareableHandle) \
  X(cuMemPoolImportFromShareableHandle) X(cuMemPoolImportPointer) X(cuMemPrefetchBatchAsync) \
  X(cuMemPrefetchBatchAsync_ptsz) X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes) X(cuMemRelease) \
  X(cuMemRetainAllocationHandle) X(cuMemSetAccess) X(cuMemSetMemPool) X(cuMemUnmap) X(cuMemcpy2D) \
  X(cuMemcpy2DAsync) X(cuMemcpy2DUnaligned) X(cuMemcpy3D) X(cuMemcpy3DAsync) X(cuMemcpy3DBatchAsync) \
  X(cuMemcpy3DBatchAsync_ptsz) X(cuMemcpy3DBatchAsync_v2) X(cuMemcpy3DBatchAsync_v2_ptsz) \
  X(cuMemcpyAtoA) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoA_v2_ptds) X(cuMemcpyAtoD) X(cuMemcpyAtoD_v2) \
  X(cuMemcpyAtoD_v2_ptds) X(cuMemcpyAtoH) X(cuMemcpyAtoHAsync) X(cuMemcpyAtoHAsync_v2) \
  X(cuMemcpyAtoHAsync_v2_ptsz) X(cuMemcpyAtoH_v2) X(cuMemcpyAtoH_v2_ptds) X(cuMemcpyBatchAsync) \
  X(cuMemcpyBatchAsync_ptsz) X(cuMemcpyBatchAsync_v2) X(cuMemcpyBatchAsync_v2_ptsz) X(cuMemcpyDtoA) \
  X(cuMemcpyDtoA_v2) X(cuMemcpyDtoA_v2_ptds) X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoH) \
  X(cuMemcpyDtoHAsync) X(cuMemcpyHtoA) X(cuMemcpyHtoAAsync) X(cuMemcpyHtoAAsync_v2) \
  X(cuMemcpyHtoAAsync_v2_ptsz) X(cuMemcpyHtoA_v2) X(cuMemcpyHtoA_v2_ptds) X(cuMemcpyHtoD) \
  X(cuMemcpyHtoDAsync) X(cuMemsetD16) X(cuMemsetD2D16) X(cuMemsetD2D32) X(cuMemsetD2D8) X(cuMemsetD32) \
  X(cuMemsetD8) X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) \
  X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties) X(cuModuleGetGlobal) \
  X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuMulticastAddDevice) X(cuMulticastBindAddr) \
  X(cuMulticastBindMem) X(cuMulticastCreate) X(cuMulticastGetGranularity) X(cuMulticastUnbind) \
  X(cuParamSetSize) X(cuParamSetTexRef) X(cuParamSetf) X(cuParamSeti) X(cuParamSetv) \
  X(cuSignalExternalSemaphoresAsync) X(cuSignalExternalSemaphoresAsync_ptsz) X(cuStreamBatchMemOp) \
  X(cuStreamBatchMemOp_ptsz) X(cuStreamBatchMemOp_v2) X(cuStreamBatchMemOp_v2_ptsz) X(cuStreamGetCtx_v2) \
  X(cuStreamGetCtx_v2_ptsz) X(cuStreamGetGreenCtx) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) \
  X(cuSurfObjectGetResourceDesc) X(cuSurfRefGetArray) X(cuSurfRefSetArray) \
  X(cuTensorMapEncodeIm2colWide) X(cuTexObjectCreate) X(cuTexObjectDestroy) \
  X(cuTexObjectGetResourceDesc) X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) \
  X(cuTexRefCreate) X(cuTexRefDestroy) X(cuTexRefGetAddress) X(cuTexRefGetAddressMode) \
  X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode) \
  X(cuTexRefGetFlags) X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode) \
  X(cuTexRefGetMipmapLevelBias) X(cuTexRefGetMipmapLevelClamp) X(cuTexRefGetMipmappedArray) \
  X(cuTexRefSetAddress) X(cuTexRefSetAddress2D) X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3) \
  X(cuTexRefSetAddressMode) X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor) \
  X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat) X(cuTexRefSetMaxAnisotropy) \
  X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias) X(cuTexRefSetMipmapLevelClamp) \
  X(cuTexRefSetMipmappedArray) X(cuWaitExternalSemaphoresAsync) X(cuWaitExternalSemaphoresAsync_ptsz)
// clang-format on
