// Made by bindings/rust/generate.py from src/c/operations/weights.json.

use std::os::raw::c_void;
use std::os::raw::c_char;
use crate::base::DLTensor;

/// An open model: one file, or several. It does not change, so any threads may read it. Pointers that
/// functions return live until kaio_weights_close. Nobody may shorten a file meanwhile.
#[repr(C)]
pub struct kaio_weights {
    opaque: [u8; 0],
}

/// The quantised layers of a safetensors model. It keeps the file open: the order of closing is free.
/// Pointers that functions return live until kaio_weights_layers_close.
#[repr(C)]
pub struct kaio_weights_layers {
    opaque: [u8; 0],
}

// kaio_weights_kind: A kind of weight files.
/// kaio_weights_kind: gguf.
pub const KAIO_WEIGHTS_KIND_GGUF: i32 = 0;
/// kaio_weights_kind: safetensors.
pub const KAIO_WEIGHTS_KIND_SAFETENSORS: i32 = 1;

// kaio_weight_format: The elements of a tensor in a file.
/// kaio_weight_format: f64.
pub const KAIO_WEIGHT_FORMAT_F64: i32 = 0;
/// kaio_weight_format: f32.
pub const KAIO_WEIGHT_FORMAT_F32: i32 = 1;
/// kaio_weight_format: f16.
pub const KAIO_WEIGHT_FORMAT_F16: i32 = 2;
/// kaio_weight_format: bf16.
pub const KAIO_WEIGHT_FORMAT_BF16: i32 = 3;
/// kaio_weight_format: e4m3.
pub const KAIO_WEIGHT_FORMAT_E4M3: i32 = 4;
/// kaio_weight_format: e5m2.
pub const KAIO_WEIGHT_FORMAT_E5M2: i32 = 5;
/// kaio_weight_format: e4m3fnuz.
pub const KAIO_WEIGHT_FORMAT_E4M3FNUZ: i32 = 6;
/// kaio_weight_format: e5m2fnuz.
pub const KAIO_WEIGHT_FORMAT_E5M2FNUZ: i32 = 7;
/// kaio_weight_format: e8m0.
pub const KAIO_WEIGHT_FORMAT_E8M0: i32 = 8;
/// kaio_weight_format: c64.
pub const KAIO_WEIGHT_FORMAT_C64: i32 = 9;
/// kaio_weight_format: boolean.
pub const KAIO_WEIGHT_FORMAT_BOOLEAN: i32 = 10;
/// kaio_weight_format: i64.
pub const KAIO_WEIGHT_FORMAT_I64: i32 = 11;
/// kaio_weight_format: i32.
pub const KAIO_WEIGHT_FORMAT_I32: i32 = 12;
/// kaio_weight_format: i16.
pub const KAIO_WEIGHT_FORMAT_I16: i32 = 13;
/// kaio_weight_format: i8.
pub const KAIO_WEIGHT_FORMAT_I8: i32 = 14;
/// kaio_weight_format: u64.
pub const KAIO_WEIGHT_FORMAT_U64: i32 = 15;
/// kaio_weight_format: u32.
pub const KAIO_WEIGHT_FORMAT_U32: i32 = 16;
/// kaio_weight_format: u16.
pub const KAIO_WEIGHT_FORMAT_U16: i32 = 17;
/// kaio_weight_format: u8.
pub const KAIO_WEIGHT_FORMAT_U8: i32 = 18;
/// kaio_weight_format: f4_e2m1.
pub const KAIO_WEIGHT_FORMAT_F4_E2M1: i32 = 19;
/// kaio_weight_format: f6_e2m3.
pub const KAIO_WEIGHT_FORMAT_F6_E2M3: i32 = 20;
/// kaio_weight_format: f6_e3m2.
pub const KAIO_WEIGHT_FORMAT_F6_E3M2: i32 = 21;
/// kaio_weight_format: q4_0.
pub const KAIO_WEIGHT_FORMAT_Q4_0: i32 = 22;
/// kaio_weight_format: q4_1.
pub const KAIO_WEIGHT_FORMAT_Q4_1: i32 = 23;
/// kaio_weight_format: q5_0.
pub const KAIO_WEIGHT_FORMAT_Q5_0: i32 = 24;
/// kaio_weight_format: q5_1.
pub const KAIO_WEIGHT_FORMAT_Q5_1: i32 = 25;
/// kaio_weight_format: q8_0.
pub const KAIO_WEIGHT_FORMAT_Q8_0: i32 = 26;
/// kaio_weight_format: q2_k.
pub const KAIO_WEIGHT_FORMAT_Q2_K: i32 = 27;
/// kaio_weight_format: q3_k.
pub const KAIO_WEIGHT_FORMAT_Q3_K: i32 = 28;
/// kaio_weight_format: q4_k.
pub const KAIO_WEIGHT_FORMAT_Q4_K: i32 = 29;
/// kaio_weight_format: q5_k.
pub const KAIO_WEIGHT_FORMAT_Q5_K: i32 = 30;
/// kaio_weight_format: q6_k.
pub const KAIO_WEIGHT_FORMAT_Q6_K: i32 = 31;
/// kaio_weight_format: iq4_nl.
pub const KAIO_WEIGHT_FORMAT_IQ4_NL: i32 = 32;
/// kaio_weight_format: iq4_xs.
pub const KAIO_WEIGHT_FORMAT_IQ4_XS: i32 = 33;
/// kaio_weight_format: mxfp4.
pub const KAIO_WEIGHT_FORMAT_MXFP4: i32 = 34;
/// kaio_weight_format: nvfp4.
pub const KAIO_WEIGHT_FORMAT_NVFP4: i32 = 35;
/// kaio_weight_format: iq1_s.
pub const KAIO_WEIGHT_FORMAT_IQ1_S: i32 = 36;
/// kaio_weight_format: iq1_m.
pub const KAIO_WEIGHT_FORMAT_IQ1_M: i32 = 37;
/// kaio_weight_format: iq2_xxs.
pub const KAIO_WEIGHT_FORMAT_IQ2_XXS: i32 = 38;
/// kaio_weight_format: iq2_xs.
pub const KAIO_WEIGHT_FORMAT_IQ2_XS: i32 = 39;
/// kaio_weight_format: iq2_s.
pub const KAIO_WEIGHT_FORMAT_IQ2_S: i32 = 40;
/// kaio_weight_format: iq3_xxs.
pub const KAIO_WEIGHT_FORMAT_IQ3_XXS: i32 = 41;
/// kaio_weight_format: iq3_s.
pub const KAIO_WEIGHT_FORMAT_IQ3_S: i32 = 42;
/// kaio_weight_format: tq1_0.
pub const KAIO_WEIGHT_FORMAT_TQ1_0: i32 = 43;
/// kaio_weight_format: tq2_0.
pub const KAIO_WEIGHT_FORMAT_TQ2_0: i32 = 44;
/// kaio_weight_format: q1_0.
pub const KAIO_WEIGHT_FORMAT_Q1_0: i32 = 45;
/// kaio_weight_format: q2_0.
pub const KAIO_WEIGHT_FORMAT_Q2_0: i32 = 46;
/// a type of GGUF that kaio does not know: `type` is its number.
pub const KAIO_WEIGHT_FORMAT_UNKNOWN: i32 = 47;

