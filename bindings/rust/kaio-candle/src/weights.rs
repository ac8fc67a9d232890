//! Packed weights of four and eight bits, and products with them.

use crate::library::kaio;
use crate::operation::{apply, dl, neighbours, no_gradient, pointer, with_inputs, Held, Operation};
use crate::storage::{Input, Output, Place};
use crate::view::View;
use candle_core::{bail, DType, Result, Tensor};
use kaio_sys::{kaio_matmul_w4_options, kaio_w4_weights, kaio_w8_weights, DLTensor};
use std::ptr::null;

/// A weight (n, k), n outputs by k inputs, in the form that kaio's kernels read. It is made once, when a model is loaded.
#[derive(Clone)]
pub struct PackedWeight {
    pub(crate) form: Form,
    pub(crate) memory: Tensor,
}

#[derive(Clone, Copy)]
pub(crate) enum Form {
    W4(kaio_w4_weights),
    W8(kaio_w8_weights),
}

// SAFETY: the struct's only pointer, to its memory, is NULL outside of calls.
unsafe impl Send for Form {}
// SAFETY: as above.
unsafe impl Sync for Form {}

impl std::fmt::Debug for PackedWeight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PackedWeight({} bits, {} x {})",
            self.bits(),
            self.n(),
            self.k()
        )
    }
}

impl PackedWeight {
    /// Bits of a code: 4 or 8.
    pub fn bits(&self) -> usize {
        match self.form {
            Form::W4(_) => 4,
            Form::W8(_) => 8,
        }
    }

    /// The number of outputs.
    pub fn n(&self) -> usize {
        match self.form {
            Form::W4(weights) => weights.n as usize,
            Form::W8(weights) => weights.n as usize,
        }
    }

    /// The number of inputs.
    pub fn k(&self) -> usize {
        match self.form {
            Form::W4(weights) => weights.k as usize,
            Form::W8(weights) => weights.k as usize,
        }
    }

    pub(crate) fn memory(&self) -> &Tensor {
        &self.memory
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// The weight as a matrix (n, k) of f32, f16 or bf16.
    pub fn dequantise(&self, dtype: DType) -> Result<Tensor> {
        with_inputs(&[&self.memory], |place, inputs| {
            let mut output = place.output(&[self.n(), self.k()], dtype)?;
            {
                let (memory, to) = (place.view(&inputs[0])?, output.view(place)?);
                let (memory, to) = (memory.dl(), to.dl());
                self.form.with_memory(&memory, |raw| {
                    match raw {
                        Raw::W4(weights) => kaio!(kaio_dequantise_w4(place.stream(), weights, &to)),
                        Raw::W8(weights) => kaio!(kaio_dequantise_w8(place.stream(), weights, &to)),
                    }
                    Ok(())
                })?;
            }
            Ok(output.tensor())
        })
    }

    /// `x weightᵀ + bias` for x (..., k) of f16 or bf16, with the gradient of x, for which the weight is dequantised. The
    /// result has x's type, or f32 if `out` says so. A tracked bias is refused.
    pub fn matmul(&self, x: &Tensor, bias: Option<&Tensor>, out: Option<DType>) -> Result<Tensor> {
        no_gradient("PackedWeight::matmul", &[bias])?;
        apply(
            PackedProduct {
                weight: self.clone(),
                bias: bias.cloned(),
                out,
            },
            &[x],
        )
    }

    fn run(&self, place: &Place, x: &View, memory: &View, to: &View, bias: &Held) -> Result<()> {
        let bias = bias.view(place)?;
        let bias = dl(&bias);
        let mut how = kaio_matmul_w4_options {
            bias: pointer(&bias),
            ..Default::default()
        };
        let (x, to, memory) = (x.dl(), to.dl(), memory.dl());
        self.form.with_memory(&memory, |raw| {
            let mut bytes = 0;
            match raw {
                Raw::W4(weights) => kaio!(kaio_matmul_w4_workspace_bytes(&x, weights, &to, &how, &mut bytes)),
                Raw::W8(weights) => kaio!(kaio_matmul_w8_workspace_bytes(&x, weights, &to, &how, &mut bytes)),
            }
            let mut scratch: Output = place.workspace(bytes)?;
            let scratch = scratch.view(place)?.aligned();
            let workspace = scratch.dl();
            how.workspace = if bytes > 0 { &workspace } else { null() };
            match raw {
                Raw::W4(weights) => kaio!(kaio_matmul_w4(place.stream(), &x, weights, &to, &how)),
                Raw::W8(weights) => kaio!(kaio_matmul_w8(place.stream(), &x, weights, &to, &how)),
            }
            Ok(())
        })
    }
}

struct PackedProduct {
    weight: PackedWeight,
    bias: Option<Tensor>,
    out: Option<DType>,
}

impl Operation for PackedProduct {
    const NAME: &'static str = "kaio_matmul_packed";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let Some((_, rows)) = inputs[0].dims().split_last() else {
            bail!("kaio: PackedWeight: x is a scalar")
        };
        let dims: Vec<usize> = rows.iter().copied().chain([self.weight.n()]).collect();
        let mut output = place.output(&dims, self.out.unwrap_or(inputs[0].dtype()))?;
        {
            let held = Held::of(Some(&self.weight.memory));
            let Some(memory) = held.view(place)? else {
                bail!("kaio: PackedWeight: there is no memory")
            };
            let [x, to] = [rows_of(&place.view(&inputs[0])?)?, rows_of(&output.view(place)?)?];
            self.weight
                .run(place, &x, &memory, &to, &Held::of(self.bias.as_ref()))?;
        }
        Ok(output)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let dtype = arguments[0].dtype();
        let rows = neighbours(gradient)?.to_dtype(dtype)?;
        Ok(vec![Some(crate::matmul(&rows, &self.weight.dequantise(dtype)?)?)])
    }
}

/// The struct of the C interface, with its memory.
pub(crate) enum Raw {
    W4(kaio_w4_weights),
    W8(kaio_w8_weights),
}

impl Form {
    pub(crate) fn with_memory<R>(&self, memory: &DLTensor, f: impl FnOnce(&Raw) -> Result<R>) -> Result<R> {
        f(&match *self {
            Self::W4(weights) => Raw::W4(kaio_w4_weights { memory, ..weights }),
            Self::W8(weights) => Raw::W8(kaio_w8_weights { memory, ..weights }),
        })
    }
}

/// A view as (rows, last dimension).
pub(crate) fn rows_of<'a>(view: &View<'a>) -> Result<View<'a>> {
    match view.rank() {
        1 => Ok(view.as_matrix()),
        rank => match view.joined(0, rank - 2) {
            Some(rows) => Ok(rows),
            None => bail!(
                "kaio: rows of a tensor {:?} are at unequal distances: call contiguous() on it",
                view.dims()
            ),
        },
    }
}
