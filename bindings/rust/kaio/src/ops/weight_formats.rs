// Made by bindings/rust/generate.py from src/c/operations/weight_formats.json.
//! Formats of weights: blocks of GGUF, dequantising and quantising.

use super::*;
use crate::call::*;

/// A format of GGUF whose files have blocks of codes with the scales inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum BlockFormat {
    /// q4 0.
    Q4_0 = 0,
    /// q4 1.
    Q4_1 = 1,
    /// q5 0.
    Q5_0 = 2,
    /// q5 1.
    Q5_1 = 3,
    /// q8 0.
    Q8_0 = 4,
    /// q2 k.
    Q2K = 5,
    /// q3 k.
    Q3K = 6,
    /// q4 k.
    Q4K = 7,
    /// q5 k.
    Q5K = 8,
    /// q6 k.
    Q6K = 9,
    /// iq4 nl.
    Iq4Nl = 10,
    /// iq4 xs.
    Iq4Xs = 11,
    /// mxfp4.
    Mxfp4 = 12,
    /// nvfp4.
    Nvfp4 = 13,
}

impl BlockFormat {
    pub(crate) fn from_raw(raw: i32) -> Result<BlockFormat> {
        match raw {
            0 => Ok(BlockFormat::Q4_0),
            1 => Ok(BlockFormat::Q4_1),
            2 => Ok(BlockFormat::Q5_0),
            3 => Ok(BlockFormat::Q5_1),
            4 => Ok(BlockFormat::Q8_0),
            5 => Ok(BlockFormat::Q2K),
            6 => Ok(BlockFormat::Q3K),
            7 => Ok(BlockFormat::Q4K),
            8 => Ok(BlockFormat::Q5K),
            9 => Ok(BlockFormat::Q6K),
            10 => Ok(BlockFormat::Iq4Nl),
            11 => Ok(BlockFormat::Iq4Xs),
            12 => Ok(BlockFormat::Mxfp4),
            13 => Ok(BlockFormat::Nvfp4),
            other => Err(Error::internal(format!("kaio: {} is no BlockFormat that this crate knows", other))),
        }
    }
}

/// The operation that multiplies a format of blocks after repack_blocks_....
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum BlockOperation {
    /// dequantise_blocks, then matmul.
    None = 0,
    /// Matmul w4.
    MatmulW4 = 1,
    /// Matmul w8.
    MatmulW8 = 2,
}

impl BlockOperation {
    pub(crate) fn from_raw(raw: i32) -> Result<BlockOperation> {
        match raw {
            0 => Ok(BlockOperation::None),
            1 => Ok(BlockOperation::MatmulW4),
            2 => Ok(BlockOperation::MatmulW8),
            other => Err(Error::internal(format!("kaio: {} is no BlockOperation that this crate knows", other))),
        }
    }
}

/// The codes of bitsandbytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum BnbCode {
    /// nf4.
    Nf4 = 0,
    /// fp4.
    Fp4 = 1,
}

impl BnbCode {
    pub(crate) fn from_raw(raw: i32) -> Result<BnbCode> {
        match raw {
            0 => Ok(BnbCode::Nf4),
            1 => Ok(BnbCode::Fp4),
            other => Err(Error::internal(format!("kaio: {} is no BnbCode that this crate knows", other))),
        }
    }
}

/// Absmax as codes of 8 bits: absmax of block i = nested_quant_map\[absmax\[i\]\] * nested_absmax\[i /
/// blocksize\] + offset.
#[derive(Clone, Debug)]
pub struct BnbNested<'a> {
    absmax: TensorView<'a>,
    nested_absmax: TensorView<'a>,
    nested_quant_map: TensorView<'a>,
    offset: f32,
    blocksize: i64,
}

