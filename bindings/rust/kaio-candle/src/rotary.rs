//! Rotary position embedding, and embeddings of tokens.

use crate::library::kaio;
use crate::operation::{apply, dl, neighbours, no_gradient, pointer, with_inputs, Held, Operation};
use crate::storage::{Input, Output, Place};
use candle_core::{bail, DType, Device, Result, Tensor};
use kaio_sys::{
    kaio_embedding_backward_options, kaio_embedding_options, kaio_rotary_options, kaio_rotary_table_options,
};
use std::ptr::null;

/// cos and sin (positions, pairs) of the angles position / base^(i / pairs), computed in double precision.
pub fn rotary_table(
    positions: usize,
    pairs: usize,
    base: f64,
    dtype: DType,
    device: &Device,
) -> Result<(Tensor, Tensor)> {
    // The tensors say which device the table is on.
    let (cos, sin) = (
        Tensor::zeros((positions, pairs), dtype, device)?,
        Tensor::zeros((positions, pairs), dtype, device)?,
    );
    with_inputs(&[&cos, &sin], |place, _| {
        let (mut cos, mut sin) = (place.output(cos.dims(), dtype)?, place.output(sin.dims(), dtype)?);
        {
            let (cos, sin) = (cos.view(place)?, sin.view(place)?);
            let how = kaio_rotary_table_options {
                base,
                ..Default::default()
            };
            kaio!(kaio_rotary_table(place.stream(), &cos.dl(), &sin.dl(), &how));
        }
        Ok((cos.tensor(), sin.tensor()))
    })
}

/// Options of [`rotary`].
#[derive(Clone, Debug, Default)]
pub struct RotaryOptions {
    /// Pairs are (0, 1), (2, 3), ..., as in GPT-J. Else (0, P), (1, P + 1), ..., as in Llama.
    pub interleaved: bool,
    /// x is (batch, heads, sequence, size). Else (batch, sequence, heads, size).
    pub heads_first: bool,
    /// (batch, sequence), I64, I32 or U32: the position of each token. None: token i is at row i of cos, so tokens
    /// that begin at another position take `cos.narrow(0, position, sequence)`.
    pub positions: Option<Tensor>,
}

/// Turns the pairs of each head by the angles of its position, with gradient of x. cos and sin are (positions, pairs).
pub fn rotary(x: &Tensor, cos: &Tensor, sin: &Tensor, options: &RotaryOptions) -> Result<Tensor> {
    no_gradient("rotary", &[Some(cos), Some(sin), options.positions.as_ref()])?;
    apply(
        Rotary {
            cos: cos.clone(),
            sin: sin.clone(),
            options: options.clone(),
        },
        &[x],
    )
}

struct Rotary {
    cos: Tensor,
    sin: Tensor,
    options: RotaryOptions,
}

impl Rotary {
    fn turned(&self, place: &Place, input: &Input, inverse: bool) -> Result<Output> {
        if input.dims().len() != 4 {
            bail!(
                "kaio: rotary: x has {} dimensions, and 4 are needed",
                input.dims().len()
            )
        }
        let mut output = place.output(input.dims(), input.dtype())?;
        {
            let (x, to) = (place.view(input)?, output.view(place)?);
            let [x, to] = if self.options.heads_first {
                [x, to].map(|view| view.permuted(&[0, 2, 1, 3]))
            } else {
                [x, to]
            };
            let held = [
                Held::of(Some(&self.cos)),
                Held::of(Some(&self.sin)),
                Held::of(self.options.positions.as_ref()),
            ];
            let views = [
                held[0].view(place)?,
                held[1].view(place)?,
                held[2].view(place)?.map(|view| view.as_index()),
            ];
            let [cos, sin, positions] = [dl(&views[0]), dl(&views[1]), dl(&views[2])];
            let how = kaio_rotary_options {
                interleaved: i32::from(self.options.interleaved),
                inverse: i32::from(inverse),
                positions: pointer(&positions),
                ..Default::default()
            };
            kaio!(kaio_rotary(
                place.stream(),
                &x.dl(),
                &to.dl(),
                pointer(&cos),
                pointer(&sin),
                &how
            ));
        }
        Ok(output)
    }
}

impl Operation for Rotary {
    const NAME: &'static str = "kaio_rotary";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        self.turned(place, &inputs[0], false)
    }

    fn backward(&self, _: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        with_inputs(&[&gradient], |place, inputs| {
            Ok(vec![Some(self.turned(place, &inputs[0], true)?.tensor())])
        })
    }
}

/// The rows of weight (vocabulary, size) that indices (...) of I64, I32 or U32 name, with gradient of the weight. An
/// index that is no row gives zeros.
pub fn embedding(indices: &Tensor, weight: &Tensor) -> Result<Tensor> {
    no_gradient("embedding", &[Some(indices)])?;
    apply(
        Embedding {
            indices: indices.clone(),
        },
        &[weight],
    )
}

struct Embedding {
    indices: Tensor,
}

impl Operation for Embedding {
    const NAME: &'static str = "kaio_embedding";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let &[_, size] = inputs[0].dims() else {
            bail!(
                "kaio: embedding: the weight has the shape {:?}, and (vocabulary, size) is needed",
                inputs[0].dims()
            )
        };
        let dims: Vec<usize> = self.indices.dims().iter().copied().chain([size]).collect();
        let mut output = place.output(&dims, inputs[0].dtype())?;
        {
            let (held, weight) = (Held::of(Some(&self.indices)), place.view(&inputs[0])?);
            let indices = held.view(place)?.map(|view| view.as_index());
            let (indices, to) = (dl(&indices), output.view(place)?);
            kaio!(kaio_embedding(
                place.stream(),
                pointer(&indices),
                &weight.dl(),
                &to.dl(),
                null::<kaio_embedding_options>()
            ));
        }
        Ok(output)
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        with_inputs(&[&gradient, &self.indices], |place, inputs| {
            let mut output = place.output(arguments[0].dims(), arguments[0].dtype())?;
            {
                let (dout, indices) = (place.view(&inputs[0])?, place.view(&inputs[1])?.as_index());
                let to = output.view(place)?;
                let (dout, indices, to) = (dout.dl(), indices.dl(), to.dl());
                let mut bytes = 0;
                kaio!(kaio_embedding_backward_workspace_bytes(&indices, &to, &mut bytes));
                let mut memory = place.workspace(bytes)?;
                let memory = memory.view(place)?.aligned();
                let workspace = memory.dl();
                let how = kaio_embedding_backward_options {
                    workspace: &workspace,
                    ..Default::default()
                };
                kaio!(kaio_embedding_backward(
                    place.stream(),
                    &dout,
                    &indices,
                    &to,
                    &how
                ));
            }
            Ok(vec![Some(output.tensor())])
        })
    }
}
