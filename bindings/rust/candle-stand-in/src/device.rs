//! Devices.
#[cfg(not(feature = "cuda"))]
use crate::bail;
use crate::dummy_backend::MetalDevice;
use crate::{CpuStorage, Result, Storage};

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub enum DeviceLocation {
    Cpu,
    Cuda { gpu_id: usize },
    Metal { gpu_id: usize },
}

#[derive(Debug, Clone)]
pub enum Device {
    Cpu,
    Cuda(crate::CudaDevice),
    Metal(MetalDevice),
}

impl Device {
    #[cfg(feature = "cuda")]
    pub fn new_cuda(ordinal: usize) -> Result<Self> {
        Ok(Self::Cuda(crate::CudaDevice::with_handle_2(ordinal)?))
    }

    #[cfg(not(feature = "cuda"))]
    pub fn new_cuda(ordinal: usize) -> Result<Self> {
        bail!("this build has no feature cuda: device {ordinal} is not to be had")
    }

    #[cfg(feature = "cuda")]
    pub fn new_cuda_with_stream(ordinal: usize) -> Result<Self> {
        Ok(Self::Cuda(crate::CudaDevice::new_with_stream(ordinal)?))
    }

    pub fn location(&self) -> DeviceLocation {
        match self {
            Self::Cpu => DeviceLocation::Cpu,
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => DeviceLocation::Cuda {
                gpu_id: device.cuda_stream().context().ordinal(),
            },
            #[cfg(not(feature = "cuda"))]
            Self::Cuda(_) => DeviceLocation::Cuda { gpu_id: 0 },
            Self::Metal(_) => DeviceLocation::Metal { gpu_id: 0 },
        }
    }

    pub fn same_device(&self, rhs: &Self) -> bool {
        self.location() == rhs.location()
    }

    pub fn is_cpu(&self) -> bool {
        matches!(self, Self::Cpu)
    }

    pub fn is_cuda(&self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    pub fn synchronize(&self) -> Result<()> {
        #[cfg(feature = "cuda")]
        if let Self::Cuda(device) = self {
            return device.cuda_stream().synchronize().map_err(crate::Error::msg);
        }
        Ok(())
    }

    pub(crate) fn storage(&self, cpu: CpuStorage) -> Result<Storage> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(device) => Ok(Storage::Cuda(device.upload(&cpu)?)),
            _ => Ok(Storage::Cpu(cpu)),
        }
    }
}
