// Made by bindings/rust/generate.py from src/c/operations/weights.json.
//! Weight files: GGUF and safetensors.

use super::*;
use crate::call::*;

/// A kind of weight files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum WeightsKind {
    /// gguf.
    Gguf = 0,
    /// safetensors.
    Safetensors = 1,
}

impl WeightsKind {
    pub(crate) fn from_raw(raw: i32) -> Result<WeightsKind> {
        match raw {
            0 => Ok(WeightsKind::Gguf),
            1 => Ok(WeightsKind::Safetensors),
            other => Err(Error::internal(format!("kaio: {} is no WeightsKind that this crate knows", other))),
        }
    }
}

/// The elements of a tensor in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum WeightFormat {
    /// f64.
    F64 = 0,
    /// f32.
    F32 = 1,
    /// f16.
    F16 = 2,
    /// bf16.
    Bf16 = 3,
    /// e4m3.
    E4m3 = 4,
    /// e5m2.
    E5m2 = 5,
    /// e4m3fnuz.
    E4m3fnuz = 6,
    /// e5m2fnuz.
    E5m2fnuz = 7,
    /// e8m0.
    E8m0 = 8,
    /// c64.
    C64 = 9,
    /// boolean.
    Boolean = 10,
    /// i64.
    I64 = 11,
    /// i32.
    I32 = 12,
    /// i16.
    I16 = 13,
    /// i8.
    I8 = 14,
    /// u64.
    U64 = 15,
    /// u32.
    U32 = 16,
    /// u16.
    U16 = 17,
    /// u8.
    U8 = 18,
    /// f4 e2m1.
    F4E2m1 = 19,
    /// f6 e2m3.
    F6E2m3 = 20,
    /// f6 e3m2.
    F6E3m2 = 21,
    /// q4 0.
    Q4_0 = 22,
    /// q4 1.
    Q4_1 = 23,
    /// q5 0.
    Q5_0 = 24,
    /// q5 1.
    Q5_1 = 25,
    /// q8 0.
    Q8_0 = 26,
    /// q2 k.
    Q2K = 27,
    /// q3 k.
    Q3K = 28,
    /// q4 k.
    Q4K = 29,
    /// q5 k.
    Q5K = 30,
    /// q6 k.
    Q6K = 31,
    /// iq4 nl.
    Iq4Nl = 32,
    /// iq4 xs.
    Iq4Xs = 33,
    /// mxfp4.
    Mxfp4 = 34,
    /// nvfp4.
    Nvfp4 = 35,
    /// iq1 s.
    Iq1S = 36,
    /// iq1 m.
    Iq1M = 37,
    /// iq2 xxs.
    Iq2Xxs = 38,
    /// iq2 xs.
    Iq2Xs = 39,
    /// iq2 s.
    Iq2S = 40,
    /// iq3 xxs.
    Iq3Xxs = 41,
    /// iq3 s.
    Iq3S = 42,
    /// tq1 0.
    Tq1_0 = 43,
    /// tq2 0.
    Tq2_0 = 44,
    /// q1 0.
    Q1_0 = 45,
    /// q2 0.
    Q2_0 = 46,
    /// a type of GGUF that kaio does not know: `type` is its number.
    Unknown = 47,
}

