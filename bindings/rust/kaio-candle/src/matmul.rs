//! Products of matrices, and linear layers.

use crate::library::kaio;
use crate::operation::{apply, dl, no_gradient, pointer, with_inputs, Held, Operation};
use crate::view::{Input, Output, Place, View};
use candle_core::{bail, DType, Result, Tensor, D};
use kaio_sys::{kaio_matmul_backward_options, kaio_matmul_options, kaio_reduce_options, DLTensor};
use std::ptr::null;

/// How products of f32 are computed. Other types ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Multiply-adds in f32.
    #[default]
    Ieee,
    /// Tensor cores; inputs are rounded to 11 significant bits.
    Tf32,
    /// Tensor cores, three products: about 22 significant bits. Attention takes it as `Ieee`.
    Tf32x3,
}

impl Precision {
    fn code(self) -> i32 {
        match self {
            Self::Ieee => kaio_sys::KAIO_MATMUL_PRECISION_IEEE,
            Self::Tf32 => kaio_sys::KAIO_MATMUL_PRECISION_TF32,
            Self::Tf32x3 => kaio_sys::KAIO_MATMUL_PRECISION_TF32X3,
        }
    }
}

/// The activation function after a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epilogue {
    /// None.
    #[default]
    None,
    /// max(x, 0).
    Relu,
    /// GELU by erf.
    Gelu,
    /// GELU by tanh.
    GeluTanh,
    /// x / (1 + e^-x).
    Silu,
}

impl Epilogue {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::None => kaio_sys::KAIO_MATMUL_ACTIVATION_NONE,
            Self::Relu => kaio_sys::KAIO_MATMUL_ACTIVATION_RELU,
            Self::Gelu => kaio_sys::KAIO_MATMUL_ACTIVATION_GELU,
            Self::GeluTanh => kaio_sys::KAIO_MATMUL_ACTIVATION_GELU_TANH,
            Self::Silu => kaio_sys::KAIO_MATMUL_ACTIVATION_SILU,
        }
    }
}

/// Options of [`matmul_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatmulOptions {
    /// A factor of the product.
    pub alpha: f32,
    /// How products of f32 are computed.
    pub precision: Precision,
    /// The type of the result: that of the operands, or f32. None: that of the operands.
    pub out: Option<DType>,
}

impl Default for MatmulOptions {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            precision: Precision::Ieee,
            out: None,
        }
    }
}

/// `a b` for a (..., m, k) and b (..., k, n) of f32, f16 or bf16, with gradients. Leading dimensions are broadcast.
///
/// Sums are f32, rounded once. Transposed, narrowed and broadcast tensors are read as they are: of the last two
/// strides, one is 1.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    matmul_with(a, b, MatmulOptions::default())
}

/// [`matmul`] with options.
pub fn matmul_with(a: &Tensor, b: &Tensor, options: MatmulOptions) -> Result<Tensor> {
    apply(
        Product {
            options,
            weight: false,
        },
        &[a, b],
    )
}

/// `x weightᵀ + bias` for x (..., k), weight (n, k) and bias (n), with gradients of all three.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let operation = Product {
        options: MatmulOptions::default(),
        weight: true,
    };
    match bias {
        Some(bias) => apply(operation, &[x, weight, bias]),
        None => apply(operation, &[x, weight]),
    }
}

/// `epilogue(x weightᵀ + bias) + residual` in one kernel, for inference: tracked tensors are refused.
pub fn linear_fused(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    epilogue: Epilogue,
    residual: Option<&Tensor>,
) -> Result<Tensor> {
    no_gradient("linear_fused", &[Some(x), Some(weight), bias, residual])?;
    with_inputs(&[x, weight], |place, inputs| {
        let (bias, residual) = (Held::of(bias), Held::of(residual));
        let extra = Extra {
            bias: bias.view(place)?,
            residual: residual.view(place)?,
            epilogue,
        };
        Ok(product(place, inputs, true, MatmulOptions::default(), &extra)?.tensor())
    })
}

struct Product {
    options: MatmulOptions,
    /// The second tensor is (n, k), and a third one the bias.
    weight: bool,
}

#[derive(Default)]
struct Extra<'a> {
    bias: Option<View<'a>>,
    residual: Option<View<'a>>,
    epilogue: Epilogue,
}

