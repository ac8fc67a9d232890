// Made by bindings/rust/generate.py from src/c/operations/weight_formats.json.
use crate::base::DLTensor;

// kaio_block_format: A format of GGUF whose files have blocks of codes with the scales inside.
/// kaio_block_format: q4_0.
pub const KAIO_BLOCK_FORMAT_Q4_0: i32 = 0;
/// kaio_block_format: q4_1.
pub const KAIO_BLOCK_FORMAT_Q4_1: i32 = 1;
/// kaio_block_format: q5_0.
pub const KAIO_BLOCK_FORMAT_Q5_0: i32 = 2;
/// kaio_block_format: q5_1.
pub const KAIO_BLOCK_FORMAT_Q5_1: i32 = 3;
/// kaio_block_format: q8_0.
pub const KAIO_BLOCK_FORMAT_Q8_0: i32 = 4;
/// kaio_block_format: q2_k.
pub const KAIO_BLOCK_FORMAT_Q2_K: i32 = 5;
/// kaio_block_format: q3_k.
pub const KAIO_BLOCK_FORMAT_Q3_K: i32 = 6;
/// kaio_block_format: q4_k.
pub const KAIO_BLOCK_FORMAT_Q4_K: i32 = 7;
/// kaio_block_format: q5_k.
pub const KAIO_BLOCK_FORMAT_Q5_K: i32 = 8;
/// kaio_block_format: q6_k.
pub const KAIO_BLOCK_FORMAT_Q6_K: i32 = 9;
/// kaio_block_format: iq4_nl.
pub const KAIO_BLOCK_FORMAT_IQ4_NL: i32 = 10;
/// kaio_block_format: iq4_xs.
pub const KAIO_BLOCK_FORMAT_IQ4_XS: i32 = 11;
/// kaio_block_format: mxfp4.
pub const KAIO_BLOCK_FORMAT_MXFP4: i32 = 12;
/// kaio_block_format: nvfp4.
pub const KAIO_BLOCK_FORMAT_NVFP4: i32 = 13;

// kaio_block_operation: The operation that multiplies a format of blocks after kaio_repack_blocks_....
/// kaio_dequantise_blocks, then kaio_matmul.
pub const KAIO_BLOCK_OPERATION_NONE: i32 = 0;
/// kaio_block_operation: matmul_w4.
pub const KAIO_BLOCK_OPERATION_MATMUL_W4: i32 = 1;
/// kaio_block_operation: matmul_w8.
pub const KAIO_BLOCK_OPERATION_MATMUL_W8: i32 = 2;

// kaio_bnb_code: The codes of bitsandbytes.
/// kaio_bnb_code: nf4.
pub const KAIO_BNB_CODE_NF4: i32 = 0;
/// kaio_bnb_code: fp4.
pub const KAIO_BNB_CODE_FP4: i32 = 1;

/// absmax as codes of 8 bits: absmax of block i = nested_quant_map\[absmax\[i\]\] * nested_absmax\[i /
/// blocksize\] + offset.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_bnb_nested {
    /// `size_of::<kaio_bnb_nested>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (blocks); u8.
    pub absmax: *const DLTensor,
    /// Needed; (ceil(blocks / blocksize)); f32.
    pub nested_absmax: *const DLTensor,
    /// Needed; (256); f32.
    pub nested_quant_map: *const DLTensor,
    /// offset.
    pub offset: f32,
    /// 0.
    pub reserved_36: i32,
    /// Default 256; a power of two, at least 8.
    pub blocksize: i64,
}

impl Default for kaio_bnb_nested {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            absmax: core::ptr::null(),
            nested_absmax: core::ptr::null(),
            nested_quant_map: core::ptr::null(),
            offset: 0.0,
            reserved_36: 0,
            blocksize: 256,
        }
    }
}

/// bitsandbytes' nf4 and fp4. Blocks run over W row by row, and may span rows. Either absmax or nested is
/// given.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_bnb_4bit {
    /// `size_of::<kaio_bnb_4bit>()`.
    pub size: u32,
    /// kaio_bnb_code.
    pub code: i32,
    /// Needed; (ceil(n k / 2)); u8; the even element in the upper half of a byte.
    pub weight: *const DLTensor,
    /// (ceil(n k / blocksize)); f32; not read if nested is given.
    pub absmax: *const DLTensor,
    /// Default 64; a power of two, at least 8.
    pub blocksize: i64,
    /// NULL: absmax is given.
    pub nested: *const kaio_bnb_nested,
}

impl Default for kaio_bnb_4bit {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            code: 0,
            weight: core::ptr::null(),
            absmax: core::ptr::null(),
            blocksize: 64,
            nested: core::ptr::null(),
        }
    }
}