impl WeightFormat {
    pub(crate) fn from_raw(raw: i32) -> Result<WeightFormat> {
        match raw {
            0 => Ok(WeightFormat::F64),
            1 => Ok(WeightFormat::F32),
            2 => Ok(WeightFormat::F16),
            3 => Ok(WeightFormat::Bf16),
            4 => Ok(WeightFormat::E4m3),
            5 => Ok(WeightFormat::E5m2),
            6 => Ok(WeightFormat::E4m3fnuz),
            7 => Ok(WeightFormat::E5m2fnuz),
            8 => Ok(WeightFormat::E8m0),
            9 => Ok(WeightFormat::C64),
            10 => Ok(WeightFormat::Boolean),
            11 => Ok(WeightFormat::I64),
            12 => Ok(WeightFormat::I32),
            13 => Ok(WeightFormat::I16),
            14 => Ok(WeightFormat::I8),
            15 => Ok(WeightFormat::U64),
            16 => Ok(WeightFormat::U32),
            17 => Ok(WeightFormat::U16),
            18 => Ok(WeightFormat::U8),
            19 => Ok(WeightFormat::F4E2m1),
            20 => Ok(WeightFormat::F6E2m3),
            21 => Ok(WeightFormat::F6E3m2),
            22 => Ok(WeightFormat::Q4_0),
            23 => Ok(WeightFormat::Q4_1),
            24 => Ok(WeightFormat::Q5_0),
            25 => Ok(WeightFormat::Q5_1),
            26 => Ok(WeightFormat::Q8_0),
            27 => Ok(WeightFormat::Q2K),
            28 => Ok(WeightFormat::Q3K),
            29 => Ok(WeightFormat::Q4K),
            30 => Ok(WeightFormat::Q5K),
            31 => Ok(WeightFormat::Q6K),
            32 => Ok(WeightFormat::Iq4Nl),
            33 => Ok(WeightFormat::Iq4Xs),
            34 => Ok(WeightFormat::Mxfp4),
            35 => Ok(WeightFormat::Nvfp4),
            36 => Ok(WeightFormat::Iq1S),
            37 => Ok(WeightFormat::Iq1M),
            38 => Ok(WeightFormat::Iq2Xxs),
            39 => Ok(WeightFormat::Iq2Xs),
            40 => Ok(WeightFormat::Iq2S),
            41 => Ok(WeightFormat::Iq3Xxs),
            42 => Ok(WeightFormat::Iq3S),
            43 => Ok(WeightFormat::Tq1_0),
            44 => Ok(WeightFormat::Tq2_0),
            45 => Ok(WeightFormat::Q1_0),
            46 => Ok(WeightFormat::Q2_0),
            47 => Ok(WeightFormat::Unknown),
            other => Err(Error::internal(format!("kaio: {} is no WeightFormat that this crate knows", other))),
        }
    }
}

/// The type of a value of the metadata. Those of safetensors are strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum WeightsType {
    /// u8.
    U8 = 0,
    /// i8.
    I8 = 1,
    /// u16.
    U16 = 2,
    /// i16.
    I16 = 3,
    /// u32.
    U32 = 4,
    /// i32.
    I32 = 5,
    /// f32.
    F32 = 6,
    /// boolean.
    Boolean = 7,
    /// string.
    String = 8,
    /// array.
    Array = 9,
    /// u64.
    U64 = 10,
    /// i64.
    I64 = 11,
    /// f64.
    F64 = 12,
}

impl WeightsType {
    pub(crate) fn from_raw(raw: i32) -> Result<WeightsType> {
        match raw {
            0 => Ok(WeightsType::U8),
            1 => Ok(WeightsType::I8),
            2 => Ok(WeightsType::U16),
            3 => Ok(WeightsType::I16),
            4 => Ok(WeightsType::U32),
            5 => Ok(WeightsType::I32),
            6 => Ok(WeightsType::F32),
            7 => Ok(WeightsType::Boolean),
            8 => Ok(WeightsType::String),
            9 => Ok(WeightsType::Array),
            10 => Ok(WeightsType::U64),
            11 => Ok(WeightsType::I64),
            12 => Ok(WeightsType::F64),
            other => Err(Error::internal(format!("kaio: {} is no WeightsType that this crate knows", other))),
        }
    }
}

/// How the tensors of a quantised layer make up its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum WeightScheme {
    /// GPTQ.
    Gptq = 0,
    /// AutoAWQ, version gemm.
    AwqGemm = 1,
    /// AutoAWQ, version gemv.
    AwqGemv = 2,
    /// AutoAWQ, version gemv_fast.
    AwqGemvFast = 3,
    /// compressed-tensors pack-quantized.
    PackedInt = 4,
    /// compressed-tensors int-quantized.
    Int8 = 5,
    /// bitsandbytes' LLM.int8.
    LlmInt8 = 6,
    /// With weight_scale.
    Fp8 = 7,
    /// With weight_scale_inv.
    Fp8Block = 8,
    /// bitsandbytes.
    Nf4 = 9,
    /// bitsandbytes.
    Fp4 = 10,
    /// compressed-tensors.
    Nvfp4Packed = 11,
    /// ModelOpt.
    Nvfp4Modelopt = 12,
    /// compressed-tensors.
    Mxfp4Packed = 13,
    /// gpt-oss.
    Mxfp4Blocks = 14,
    /// Torchao int8.
    TorchaoInt8 = 15,
    /// Torchao fp8.
    TorchaoFp8 = 16,
    /// Torchao tinygemm.
    TorchaoTinygemm = 17,
    /// Torchao int4 plain.
    TorchaoInt4Plain = 18,
    /// Torchao nvfp4.
    TorchaoNvfp4 = 19,
    /// Torchao mx.
    TorchaoMx = 20,
    /// compressed-tensors.
    Mxfp8 = 21,
}

