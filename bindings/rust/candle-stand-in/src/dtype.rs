//! Element types. f16, bf16 and F8E4M3 hold bits, as the crates half and float8 do.
use crate::{CpuStorage, Error, Result};

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    U8,
    U32,
    I16,
    I32,
    I64,
    BF16,
    F16,
    F32,
    F64,
    F8E4M3,
    F6E2M3,
    F6E3M2,
    F4,
    F8E8M0,
}

impl DType {
    pub fn size_in_bytes(&self) -> usize {
        match self {
            Self::U8 | Self::F8E4M3 | Self::F8E8M0 => 1,
            Self::I16 | Self::BF16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
            Self::F6E2M3 | Self::F6E3M2 | Self::F4 => 0,
        }
    }
}

/// Rounds to a binary format of `exponent` and `mantissa` bits, ties to even, and returns its bits.
fn encode(value: f64, exponent: i32, mantissa: i32, infinities: bool) -> u32 {
    let bias = (1 << (exponent - 1)) - 1;
    let sign = u32::from(value.is_sign_negative()) << (exponent + mantissa);
    let special = ((1u32 << exponent) - 1) << mantissa;
    if value.is_nan() {
        return sign
            | special
            | if infinities {
                1 << (mantissa - 1)
            } else {
                (1 << mantissa) - 1
            };
    }
    let magnitude = value.abs();
    let power = if magnitude == 0.0 {
        1 - bias
    } else {
        (magnitude.log2().floor() as i32).max(1 - bias)
    };
    let scaled = magnitude / 2f64.powi(power - mantissa);
    let floor = scaled.floor();
    let odd = floor % 2.0 == 1.0;
    let up = scaled - floor > 0.5 || (scaled - floor == 0.5 && odd);
    let code = if magnitude.is_infinite() {
        f64::INFINITY
    } else {
        floor + f64::from(u8::from(up)) + f64::from((power + bias - 1) * (1 << mantissa))
    };
    let largest = if infinities {
        special
    } else {
        special + (1 << mantissa) - 2
    };
    sign | if code >= f64::from(largest) {
        largest
    } else {
        code as u32
    }
}

fn decode(bits: u32, exponent: i32, mantissa: i32, infinities: bool) -> f64 {
    let bias = (1 << (exponent - 1)) - 1;
    let sign = if bits >> (exponent + mantissa) & 1 == 1 {
        -1.0
    } else {
        1.0
    };
    let power = (bits >> mantissa) as i32 & ((1 << exponent) - 1);
    let fraction = f64::from(bits & ((1 << mantissa) - 1));
    if power == (1 << exponent) - 1 && infinities {
        return if fraction == 0.0 {
            sign * f64::INFINITY
        } else {
            f64::NAN
        };
    }
    if power == (1 << exponent) - 1 && fraction == f64::from((1 << mantissa) - 1) {
        return f64::NAN;
    }
    let unit = 2f64.powi(power.max(1) - bias - mantissa);
    sign * unit * (fraction + if power == 0 { 0.0 } else { f64::from(1 << mantissa) })
}

macro_rules! small_float {
    ($name:ident, $bits:ty, $exponent:literal, $mantissa:literal, $infinities:literal) => {
        #[allow(non_camel_case_types)]
        #[derive(Debug, Copy, Clone, PartialEq)]
        #[repr(transparent)]
        pub struct $name(pub $bits);

        impl $name {
            pub fn from_f64(value: f64) -> Self {
                Self(encode(value, $exponent, $mantissa, $infinities) as $bits)
            }

            pub fn to_f64(self) -> f64 {
                decode(u32::from(self.0), $exponent, $mantissa, $infinities)
            }
        }
    };
}
small_float!(f16, u16, 5, 10, true);
small_float!(bf16, u16, 8, 7, true);
small_float!(F8E4M3, u8, 4, 3, false);

pub trait WithDType: Sized + Copy + 'static + Send + Sync {
    const DTYPE: DType;

    fn from_f64(v: f64) -> Self;
    fn to_f64(self) -> f64;
    fn to_cpu_storage_owned(data: Vec<Self>) -> CpuStorage;
    fn cpu_storage_as_slice(s: &CpuStorage) -> Result<&[Self]>;
    fn cpu_storage_data(s: CpuStorage) -> Result<Vec<Self>>;
}

macro_rules! with_dtype {
    ($ty:ty, $dtype:ident, $from_f64:expr, $to_f64:expr) => {
        impl WithDType for $ty {
            const DTYPE: DType = DType::$dtype;

            fn from_f64(v: f64) -> Self {
                $from_f64(v)
            }

            fn to_f64(self) -> f64 {
                $to_f64(self)
            }

            fn to_cpu_storage_owned(data: Vec<Self>) -> CpuStorage {
                CpuStorage::$dtype(data)
            }

            fn cpu_storage_as_slice(s: &CpuStorage) -> Result<&[Self]> {
                match s {
                    CpuStorage::$dtype(data) => Ok(data),
                    _ => Err(unexpected(DType::$dtype, s)),
                }
            }

            fn cpu_storage_data(s: CpuStorage) -> Result<Vec<Self>> {
                match s {
                    CpuStorage::$dtype(data) => Ok(data),
                    _ => Err(unexpected(DType::$dtype, &s)),
                }
            }
        }
    };
}

fn unexpected(expected: DType, got: &CpuStorage) -> Error {
    Error::UnexpectedDType {
        msg: "unexpected dtype",
        expected,
        got: got.dtype(),
    }
    .bt()
}

with_dtype!(u8, U8, |v: f64| v as u8, |v: u8| v as f64);
with_dtype!(u32, U32, |v: f64| v as u32, |v: u32| v as f64);
with_dtype!(i16, I16, |v: f64| v as i16, |v: i16| v as f64);
with_dtype!(i32, I32, |v: f64| v as i32, |v: i32| v as f64);
with_dtype!(i64, I64, |v: f64| v as i64, |v: i64| v as f64);
with_dtype!(f16, F16, f16::from_f64, f16::to_f64);
with_dtype!(bf16, BF16, bf16::from_f64, bf16::to_f64);
with_dtype!(f32, F32, |v: f64| v as f32, |v: f32| v as f64);
with_dtype!(f64, F64, |v: f64| v, |v: f64| v);
with_dtype!(F8E4M3, F8E4M3, F8E4M3::from_f64, F8E4M3::to_f64);

pub trait FloatDType: WithDType {}
impl FloatDType for f16 {}
impl FloatDType for bf16 {}
impl FloatDType for f32 {}
impl FloatDType for f64 {}
