//! Packing weights of GPTQ, AWQ, GGUF and plain codes, once at load.

use crate::library::kaio;
use crate::operation::{dl, no_gradient, pointer, with_inputs, Held};
use crate::storage::Place;
use crate::weights::{Form, PackedWeight, Raw};
use candle_core::{bail, DType, Error, Result, Tensor};
use kaio_sys::{
    kaio_awq_w4, kaio_e4m3_w8, kaio_gptq_w4, kaio_gptq_w8, kaio_int4_w4, kaio_int8_w8, kaio_w4_weights,
    kaio_w8_weights, DLTensor,
};
use std::ffi::CString;
use std::ptr::null;

/// GPTQ's tensors of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Gptq<'a> {
    /// (k · bits / 32, n), I32 or U32.
    pub qweight: &'a Tensor,
    /// (groups, n), f16 or bf16; of 8 bits f32 too.
    pub scales: &'a Tensor,
    /// (groups, n · bits / 32). None: symmetric.
    pub qzeros: Option<&'a Tensor>,
    /// (k), I32: the group of each k, if they are not in order (act-order).
    pub g_idx: Option<&'a Tensor>,
    /// 2, 3, 4 or 8.
    pub bits: usize,
    /// The file's checkpoint_format is gptq_v2. The older one stores zero points less 1.
    pub v2: bool,
}

fn scale_type(scales: &Tensor) -> Result<i32> {
    match scales.dtype() {
        DType::F16 => Ok(kaio_sys::KAIO_W4_SCALE_TYPE_F16),
        DType::BF16 => Ok(kaio_sys::KAIO_W4_SCALE_TYPE_BF16),
        other => bail!("kaio: packed weights: scales have the type {other:?}, and f16 or bf16 is needed"),
    }
}

fn matrix(tensor: &Tensor, name: &str) -> Result<(usize, usize)> {
    match tensor.dims() {
        &[rows, columns] => Ok((rows, columns)),
        dims => bail!("kaio: packed weights: {name} has the shape {dims:?}, and a matrix is needed"),
    }
}

/// k / groups, whole.
fn group(k: usize, groups: usize) -> Result<i64> {
    if groups == 0 || k % groups != 0 {
        bail!("kaio: packed weights: {k} inputs are not divided by {groups} groups")
    }
    Ok((k / groups) as i64)
}

impl PackedWeight {
    /// Packs GPTQ's tensors.
    pub fn gptq(layer: Gptq) -> Result<Self> {
        let (rows, n) = matrix(layer.qweight, "qweight")?;
        if ![2, 3, 4, 8].contains(&layer.bits) {
            bail!(
                "kaio: packed weights: GPTQ of {} bits, and 2, 3, 4 or 8 is needed",
                layer.bits
            )
        }
        let k = rows * 32 / layer.bits;
        let group = group(k, matrix(layer.scales, "scales")?.0)?;
        let (zero_points, act_order) = (
            i32::from(layer.qzeros.is_some()),
            i32::from(layer.g_idx.is_some()),
        );
        let form = match layer.bits {
            8 => Form::W8(kaio_w8_weights {
                n: n as i64,
                k: k as i64,
                group,
                zero_points,
                act_order,
                ..Default::default()
            }),
            _ => Form::W4(kaio_w4_weights {
                n: n as i64,
                k: k as i64,
                group,
                zero_points,
                act_order,
                scales: scale_type(layer.scales)?,
                ..Default::default()
            }),
        };
        Self::packed(
            form,
            &[Some(layer.qweight), Some(layer.scales), layer.qzeros, layer.g_idx],
            |place, to, t| {
                match to {
                    Raw::W4(to) => {
                        let source = kaio_gptq_w4 {
                            qweight: t[0],
                            scales: t[1],
                            qzeros: t[2],
                            g_idx: t[3],
                            v2: i32::from(layer.v2),
                            bits: layer.bits as i64,
                            ..Default::default()
                        };
                        kaio!(kaio_repack_gptq_w4(place.stream(), &source, to));
                    }
                    Raw::W8(to) => {
                        let source = kaio_gptq_w8 {
                            qweight: t[0],
                            scales: t[1],
                            qzeros: t[2],
                            g_idx: t[3],
                            v2: i32::from(layer.v2),
                            ..Default::default()
                        };
                        kaio!(kaio_repack_gptq_w8(place.stream(), &source, to));
                    }
                }
                Ok(())
            },
        )
    }