impl WeightScheme {
    pub(crate) fn from_raw(raw: i32) -> Result<WeightScheme> {
        match raw {
            0 => Ok(WeightScheme::Gptq),
            1 => Ok(WeightScheme::AwqGemm),
            2 => Ok(WeightScheme::AwqGemv),
            3 => Ok(WeightScheme::AwqGemvFast),
            4 => Ok(WeightScheme::PackedInt),
            5 => Ok(WeightScheme::Int8),
            6 => Ok(WeightScheme::LlmInt8),
            7 => Ok(WeightScheme::Fp8),
            8 => Ok(WeightScheme::Fp8Block),
            9 => Ok(WeightScheme::Nf4),
            10 => Ok(WeightScheme::Fp4),
            11 => Ok(WeightScheme::Nvfp4Packed),
            12 => Ok(WeightScheme::Nvfp4Modelopt),
            13 => Ok(WeightScheme::Mxfp4Packed),
            14 => Ok(WeightScheme::Mxfp4Blocks),
            15 => Ok(WeightScheme::TorchaoInt8),
            16 => Ok(WeightScheme::TorchaoFp8),
            17 => Ok(WeightScheme::TorchaoTinygemm),
            18 => Ok(WeightScheme::TorchaoInt4Plain),
            19 => Ok(WeightScheme::TorchaoNvfp4),
            20 => Ok(WeightScheme::TorchaoMx),
            21 => Ok(WeightScheme::Mxfp8),
            other => Err(Error::internal(format!("kaio: {} is no WeightScheme that this crate knows", other))),
        }
    }
}

/// What a tensor is to its layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum WeightPart {
    /// codes.
    Codes = 0,
    /// scales.
    Scales = 1,
    /// Zero points.
    ZeroPoints = 2,
    /// Group index.
    GroupIndex = 3,
    /// The shape of the weight, in the file.
    Shape = 4,
    /// The tensor scale of NVFP4.
    GlobalScale = 5,
    /// The scale of x.
    InputScale = 6,
    /// quant_map.
    CodeTable = 7,
    /// nested_absmax of bitsandbytes.
    NestedScales = 8,
    /// nested_quant_map of bitsandbytes.
    NestedTable = 9,
    /// JSON of bitsandbytes.
    State = 10,
    /// Factors of the columns of x, before the product.
    InputFactors = 11,
    /// No scheme explains it: the layer has a problem.
    Unknown = 12,
}

impl WeightPart {
    pub(crate) fn from_raw(raw: i32) -> Result<WeightPart> {
        match raw {
            0 => Ok(WeightPart::Codes),
            1 => Ok(WeightPart::Scales),
            2 => Ok(WeightPart::ZeroPoints),
            3 => Ok(WeightPart::GroupIndex),
            4 => Ok(WeightPart::Shape),
            5 => Ok(WeightPart::GlobalScale),
            6 => Ok(WeightPart::InputScale),
            7 => Ok(WeightPart::CodeTable),
            8 => Ok(WeightPart::NestedScales),
            9 => Ok(WeightPart::NestedTable),
            10 => Ok(WeightPart::State),
            11 => Ok(WeightPart::InputFactors),
            12 => Ok(WeightPart::Unknown),
            other => Err(Error::internal(format!("kaio: {} is no WeightPart that this crate knows", other))),
        }
    }
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightsInfo {
    /// A kind of weight files.
    pub kind: WeightsKind,
    /// GGUF's; else 0.
    pub version: u32,
    /// That of GGUF's tensors in the file; else 0.
    pub alignment: u32,
    /// tensors.
    pub tensors: u64,
    /// Values; those of the first file.
    pub metadata: u64,
    /// That are mapped.
    pub files: u64,
}

impl WeightsInfo {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_weights_info) -> Result<Self> {
        Ok(WeightsInfo {
            kind: WeightsKind::from_raw(raw.kind)?,
            version: raw.version,
            alignment: raw.alignment,
            tensors: raw.tensors,
            metadata: raw.metadata,
            files: raw.files,
        })
    }
}

