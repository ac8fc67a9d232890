// Made by bindings/rust/generate.py from src/c/operations/repack_w4.json.
//! Packing weights of four bits.

use super::*;
use crate::call::*;

/// GPTQ's tensors of 2, 3 or 4 bits. Any strides.
#[derive(Clone, Debug)]
pub struct GptqW4<'a> {
    qweight: TensorView<'a>,
    scales: TensorView<'a>,
    qzeros: Option<TensorView<'a>>,
    g_idx: Option<TensorView<'a>>,
    v2: bool,
    bits: i64,
}

impl<'a> GptqW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qweight`: (k bits / 32, n); i32 or u32.
    /// - `scales`: (groups, n); f16 or bf16.
    pub fn new(qweight: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        GptqW4 {
            qweight: *qweight,
            scales: *scales,
            qzeros: None,
            g_idx: None,
            v2: false,
            bits: 4,
        }
    }

    setters! {
        /// (groups, n bits / 32); i32 or u32; for weights with zero_points.
        view qzeros(&TensorView<'a>) => qzeros;
        /// (k); i32; the group of each k; for weights with act_order.
        view g_idx(&TensorView<'a>) => g_idx;
        /// True: checkpoint_format gptq_v2; gptq stores zero points less 1.
        value v2(bool) => v2;
        /// 2, 3 or 4; default 4.
        value bits(i64) => bits;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gptq_w4> {
        Ok(sys::kaio_gptq_w4 {
            qweight: hold.tensor(&self.qweight),
            scales: hold.tensor(&self.scales),
            qzeros: hold.optional(&self.qzeros),
            g_idx: hold.optional(&self.g_idx),
            v2: i32::from(self.v2),
            bits: self.bits,
            ..Default::default()
        })
    }
}

/// AutoAWQ's tensors, version gemm. The weights have zero_points. Any strides.
#[derive(Clone, Debug)]
pub struct AwqW4<'a> {
    qweight: TensorView<'a>,
    qzeros: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> AwqW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qweight`: (k, n / 8); i32 or u32.
    /// - `qzeros`: (groups, n / 8); i32 or u32.
    /// - `scales`: (groups, n); f16 or bf16.
    pub fn new(qweight: &TensorView<'a>, qzeros: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        AwqW4 {
            qweight: *qweight,
            qzeros: *qzeros,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_awq_w4> {
        Ok(sys::kaio_awq_w4 {
            qweight: hold.tensor(&self.qweight),
            qzeros: hold.tensor(&self.qzeros),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// Tensors of compressed-tensors, format pack-quantized, of 2, 3 or 4 bits. Any strides.
#[derive(Clone, Debug)]
pub struct CompressedTensorsW4<'a> {
    weight_packed: TensorView<'a>,
    weight_scale: TensorView<'a>,
    weight_zero_point: Option<TensorView<'a>>,
    weight_g_idx: Option<TensorView<'a>>,
    bits: i64,
}

impl<'a> CompressedTensorsW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight_packed`: (n, k bits / 32); i32 or u32.
    /// - `weight_scale`: (n, groups); f16 or bf16.
    pub fn new(weight_packed: &TensorView<'a>, weight_scale: &TensorView<'a>) -> Self {
        CompressedTensorsW4 {
            weight_packed: *weight_packed,
            weight_scale: *weight_scale,
            weight_zero_point: None,
            weight_g_idx: None,
            bits: 4,
        }
    }

    setters! {
        /// (n bits / 32, groups); i32 or u32; for weights with zero_points.
        view weight_zero_point(&TensorView<'a>) => weight_zero_point;
        /// (k); i32; the group of each k; for weights with act_order.
        view weight_g_idx(&TensorView<'a>) => weight_g_idx;
        /// 2, 3 or 4; default 4.
        value bits(i64) => bits;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_compressed_tensors_w4> {
        Ok(sys::kaio_compressed_tensors_w4 {
            weight_packed: hold.tensor(&self.weight_packed),
            weight_scale: hold.tensor(&self.weight_scale),
            weight_zero_point: hold.optional(&self.weight_zero_point),
            weight_g_idx: hold.optional(&self.weight_g_idx),
            bits: self.bits,
            ..Default::default()
        })
    }
}

/// bitsandbytes' nf4 or fp4, in blocks of `group`, which divides k. Either absmax, or the members after it.
/// Any strides.
#[derive(Clone, Debug)]
pub struct BitsandbytesW4<'a> {
    weight: TensorView<'a>,
    absmax: Option<TensorView<'a>>,
    absmax_codes: Option<TensorView<'a>>,
    nested_quant_map: Option<TensorView<'a>>,
    nested_absmax: Option<TensorView<'a>>,
    nested_offset: f32,
    nested_blocksize: i64,
}

impl<'a> BitsandbytesW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k / 2); u8; the even k in the upper half of a byte.
    pub fn new(weight: &TensorView<'a>) -> Self {
        BitsandbytesW4 {
            weight: *weight,
            absmax: None,
            absmax_codes: None,
            nested_quant_map: None,
            nested_absmax: None,
            nested_offset: 0.0,
            nested_blocksize: 256,
        }
    }

    setters! {
        /// (n, k / group); f32.
        view absmax(&TensorView<'a>) => absmax;
        /// (n, k / group); u8; rows adjacent: absmax = nested_quant_map\[code\] * nested_absmax\[block /
        /// nested_blocksize\] + nested_offset.
        view absmax_codes(&TensorView<'a>) => absmax_codes;
        /// (256); f32.
        view nested_quant_map(&TensorView<'a>) => nested_quant_map;
        /// (blocks); f32.
        view nested_absmax(&TensorView<'a>) => nested_absmax;
        /// Nested offset.
        value nested_offset(f32) => nested_offset;
        /// Nested blocksize; default 256.
        value nested_blocksize(i64) => nested_blocksize;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_bitsandbytes_w4> {
        Ok(sys::kaio_bitsandbytes_w4 {
            weight: hold.tensor(&self.weight),
            absmax: hold.optional(&self.absmax),
            absmax_codes: hold.optional(&self.absmax_codes),
            nested_quant_map: hold.optional(&self.nested_quant_map),
            nested_absmax: hold.optional(&self.nested_absmax),
            nested_offset: self.nested_offset,
            nested_blocksize: self.nested_blocksize,
            ..Default::default()
        })
    }
}

/// MXFP4 of gpt-oss (its last two dimensions as one) and compressed-tensors. The weights have codes e2m1
/// and scales e8m0. Any strides.
#[derive(Clone, Debug)]
pub struct Mxfp4W4<'a> {
    blocks: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> Mxfp4W4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `blocks`: (n, k / 2); u8; the even k in the lower half of a byte.
    /// - `scales`: (n, k / 32); u8 or e8m0.
    pub fn new(blocks: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Mxfp4W4 {
            blocks: *blocks,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_mxfp4_w4> {
        Ok(sys::kaio_mxfp4_w4 {
            blocks: hold.tensor(&self.blocks),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// NVFP4. The weights have codes e2m1 and scales e4m3. Any strides.
#[derive(Clone, Debug)]
pub struct Nvfp4W4<'a> {
    weight: TensorView<'a>,
    scales: TensorView<'a>,
    tensor_scale: Option<TensorView<'a>>,
    divides: bool,
}

impl<'a> Nvfp4W4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k / 2); u8; the even k in the lower half of a byte.
    /// - `scales`: (n, k / 16); u8 or e4m3.
    pub fn new(weight: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Nvfp4W4 {
            weight: *weight,
            scales: *scales,
            tensor_scale: None,
            divides: false,
        }
    }

    setters! {
        /// (1) or (n); f32; for weights with factors.
        view tensor_scale(&TensorView<'a>) => tensor_scale;
        /// True: compressed-tensors' weight_global_scale, which divides; ModelOpt's multiplies.
        value divides(bool) => divides;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_nvfp4_w4> {
        Ok(sys::kaio_nvfp4_w4 {
            weight: hold.tensor(&self.weight),
            scales: hold.tensor(&self.scales),
            tensor_scale: hold.optional(&self.tensor_scale),
            divides: i32::from(self.divides),
            ..Default::default()
        })
    }
}

/// Weights in two's complement, eight codes in a word. Any strides.
#[derive(Clone, Debug)]
pub struct Int4W4<'a> {
    packed: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> Int4W4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n, k / 8); i32 or u32.
    /// - `scales`: (groups, n); f16 or bf16.
    pub fn new(packed: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Int4W4 {
            packed: *packed,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_int4_w4> {
        Ok(sys::kaio_int4_w4 {
            packed: hold.tensor(&self.packed),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// AutoAWQ's tensors, version gemv. zw = groups / 8, rounded up; to a multiple of 2 with groups of 64, of 4
/// with groups of 32. The weights have zero_points. Any strides.
#[derive(Clone, Debug)]
pub struct AwqGemvW4<'a> {
    qweight: TensorView<'a>,
    qzeros: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> AwqGemvW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qweight`: (n, k / 8); i32 or u32.
    /// - `qzeros`: (n, zw); i32 or u32.
    /// - `scales`: (n, 8 zw); f16 or bf16.
    pub fn new(qweight: &TensorView<'a>, qzeros: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        AwqGemvW4 {
            qweight: *qweight,
            qzeros: *qzeros,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_awq_gemv_w4> {
        Ok(sys::kaio_awq_gemv_w4 {
            qweight: hold.tensor(&self.qweight),
            qzeros: hold.tensor(&self.qzeros),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// AutoAWQ's tensors, version gemv_fast: W = scale * q + qzeros. The weights have scales f32, offsets, and
/// zero 0. zw as in awq_gemv_w4. Any strides.
#[derive(Clone, Debug)]
pub struct AwqGemvFastW4<'a> {
    qweight: TensorView<'a>,
    scales: TensorView<'a>,
    qzeros: TensorView<'a>,
}

impl<'a> AwqGemvFastW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qweight`: (n / 4, k); i16.
    /// - `scales`: (8 zw, n); f16 or bf16.
    /// - `qzeros`: (8 zw, n); elements of scales.
    pub fn new(qweight: &TensorView<'a>, scales: &TensorView<'a>, qzeros: &TensorView<'a>) -> Self {
        AwqGemvFastW4 {
            qweight: *qweight,
            scales: *scales,
            qzeros: *qzeros,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_awq_gemv_fast_w4> {
        Ok(sys::kaio_awq_gemv_fast_w4 {
            qweight: hold.tensor(&self.qweight),
            scales: hold.tensor(&self.scales),
            qzeros: hold.tensor(&self.qzeros),
            ..Default::default()
        })
    }
}

/// vLLM's Marlin with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while packing, and x
/// is not permuted here. Any strides.
#[derive(Clone, Debug)]
pub struct MarlinW4<'a> {
    b: TensorView<'a>,
    scales: TensorView<'a>,
    zeros: Option<TensorView<'a>>,
}

impl<'a> MarlinW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `b`: (k / 16, 2 n); i32 or u32.
    /// - `scales`: (groups, n); f16 or bf16; permuted.
    pub fn new(b: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        MarlinW4 {
            b: *b,
            scales: *scales,
            zeros: None,
        }
    }

    setters! {
        /// (groups, n / 8); i32 or u32; permuted; for weights with zero_points.
        view zeros(&TensorView<'a>) => zeros;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_marlin_w4> {
        Ok(sys::kaio_marlin_w4 {
            b: hold.tensor(&self.b),
            scales: hold.tensor(&self.scales),
            zeros: hold.optional(&self.zeros),
            ..Default::default()
        })
    }
}

/// PyTorch's int4pack: W = scale * (q - 8) + zero. The weights have scales f32, offsets, and k and n as
/// packed. t = inner_k_tiles is 2, 4 or 8. Any strides.
#[derive(Clone, Debug)]
pub struct TinygemmW4<'a> {
    packed: TensorView<'a>,
    scales_and_zeros: TensorView<'a>,
}

impl<'a> TinygemmW4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n / 8, k / (16 t), 32, t / 2); i32.
    /// - `scales_and_zeros`: (k / group, n, 2); bf16.
    pub fn new(packed: &TensorView<'a>, scales_and_zeros: &TensorView<'a>) -> Self {
        TinygemmW4 {
            packed: *packed,
            scales_and_zeros: *scales_and_zeros,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_tinygemm_w4> {
        Ok(sys::kaio_tinygemm_w4 {
            packed: hold.tensor(&self.packed),
            scales_and_zeros: hold.tensor(&self.scales_and_zeros),
            ..Default::default()
        })
    }
}

/// torchao's Int4Tensor: W = scale * q + zero_point. The weights have scales f32 and offsets. Any strides.
#[derive(Clone, Debug)]
pub struct TorchaoInt4W4<'a> {
    qdata: TensorView<'a>,
    scale: TensorView<'a>,
    zero_point: TensorView<'a>,
}

impl<'a> TorchaoInt4W4<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qdata`: (n, k / 8); i32 or u32; the file's bytes (n, k / 2), four as a word.
    /// - `scale`: (groups, n); f16 or bf16.
    /// - `zero_point`: (groups, n); elements of scale.
    pub fn new(qdata: &TensorView<'a>, scale: &TensorView<'a>, zero_point: &TensorView<'a>) -> Self {
        TorchaoInt4W4 {
            qdata: *qdata,
            scale: *scale,
            zero_point: *zero_point,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_torchao_int4_w4> {
        Ok(sys::kaio_torchao_int4_w4 {
            qdata: hold.tensor(&self.qdata),
            scale: hold.tensor(&self.scale),
            zero_point: hold.tensor(&self.zero_point),
            ..Default::default()
        })
    }
}

/// Packs GPTQ's tensors for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: GPTQ's tensors of 2, 3 or 4 bits. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackGptqW4`].
pub fn repack_gptq_w4<'a>(source: &GptqW4<'a>, weights: &W4Weights<'a>) -> RepackGptqW4<'a> {
    RepackGptqW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_gptq_w4`: see the function [`repack_gptq_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackGptqW4<'a> {
    source: GptqW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackGptqW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_gptq_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_gptq_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs AutoAWQ's tensors, version gemm for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: AutoAWQ's tensors, version gemm. The weights have zero_points. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackAwqW4`].
pub fn repack_awq_w4<'a>(source: &AwqW4<'a>, weights: &W4Weights<'a>) -> RepackAwqW4<'a> {
    RepackAwqW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_awq_w4`: see the function [`repack_awq_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackAwqW4<'a> {
    source: AwqW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackAwqW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs tensors of compressed-tensors, format pack-quantized for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: Tensors of compressed-tensors, format pack-quantized, of 2, 3 or 4 bits. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackCompressedTensorsW4`].
pub fn repack_compressed_tensors_w4<'a>(
    source: &CompressedTensorsW4<'a>,
    weights: &W4Weights<'a>,
) -> RepackCompressedTensorsW4<'a> {
    RepackCompressedTensorsW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_compressed_tensors_w4`: see the function [`repack_compressed_tensors_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackCompressedTensorsW4<'a> {
    source: CompressedTensorsW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackCompressedTensorsW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_compressed_tensors_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_compressed_tensors_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs bitsandbytes' nf4 or fp4 for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: bitsandbytes' nf4 or fp4, in blocks of `group`, which divides k. Either absmax, or the
///   members after it. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackBitsandbytesW4`].
pub fn repack_bitsandbytes_w4<'a>(
    source: &BitsandbytesW4<'a>,
    weights: &W4Weights<'a>,
) -> RepackBitsandbytesW4<'a> {
    RepackBitsandbytesW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_bitsandbytes_w4`: see the function [`repack_bitsandbytes_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackBitsandbytesW4<'a> {
    source: BitsandbytesW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackBitsandbytesW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_bitsandbytes_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_bitsandbytes_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs MXFP4 for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: MXFP4 of gpt-oss (its last two dimensions as one) and compressed-tensors. The weights have
///   codes e2m1 and scales e8m0. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackMxfp4W4`].
pub fn repack_mxfp4_w4<'a>(source: &Mxfp4W4<'a>, weights: &W4Weights<'a>) -> RepackMxfp4W4<'a> {
    RepackMxfp4W4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_mxfp4_w4`: see the function [`repack_mxfp4_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackMxfp4W4<'a> {
    source: Mxfp4W4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackMxfp4W4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_mxfp4_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_mxfp4_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs NVFP4 for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: NVFP4. The weights have codes e2m1 and scales e4m3. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackNvfp4W4`].
pub fn repack_nvfp4_w4<'a>(source: &Nvfp4W4<'a>, weights: &W4Weights<'a>) -> RepackNvfp4W4<'a> {
    RepackNvfp4W4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_nvfp4_w4`: see the function [`repack_nvfp4_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackNvfp4W4<'a> {
    source: Nvfp4W4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackNvfp4W4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_nvfp4_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_nvfp4_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs weights in two's complement for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: Weights in two's complement, eight codes in a word. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackInt4W4`].
pub fn repack_int4_w4<'a>(source: &Int4W4<'a>, weights: &W4Weights<'a>) -> RepackInt4W4<'a> {
    RepackInt4W4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_int4_w4`: see the function [`repack_int4_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackInt4W4<'a> {
    source: Int4W4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackInt4W4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_int4_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_int4_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs AutoAWQ's tensors, version gemv for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: AutoAWQ's tensors, version gemv. zw = groups / 8, rounded up; to a multiple of 2 with groups
///   of 64, of 4 with groups of 32. The weights have zero_points. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackAwqGemvW4`].
pub fn repack_awq_gemv_w4<'a>(source: &AwqGemvW4<'a>, weights: &W4Weights<'a>) -> RepackAwqGemvW4<'a> {
    RepackAwqGemvW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_awq_gemv_w4`: see the function [`repack_awq_gemv_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackAwqGemvW4<'a> {
    source: AwqGemvW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackAwqGemvW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_gemv_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_gemv_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs AutoAWQ's tensors, version gemv_fast for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: AutoAWQ's tensors, version gemv_fast: W = scale * q + qzeros. The weights have scales f32,
///   offsets, and zero 0. zw as in awq_gemv_w4. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackAwqGemvFastW4`].
pub fn repack_awq_gemv_fast_w4<'a>(
    source: &AwqGemvFastW4<'a>,
    weights: &W4Weights<'a>,
) -> RepackAwqGemvFastW4<'a> {
    RepackAwqGemvFastW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_awq_gemv_fast_w4`: see the function [`repack_awq_gemv_fast_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackAwqGemvFastW4<'a> {
    source: AwqGemvFastW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackAwqGemvFastW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_gemv_fast_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_awq_gemv_fast_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs vLLM's Marlin for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: vLLM's Marlin with bias 8, k a multiple of 16, n of 64. With act-order, k is sorted while
///   packing, and x is not permuted here. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackMarlinW4`].
pub fn repack_marlin_w4<'a>(source: &MarlinW4<'a>, weights: &W4Weights<'a>) -> RepackMarlinW4<'a> {
    RepackMarlinW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_marlin_w4`: see the function [`repack_marlin_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackMarlinW4<'a> {
    source: MarlinW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackMarlinW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_marlin_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_marlin_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs PyTorch's int4pack for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: PyTorch's int4pack: W = scale * (q - 8) + zero. The weights have scales f32, offsets, and k
///   and n as packed. t = inner_k_tiles is 2, 4 or 8. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackTinygemmW4`].
pub fn repack_tinygemm_w4<'a>(source: &TinygemmW4<'a>, weights: &W4Weights<'a>) -> RepackTinygemmW4<'a> {
    RepackTinygemmW4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_tinygemm_w4`: see the function [`repack_tinygemm_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackTinygemmW4<'a> {
    source: TinygemmW4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackTinygemmW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_tinygemm_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_tinygemm_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs torchao's Int4Tensor for matmul_w4, once at load.
///
/// # Arguments
///
/// - `source`: torchao's Int4Tensor: W = scale * q + zero_point. The weights have scales f32 and offsets.
///   Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackTorchaoInt4W4`].
pub fn repack_torchao_int4_w4<'a>(
    source: &TorchaoInt4W4<'a>,
    weights: &W4Weights<'a>,
) -> RepackTorchaoInt4W4<'a> {
    RepackTorchaoInt4W4 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_torchao_int4_w4`: see the function [`repack_torchao_int4_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackTorchaoInt4W4<'a> {
    source: TorchaoInt4W4<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackTorchaoInt4W4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_torchao_int4_w4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_torchao_int4_w4_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}