impl<'a> BnbNested<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `absmax`: (blocks); u8.
    /// - `nested_absmax`: (ceil(blocks / blocksize)); f32.
    /// - `nested_quant_map`: (256); f32.
    pub fn new(absmax: &TensorView<'a>, nested_absmax: &TensorView<'a>, nested_quant_map: &TensorView<'a>) -> Self {
        BnbNested {
            absmax: *absmax,
            nested_absmax: *nested_absmax,
            nested_quant_map: *nested_quant_map,
            offset: 0.0,
            blocksize: 256,
        }
    }

    setters! {
        /// offset.
        value offset(f32) => offset;
        /// a power of two, at least 8; default 256.
        value blocksize(i64) => blocksize;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_bnb_nested> {
        Ok(sys::kaio_bnb_nested {
            absmax: hold.tensor(&self.absmax),
            nested_absmax: hold.tensor(&self.nested_absmax),
            nested_quant_map: hold.tensor(&self.nested_quant_map),
            offset: self.offset,
            blocksize: self.blocksize,
            ..Default::default()
        })
    }
}

/// bitsandbytes' nf4 and fp4. Blocks run over W row by row, and may span rows. Either absmax or nested is
/// given.
#[derive(Clone, Debug)]
pub struct Bnb4bit<'a> {
    code: BnbCode,
    weight: TensorView<'a>,
    absmax: Option<TensorView<'a>>,
    blocksize: i64,
    nested: Option<BnbNested<'a>>,
}

