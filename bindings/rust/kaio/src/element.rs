//! Types of elements.

use kaio_sys::DLDataType;

/// A type that device memory can hold. Every pattern of its bits is a value.
///
/// # Safety
/// The type has the size that `DTYPE` says, no padding, and every pattern of bits is valid.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The type in DLPack's words.
    const DTYPE: DataType;
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum DataType {
    F32,
    F64,
    F16,
    Bf16,
    E4m3,
    E5m2,
    E8m0,
    Boolean,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl DataType {
    /// All types.
    pub const ALL: [DataType; 16] = [
        DataType::F32,
        DataType::F64,
        DataType::F16,
        DataType::Bf16,
        DataType::E4m3,
        DataType::E5m2,
        DataType::E8m0,
        DataType::Boolean,
        DataType::I8,
        DataType::I16,
        DataType::I32,
        DataType::I64,
        DataType::U8,
        DataType::U16,
        DataType::U32,
        DataType::U64,
    ];

    /// The bytes of an element.
    pub fn bytes(self) -> usize {
        self.raw().bits as usize / 8
    }

    /// The type as the C interface has it.
    pub fn raw(self) -> DLDataType {
        let (code, bits) = match self {
            DataType::F32 => (kaio_sys::kDLFloat, 32),
            DataType::F64 => (kaio_sys::kDLFloat, 64),
            DataType::F16 => (kaio_sys::kDLFloat, 16),
            DataType::Bf16 => (kaio_sys::kDLBfloat, 16),
            DataType::E4m3 => (kaio_sys::kDLFloat8_e4m3fn, 8),
            DataType::E5m2 => (kaio_sys::kDLFloat8_e5m2, 8),
            DataType::E8m0 => (kaio_sys::kDLFloat8_e8m0fnu, 8),
            DataType::Boolean => (kaio_sys::kDLBool, 8),
            DataType::I8 => (kaio_sys::kDLInt, 8),
            DataType::I16 => (kaio_sys::kDLInt, 16),
            DataType::I32 => (kaio_sys::kDLInt, 32),
            DataType::I64 => (kaio_sys::kDLInt, 64),
            DataType::U8 => (kaio_sys::kDLUInt, 8),
            DataType::U16 => (kaio_sys::kDLUInt, 16),
            DataType::U32 => (kaio_sys::kDLUInt, 32),
            DataType::U64 => (kaio_sys::kDLUInt, 64),
        };
        DLDataType { code, bits, lanes: 1 }
    }

    /// The type of that description, if there is one.
    pub fn from_raw(raw: DLDataType) -> Option<DataType> {
        DataType::ALL.iter().copied().find(|one| one.raw() == raw)
    }
}

macro_rules! numbers {
    ($($type:ident $of:ident;)*) => {$(
        // SAFETY: a number, of the size of its type.
        unsafe impl Element for $type {
            const DTYPE: DataType = DataType::$of;
        }
    )*};
}
numbers! { f32 F32; f64 F64; i8 I8; i16 I16; i32 I32; i64 I64; u8 U8; u16 U16; u32 U32; u64 U64; }

macro_rules! patterns {
    ($($(#[$said:meta])* $name:ident($bits:ident);)*) => {$(
        $(#[$said])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $bits);

        // SAFETY: a number of the host, of which every pattern is valid.
        unsafe impl Element for $name {
            const DTYPE: DataType = DataType::$name;
        }
    )*};
}
patterns! {
    /// A number of 16 bits with 11 significant ones, as its bits.
    F16(u16);
    /// The upper 16 bits of an f32.
    Bf16(u16);
    /// A number of 8 bits with 4 significant ones, without infinities, as its bits.
    E4m3(u8);
    /// A number of 8 bits with 3 significant ones, as its bits.
    E5m2(u8);
    /// A power of two, as its biased exponent.
    E8m0(u8);
    /// 0 is false, everything else true.
    Boolean(u8);
}

impl Bf16 {
    /// The nearest number; ties go to even.
    pub fn from_f32(value: f32) -> Bf16 {
        let bits = value.to_bits();
        if value.is_nan() {
            return Bf16((bits >> 16) as u16 | 0x40);
        }
        Bf16((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }

    /// The same number.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

impl F16 {
    /// The nearest number; ties go to even, and what is too large becomes infinite.
    pub fn from_f32(value: f32) -> F16 {
        let sign = (value.to_bits() >> 16 & 0x8000) as u16;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return F16(sign | 0x7e00 | (magnitude >> 13 & 0x3ff) as u16);
        }
        if magnitude >= 0x4780_0000 {
            return F16(sign | 0x7c00);
        }
        if magnitude < 0x3880_0000 {
            // Below 2^-14 the unit is 2^-24: the sum with 0.5 has that unit in its last place, and the hardware rounds it.
            let sum = f32::from_bits(magnitude) + 0.5;
            return F16(sign | (sum.to_bits() - 0.5f32.to_bits()) as u16);
        }
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        F16(sign | ((rounded - 0x3800_0000) >> 13) as u16)
    }

    /// The same number.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let (exponent, fraction) = (u32::from(self.0 >> 10 & 31), u32::from(self.0 & 0x3ff));
        let magnitude = match exponent {
            0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
            31 => 0x7f80_0000 | fraction << 13,
            _ => (exponent + 112) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every number of 16 bits survives f32, and the middle between two neighbours goes to the even one.
    #[test]
    fn sixteen_bits() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (F16(bits), Bf16(bits));
            if !half.to_f32().is_nan() {
                assert_eq!(F16::from_f32(half.to_f32()), half);
            }
            if !brain.to_f32().is_nan() {
                assert_eq!(Bf16::from_f32(brain.to_f32()), brain);
            }
            if bits & 0x7fff < 0x7bff {
                let (low, high) = (f64::from(half.to_f32()), f64::from(F16(bits + 1).to_f32()));
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(
                    F16::from_f32(((low + high) / 2.0) as f32),
                    F16(even),
                    "{:x}",
                    bits
                );
            }
        }
        assert_eq!(F16::from_f32(65520.0).0, 0x7c00);
        assert_eq!(F16::from_f32(65519.9).0, 0x7bff);
        assert!(F16::from_f32(f32::NAN).to_f32().is_nan());
        assert!(Bf16::from_f32(f32::NAN).to_f32().is_nan());
    }

    #[test]
    fn types_have_the_size_of_their_elements() {
        fn same<T: Element>() {
            assert_eq!(std::mem::size_of::<T>(), T::DTYPE.bytes());
            assert_eq!(DataType::from_raw(T::DTYPE.raw()), Some(T::DTYPE));
        }
        same::<f32>();
        same::<f64>();
        same::<F16>();
        same::<Bf16>();
        same::<E4m3>();
        same::<E5m2>();
        same::<E8m0>();
        same::<Boolean>();
        same::<i64>();
        same::<u16>();
    }
}