/// bitsandbytes' LLM.int8: W = weight * SCB / 127.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_bnb_int8 {
    /// `size_of::<kaio_bnb_int8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k); i8.
    pub weight: *const DLTensor,
    /// Needed; (n); f32.
    pub SCB: *const DLTensor,
}

impl Default for kaio_bnb_int8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            SCB: core::ptr::null(),
        }
    }
}

/// Codes of 8 bits with one scale for all, for each row, or for each block of rows and columns: W = weight
/// \* scale.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_scaled_bytes {
    /// `size_of::<kaio_scaled_bytes>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k); i8, e4m3 or e5m2.
    pub weight: *const DLTensor,
    /// Needed; (1, n or n / block_rows) x (1 or k / block_columns), rounded up; f32, f16, bf16, u8 or e8m0;
    /// u8 is E8M0.
    pub scale: *const DLTensor,
    /// Default 128.
    pub block_rows: i64,
    /// Default 128.
    pub block_columns: i64,
}

impl Default for kaio_scaled_bytes {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            scale: core::ptr::null(),
            block_rows: 128,
            block_columns: 128,
        }
    }
}

/// MXFP4 of gpt-oss (all experts as one matrix) and of compressed-tensors.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_mxfp4_tensors {
    /// `size_of::<kaio_mxfp4_tensors>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8; the even element in the lower half of a byte.
    pub packed: *const DLTensor,
    /// Needed; (n, k / 32); u8 or e8m0.
    pub scales: *const DLTensor,
}

impl Default for kaio_mxfp4_tensors {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// NVFP4: W = e2m1 * (scale * global), or e2m1 * (scale / global).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_nvfp4_tensors {
    /// `size_of::<kaio_nvfp4_tensors>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8; the even element in the lower half of a byte.
    pub packed: *const DLTensor,
    /// Needed; (n, k / 16); e4m3.
    pub scales: *const DLTensor,
    /// (1); f32; NULL: 1.
    pub global: *const DLTensor,
    /// 1: compressed-tensors' weight_global_scale, which divides.
    pub divide: i32,
    /// 0.
    pub reserved_36: i32,
}

impl Default for kaio_nvfp4_tensors {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales: core::ptr::null(),
            global: core::ptr::null(),
            divide: 0,
            reserved_36: 0,
        }
    }
}

/// Where kaio_quantise_bnb_4bit writes. If blocks do not end with rows, the rows of w have no gaps between
/// them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_bnb_4bit_output {
    /// `size_of::<kaio_bnb_4bit_output>()`.
    pub size: u32,
    /// kaio_bnb_code.
    pub code: i32,
    /// Needed; (ceil(n k / 2)); u8.
    pub weight: *const DLTensor,
    /// Needed; (ceil(n k / blocksize)); f32.
    pub absmax: *const DLTensor,
    /// Default 64; a power of two, 32 to 65536.
    pub blocksize: i64,
}

impl Default for kaio_bnb_4bit_output {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            code: 0,
            weight: core::ptr::null(),
            absmax: core::ptr::null(),
            blocksize: 64,
        }
    }
}

/// Where kaio_quantise_mxfp4 writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_mxfp4_output {
    /// `size_of::<kaio_mxfp4_output>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8.
    pub packed: *const DLTensor,
    /// Needed; (n, k / 32); u8 or e8m0.
    pub scales: *const DLTensor,
}

impl Default for kaio_mxfp4_output {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// Where kaio_quantise_nvfp4 writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_nvfp4_output {
    /// `size_of::<kaio_nvfp4_output>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8.
    pub packed: *const DLTensor,
    /// Needed; (n, k / 16); e4m3.
    pub scales: *const DLTensor,
    /// (1); f32; gets absmax / 2688; NULL: scales of one level.
    pub global: *const DLTensor,
}

impl Default for kaio_nvfp4_output {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales: core::ptr::null(),
            global: core::ptr::null(),
        }
    }
}

/// Where kaio_quantise_w4 writes: the layout of kaio_compressed_tensors_w4.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_w4_output {
    /// `size_of::<kaio_w4_output>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 8); i32.
    pub weight_packed: *const DLTensor,
    /// Needed; (n, k / group); f16 or bf16.
    pub weight_scale: *const DLTensor,
    /// (n / 8, k / group); i32; NULL: symmetric.
    pub weight_zero_point: *const DLTensor,
    /// Default 128; a multiple of 16 that divides k; or k, also given as -1.
    pub group: i64,
}

impl Default for kaio_w4_output {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight_packed: core::ptr::null(),
            weight_scale: core::ptr::null(),
            weight_zero_point: core::ptr::null(),
            group: 128,
        }
    }
}
