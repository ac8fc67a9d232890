// Made by bindings/rust/generate.py from src/c/operations/repack_w4.json.
use crate::base::DLTensor;

/// GPTQ's tensors of 2, 3 or 4 bits. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_gptq_w4 {
    /// `size_of::<kaio_gptq_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (k bits / 32, n); i32 or u32.
    pub qweight: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16.
    pub scales: *const DLTensor,
    /// (groups, n bits / 32); i32 or u32; for weights with zero_points.
    pub qzeros: *const DLTensor,
    /// (k); i32; the group of each k; for weights with act_order.
    pub g_idx: *const DLTensor,
    /// 1: checkpoint_format gptq_v2; gptq stores zero points less 1.
    pub v2: i32,
    /// 0.
    pub reserved_44: i32,
    /// Default 4; 2, 3 or 4.
    pub bits: i64,
}

impl Default for kaio_gptq_w4 {
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
            bits: 4,
        }
    }
}

/// AutoAWQ's tensors, version gemm. The weights have zero_points. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_awq_w4 {
    /// `size_of::<kaio_awq_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (k, n / 8); i32 or u32.
    pub qweight: *const DLTensor,
    /// Needed; (groups, n / 8); i32 or u32.
    pub qzeros: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16.
    pub scales: *const DLTensor,
}

impl Default for kaio_awq_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            qweight: core::ptr::null(),
            qzeros: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// Tensors of compressed-tensors, format pack-quantized, of 2, 3 or 4 bits. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_compressed_tensors_w4 {
    /// `size_of::<kaio_compressed_tensors_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k bits / 32); i32 or u32.
    pub weight_packed: *const DLTensor,
    /// Needed; (n, groups); f16 or bf16.
    pub weight_scale: *const DLTensor,
    /// (n bits / 32, groups); i32 or u32; for weights with zero_points.
    pub weight_zero_point: *const DLTensor,
    /// (k); i32; the group of each k; for weights with act_order.
    pub weight_g_idx: *const DLTensor,
    /// Default 4; 2, 3 or 4.
    pub bits: i64,
}

impl Default for kaio_compressed_tensors_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight_packed: core::ptr::null(),
            weight_scale: core::ptr::null(),
            weight_zero_point: core::ptr::null(),
            weight_g_idx: core::ptr::null(),
            bits: 4,
        }
    }
}

/// bitsandbytes' nf4 or fp4, in blocks of `group`, which divides k. Either absmax, or the members after it.
/// Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_bitsandbytes_w4 {
    /// `size_of::<kaio_bitsandbytes_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8; the even k in the upper half of a byte.
    pub weight: *const DLTensor,
    /// (n, k / group); f32.
    pub absmax: *const DLTensor,
    /// (n, k / group); u8; rows adjacent: absmax = nested_quant_map\[code\] * nested_absmax\[block /
    /// nested_blocksize\] + nested_offset.
    pub absmax_codes: *const DLTensor,
    /// (256); f32.
    pub nested_quant_map: *const DLTensor,
    /// (blocks); f32.
    pub nested_absmax: *const DLTensor,
    /// Nested offset.
    pub nested_offset: f32,
    /// 0.
    pub reserved_52: i32,
    /// Default 256.
    pub nested_blocksize: i64,
}

impl Default for kaio_bitsandbytes_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            absmax: core::ptr::null(),
            absmax_codes: core::ptr::null(),
            nested_quant_map: core::ptr::null(),
            nested_absmax: core::ptr::null(),
            nested_offset: 0.0,
            reserved_52: 0,
            nested_blocksize: 256,
        }
    }
}

/// MXFP4 of gpt-oss (its last two dimensions as one) and compressed-tensors. The weights have codes e2m1
/// and scales e8m0. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_mxfp4_w4 {
    /// `size_of::<kaio_mxfp4_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8; the even k in the lower half of a byte.
    pub blocks: *const DLTensor,
    /// Needed; (n, k / 32); u8 or e8m0.
    pub scales: *const DLTensor,
}