fn product(
    place: &Place,
    inputs: &[Input],
    weight: bool,
    options: MatmulOptions,
    extra: &Extra,
) -> Result<Output> {
    let (a, mut b) = (place.view(&inputs[0])?, place.view(&inputs[1])?);
    if a.rank() < if weight { 1 } else { 2 } || b.rank() < 2 || (weight && b.rank() != 2) {
        bail!(
            "kaio: matmul: the operands have {} and {} dimensions: give matrices, or batches of them",
            a.rank(),
            b.rank()
        )
    }
    let a = if a.rank() == 1 {
        a.joined(0, 0)
            .map_or(a.clone(), |row| row.reshaped(&[1, a.dims()[0]]))
    } else {
        a
    };
    if weight {
        b = b.transposed();
    }
    let (rows, columns) = (inputs[0].dims(), b.dims()[b.rank() - 1] as usize);
    let batch = broadcast(&rows[..rows.len().max(2) - 2], &inputs[1].dims()[..b.rank() - 2])?;
    let mut dims = batch.clone();
    dims.extend_from_slice(&rows[rows.len().max(2) - 2..rows.len() - 1]);
    dims.push(columns);
    let mut output = place.output(&dims, options.out.unwrap_or(inputs[0].dtype()))?;
    {
        let c = output.view(place)?;
        let c = if c.rank() == 1 {
            c.reshaped(&[1, columns as i64])
        } else {
            c
        };
        run(place, &a, &b, &c, &batch, options, extra)?;
    }
    Ok(output)
}

fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], d: usize| (d + dims.len()).checked_sub(rank).map_or(1, |d| dims[d]);
    (0..rank)
        .map(|d| match (at(a, d), at(b, d)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            _ => bail!("kaio: matmul: batches of {a:?} and {b:?} matrices do not fit"),
        })
        .collect()
}

fn run(
    place: &Place,
    a: &View,
    b: &View,
    c: &View,
    batch: &[usize],
    options: MatmulOptions,
    extra: &Extra,
) -> Result<()> {
    let (bias, mut residual) = (dl(&extra.bias), extra.residual.clone());
    // A matrix for all of the batch: the rows of the batch are rows of one product.
    if b.rank() == 2 && a.rank() > 2 {
        let last = a.rank() - 2;
        let joined = residual.as_ref().map(|residual| residual.joined(0, last));
        if let (Some(a), Some(c), None | Some(Some(_))) = (a.joined(0, last), c.joined(0, last), &joined) {
            return one(place, &a, b, &c, bias, joined.flatten(), options, extra.epilogue);
        }
    }
    let (a, b) = (a.broadcast(batch), b.broadcast(batch));
    let last = match batch.len() {
        0 => return one(place, &a, &b, c, bias, residual, options, extra.epilogue),
        count => count - 1,
    };
    residual = residual.map(|residual| residual.broadcast(batch));
    let joined = residual.as_ref().map(|residual| residual.joined(0, last));
    if let (Some(a), Some(b), Some(c), None | Some(Some(_))) =
        (a.joined(0, last), b.joined(0, last), c.joined(0, last), &joined)
    {
        return one(place, &a, &b, &c, bias, joined.flatten(), options, extra.epilogue);
    }
    if extra.residual.is_some() {
        bail!(
            "kaio: linear_fused: x or the residual has batches at unequal distances: call contiguous() on it"
        )
    }
    let views = [matrices(&a), matrices(&b), matrices(c)];
    let lists: Vec<Vec<DLTensor>> = views
        .iter()
        .map(|views| views.iter().map(View::dl).collect())
        .collect();
    let mut how = raw(options, extra.epilogue);
    how.bias = pointer(&bias);
    kaio!(kaio_matmul_batch(
        place.stream(),
        lists[0].len(),
        lists[0].as_ptr(),
        lists[1].as_ptr(),
        lists[2].as_ptr(),
        &how
    ));
    Ok(())
}

/// The matrices of a batch, one after another.
fn matrices<'a>(view: &View<'a>) -> Vec<View<'a>> {
    if view.rank() == 2 {
        return vec![view.clone()];
    }
    (0..view.dims()[0])
        .flat_map(|at| matrices(&view.element(at)))
        .collect()
}

fn raw(options: MatmulOptions, epilogue: Epilogue) -> kaio_matmul_options {
    kaio_matmul_options {
        alpha: options.alpha,
        precision: options.precision.code(),
        activation: epilogue.code(),
        ..Default::default()
    }
}

#[allow(clippy::too_many_arguments)]
fn one(
    place: &Place,
    a: &View,
    b: &View,
    c: &View,
    bias: Option<DLTensor>,
    residual: Option<View>,
    options: MatmulOptions,
    epilogue: Epilogue,
) -> Result<()> {
    let residual = dl(&residual);
    let mut how = raw(options, epilogue);
    how.bias = pointer(&bias);
    how.residual = pointer(&residual);
    let (a, b, c) = (a.dl(), b.dl(), c.dl());
    let mut bytes = 0;
    kaio!(kaio_matmul_workspace_bytes(&a, &b, &c, &how, &mut bytes));
    let mut memory = if bytes > 0 {
        Some(place.workspace(bytes)?)
    } else {
        None
    };
    let memory = memory
        .as_mut()
        .map(|memory| memory.view(place))
        .transpose()?
        .map(|view| view.aligned());
    let workspace = dl(&memory);
    how.workspace = pointer(&workspace);
    kaio!(kaio_matmul(place.stream(), &a, &b, &c, &how));
    Ok(())
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
        let gradient = crate::operation::neighbours(gradient)?;
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
