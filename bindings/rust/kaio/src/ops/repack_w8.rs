// Made by bindings/rust/generate.py from src/c/operations/repack_w8.json.
//! Packing weights of eight bits.

use super::*;
use crate::call::*;

/// Integers of eight bits with scales: compressed-tensors int-quantized, and others. Any strides.
#[derive(Clone, Debug)]
pub struct Int8W8<'a> {
    weight: TensorView<'a>,
    scales: TensorView<'a>,
    zero_points: Option<TensorView<'a>>,
}

impl<'a> Int8W8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k); i8.
    /// - `scales`: (n, groups), (n) or (1); f32, f16 or bf16.
    pub fn new(weight: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Int8W8 {
            weight: *weight,
            scales: *scales,
            zero_points: None,
        }
    }

    setters! {
        /// (n, groups), or (1, 1) if the group is k; i8; for weights with zero_points.
        view zero_points(&TensorView<'a>) => zero_points;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_int8_w8> {
        Ok(sys::kaio_int8_w8 {
            weight: hold.tensor(&self.weight),
            scales: hold.tensor(&self.scales),
            zero_points: hold.optional(&self.zero_points),
            ..Default::default()
        })
    }
}

/// bitsandbytes' LLM.int8, rows: W = weight * scb / 127. Any strides.
#[derive(Clone, Debug)]
pub struct LlmInt8W8<'a> {
    weight: TensorView<'a>,
    scb: TensorView<'a>,
}

impl<'a> LlmInt8W8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k); i8.
    /// - `scb`: (n); f32.
    pub fn new(weight: &TensorView<'a>, scb: &TensorView<'a>) -> Self {
        LlmInt8W8 {
            weight: *weight,
            scb: *scb,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_llm_int8_w8> {
        Ok(sys::kaio_llm_int8_w8 {
            weight: hold.tensor(&self.weight),
            scb: hold.tensor(&self.scb),
            ..Default::default()
        })
    }
}

/// GPTQ's tensors of 8 bits. Any strides.
#[derive(Clone, Debug)]
pub struct GptqW8<'a> {
    qweight: TensorView<'a>,
    scales: TensorView<'a>,
    qzeros: Option<TensorView<'a>>,
    g_idx: Option<TensorView<'a>>,
    v2: bool,
}