impl Default for kaio_mxfp4_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            blocks: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// NVFP4. The weights have codes e2m1 and scales e4m3. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_nvfp4_w4 {
    /// `size_of::<kaio_nvfp4_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 2); u8; the even k in the lower half of a byte.
    pub weight: *const DLTensor,
    /// Needed; (n, k / 16); u8 or e4m3.
    pub scales: *const DLTensor,
    /// (1) or (n); f32; for weights with factors.
    pub tensor_scale: *const DLTensor,
    /// 1: compressed-tensors' weight_global_scale, which divides; ModelOpt's multiplies.
    pub divides: i32,
    /// 0.
    pub reserved_36: i32,
}

impl Default for kaio_nvfp4_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            weight: core::ptr::null(),
            scales: core::ptr::null(),
            tensor_scale: core::ptr::null(),
            divides: 0,
            reserved_36: 0,
        }
    }
}

/// Weights in two's complement, eight codes in a word. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_int4_w4 {
    /// `size_of::<kaio_int4_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 8); i32 or u32.
    pub packed: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16.
    pub scales: *const DLTensor,
}

impl Default for kaio_int4_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// AutoAWQ's tensors, version gemv. zw = groups / 8, rounded up; to a multiple of 2 with groups of 64, of 4
/// with groups of 32. The weights have zero_points. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_awq_gemv_w4 {
    /// `size_of::<kaio_awq_gemv_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 8); i32 or u32.
    pub qweight: *const DLTensor,
    /// Needed; (n, zw); i32 or u32.
    pub qzeros: *const DLTensor,
    /// Needed; (n, 8 zw); f16 or bf16.
    pub scales: *const DLTensor,
}

impl Default for kaio_awq_gemv_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            qweight: core::ptr::null(),
            qzeros: core::ptr::null(),
            scales: core::ptr::null(),
        }
    }
}

/// AutoAWQ's tensors, version gemv_fast: W = scale * q + qzeros. The weights have scales f32, offsets, and
/// zero 0. zw as in kaio_awq_gemv_w4. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_awq_gemv_fast_w4 {
    /// `size_of::<kaio_awq_gemv_fast_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n / 4, k); i16.
    pub qweight: *const DLTensor,
    /// Needed; (8 zw, n); f16 or bf16.
    pub scales: *const DLTensor,
    /// Needed; (8 zw, n); elements of scales.
    pub qzeros: *const DLTensor,
}

impl Default for kaio_awq_gemv_fast_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            qweight: core::ptr::null(),
            scales: core::ptr::null(),
            qzeros: core::ptr::null(),
        }
    }
}

/// vLLM's Marlin with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while packing, and x
/// is not permuted here. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_marlin_w4 {
    /// `size_of::<kaio_marlin_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (k / 16, 2 n); i32 or u32.
    pub b: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16; permuted.
    pub scales: *const DLTensor,
    /// (groups, n / 8); i32 or u32; permuted; for weights with zero_points.
    pub zeros: *const DLTensor,
}

impl Default for kaio_marlin_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            b: core::ptr::null(),
            scales: core::ptr::null(),
            zeros: core::ptr::null(),
        }
    }
}

/// PyTorch's int4pack: W = scale * (q - 8) + zero. The weights have scales f32, offsets, and k and n as
/// packed. t = inner_k_tiles is 2, 4 or 8. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_tinygemm_w4 {
    /// `size_of::<kaio_tinygemm_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n / 8, k / (16 t), 32, t / 2); i32.
    pub packed: *const DLTensor,
    /// Needed; (k / group, n, 2); bf16.
    pub scales_and_zeros: *const DLTensor,
}

impl Default for kaio_tinygemm_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            packed: core::ptr::null(),
            scales_and_zeros: core::ptr::null(),
        }
    }
}

/// torchao's Int4Tensor: W = scale * q + zero_point. The weights have scales f32 and offsets. Any strides.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_torchao_int4_w4 {
    /// `size_of::<kaio_torchao_int4_w4>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Needed; (n, k / 8); i32 or u32; the file's bytes (n, k / 2), four as a word.
    pub qdata: *const DLTensor,
    /// Needed; (groups, n); f16 or bf16.
    pub scale: *const DLTensor,
    /// Needed; (groups, n); elements of scale.
    pub zero_point: *const DLTensor,
}

impl Default for kaio_torchao_int4_w4 {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            qdata: core::ptr::null(),
            scale: core::ptr::null(),
            zero_point: core::ptr::null(),
        }
    }
}
