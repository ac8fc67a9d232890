//! Products in candle's graph.

use super::product::{broadcast, product, Extra};
use super::MatmulOptions;
use crate::library::kaio;
use crate::operation::{dl, neighbours, pointer, with_inputs, Operation};
use crate::storage::{Input, Output, Place};
use crate::view::View;
use candle_core::{DType, Result, Tensor, D};
use kaio_sys::{kaio_matmul_backward_options, kaio_reduce_options};
use std::ptr::null;

/// A product that is recorded.
pub(super) struct Product {
    pub(super) options: MatmulOptions,
    /// The second tensor is (n, k), and a third one the bias.
    pub(super) weight: bool,
}

impl Operation for Product {
    const NAME: &'static str = "kaio_matmul";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let bias = inputs.get(2).map(|input| place.view(input)).transpose()?;
        product(
            place,
            inputs,
            self.weight,
            self.options,
            &Extra {
                bias,
                ..Default::default()
            },
        )
    }

    fn backward(&self, arguments: &[&Tensor], _: &Tensor, gradient: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (a, b) = (arguments[0].detach(), arguments[1].detach());
        let gradient = neighbours(gradient)?;
        let wanted = [arguments[0].track_op(), arguments[1].track_op()];
        let mut gradients = if b.rank() == 2 {
            // Rows of all batches are rows of one product.
            let rows = |tensor: &Tensor| tensor.reshape(((), tensor.dim(D::Minus1)?));
            let [da, db] = self.gradients(&rows(&a)?, &b, &rows(&gradient)?, wanted)?;
            vec![da.map(|da| da.reshape(a.shape())).transpose()?, db]
        } else {
            let batch = broadcast(&a.dims()[..a.rank() - 2], &b.dims()[..b.rank() - 2])?;
            let count: usize = batch.iter().product();
            let flat = |tensor: &Tensor| {
                let (m, n) = (tensor.dim(D::Minus2)?, tensor.dim(D::Minus1)?);
                let whole: Vec<usize> = batch.iter().copied().chain([m, n]).collect();
                tensor.broadcast_as(whole)?.reshape((count, m, n))
            };
            let [da, db] = self.gradients(&flat(&a)?, &flat(&b)?, &flat(&gradient)?, wanted)?;
            let back = |gradient: Option<Tensor>, to: &Tensor| {
                gradient
                    .map(|gradient| unbroadcast(&gradient, &batch, to))
                    .transpose()
            };
            vec![back(da, &a)?, back(db, &b)?]
        };
        if let Some(bias) = arguments.get(2) {
            let rows = gradient.reshape(((), gradient.dim(D::Minus1)?))?;
            gradients.push(if bias.track_op() {
                Some(sum_of_rows(&rows, bias.dtype())?)
            } else {
                None
            });
        }
        Ok(gradients)
    }
}

/// The gradient of a tensor that was broadcast to `batch`: a sum along what was repeated.
fn unbroadcast(gradient: &Tensor, batch: &[usize], to: &Tensor) -> Result<Tensor> {
    let (m, n) = (gradient.dim(D::Minus2)?, gradient.dim(D::Minus1)?);
    let mut gradient = gradient.reshape(batch.iter().copied().chain([m, n]).collect::<Vec<_>>())?;
    while gradient.rank() > to.rank() {
        gradient = gradient.sum(0)?;
    }
    for d in 0..to.rank() - 2 {
        if to.dims()[d] == 1 && gradient.dims()[d] != 1 {
            gradient = gradient.sum_keepdim(d)?;
        }
    }
    Ok(gradient)
}

/// The sums along the first dimension of (rows, n).
fn sum_of_rows(rows: &Tensor, dtype: DType) -> Result<Tensor> {
    with_inputs(&[rows], |place, inputs| {
        let mut output = place.output(&rows.dims()[1..], dtype)?;
        {
            let (x, out) = (place.view(&inputs[0])?, output.view(place)?);
            let (x, out) = (x.dl(), out.dl());
            let mut how = kaio_reduce_options {
                axis: 0,
                ..Default::default()
            };
            let (sum, mut bytes) = (kaio_sys::KAIO_REDUCTION_SUM, 0);
            kaio!(kaio_reduce_workspace_bytes(sum, &x, &out, &how, &mut bytes));
            let mut memory = place.workspace(bytes)?;
            let memory = memory.view(place)?.aligned();
            let workspace = memory.dl();
            how.workspace = if bytes > 0 { &workspace } else { null() };
            kaio!(kaio_reduce(place.stream(), sum, &x, &out, &how));
        }
        Ok(output.tensor())
    })
}

impl Product {
    /// A weight (n, k) as the (k, n) of the product.
    fn turned<'a>(&self, b: View<'a>) -> View<'a> {
        if self.weight {
            b.transposed()
        } else {
            b
        }
    }

    /// The gradients of a (rows, k) or (batch, m, k), and of b: (k, n), (batch, k, n), or a weight (n, k).
    fn gradients(
        &self,
        a: &Tensor,
        b: &Tensor,
        gradient: &Tensor,
        wanted: [bool; 2],
    ) -> Result<[Option<Tensor>; 2]> {
        with_inputs(&[a, b, gradient], |place, inputs| {
            let output = |at: usize| match wanted[at] {
                true => place.output(inputs[at].dims(), inputs[at].dtype()).map(Some),
                false => Ok(None),
            };
            let (mut da, mut db) = (output(0)?, output(1)?);
            {
                let (a, b, dc) = (
                    place.view(&inputs[0])?,
                    self.turned(place.view(&inputs[1])?),
                    place.view(&inputs[2])?,
                );
                let (a, b, dc) = (a.dl(), b.dl(), dc.dl());
                let da = da.as_mut().map(|output| output.view(place)).transpose()?;
                let db = db
                    .as_mut()
                    .map(|output| output.view(place))
                    .transpose()?
                    .map(|db| self.turned(db));
                let (da, db) = (dl(&da), dl(&db));
                let mut bytes = 0;
                kaio!(kaio_matmul_backward_workspace_bytes(&dc, &a, &mut bytes));
                let mut memory = place.workspace(bytes)?;
                let memory = memory.view(place)?.aligned();
                let workspace = memory.dl();
                let how = kaio_matmul_backward_options {
                    alpha: self.options.alpha,
                    precision: self.options.precision.code(),
                    workspace: if bytes > 0 { &workspace } else { null() },
                    ..Default::default()
                };
                kaio!(kaio_matmul_backward(
                    place.stream(),
                    &dc,
                    &a,
                    &b,
                    pointer(&da),
                    pointer(&db),
                    &how
                ));
            }
            Ok([da.map(Output::tensor), db.map(Output::tensor)])
        })
    }
}
