//! A stand-in for the parts of candle-core 0.11 that kaio-candle, its tests and its examples use. It exists for
//! machines that cannot fetch crates: `--config 'patch.crates-io.candle-core.path="../candle-stand-in"'`.
//!
//! Files, types and signatures are candle's; `signatures.py` compares them with candle's sources. The code inside is
//! written for clarity: numbers of all types pass through f64. With the feature `cuda`, device memory and streams come
//! from the CUDA driver that the loader finds, which may be kaio's emulated one.

mod arithmetic;
pub mod backprop;
mod cpu_backend;
#[cfg(feature = "cuda")]
pub mod cuda_backend;
#[cfg(feature = "cuda")]
pub mod cudarc;
mod custom_op;
mod device;
mod dtype;
pub mod dummy_backend;
pub mod error;
pub mod layout;
pub mod op;
pub mod shape;
mod storage;
mod tensor;
mod variable;

pub use cpu_backend::CpuStorage;
pub use custom_op::{CustomOp1, CustomOp2, CustomOp3, InplaceOp1, InplaceOp2, InplaceOp3};
pub use device::{Device, DeviceLocation};
pub use dtype::{DType, FloatDType, WithDType};
pub use dummy_backend::MetalStorage;
pub use error::{Error, Result};
pub use layout::Layout;
pub use shape::{Shape, D};
pub use storage::Storage;
pub use tensor::{Tensor, TensorId};
pub use variable::Var;

#[cfg(feature = "cuda")]
pub use cuda_backend as cuda;
#[cfg(not(feature = "cuda"))]
pub use dummy_backend as cuda;

pub use cuda::{CudaDevice, CudaStorage};

/// A layer with one input and one output.
pub trait Module {
    fn forward(&self, xs: &Tensor) -> Result<Tensor>;
}