    /// Packs AutoAWQ's tensors, version gemm: qweight (k, n / 8), qzeros (groups, n / 8), scales (groups, n).
    pub fn awq(qweight: &Tensor, qzeros: &Tensor, scales: &Tensor) -> Result<Self> {
        let (k, columns) = matrix(qweight, "qweight")?;
        let form = Form::W4(kaio_w4_weights {
            n: 8 * columns as i64,
            k: k as i64,
            group: group(k, matrix(scales, "scales")?.0)?,
            zero_points: 1,
            scales: scale_type(scales)?,
            ..Default::default()
        });
        Self::packed(
            form,
            &[Some(qweight), Some(qzeros), Some(scales)],
            |place, to, t| {
                let Raw::W4(to) = to else { return Ok(()) };
                let source = kaio_awq_w4 {
                    qweight: t[0],
                    qzeros: t[1],
                    scales: t[2],
                    ..Default::default()
                };
                kaio!(kaio_repack_awq_w4(place.stream(), &source, to));
                Ok(())
            },
        )
    }

    /// Packs eight codes a word in two's complement: packed (n, k / 8), scales (groups, n).
    pub fn int4(packed: &Tensor, scales: &Tensor) -> Result<Self> {
        let (n, words) = matrix(packed, "packed")?;
        let form = Form::W4(kaio_w4_weights {
            n: n as i64,
            k: 8 * words as i64,
            group: group(8 * words, matrix(scales, "scales")?.0)?,
            scales: scale_type(scales)?,
            ..Default::default()
        });
        Self::packed(form, &[Some(packed), Some(scales)], |place, to, t| {
            let Raw::W4(to) = to else { return Ok(()) };
            let source = kaio_int4_w4 {
                packed: t[0],
                scales: t[1],
                ..Default::default()
            };
            kaio!(kaio_repack_int4_w4(place.stream(), &source, to));
            Ok(())
        })
    }

    /// Packs bytes of GGUF: the blocks of (n, k), row after row, as U8. `format` is ggml's name, such as Q4_K.
    pub fn gguf(bytes: &Tensor, format: &str, n: usize, k: usize) -> Result<Self> {
        let name = CString::new(format).map_err(Error::msg)?;
        let (mut code, mut operation) = (0, 0);
        kaio!(kaio_block_format_named(name.as_ptr(), &mut code));
        kaio!(kaio_block_operation_of(code, &mut operation));
        let form = match operation {
            kaio_sys::KAIO_BLOCK_OPERATION_MATMUL_W4 => {
                let mut weights = kaio_w4_weights::default();
                kaio!(kaio_w4_weights_of_blocks(code, n as i64, k as i64, &mut weights));
                Form::W4(weights)
            }
            kaio_sys::KAIO_BLOCK_OPERATION_MATMUL_W8 => {
                let mut weights = kaio_w8_weights::default();
                kaio!(kaio_w8_weights_of_blocks(code, n as i64, k as i64, &mut weights));
                Form::W8(weights)
            }
            _ => bail!("kaio: packed weights: no product reads {format}: use dequantise_gguf and matmul"),
        };
        Self::packed(form, &[Some(bytes)], |place, to, t| {
            match to {
                Raw::W4(to) => kaio!(kaio_repack_blocks_w4(place.stream(), code, t[0], to)),
                Raw::W8(to) => kaio!(kaio_repack_blocks_w8(place.stream(), code, t[0], to)),
            }
            Ok(())
        })
    }

    /// Packs codes (n, k) of eight bits, as bytes of i8 in a U8 tensor, with scales (n, groups), (n) or (1).
    pub fn int8(codes: &Tensor, scales: &Tensor) -> Result<Self> {
        if codes.dtype() != DType::U8 {
            bail!(
                "kaio: packed weights: codes of eight bits have the type {:?}, and U8 is needed",
                codes.dtype()
            )
        }
        Self::eight_bits(codes, scales, kaio_sys::KAIO_W8_CODES_INT8)
    }