impl<'a> Bnb4bit<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (ceil(n k / 2)); u8; the even element in the upper half of a byte.
    pub fn new(weight: &TensorView<'a>) -> Self {
        Bnb4bit {
            code: BnbCode::Nf4,
            weight: *weight,
            absmax: None,
            blocksize: 64,
            nested: None,
        }
    }

    setters! {
        /// The codes of bitsandbytes.
        value code(BnbCode) => code;
        /// (ceil(n k / blocksize)); f32; not read if nested is given.
        view absmax(&TensorView<'a>) => absmax;
        /// a power of two, at least 8; default 64.
        value blocksize(i64) => blocksize;
        /// None: absmax is given.
        record nested(&BnbNested<'a>) => nested;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_bnb_4bit> {
        Ok(sys::kaio_bnb_4bit {
            code: self.code as i32,
            weight: hold.tensor(&self.weight),
            absmax: hold.optional(&self.absmax),
            blocksize: self.blocksize,
            nested: match &self.nested { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

/// bitsandbytes' LLM.int8: W = weight * SCB / 127.
#[derive(Clone, Debug)]
pub struct BnbInt8<'a> {
    weight: TensorView<'a>,
    scb: TensorView<'a>,
}

impl<'a> BnbInt8<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k); i8.
    /// - `scb`: (n); f32.
    pub fn new(weight: &TensorView<'a>, scb: &TensorView<'a>) -> Self {
        BnbInt8 {
            weight: *weight,
            scb: *scb,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_bnb_int8> {
        Ok(sys::kaio_bnb_int8 {
            weight: hold.tensor(&self.weight),
            SCB: hold.tensor(&self.scb),
            ..Default::default()
        })
    }
}

/// Codes of 8 bits with one scale for all, for each row, or for each block of rows and columns: W = weight
/// \* scale.
#[derive(Clone, Debug)]
pub struct ScaledBytes<'a> {
    weight: TensorView<'a>,
    scale: TensorView<'a>,
    block_rows: i64,
    block_columns: i64,
}

impl<'a> ScaledBytes<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (n, k); i8, e4m3 or e5m2.
    /// - `scale`: (1, n or n / block_rows) x (1 or k / block_columns), rounded up; f32, f16, bf16, u8 or
    ///   e8m0; u8 is E8M0.
    pub fn new(weight: &TensorView<'a>, scale: &TensorView<'a>) -> Self {
        ScaledBytes {
            weight: *weight,
            scale: *scale,
            block_rows: 128,
            block_columns: 128,
        }
    }

    setters! {
        /// Block rows; default 128.
        value block_rows(i64) => block_rows;
        /// Block columns; default 128.
        value block_columns(i64) => block_columns;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_scaled_bytes> {
        Ok(sys::kaio_scaled_bytes {
            weight: hold.tensor(&self.weight),
            scale: hold.tensor(&self.scale),
            block_rows: self.block_rows,
            block_columns: self.block_columns,
            ..Default::default()
        })
    }
}

/// MXFP4 of gpt-oss (all experts as one matrix) and of compressed-tensors.
#[derive(Clone, Debug)]
pub struct Mxfp4Tensors<'a> {
    packed: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> Mxfp4Tensors<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n, k / 2); u8; the even element in the lower half of a byte.
    /// - `scales`: (n, k / 32); u8 or e8m0.
    pub fn new(packed: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Mxfp4Tensors {
            packed: *packed,
            scales: *scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_mxfp4_tensors> {
        Ok(sys::kaio_mxfp4_tensors {
            packed: hold.tensor(&self.packed),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// NVFP4: W = e2m1 * (scale * global), or e2m1 * (scale / global).
#[derive(Clone, Debug)]
pub struct Nvfp4Tensors<'a> {
    packed: TensorView<'a>,
    scales: TensorView<'a>,
    global: Option<TensorView<'a>>,
    divide: bool,
}

impl<'a> Nvfp4Tensors<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n, k / 2); u8; the even element in the lower half of a byte.
    /// - `scales`: (n, k / 16); e4m3.
    pub fn new(packed: &TensorView<'a>, scales: &TensorView<'a>) -> Self {
        Nvfp4Tensors {
            packed: *packed,
            scales: *scales,
            global: None,
            divide: false,
        }
    }

    setters! {
        /// (1); f32; none: 1.
        view global(&TensorView<'a>) => global;
        /// True: compressed-tensors' weight_global_scale, which divides.
        value divide(bool) => divide;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_nvfp4_tensors> {
        Ok(sys::kaio_nvfp4_tensors {
            packed: hold.tensor(&self.packed),
            scales: hold.tensor(&self.scales),
            global: hold.optional(&self.global),
            divide: i32::from(self.divide),
            ..Default::default()
        })
    }
}

/// Where quantise_bnb_4bit writes. If blocks do not end with rows, the rows of w have no gaps between them.
#[derive(Clone, Debug)]
pub struct Bnb4bitOutput<'a> {
    code: BnbCode,
    weight: TensorView<'a>,
    absmax: TensorView<'a>,
    blocksize: i64,
}

impl<'a> Bnb4bitOutput<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (ceil(n k / 2)); u8.
    /// - `absmax`: (ceil(n k / blocksize)); f32.
    pub fn new(weight: &TensorViewMut<'a>, absmax: &TensorViewMut<'a>) -> Self {
        Bnb4bitOutput {
            code: BnbCode::Nf4,
            weight: **weight,
            absmax: **absmax,
            blocksize: 64,
        }
    }

    setters! {
        /// The codes of bitsandbytes.
        value code(BnbCode) => code;
        /// a power of two, 32 to 65536; default 64.
        value blocksize(i64) => blocksize;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_bnb_4bit_output> {
        Ok(sys::kaio_bnb_4bit_output {
            code: self.code as i32,
            weight: hold.tensor(&self.weight),
            absmax: hold.tensor(&self.absmax),
            blocksize: self.blocksize,
            ..Default::default()
        })
    }
}

/// Where quantise_mxfp4 writes.
#[derive(Clone, Debug)]
pub struct Mxfp4Output<'a> {
    packed: TensorView<'a>,
    scales: TensorView<'a>,
}

impl<'a> Mxfp4Output<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n, k / 2); u8.
    /// - `scales`: (n, k / 32); u8 or e8m0.
    pub fn new(packed: &TensorViewMut<'a>, scales: &TensorViewMut<'a>) -> Self {
        Mxfp4Output {
            packed: **packed,
            scales: **scales,
        }
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_mxfp4_output> {
        Ok(sys::kaio_mxfp4_output {
            packed: hold.tensor(&self.packed),
            scales: hold.tensor(&self.scales),
            ..Default::default()
        })
    }
}

/// Where quantise_nvfp4 writes.
#[derive(Clone, Debug)]
pub struct Nvfp4Output<'a> {
    packed: TensorView<'a>,
    scales: TensorView<'a>,
    global: Option<TensorView<'a>>,
}

impl<'a> Nvfp4Output<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `packed`: (n, k / 2); u8.
    /// - `scales`: (n, k / 16); e4m3.
    pub fn new(packed: &TensorViewMut<'a>, scales: &TensorViewMut<'a>) -> Self {
        Nvfp4Output {
            packed: **packed,
            scales: **scales,
            global: None,
        }
    }

    setters! {
        /// (1); f32; gets absmax / 2688; none: scales of one level.
        written global(&TensorViewMut<'a>) => global;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_nvfp4_output> {
        Ok(sys::kaio_nvfp4_output {
            packed: hold.tensor(&self.packed),
            scales: hold.tensor(&self.scales),
            global: hold.optional(&self.global),
            ..Default::default()
        })
    }
}

/// Where quantise_w4 writes: the layout of compressed_tensors_w4.
#[derive(Clone, Debug)]
pub struct W4Output<'a> {
    weight_packed: TensorView<'a>,
    weight_scale: TensorView<'a>,
    weight_zero_point: Option<TensorView<'a>>,
    group: i64,
}

impl<'a> W4Output<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight_packed`: (n, k / 8); i32.
    /// - `weight_scale`: (n, k / group); f16 or bf16.
    pub fn new(weight_packed: &TensorViewMut<'a>, weight_scale: &TensorViewMut<'a>) -> Self {
        W4Output {
            weight_packed: **weight_packed,
            weight_scale: **weight_scale,
            weight_zero_point: None,
            group: 128,
        }
    }

    setters! {
        /// (n / 8, k / group); i32; none: symmetric.
        written weight_zero_point(&TensorViewMut<'a>) => weight_zero_point;
        /// a multiple of 16 that divides k; or k, also given as -1; default 128.
        value group(i64) => group;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_w4_output> {
        Ok(sys::kaio_w4_output {
            weight_packed: hold.tensor(&self.weight_packed),
            weight_scale: hold.tensor(&self.weight_scale),
            weight_zero_point: hold.optional(&self.weight_zero_point),
            group: self.group,
            ..Default::default()
        })
    }
}

/// The format of ggml's name, such as Q4_K, as weights_tensor has it.
///
/// - `name`: name.
pub fn block_format_named(name: &str) -> Result<BlockFormat> {
    let hold = Hold::new();
    let mut result = 0i32;
    call!(kaio_block_format_named(hold.text("name", &Some(name.to_string()))?, &mut result))?;
    BlockFormat::from_raw(result)
}

/// The bytes of `elements` elements, which are whole blocks.
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `elements`: elements.
pub fn block_bytes(format: BlockFormat, elements: i64) -> Result<u64> {
    let mut result = 0u64;
    call!(kaio_block_bytes(format as i32, elements, &mut result))?;
    Ok(result)
}

/// The operation that multiplies a format after repacking.
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
pub fn block_operation_of(format: BlockFormat) -> Result<BlockOperation> {
    let mut result = 0i32;
    call!(kaio_block_operation_of(format as i32, &mut result))?;
    BlockOperation::from_raw(result)
}

/// The weights into which blocks of this format are packed, for matmul_w4. The memory becomes none.
///
/// Q4_0, Q4_1, Q4_K, MXFP4 and NVFP4.
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `n`: n.
/// - `k`: k.
pub fn w4_weights_of_blocks(format: BlockFormat, n: i64, k: i64) -> Result<W4Weights<'static>> {
    let mut result = sys::kaio_w4_weights::default();
    call!(kaio_w4_weights_of_blocks(format as i32, n, k, &mut result))?;
    W4Weights::from_raw(&result)
}

/// The weights into which blocks of this format are packed, for matmul_w8. The memory becomes none.
///
/// Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL and IQ4_XS.
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `n`: n.
/// - `k`: k.
pub fn w8_weights_of_blocks(format: BlockFormat, n: i64, k: i64) -> Result<W8Weights<'static>> {
    let mut result = sys::kaio_w8_weights::default();
    call!(kaio_w8_weights_of_blocks(format as i32, n, k, &mut result))?;
    W8Weights::from_raw(&result)
}

/// Packs blocks of GGUF for matmul_w4, once at load. The numbers stay the same.
///
/// # Arguments
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `bytes`: (block_bytes of n k); u8; blocks row after row, at a multiple of 2.
/// - `weights`: What w4_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks.
///
/// Nothing happens before `run`. Options are methods of [`RepackBlocksW4`].
pub fn repack_blocks_w4<'a>(
    format: BlockFormat,
    bytes: &TensorView<'a>,
    weights: &W4Weights<'a>,
) -> RepackBlocksW4<'a> {
    RepackBlocksW4 {
        format,
        bytes: *bytes,
        weights: weights.clone(),
    }
}

/// The operation `repack_blocks_w4`: see the function [`repack_blocks_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackBlocksW4<'a> {
    format: BlockFormat,
    bytes: TensorView<'a>,
    weights: W4Weights<'a>,
}

impl<'a> RepackBlocksW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_blocks_w4(stream.handle(), self.format as i32, hold.tensor(&self.bytes),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_blocks_w4_warmup(self.format as i32, hold.tensor(&self.bytes),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// Packs blocks of GGUF for matmul_w8, once at load. The numbers stay the same.
///
/// # Arguments
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `bytes`: (block_bytes of n k); u8; blocks row after row, at a multiple of 2.
/// - `weights`: What w8_weights_of_blocks gave; its memory gets the weights, and overlaps no blocks.
///
/// Nothing happens before `run`. Options are methods of [`RepackBlocksW8`].
pub fn repack_blocks_w8<'a>(
    format: BlockFormat,
    bytes: &TensorView<'a>,
    weights: &W8Weights<'a>,
) -> RepackBlocksW8<'a> {
    RepackBlocksW8 {
        format,
        bytes: *bytes,
        weights: weights.clone(),
    }
}

