//! A CUDA device: a context and a stream.
use super::cudarc;
use crate::{Error, Result};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct CudaDevice {
    stream: Arc<cudarc::driver::CudaStream>,
}

impl CudaDevice {
    #[allow(clippy::missing_safety_doc)]
    pub unsafe fn alloc<T: cudarc::driver::DeviceRepr>(
        &self,
        len: usize,
    ) -> Result<cudarc::driver::CudaSlice<T>> {
        self.stream.alloc::<T>(len).map_err(Error::msg)
    }

    pub fn cuda_stream(&self) -> Arc<cudarc::driver::CudaStream> {
        self.stream.clone()
    }

    pub fn new_with_stream(ordinal: usize) -> Result<Self> {
        let context = cudarc::driver::CudaContext::new(ordinal).map_err(Error::msg)?;
        Ok(Self {
            stream: context.new_stream().map_err(Error::msg)?,
        })
    }

    /// What candle's `BackendDevice::new` does: the stream of each thread.
    pub(crate) fn with_handle_2(ordinal: usize) -> Result<Self> {
        let context = cudarc::driver::CudaContext::new(ordinal).map_err(Error::msg)?;
        Ok(Self {
            stream: context.per_thread_stream(),
        })
    }
}