    /// Packs F8E4M3 (n, k) with scales (n, groups), (n) or (1), or (n / 128, k / 128) with groups of 128.
    pub fn fp8(codes: &Tensor, scales: &Tensor) -> Result<Self> {
        Self::eight_bits(codes, scales, kaio_sys::KAIO_W8_CODES_E4M3)
    }

    fn eight_bits(codes: &Tensor, scales: &Tensor, kind: i32) -> Result<Self> {
        let (n, k) = matrix(codes, "the codes")?;
        let group = match scales.dims() {
            &[rows, groups] if groups > 1 || (rows < n && kind == kaio_sys::KAIO_W8_CODES_E4M3) => {
                if rows < n {
                    128
                } else {
                    group(k, groups)?
                }
            }
            _ => -1,
        };
        let form = Form::W8(kaio_w8_weights {
            codes: kind,
            n: n as i64,
            k: k as i64,
            group,
            ..Default::default()
        });
        Self::packed(form, &[Some(codes), Some(scales)], |place, to, t| {
            let Raw::W8(to) = to else { return Ok(()) };
            if kind == kaio_sys::KAIO_W8_CODES_INT8 {
                // SAFETY: a pointer to a tensor of this call.
                let mut weight = unsafe { *t[0] };
                weight.dtype.code = kaio_sys::kDLInt; // candle has no i8: the bytes are U8
                let source = kaio_int8_w8 {
                    weight: &weight,
                    scales: t[1],
                    ..Default::default()
                };
                kaio!(kaio_repack_int8_w8(place.stream(), &source, to));
            } else {
                let source = kaio_e4m3_w8 {
                    weight: t[0],
                    scales: t[1],
                    ..Default::default()
                };
                kaio!(kaio_repack_e4m3_w8(place.stream(), &source, to));
            }
            Ok(())
        })
    }

    fn packed(
        form: Form,
        tensors: &[Option<&Tensor>],
        pack: impl FnOnce(&Place, &Raw, &[*const DLTensor; 4]) -> Result<()>,
    ) -> Result<Self> {
        no_gradient("PackedWeight", tensors)?;
        let mut bytes = 0;
        match &form {
            Form::W4(weights) => kaio!(kaio_w4_packed_bytes(weights, &mut bytes)),
            Form::W8(weights) => kaio!(kaio_w8_packed_bytes(weights, &mut bytes)),
        }
        let Some(first) = tensors.first().copied().flatten() else {
            bail!("kaio: packed weights: no tensor is given")
        };
        let (memory, skip) = with_inputs(&[first], |place, _| {
            let held: Vec<_> = tensors.iter().map(|tensor| Held::of(*tensor)).collect();
            let views = held
                .iter()
                .map(|held| held.view(place))
                .collect::<Result<Vec<_>>>()?;
            let tensors: Vec<_> = views.iter().map(dl).collect();
            let at = |index: usize| tensors.get(index).map_or(null(), pointer);
            let mut output = place.workspace(bytes)?;
            let skip = {
                let memory = output.view(place)?;
                let (skip, memory) = (memory.misalignment(), memory.aligned());
                let memory = memory.dl();
                form.with_memory(&memory, |raw| pack(place, raw, &[at(0), at(1), at(2), at(3)]))?;
                skip
            };
            Ok((output.tensor(), skip))
        })?;
        Ok(Self {
            form,
            memory: memory.narrow(0, skip, bytes as usize)?,
        })
    }
}

/// Weights (n, k) of f32, f16 or bf16 from bytes of GGUF, for formats that no product reads.
pub fn dequantise_gguf(bytes: &Tensor, format: &str, n: usize, k: usize, dtype: DType) -> Result<Tensor> {
    let name = CString::new(format).map_err(Error::msg)?;
    let mut code = 0;
    kaio!(kaio_block_format_named(name.as_ptr(), &mut code));
    with_inputs(&[bytes], |place, inputs| {
        let mut output = place.output(&[n, k], dtype)?;
        {
            let (bytes, to) = (place.view(&inputs[0])?, output.view(place)?);
            kaio!(kaio_dequantise_blocks(
                place.stream(),
                code,
                &bytes.dl(),
                &to.dl()
            ));
        }
        Ok(output.tensor())
    })
}