impl<'a> GptqW8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `qweight`: (k / 4, n); i32 or u32.
    /// - `scales`: (groups, n); f32, f16 or bf16.
    pub fn new(qweight: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        GptqW8 {
            qweight: *qweight,
            scales: *scales,
            qzeros: None,
            g_idx: None,
            v2: false,
        }
    }

    setters! {
        /// (groups, n / 4); i32 or u32; for weights with zero_points.
        view qzeros(&TensorView<'a>) => qzeros;
        /// (k); i32; the group of each k; for weights with act_order.
        view g_idx(&TensorView<'a>) => g_idx;
        /// True: checkpoint_format gptq_v2; gptq stores zero points less 1.
        value v2(bool) => v2;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gptq_w8> {
        Ok(sys::kaio_gptq_w8 {
            qweight: hold.tensor(&self.qweight),
            scales: hold.tensor(&self.scales),
            qzeros: hold.optional(&self.qzeros),
            g_idx: hold.optional(&self.g_idx),
            v2: i32::from(self.v2),
            ..Default::default()
        })
    }
}

/// Tensors of compressed-tensors, format pack-quantized, of 8 bits. Any strides.
#[derive(Clone, Debug)]
pub struct CompressedTensorsW8<'a> {
    weight_packed: TensorView<'a>,
    weight_scale: TensorView<'a>,
    weight_zero_point: Option<TensorView<'a>>,
    weight_g_idx: Option<TensorView<'a>>,
}

impl<'a> CompressedTensorsW8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight_packed`: (n, k / 4); i32 or u32.
    /// - `weight_scale`: (n, groups) or (n); f32, f16 or bf16.
    pub fn new(weight_packed: &TensorView<'a>, weight_scale: &TensorView<'a>) -> Self {
        CompressedTensorsW8 {
            weight_packed: *weight_packed,
            weight_scale: *weight_scale,
            weight_zero_point: None,
            weight_g_idx: None,
        }
    }

    setters! {
        /// (n / 4, groups); i32 or u32; for weights with zero_points.
        view weight_zero_point(&TensorView<'a>) => weight_zero_point;
        /// (k); i32; the group of each k; for weights with act_order.
        view weight_g_idx(&TensorView<'a>) => weight_g_idx;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_compressed_tensors_w8> {
        Ok(sys::kaio_compressed_tensors_w8 {
            weight_packed: hold.tensor(&self.weight_packed),
            weight_scale: hold.tensor(&self.weight_scale),
            weight_zero_point: hold.optional(&self.weight_zero_point),
            weight_g_idx: hold.optional(&self.weight_g_idx),
            ..Default::default()
        })
    }
}

/// GGUF's Q8_0, in groups of 32. Any strides.
#[derive(Clone, Debug)]
pub struct Q80W8<'a> {
    blocks: TensorView<'a>,
}

impl<'a> Q80W8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `blocks`: (n, k / 32 * 34); u8; rows adjacent, at even addresses.
    pub fn new(blocks: &TensorView<'a>) -> Self {
        Q80W8 {
            blocks: *blocks,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_q8_0_w8> {
        Ok(sys::kaio_q8_0_w8 {
            blocks: hold.tensor(&self.blocks),
            ..Default::default()
        })
    }
}

/// 8-bit floats with scales, as DeepSeek's weight_scale_inv. Any strides.
#[derive(Clone, Debug)]
pub struct E4m3W8<'a> {
    weight: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> E4m3W8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k); e4m3 or u8.
    /// - `scales`: (n, groups), (n) or (1); or (n / 128, k / 128), rounded up, if the group is 128; f32,
    ///   f16 or bf16.
    pub fn new(weight: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        E4m3W8 {
            weight: *weight,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_e4m3_w8> {
        Ok(sys::kaio_e4m3_w8 {
            weight: hold.tensor(&self.weight),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// vLLM's Marlin with bias 128, k a multiple of 16, n of 64. Any strides.
#[derive(Clone, Debug)]
pub struct MarlinW8<'a> {
    b: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> MarlinW8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `b`: (k / 16, 4 n); i32 or u32.
    /// - `scales`: (groups, n); f16 or bf16; permuted.
    pub fn new(b: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        MarlinW8 {
            b: *b,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_marlin_w8> {
        Ok(sys::kaio_marlin_w8 {
            b: hold.tensor(&self.b),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// Packs integers of eight bits with scales for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: Integers of eight bits with scales: compressed-tensors int-quantized, and others. Any
///   strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackInt8W8`].
pub fn repack_int8_w8<'a>(source: &Int8W8<'a>, weights: &W8Weights<'a>) -> RepackInt8W8<'a> {
    RepackInt8W8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_int8_w8`: see the function [`repack_int8_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackInt8W8<'a> {
    source: Int8W8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackInt8W8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_int8_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_int8_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs bitsandbytes' LLM.int8 for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: bitsandbytes' LLM.int8, rows: W = weight * scb / 127. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackLlmInt8W8`].
pub fn repack_llm_int8_w8<'a>(source: &LlmInt8W8<'a>, weights: &W8Weights<'a>) -> RepackLlmInt8W8<'a> {
    RepackLlmInt8W8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_llm_int8_w8`: see the function [`repack_llm_int8_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackLlmInt8W8<'a> {
    source: LlmInt8W8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackLlmInt8W8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_llm_int8_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_llm_int8_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs GPTQ's tensors of 8 bits for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: GPTQ's tensors of 8 bits. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackGptqW8`].
pub fn repack_gptq_w8<'a>(source: &GptqW8<'a>, weights: &W8Weights<'a>) -> RepackGptqW8<'a> {
    RepackGptqW8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_gptq_w8`: see the function [`repack_gptq_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackGptqW8<'a> {
    source: GptqW8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackGptqW8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_gptq_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_gptq_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs tensors of compressed-tensors of 8 bits for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: Tensors of compressed-tensors, format pack-quantized, of 8 bits. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackCompressedTensorsW8`].
pub fn repack_compressed_tensors_w8<'a>(
    source: &CompressedTensorsW8<'a>,
    weights: &W8Weights<'a>,
) -> RepackCompressedTensorsW8<'a> {
    RepackCompressedTensorsW8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_compressed_tensors_w8`: see the function [`repack_compressed_tensors_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackCompressedTensorsW8<'a> {
    source: CompressedTensorsW8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackCompressedTensorsW8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_compressed_tensors_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_compressed_tensors_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs GGUF's Q8_0 for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: GGUF's Q8_0, in groups of 32. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackQ80W8`].
pub fn repack_q8_0_w8<'a>(source: &Q80W8<'a>, weights: &W8Weights<'a>) -> RepackQ80W8<'a> {
    RepackQ80W8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_q8_0_w8`: see the function [`repack_q8_0_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackQ80W8<'a> {
    source: Q80W8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackQ80W8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_q8_0_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_q8_0_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs 8-bit floats with scales for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: 8-bit floats with scales, as DeepSeek's weight_scale_inv. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackE4m3W8`].
pub fn repack_e4m3_w8<'a>(source: &E4m3W8<'a>, weights: &W8Weights<'a>) -> RepackE4m3W8<'a> {
    RepackE4m3W8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_e4m3_w8`: see the function [`repack_e4m3_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackE4m3W8<'a> {
    source: E4m3W8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackE4m3W8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_e4m3_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_e4m3_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs vLLM's Marlin of 8 bits for matmul_w8, once at load.
///
/// # Arguments
///
/// - `source`: vLLM's Marlin with bias 128, k a multiple of 16, n of 64. Any strides.
/// - `weights`: Gets the weights; its memory overlaps no tensor.
///
/// Nothing happens before `run`. Options are methods of [`RepackMarlinW8`].
pub fn repack_marlin_w8<'a>(source: &MarlinW8<'a>, weights: &W8Weights<'a>) -> RepackMarlinW8<'a> {
    RepackMarlinW8 {
        source: source.clone(),
        weights: weights.clone(),
    }
}

/// The operation `repack_marlin_w8`: see the function [`repack_marlin_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackMarlinW8<'a> {
    source: MarlinW8<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackMarlinW8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_marlin_w8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_marlin_w8_warmup(hold.keep(self.source.raw(&hold)?),
            hold.keep(self.weights.raw(&hold)?)))
    }
}