// kaio_weights_type: The type of a value of the metadata. Those of safetensors are strings.
/// kaio_weights_type: u8.
pub const KAIO_WEIGHTS_TYPE_U8: i32 = 0;
/// kaio_weights_type: i8.
pub const KAIO_WEIGHTS_TYPE_I8: i32 = 1;
/// kaio_weights_type: u16.
pub const KAIO_WEIGHTS_TYPE_U16: i32 = 2;
/// kaio_weights_type: i16.
pub const KAIO_WEIGHTS_TYPE_I16: i32 = 3;
/// kaio_weights_type: u32.
pub const KAIO_WEIGHTS_TYPE_U32: i32 = 4;
/// kaio_weights_type: i32.
pub const KAIO_WEIGHTS_TYPE_I32: i32 = 5;
/// kaio_weights_type: f32.
pub const KAIO_WEIGHTS_TYPE_F32: i32 = 6;
/// kaio_weights_type: boolean.
pub const KAIO_WEIGHTS_TYPE_BOOLEAN: i32 = 7;
/// kaio_weights_type: string.
pub const KAIO_WEIGHTS_TYPE_STRING: i32 = 8;
/// kaio_weights_type: array.
pub const KAIO_WEIGHTS_TYPE_ARRAY: i32 = 9;
/// kaio_weights_type: u64.
pub const KAIO_WEIGHTS_TYPE_U64: i32 = 10;
/// kaio_weights_type: i64.
pub const KAIO_WEIGHTS_TYPE_I64: i32 = 11;
/// kaio_weights_type: f64.
pub const KAIO_WEIGHTS_TYPE_F64: i32 = 12;

