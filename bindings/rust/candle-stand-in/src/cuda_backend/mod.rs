//! Storage on a CUDA device.
mod device;

pub use crate::cudarc;
pub use device::CudaDevice;

use crate::dtype::{bf16, f16, F8E4M3};
use crate::{CpuStorage, DType, Error, Result};
use cudarc::driver::CudaSlice;

#[derive(Debug)]
pub enum CudaStorageSlice {
    U8(CudaSlice<u8>),
    U32(CudaSlice<u32>),
    I16(CudaSlice<i16>),
    I32(CudaSlice<i32>),
    I64(CudaSlice<i64>),
    BF16(CudaSlice<bf16>),
    F16(CudaSlice<f16>),
    F32(CudaSlice<f32>),
    F64(CudaSlice<f64>),
    F8E4M3(CudaSlice<F8E4M3>),
    F6E2M3(CudaSlice<u8>),
    F6E3M2(CudaSlice<u8>),
    F4(CudaSlice<u8>),
    F8E8M0(CudaSlice<u8>),
}

#[derive(Debug)]
pub struct CudaStorage {
    pub slice: CudaStorageSlice,
    pub device: CudaDevice,
}

macro_rules! each {
    ($($kind:ident),+) => {
        impl CudaStorage {
            pub(crate) fn dtype(&self) -> DType {
                match &self.slice { $(CudaStorageSlice::$kind(_) => DType::$kind),+ }
            }

            pub(crate) fn download(&self) -> Result<CpuStorage> {
                match &self.slice {
                    $(CudaStorageSlice::$kind(slice) => {
                        let mut cpu = CpuStorage::from_values(&vec![0.0; slice.len()], DType::$kind);
                        slice.stream().download(slice, cpu.bytes_mut().0).map_err(Error::msg)?;
                        Ok(cpu)
                    }),+
                }
            }
        }

        impl CudaDevice {
            pub(crate) fn upload(&self, cpu: &CpuStorage) -> Result<CudaStorage> {
                let slice = match cpu {
                    $(CpuStorage::$kind(values) => {
                        // SAFETY: all of it is written here.
                        let mut slice = unsafe { self.alloc(values.len())? };
                        self.cuda_stream().upload(cpu.bytes().0, &mut slice).map_err(Error::msg)?;
                        CudaStorageSlice::$kind(slice)
                    }),+
                };
                self.cuda_stream().synchronize().map_err(Error::msg)?;
                Ok(CudaStorage { slice, device: self.clone() })
            }
        }
    };
}
each!(U8, U32, I16, I32, I64, BF16, F16, F32, F64, F8E4M3, F6E2M3, F6E3M2, F4, F8E8M0);