/// The operation `repack_blocks_w8`: see the function [`repack_blocks_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RepackBlocksW8<'a> {
    format: BlockFormat,
    bytes: TensorView<'a>,
    weights: W8Weights<'a>,
}

impl<'a> RepackBlocksW8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_blocks_w8(stream.handle(), self.format as i32, hold.tensor(&self.bytes),
            hold.keep(self.weights.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_repack_blocks_w8_warmup(self.format as i32, hold.tensor(&self.bytes),
            hold.keep(self.weights.raw(&hold)?)))
    }
}

/// out = the weights of blocks of GGUF.
///
/// Numbers are those of the formats' references in f32, rounded once to the type of out. Elements of a row
/// of out are adjacent.
///
/// # Arguments
///
/// - `format`: A format of GGUF whose files have blocks of codes with the scales inside.
/// - `bytes`: (block_bytes of n k); u8; blocks row after row, at a multiple of 2.
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseBlocks`].
pub fn dequantise_blocks<'a>(
    format: BlockFormat,
    bytes: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> DequantiseBlocks<'a> {
    DequantiseBlocks {
        format,
        bytes: *bytes,
        out: **out,
    }
}

/// The operation `dequantise_blocks`: see the function [`dequantise_blocks`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseBlocks<'a> {
    format: BlockFormat,
    bytes: TensorView<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseBlocks<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_blocks(stream.handle(), self.format as i32, hold.tensor(&self.bytes),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_blocks_warmup(self.format as i32, hold.tensor(&self.bytes),
            hold.tensor(&self.out)))
    }
}

/// out = weights of bitsandbytes' nf4 or fp4.
///
/// # Arguments
///
/// - `source`: bitsandbytes' nf4 and fp4. Blocks run over W row by row, and may span rows. Either absmax or
///   nested is given.
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseBnb4bit`].
pub fn dequantise_bnb_4bit<'a>(source: &Bnb4bit<'a>, out: &TensorViewMut<'a>) -> DequantiseBnb4bit<'a> {
    DequantiseBnb4bit {
        source: source.clone(),
        out: **out,
    }
}