// kaio_weight_scheme: How the tensors of a quantised layer make up its weight.
/// GPTQ.
pub const KAIO_WEIGHT_SCHEME_GPTQ: i32 = 0;
/// AutoAWQ, version gemm.
pub const KAIO_WEIGHT_SCHEME_AWQ_GEMM: i32 = 1;
/// AutoAWQ, version gemv.
pub const KAIO_WEIGHT_SCHEME_AWQ_GEMV: i32 = 2;
/// AutoAWQ, version gemv_fast.
pub const KAIO_WEIGHT_SCHEME_AWQ_GEMV_FAST: i32 = 3;
/// compressed-tensors pack-quantized.
pub const KAIO_WEIGHT_SCHEME_PACKED_INT: i32 = 4;
/// compressed-tensors int-quantized.
pub const KAIO_WEIGHT_SCHEME_INT8: i32 = 5;
/// bitsandbytes' LLM.int8.
pub const KAIO_WEIGHT_SCHEME_LLM_INT8: i32 = 6;
/// With weight_scale.
pub const KAIO_WEIGHT_SCHEME_FP8: i32 = 7;
/// With weight_scale_inv.
pub const KAIO_WEIGHT_SCHEME_FP8_BLOCK: i32 = 8;
/// bitsandbytes.
pub const KAIO_WEIGHT_SCHEME_NF4: i32 = 9;
/// bitsandbytes.
pub const KAIO_WEIGHT_SCHEME_FP4: i32 = 10;
/// compressed-tensors.
pub const KAIO_WEIGHT_SCHEME_NVFP4_PACKED: i32 = 11;
/// ModelOpt.
pub const KAIO_WEIGHT_SCHEME_NVFP4_MODELOPT: i32 = 12;
/// compressed-tensors.
pub const KAIO_WEIGHT_SCHEME_MXFP4_PACKED: i32 = 13;
/// gpt-oss.
pub const KAIO_WEIGHT_SCHEME_MXFP4_BLOCKS: i32 = 14;
/// kaio_weight_scheme: torchao_int8.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_INT8: i32 = 15;
/// kaio_weight_scheme: torchao_fp8.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_FP8: i32 = 16;
/// kaio_weight_scheme: torchao_tinygemm.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_TINYGEMM: i32 = 17;
/// kaio_weight_scheme: torchao_int4_plain.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_INT4_PLAIN: i32 = 18;
/// kaio_weight_scheme: torchao_nvfp4.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_NVFP4: i32 = 19;
/// kaio_weight_scheme: torchao_mx.
pub const KAIO_WEIGHT_SCHEME_TORCHAO_MX: i32 = 20;
/// compressed-tensors.
pub const KAIO_WEIGHT_SCHEME_MXFP8: i32 = 21;

// kaio_weight_part: What a tensor is to its layer.
/// kaio_weight_part: codes.
pub const KAIO_WEIGHT_PART_CODES: i32 = 0;
/// kaio_weight_part: scales.
pub const KAIO_WEIGHT_PART_SCALES: i32 = 1;
/// kaio_weight_part: zero_points.
pub const KAIO_WEIGHT_PART_ZERO_POINTS: i32 = 2;
/// kaio_weight_part: group_index.
pub const KAIO_WEIGHT_PART_GROUP_INDEX: i32 = 3;
/// The shape of the weight, in the file.
pub const KAIO_WEIGHT_PART_SHAPE: i32 = 4;
/// The tensor scale of NVFP4.
pub const KAIO_WEIGHT_PART_GLOBAL_SCALE: i32 = 5;
/// The scale of x.
pub const KAIO_WEIGHT_PART_INPUT_SCALE: i32 = 6;
/// quant_map.
pub const KAIO_WEIGHT_PART_CODE_TABLE: i32 = 7;
/// nested_absmax of bitsandbytes.
pub const KAIO_WEIGHT_PART_NESTED_SCALES: i32 = 8;
/// nested_quant_map of bitsandbytes.
pub const KAIO_WEIGHT_PART_NESTED_TABLE: i32 = 9;
/// JSON of bitsandbytes.
pub const KAIO_WEIGHT_PART_STATE: i32 = 10;
/// Factors of the columns of x, before the product.
pub const KAIO_WEIGHT_PART_INPUT_FACTORS: i32 = 11;
/// No scheme explains it: the layer has a problem.
pub const KAIO_WEIGHT_PART_UNKNOWN: i32 = 12;