/// The quantised layers of a model, and its quantization_config.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightsLayersInfo {
    /// True: there is a configuration, which the other fields describe.
    pub has_config: bool,
    /// layers.
    pub layers: u64,
    /// Gptq, awq, auto-round, compressed-tensors, bitsandbytes, fp8, mxfp4, modelopt, torchao.
    pub method: String,
    /// In small letters, such as gptq_v2 or gemv; empty: not said.
    pub format: String,
    /// 0: not said.
    pub bits: u32,
    /// Has group.
    pub has_group: bool,
    /// -1: all of k.
    pub group: i64,
    /// Act order.
    pub act_order: bool,
    /// 1, 0, or -1: not said.
    pub symmetric: i32,
    /// That share a scale; 0: not said.
    pub block_rows: u64,
    /// Block columns.
    pub block_columns: u64,
    /// True: weight_scale_inv divides.
    pub inverse_scales: bool,
    /// True: some layers have their own bits and groups, which are not read.
    pub per_layer: bool,
}

impl WeightsLayersInfo {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_weights_layers_info) -> Result<Self> {
        Ok(WeightsLayersInfo {
            has_config: raw.has_config != 0,
            layers: raw.layers,
            // SAFETY: NULL or a text of the library.
            method: unsafe { text(raw.method) },
            // SAFETY: NULL or a text of the library.
            format: unsafe { text(raw.format) },
            bits: raw.bits,
            has_group: raw.has_group != 0,
            group: raw.group,
            act_order: raw.act_order != 0,
            symmetric: raw.symmetric,
            block_rows: raw.block_rows,
            block_columns: raw.block_columns,
            inverse_scales: raw.inverse_scales != 0,
            per_layer: raw.per_layer != 0,
        })
    }
}

/// A quantised layer: tensors that make up one weight (n, k).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightsLayer {
    /// How the tensors of a quantised layer make up its weight.
    pub scheme: WeightScheme,
    /// Scheme name.
    pub scheme_name: String,
    /// The common beginning of the names of its tensors.
    pub name: String,
    /// Rows of the weight; if there are experts, those of each; 0: not known.
    pub n: u64,
    /// k.
    pub k: u64,
    /// Codes along k that share a scale; 0: blocks of rows and columns.
    pub group: u64,
    /// Rows that share a scale, if the group is 0.
    pub block_rows: u64,
    /// Block columns.
    pub block_columns: u64,
    /// nested_blocksize of bitsandbytes; 0: absmax is not quantised.
    pub nested_group: u64,
    /// Nested offset.
    pub nested_offset: f32,
    /// Bits of a code.
    pub bits: u32,
    /// True: groups are interleaved.
    pub act_order: bool,
    /// True: scales have the order of cuBLASLt; weights_part_bytes gives them row after row.
    pub swizzled: bool,
    /// Why the layer cannot be used; empty: no problem.
    pub problem: String,
    /// The operation that multiplies with it, such as matmul_w4 after repack; empty: none does.
    pub operation: String,
    /// Why none does; empty: one does.
    pub obstacle: String,
    /// parts.
    pub parts: u64,
}

impl WeightsLayer {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_weights_layer) -> Result<Self> {
        Ok(WeightsLayer {
            scheme: WeightScheme::from_raw(raw.scheme)?,
            // SAFETY: NULL or a text of the library.
            scheme_name: unsafe { text(raw.scheme_name) },
            // SAFETY: NULL or a text of the library.
            name: unsafe { text(raw.name) },
            n: raw.n,
            k: raw.k,
            group: raw.group,
            block_rows: raw.block_rows,
            block_columns: raw.block_columns,
            nested_group: raw.nested_group,
            nested_offset: raw.nested_offset,
            bits: raw.bits,
            act_order: raw.act_order != 0,
            swizzled: raw.swizzled != 0,
            // SAFETY: NULL or a text of the library.
            problem: unsafe { text(raw.problem) },
            // SAFETY: NULL or a text of the library.
            operation: unsafe { text(raw.operation) },
            // SAFETY: NULL or a text of the library.
            obstacle: unsafe { text(raw.obstacle) },
            parts: raw.parts,
        })
    }
}

/// A tensor of a quantised layer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightsLayerPart {
    /// What a tensor is to its layer.
    pub part: WeightPart,
    /// Part name.
    pub part_name: String,
    /// Its index in the model.
    pub tensor: u64,
}

impl WeightsLayerPart {
    /// Texts are those of the library, which end in a zero.
    pub(crate) fn from_raw(raw: &sys::kaio_weights_layer_part) -> Result<Self> {
        Ok(WeightsLayerPart {
            part: WeightPart::from_raw(raw.part)?,
            // SAFETY: NULL or a text of the library.
            part_name: unsafe { text(raw.part_name) },
            tensor: raw.tensor,
        })
    }
}
