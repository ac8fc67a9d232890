//! Storage on the CPU.
use crate::dtype::{bf16, f16, F8E4M3};
use crate::{DType, Layout, WithDType};

#[derive(Debug, Clone)]
pub enum CpuStorage {
    U8(Vec<u8>),
    U32(Vec<u32>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    BF16(Vec<bf16>),
    F16(Vec<f16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    F8E4M3(Vec<F8E4M3>),
    F6E2M3(Vec<u8>),
    F6E3M2(Vec<u8>),
    F4(Vec<u8>),
    F8E8M0(Vec<u8>),
}

/// Runs `$body` with `$v` bound to the vector of the storage.
macro_rules! with_storage {
    ($storage:expr, $v:ident => $body:expr) => {
        match $storage {
            CpuStorage::U8($v) => $body,
            CpuStorage::U32($v) => $body,
            CpuStorage::I16($v) => $body,
            CpuStorage::I32($v) => $body,
            CpuStorage::I64($v) => $body,
            CpuStorage::BF16($v) => $body,
            CpuStorage::F16($v) => $body,
            CpuStorage::F32($v) => $body,
            CpuStorage::F64($v) => $body,
            CpuStorage::F8E4M3($v) => $body,
            CpuStorage::F6E2M3($v) => $body,
            CpuStorage::F6E3M2($v) => $body,
            CpuStorage::F4($v) => $body,
            CpuStorage::F8E8M0($v) => $body,
        }
    };
}

impl CpuStorage {
    pub fn dtype(&self) -> DType {
        match self {
            Self::U8(_) => DType::U8,
            Self::U32(_) => DType::U32,
            Self::I16(_) => DType::I16,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::BF16(_) => DType::BF16,
            Self::F16(_) => DType::F16,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::F8E4M3(_) => DType::F8E4M3,
            Self::F6E2M3(_) => DType::F6E2M3,
            Self::F6E3M2(_) => DType::F6E3M2,
            Self::F4(_) => DType::F4,
            Self::F8E8M0(_) => DType::F8E8M0,
        }
    }

    pub(crate) fn values(&self, layout: &Layout) -> Vec<f64> {
        with_storage!(self, v => layout.places().iter().map(|&at| v[at].to_f64()).collect())
    }

    /// Elements of a layout, row by row, in their own type.
    pub(crate) fn gathered(&self, layout: &Layout) -> Self {
        let places = layout.places();
        macro_rules! of {
            ($($kind:ident),+) => { match self { $(Self::$kind(v) => Self::$kind(places.iter().map(|&at| v[at]).collect())),+ } };
        }
        of!(U8, U32, I16, I32, I64, BF16, F16, F32, F64, F8E4M3, F6E2M3, F6E3M2, F4, F8E8M0)
    }

    pub(crate) fn from_values(values: &[f64], dtype: DType) -> Self {
        fn of<T: WithDType>(values: &[f64]) -> CpuStorage {
            T::to_cpu_storage_owned(values.iter().map(|&v| T::from_f64(v)).collect())
        }
        match dtype {
            DType::U8 | DType::F6E2M3 | DType::F6E3M2 | DType::F4 | DType::F8E8M0 => of::<u8>(values),
            DType::U32 => of::<u32>(values),
            DType::I16 => of::<i16>(values),
            DType::I32 => of::<i32>(values),
            DType::I64 => of::<i64>(values),
            DType::BF16 => of::<bf16>(values),
            DType::F16 => of::<f16>(values),
            DType::F32 => of::<f32>(values),
            DType::F64 => of::<f64>(values),
            DType::F8E4M3 => of::<F8E4M3>(values),
        }
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn bytes(&self) -> (*const u8, usize) {
        with_storage!(self, v => (v.as_ptr().cast(), std::mem::size_of_val(v.as_slice())))
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn bytes_mut(&mut self) -> (*mut u8, usize) {
        with_storage!(self, v => (v.as_mut_ptr().cast(), std::mem::size_of_val(v.as_slice())))
    }
}
