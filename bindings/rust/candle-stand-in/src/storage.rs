//! Storage on any device, and the dispatch of custom operations.
use crate::{bail, CpuStorage, CudaStorage, CustomOp1, CustomOp2, CustomOp3, DType, Device};
use crate::{InplaceOp1, InplaceOp2, InplaceOp3, Layout, MetalStorage, Result, Shape};

#[derive(Debug)]
pub enum Storage {
    Cpu(CpuStorage),
    Cuda(CudaStorage),
    Metal(MetalStorage),
}

impl Storage {
    pub fn device(&self) -> Device {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(storage) => Device::Cuda(storage.device.clone()),
            _ => Device::Cpu,
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Self::Cpu(storage) => storage.dtype(),
            #[cfg(feature = "cuda")]
            Self::Cuda(storage) => storage.dtype(),
            _ => unreachable!("this backend is not built"),
        }
    }

    pub(crate) fn to_cpu(&self) -> Result<CpuStorage> {
        match self {
            Self::Cpu(storage) => Ok(storage.clone()),
            #[cfg(feature = "cuda")]
            Self::Cuda(storage) => storage.download(),
            _ => bail!("this backend is not built"),
        }
    }

    pub(crate) fn apply_op1(&self, l: &Layout, c: &dyn CustomOp1) -> Result<(Self, Shape)> {
        match self {
            Self::Cpu(s) => c.cpu_fwd(s, l).map(|(s, shape)| (Self::Cpu(s), shape)),
            Self::Cuda(s) => c.cuda_fwd(s, l).map(|(s, shape)| (Self::Cuda(s), shape)),
            Self::Metal(_) => bail!("this backend is not built"),
        }
    }

    pub(crate) fn apply_op2(
        &self,
        l1: &Layout,
        t2: &Self,
        l2: &Layout,
        c: &dyn CustomOp2,
    ) -> Result<(Self, Shape)> {
        match (self, t2) {
            (Self::Cpu(s1), Self::Cpu(s2)) => {
                c.cpu_fwd(s1, l1, s2, l2).map(|(s, shape)| (Self::Cpu(s), shape))
            }
            (Self::Cuda(s1), Self::Cuda(s2)) => c
                .cuda_fwd(s1, l1, s2, l2)
                .map(|(s, shape)| (Self::Cuda(s), shape)),
            _ => bail!("device mismatch in {}", c.name()),
        }
    }

    pub(crate) fn apply_op3(
        &self,
        l1: &Layout,
        t2: &Self,
        l2: &Layout,
        t3: &Self,
        l3: &Layout,
        c: &dyn CustomOp3,
    ) -> Result<(Self, Shape)> {
        match (self, t2, t3) {
            (Self::Cpu(s1), Self::Cpu(s2), Self::Cpu(s3)) => c
                .cpu_fwd(s1, l1, s2, l2, s3, l3)
                .map(|(s, shape)| (Self::Cpu(s), shape)),
            (Self::Cuda(s1), Self::Cuda(s2), Self::Cuda(s3)) => c
                .cuda_fwd(s1, l1, s2, l2, s3, l3)
                .map(|(s, shape)| (Self::Cuda(s), shape)),
            _ => bail!("device mismatch in {}", c.name()),
        }
    }

    pub(crate) fn inplace_op1(&mut self, l: &Layout, c: &dyn InplaceOp1) -> Result<()> {
        match self {
            Self::Cpu(s) => c.cpu_fwd(s, l),
            Self::Cuda(s) => c.cuda_fwd(s, l),
            Self::Metal(_) => bail!("this backend is not built"),
        }
    }

    pub(crate) fn inplace_op2(
        &mut self,
        l1: &Layout,
        t2: &Self,
        l2: &Layout,
        c: &dyn InplaceOp2,
    ) -> Result<()> {
        match (self, t2) {
            (Self::Cpu(s1), Self::Cpu(s2)) => c.cpu_fwd(s1, l1, s2, l2),
            (Self::Cuda(s1), Self::Cuda(s2)) => c.cuda_fwd(s1, l1, s2, l2),
            _ => bail!("device mismatch in {}", c.name()),
        }
    }

    pub(crate) fn inplace_op3(
        &mut self,
        l1: &Layout,
        t2: &Self,
        l2: &Layout,
        t3: &Self,
        l3: &Layout,
        c: &dyn InplaceOp3,
    ) -> Result<()> {
        match (self, t2, t3) {
            (Self::Cpu(s1), Self::Cpu(s2), Self::Cpu(s3)) => c.cpu_fwd(s1, l1, s2, l2, s3, l3),
            (Self::Cuda(s1), Self::Cuda(s2), Self::Cuda(s3)) => c.cuda_fwd(s1, l1, s2, l2, s3, l3),
            _ => bail!("device mismatch in {}", c.name()),
        }
    }
}