/// A model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_info {
    /// `size_of::<kaio_weights_info>()`.
    pub size: u32,
    /// kaio_weights_kind.
    pub kind: i32,
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

impl Default for kaio_weights_info {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            kind: 0,
            version: 0,
            alignment: 0,
            tensors: 0,
            metadata: 0,
            files: 0,
        }
    }
}

/// A tensor of a file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_tensor {
    /// `size_of::<kaio_weights_tensor>()`.
    pub size: u32,
    /// kaio_weight_format.
    pub format: i32,
    /// UTF-8; in safetensors with any character.
    pub name: *const c_char,
    /// Without the zero at its end.
    pub name_bytes: u64,
    /// 0: one number.
    pub rank: i32,
    /// 1: kaio_weights_read_values decodes it.
    pub has_values: i32,
    /// `rank` extents, outermost first, in GGUF too: a weight is (n, k).
    pub shape: *const i64,
    /// The product of the shape.
    pub elements: u64,
    /// The bytes in the mapped file, read-only; aligned to nothing in general; of an unknown format none.
    pub data: *const c_void,
    /// bytes.
    pub bytes: u64,
    /// The same bytes on kDLCPU, read-only: of formats that DLPack has, with their shape; of others, such
    /// as Q4_K, u8 of (bytes).
    pub tensor: *const DLTensor,
    /// As its files spell it: Q4_K, BF16, F8_E4M3. kaio_block_format_named takes those of blocks.
    pub format_name: *const c_char,
    /// kaio's operation that multiplies with it, after a step before; empty: none does.
    pub operation: *const c_char,
    /// Block elements.
    pub block_elements: u32,
    /// Block bytes.
    pub block_bytes: u32,
    /// The path of the file that has it.
    pub file: *const c_char,
    /// Where the first byte is in that file.
    pub offset: u64,
    /// GGUF's number, if kaio does not know the format.
    pub type_: u32,
    /// 0.
    pub reserved_116: i32,
}

impl Default for kaio_weights_tensor {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            format: 0,
            name: core::ptr::null(),
            name_bytes: 0,
            rank: 0,
            has_values: 0,
            shape: core::ptr::null(),
            elements: 0,
            data: core::ptr::null(),
            bytes: 0,
            tensor: core::ptr::null(),
            format_name: core::ptr::null(),
            operation: core::ptr::null(),
            block_elements: 0,
            block_bytes: 0,
            file: core::ptr::null(),
            offset: 0,
            type_: 0,
            reserved_116: 0,
        }
    }
}

/// A value of the metadata.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_value {
    /// `size_of::<kaio_weights_value>()`.
    pub size: u32,
    /// kaio_weights_type.
    pub type_: i32,
    /// kaio_weights_type: the type of an array's elements.
    pub element: i32,
    /// The value of a boolean.
    pub boolean: i32,
    /// key.
    pub key: *const c_char,
    /// Without the zero at its end.
    pub key_bytes: u64,
    /// Elements of an array; else 1.
    pub count: u64,
    /// a string with a zero at its end; NULL if the value is none.
    pub text: *const c_char,
    /// Without the zero at its end.
    pub text_bytes: u64,
    /// The value in the file, aligned to nothing; of an array all elements, strings each with its length
    /// before it, a u64.
    pub data: *const c_void,
    /// bytes.
    pub bytes: u64,
    /// 1: it is a number.
    pub has_number: i32,
    /// 1: it is an integer that fits an int64_t.
    pub has_integer: i32,
    /// 1: it is an integer that fits a uint64_t.
    pub has_natural: i32,
    /// 0.
    pub reserved_84: i32,
    /// number.
    pub number: f64,
    /// integer.
    pub integer: i64,
    /// natural.
    pub natural: u64,
}

