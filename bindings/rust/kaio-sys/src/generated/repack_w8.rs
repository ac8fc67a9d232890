// Made by bindings/rust/generate.py from src/c/operations/repack_w8.json.
use crate::base::DLTensor;

/// Integers of eight bits with scales: compressed-tensors int-quantized, and others. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_int8_w8 {
    /// `size_of::<kaio_int8_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k); i8.
    pub weight: *const DLTensor,
    /// Needed; (n, groups), (n) or (1); f32, f16 or bf16.
    pub scales: *const DLTensor,
    /// (n, groups), or (1, 1) if the group is k; i8; for weights with zero_points.
    pub zero_points: *const DLTensor,
}

impl Default for kaio_int8_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            scales: core::ptr::null(),
            zero_points: core::ptr::null(),
        }
    }
}

/// bitsandbytes' LLM.int8, rows: W = weight * scb / 127. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_llm_int8_w8 {
    /// `size_of::<kaio_llm_int8_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k); i8.
    pub weight: *const DLTensor,
    /// Needed; (n); f32.
    pub scb: *const DLTensor,
}

impl Default for kaio_llm_int8_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            scb: core::ptr::null(),
        }
    }
}

/// GPTQ's tensors of 8 bits. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gptq_w8 {
    /// `size_of::<kaio_gptq_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (k / 4, n); i32 or u32.
    pub qweight: *const DLTensor,
    /// Needed; (groups, n); f32, f16 or bf16.
    pub scales: *const DLTensor,
    /// (groups, n / 4); i32 or u32; for weights with zero_points.
    pub qzeros: *const DLTensor,
    /// (k); i32; the group of each k; for weights with act_order.
    pub g_idx: *const DLTensor,
    /// 1: checkpoint_format gptq_v2; gptq stores zero points less 1.
    pub v2: i32,
    /// 0.
    pub reserved_44: i32,
}

impl Default for kaio_gptq_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            qweight: core::ptr::null(),
            scales: core::ptr::null(),
            qzeros: core::ptr::null(),
            g_idx: core::ptr::null(),
            v2: 0,
            reserved_44: 0,
        }
    }
}

/// Tensors of compressed-tensors, format pack-quantized, of 8 bits. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_compressed_tensors_w8 {
    /// `size_of::<kaio_compressed_tensors_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 4); i32 or u32.
    pub weight_packed: *const DLTensor,
    /// Needed; (n, groups) or (n); f32, f16 or bf16.
    pub weight_scale: *const DLTensor,
    /// (n / 4, groups); i32 or u32; for weights with zero_points.
    pub weight_zero_point: *const DLTensor,
    /// (k); i32; the group of each k; for weights with act_order.
    pub weight_g_idx: *const DLTensor,
}

impl Default for kaio_compressed_tensors_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight_packed: core::ptr::null(),
            weight_scale: core::ptr::null(),
            weight_zero_point: core::ptr::null(),
            weight_g_idx: core::ptr::null(),
        }
    }
}

/// GGUF's Q8_0, in groups of 32. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_q8_0_w8 {
    /// `size_of::<kaio_q8_0_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 32 * 34); u8; rows adjacent, at even addresses.
    pub blocks: *const DLTensor,
}

impl Default for kaio_q8_0_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            blocks: core::ptr::null(),
        }
    }
}

/// 8-bit floats with scales, as DeepSeek's weight_scale_inv. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_e4m3_w8 {
    /// `size_of::<kaio_e4m3_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k); e4m3 or u8.
    pub weight: *const DLTensor,
    /// Needed; (n, groups), (n) or (1); or (n / 128, k / 128), rounded up, if the group is 128; f32, f16 or
    /// bf16.
    pub scales: *const DLTensor,
}

impl Default for kaio_e4m3_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// vLLM's Marlin with bias 128, k a multiple of 16, n of 64. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_marlin_w8 {
    /// `size_of::<kaio_marlin_w8>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (k / 16, 4 n); i32 or u32.
    pub b: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16; permuted.
    pub scales: *const DLTensor,
}

impl Default for kaio_marlin_w8 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            b: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}
