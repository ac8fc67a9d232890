//! Types of the backends that are not built: nothing makes one of them.

#[derive(Debug, Clone)]
pub struct MetalStorage;

#[derive(Debug, Clone)]
pub struct MetalDevice;

#[cfg(not(feature = "cuda"))]
#[derive(Debug)]
pub struct CudaStorage;

#[cfg(not(feature = "cuda"))]
#[derive(Debug, Clone)]
pub struct CudaDevice;