impl Default for kaio_weights_value {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            type_: 0,
            element: 0,
            boolean: 0,
            key: core::ptr::null(),
            key_bytes: 0,
            count: 0,
            text: core::ptr::null(),
            text_bytes: 0,
            data: core::ptr::null(),
            bytes: 0,
            has_number: 0,
            has_integer: 0,
            has_natural: 0,
            reserved_84: 0,
            number: 0.0,
            integer: 0,
            natural: 0,
        }
    }
}

/// The quantised layers of a model, and its quantization_config.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_layers_info {
    /// `size_of::<kaio_weights_layers_info>()`.
    pub size: u32,
    /// 1: there is a configuration, which the other fields describe.
    pub has_config: i32,
    /// layers.
    pub layers: u64,
    /// Gptq, awq, auto-round, compressed-tensors, bitsandbytes, fp8, mxfp4, modelopt, torchao.
    pub method: *const c_char,
    /// In small letters, such as gptq_v2 or gemv; empty: not said.
    pub format: *const c_char,
    /// 0: not said.
    pub bits: u32,
    /// Has group.
    pub has_group: i32,
    /// -1: all of k.
    pub group: i64,
    /// Act order.
    pub act_order: i32,
    /// 1, 0, or -1: not said.
    pub symmetric: i32,
    /// That share a scale; 0: not said.
    pub block_rows: u64,
    /// Block columns.
    pub block_columns: u64,
    /// 1: weight_scale_inv divides.
    pub inverse_scales: i32,
    /// 1: some layers have their own bits and groups, which are not read.
    pub per_layer: i32,
}

impl Default for kaio_weights_layers_info {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            has_config: 0,
            layers: 0,
            method: core::ptr::null(),
            format: core::ptr::null(),
            bits: 0,
            has_group: 0,
            group: 0,
            act_order: 0,
            symmetric: 0,
            block_rows: 0,
            block_columns: 0,
            inverse_scales: 0,
            per_layer: 0,
        }
    }
}

/// A quantised layer: tensors that make up one weight (n, k).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_layer {
    /// `size_of::<kaio_weights_layer>()`.
    pub size: u32,
    /// kaio_weight_scheme.
    pub scheme: i32,
    /// Scheme name.
    pub scheme_name: *const c_char,
    /// The common beginning of the names of its tensors.
    pub name: *const c_char,
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
    /// 1: groups are interleaved.
    pub act_order: i32,
    /// 1: scales have the order of cuBLASLt; kaio_weights_part_bytes gives them row after row.
    pub swizzled: i32,
    /// Why the layer cannot be used; empty: no problem.
    pub problem: *const c_char,
    /// The operation that multiplies with it, such as matmul_w4 after repack; empty: none does.
    pub operation: *const c_char,
    /// Why none does; empty: one does.
    pub obstacle: *const c_char,
    /// parts.
    pub parts: u64,
}

impl Default for kaio_weights_layer {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scheme: 0,
            scheme_name: core::ptr::null(),
            name: core::ptr::null(),
            n: 0,
            k: 0,
            group: 0,
            block_rows: 0,
            block_columns: 0,
            nested_group: 0,
            nested_offset: 0.0,
            bits: 0,
            act_order: 0,
            swizzled: 0,
            problem: core::ptr::null(),
            operation: core::ptr::null(),
            obstacle: core::ptr::null(),
            parts: 0,
        }
    }
}

/// A tensor of a quantised layer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_weights_layer_part {
    /// `size_of::<kaio_weights_layer_part>()`.
    pub size: u32,
    /// kaio_weight_part.
    pub part: i32,
    /// Part name.
    pub part_name: *const c_char,
    /// Its index in the model.
    pub tensor: u64,
}

impl Default for kaio_weights_layer_part {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            part: 0,
            part_name: core::ptr::null(),
            tensor: 0,
        }
    }
}