/// The operation `dequantise_bnb_4bit`: see the function [`dequantise_bnb_4bit`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseBnb4bit<'a> {
    source: Bnb4bit<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseBnb4bit<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_bnb_4bit(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_bnb_4bit_warmup(hold.keep(self.source.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// out = weights of bitsandbytes' LLM.int8.
///
/// # Arguments
///
/// - `source`: bitsandbytes' LLM.int8: W = weight * SCB / 127.
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseBnbInt8`].
pub fn dequantise_bnb_int8<'a>(source: &BnbInt8<'a>, out: &TensorViewMut<'a>) -> DequantiseBnbInt8<'a> {
    DequantiseBnbInt8 {
        source: source.clone(),
        out: **out,
    }
}

/// The operation `dequantise_bnb_int8`: see the function [`dequantise_bnb_int8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseBnbInt8<'a> {
    source: BnbInt8<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseBnbInt8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_bnb_int8(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_bnb_int8_warmup(hold.keep(self.source.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// out = weights of codes of 8 bits with scales: FP8, INT8, MXFP8.
///
/// # Arguments
///
/// - `source`: Codes of 8 bits with one scale for all, for each row, or for each block of rows and columns:
///   W = weight * scale.
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseScaledBytes`].
pub fn dequantise_scaled_bytes<'a>(
    source: &ScaledBytes<'a>,
    out: &TensorViewMut<'a>,
) -> DequantiseScaledBytes<'a> {
    DequantiseScaledBytes {
        source: source.clone(),
        out: **out,
    }
}

/// The operation `dequantise_scaled_bytes`: see the function [`dequantise_scaled_bytes`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseScaledBytes<'a> {
    source: ScaledBytes<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseScaledBytes<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_scaled_bytes(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_scaled_bytes_warmup(hold.keep(self.source.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// out = weights of MXFP4.
///
/// # Arguments
///
/// - `source`: MXFP4 of gpt-oss (all experts as one matrix) and of compressed-tensors.
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseMxfp4`].
pub fn dequantise_mxfp4<'a>(source: &Mxfp4Tensors<'a>, out: &TensorViewMut<'a>) -> DequantiseMxfp4<'a> {
    DequantiseMxfp4 {
        source: source.clone(),
        out: **out,
    }
}

/// The operation `dequantise_mxfp4`: see the function [`dequantise_mxfp4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseMxfp4<'a> {
    source: Mxfp4Tensors<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseMxfp4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_mxfp4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_mxfp4_warmup(hold.keep(self.source.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// out = weights of NVFP4.
///
/// # Arguments
///
/// - `source`: NVFP4: W = e2m1 * (scale * global), or e2m1 * (scale / global).
/// - `out`: written; (n, k); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseNvfp4`].
pub fn dequantise_nvfp4<'a>(source: &Nvfp4Tensors<'a>, out: &TensorViewMut<'a>) -> DequantiseNvfp4<'a> {
    DequantiseNvfp4 {
        source: source.clone(),
        out: **out,
    }
}

/// The operation `dequantise_nvfp4`: see the function [`dequantise_nvfp4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseNvfp4<'a> {
    source: Nvfp4Tensors<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseNvfp4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_nvfp4(stream.handle(), hold.keep(self.source.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_nvfp4_warmup(hold.keep(self.source.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// Quantises w into blocks of GGUF: Q4_0 or Q8_0.
///
/// Bits are those of the format's reference. Elements of a row of w are adjacent.
///
/// # Arguments
///
/// - `w`: (n, k); f32, f16 or bf16; k is a multiple of 32.
/// - `format`: Q4_0 or Q8_0.
/// - `bytes`: written; (block_bytes of n k); u8; at a multiple of 2.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseBlocks`].
pub fn quantise_blocks<'a>(
    w: &TensorView<'a>,
    format: BlockFormat,
    bytes: &TensorViewMut<'a>,
) -> QuantiseBlocks<'a> {
    QuantiseBlocks {
        w: *w,
        format,
        bytes: **bytes,
    }
}

/// The operation `quantise_blocks`: see the function [`quantise_blocks`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseBlocks<'a> {
    w: TensorView<'a>,
    format: BlockFormat,
    bytes: TensorView<'a>,
}

impl<'a> QuantiseBlocks<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_blocks(stream.handle(), hold.tensor(&self.w), self.format as i32,
            hold.tensor(&self.bytes)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_blocks_warmup(hold.tensor(&self.w), self.format as i32, hold.tensor(&self.bytes)))
    }
}

/// Quantises w into bitsandbytes' nf4 or fp4.
///
/// # Arguments
///
/// - `w`: (n, k); f32, f16 or bf16.
/// - `to`: Where it is written.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseBnb4bit`].
pub fn quantise_bnb_4bit<'a>(w: &TensorView<'a>, to: &Bnb4bitOutput<'a>) -> QuantiseBnb4bit<'a> {
    QuantiseBnb4bit {
        w: *w,
        to: to.clone(),
    }
}

/// The operation `quantise_bnb_4bit`: see the function [`quantise_bnb_4bit`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseBnb4bit<'a> {
    w: TensorView<'a>,
    to: Bnb4bitOutput<'a>,
}

impl<'a> QuantiseBnb4bit<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_bnb_4bit(stream.handle(), hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_bnb_4bit_warmup(hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }
}

/// Quantises w into MXFP4, with scales of 2^(floor(log2 absmax) - 2).
///
/// # Arguments
///
/// - `w`: (n, k); f32, f16 or bf16.
/// - `to`: Where it is written.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseMxfp4`].
pub fn quantise_mxfp4<'a>(w: &TensorView<'a>, to: &Mxfp4Output<'a>) -> QuantiseMxfp4<'a> {
    QuantiseMxfp4 {
        w: *w,
        to: to.clone(),
    }
}

/// The operation `quantise_mxfp4`: see the function [`quantise_mxfp4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseMxfp4<'a> {
    w: TensorView<'a>,
    to: Mxfp4Output<'a>,
}

impl<'a> QuantiseMxfp4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_mxfp4(stream.handle(), hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_mxfp4_warmup(hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }
}

/// Quantises w into NVFP4, whose global multiplies.
///
/// # Arguments
///
/// - `w`: (n, k); f32, f16 or bf16.
/// - `to`: Where it is written.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseNvfp4`].
pub fn quantise_nvfp4<'a>(w: &TensorView<'a>, to: &Nvfp4Output<'a>) -> QuantiseNvfp4<'a> {
    QuantiseNvfp4 {
        w: *w,
        to: to.clone(),
    }
}

/// The operation `quantise_nvfp4`: see the function [`quantise_nvfp4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseNvfp4<'a> {
    w: TensorView<'a>,
    to: Nvfp4Output<'a>,
}

impl<'a> QuantiseNvfp4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_nvfp4(stream.handle(), hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_nvfp4_warmup(hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }
}

/// Quantises w into codes of four bits in groups along k, for repack_compressed_tensors_w4.
///
/// Rounded to nearest: scale = absmax / 7.5, or with zero points the range / 15.
///
/// # Arguments
///
/// - `w`: (n, k); f32, f16 or bf16.
/// - `to`: Where it is written.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseW4`].
pub fn quantise_w4<'a>(w: &TensorView<'a>, to: &W4Output<'a>) -> QuantiseW4<'a> {
    QuantiseW4 {
        w: *w,
        to: to.clone(),
    }
}

/// The operation `quantise_w4`: see the function [`quantise_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseW4<'a> {
    w: TensorView<'a>,
    to: W4Output<'a>,
}

impl<'a> QuantiseW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_w4(stream.handle(), hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_w4_warmup(hold.tensor(&self.w), hold.keep(self.to.raw(&hold)?)))
    }
}
