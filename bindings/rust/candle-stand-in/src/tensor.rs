//! Tensors: construction, views, arithmetic.
use crate::op::{BackpropOp, Op};
use crate::shape::{Dim, Dims, ShapeWithOneHole};
use crate::{bail, CpuStorage, DType, Device, Layout, Result, Shape, Storage};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorId(usize);

struct Inner {
    id: TensorId,
    storage: Arc<RwLock<Storage>>,
    layout: Layout,
    op: BackpropOp,
    is_variable: bool,
    dtype: DType,
    device: Device,
}

#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor[{:?}; {:?}]", self.dims(), self.dtype())
    }
}

impl AsRef<Tensor> for Tensor {
    fn as_ref(&self) -> &Tensor {
        self
    }
}

fn make(storage: Arc<RwLock<Storage>>, layout: Layout, op: BackpropOp, is_variable: bool) -> Tensor {
    static IDS: AtomicUsize = AtomicUsize::new(1);
    let (dtype, device) = {
        let storage = storage.read().unwrap();
        (storage.dtype(), storage.device())
    };
    let id = TensorId(IDS.fetch_add(1, Ordering::Relaxed));
    Tensor(Arc::new(Inner {
        id,
        storage,
        layout,
        op,
        is_variable,
        dtype,
        device,
    }))
}

pub(crate) fn from_storage<S: Into<Shape>>(
    storage: Storage,
    shape: S,
    op: BackpropOp,
    is_variable: bool,
) -> Tensor {
    make(
        Arc::new(RwLock::new(storage)),
        Layout::contiguous(shape),
        op,
        is_variable,
    )
}

macro_rules! unary_op {
    ($fn_name:ident, $op_name:ident, $value:expr, $slope:expr) => {
        pub fn $fn_name(&self) -> Result<Self> {
            let value: fn(f64) -> f64 = $value;
            // The derivative by x, from x and y.
            let slope: fn(f64, f64) -> f64 = $slope;
            let op = BackpropOp::new(&[self], move |args, res, grad| {
                let slopes = args[0].zip(res, slope)?;
                Ok(vec![Some(grad.mul(&slopes)?)])
            });
            self.computed(
                self.values()?.iter().map(|&x| value(x)).collect(),
                self.shape(),
                op,
            )
        }
    };
}

macro_rules! binary_op {
    ($fn_name:ident, $op_name:ident, $value:expr, $gradients:expr) => {
        pub fn $fn_name(&self, rhs: &Self) -> Result<Self> {
            let gradients: fn(&Tensor, &Tensor, &Tensor) -> Result<(Tensor, Tensor)> = $gradients;
            let op = BackpropOp::new(&[self, rhs], move |args, _, grad| {
                let (l, r) = gradients(&args[0], &args[1], grad)?;
                Ok(vec![Some(l), Some(r)])
            });
            let out = self.zip(rhs, $value)?;
            Ok(make(out.0.storage.clone(), out.0.layout.clone(), op, false))
        }
    };
}

macro_rules! broadcast_binary_op {
    ($fn_name:ident, $inner_fn_name:ident) => {
        pub fn $fn_name(&self, rhs: &Self) -> Result<Self> {
            let shape = self
                .shape()
                .broadcast_shape_binary_op(rhs.shape(), stringify!($fn_name))?;
            self.broadcast_as(&shape)?
                .$inner_fn_name(&rhs.broadcast_as(&shape)?)
        }
    };
}

impl Tensor {
    fn computed(&self, values: Vec<f64>, shape: &Shape, op: BackpropOp) -> Result<Self> {
        let storage = self
            .device()
            .storage(CpuStorage::from_values(&values, self.dtype()))?;
        Ok(from_storage(storage, shape, op, false))
    }

    fn viewed(&self, layout: Layout, op: BackpropOp) -> Self {
        make(self.0.storage.clone(), layout, op, false)
    }

    pub(crate) fn values(&self) -> Result<Vec<f64>> {
        Ok(self.storage().to_cpu()?.values(self.layout()))
    }

    pub(crate) fn gathered(&self) -> Result<CpuStorage> {
        Ok(self.storage().to_cpu()?.gathered(self.layout()))
    }

    fn zip(&self, rhs: &Self, f: impl Fn(f64, f64) -> f64) -> Result<Self> {
        if self.dims() != rhs.dims() || self.dtype() != rhs.dtype() {
            bail!(
                "mismatch: {:?} {:?} and {:?} {:?}",
                self.dtype(),
                self.shape(),
                rhs.dtype(),
                rhs.shape()
            )
        }
        let values = self
            .values()?
            .iter()
            .zip(rhs.values()?)
            .map(|(&l, r)| f(l, r))
            .collect();
        self.computed(values, self.shape(), BackpropOp::none())
    }

    pub(crate) fn make_var(&self) -> Result<Self> {
        let storage = self.device().storage(self.gathered()?)?;
        Ok(from_storage(storage, self.shape(), BackpropOp::none(), true))
    }

    pub(crate) fn op(&self) -> Option<&Op> {
        self.0.op.0.as_deref()
    }

    pub(crate) fn storage(&self) -> RwLockReadGuard<'_, Storage> {
        self.0.storage.read().unwrap()
    }

    pub(crate) fn storage_mut(&self) -> RwLockWriteGuard<'_, Storage> {
        self.0.storage.write().unwrap()
    }

    pub fn zeros<S: Into<Shape>>(shape: S, dtype: DType, device: &Device) -> Result<Self> {
        let shape = shape.into();
        let storage = device.storage(CpuStorage::from_values(&vec![0.0; shape.elem_count()], dtype))?;
        Ok(from_storage(storage, shape, BackpropOp::none(), false))
    }

    pub fn ones<S: Into<Shape>>(shape: S, dtype: DType, device: &Device) -> Result<Self> {
        let shape = shape.into();
        let storage = device.storage(CpuStorage::from_values(&vec![1.0; shape.elem_count()], dtype))?;
        Ok(from_storage(storage, shape, BackpropOp::none(), false))
    }

    pub fn ones_like(&self) -> Result<Self> {
        Self::ones(self.shape(), self.dtype(), self.device())
    }

    pub fn zeros_like(&self) -> Result<Self> {
        Self::zeros(self.shape(), self.dtype(), self.device())
    }

    pub fn from_vec<S: ShapeWithOneHole, D: crate::WithDType>(
        data: Vec<D>,
        shape: S,
        device: &Device,
    ) -> Result<Self> {
        let shape = shape.into_shape(data.len())?;
        let storage = device.storage(D::to_cpu_storage_owned(data))?;
        Ok(from_storage(storage, shape, BackpropOp::none(), false))
    }

    pub fn from_slice<S: ShapeWithOneHole, D: crate::WithDType>(
        array: &[D],
        shape: S,
        device: &Device,
    ) -> Result<Self> {
        Self::from_vec(array.to_vec(), shape, device)
    }

    pub fn from_storage<S: Into<Shape>>(
        storage: Storage,
        shape: S,
        op: BackpropOp,
        is_variable: bool,
    ) -> Tensor {
        from_storage(storage, shape, op, is_variable)
    }

    pub fn track_op(&self) -> bool {
        self.0.is_variable || self.0.op.0.is_some()
    }

    pub fn is_variable(&self) -> bool {
        self.0.is_variable
    }

    pub fn id(&self) -> TensorId {
        self.0.id
    }

    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    pub fn device(&self) -> &Device {
        &self.0.device
    }

    pub fn shape(&self) -> &Shape {
        self.layout().shape()
    }

    pub fn dims(&self) -> &[usize] {
        self.shape().dims()
    }

    pub fn dim<D: Dim>(&self, dim: D) -> Result<usize> {
        self.shape().dim(dim)
    }

    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    pub fn stride(&self) -> &[usize] {
        self.layout().stride()
    }

    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    pub fn elem_count(&self) -> usize {
        self.shape().elem_count()
    }

    pub fn is_contiguous(&self) -> bool {
        self.layout().is_contiguous()
    }

    pub fn storage_and_layout(&self) -> (std::sync::RwLockReadGuard<'_, Storage>, &Layout) {
        (self.storage(), self.layout())
    }

    pub fn detach(&self) -> Tensor {
        if self.track_op() {
            self.viewed(self.layout().clone(), BackpropOp::none())
        } else {
            self.clone()
        }
    }

    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        if self.device().same_device(device) {
            return Ok(self.clone());
        }
        let storage = device.storage(self.gathered()?)?;
        let op = BackpropOp::new(&[self], |args, _, grad| {
            Ok(vec![Some(grad.to_device(args[0].device())?)])
        });
        Ok(from_storage(storage, self.shape(), op, false))
    }

    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let storage = self
            .device()
            .storage(CpuStorage::from_values(&self.values()?, dtype))?;
        let op = BackpropOp::new(&[self], |args, _, grad| {
            Ok(vec![Some(grad.to_dtype(args[0].dtype())?)])
        });
        Ok(from_storage(storage, self.shape(), op, false))
    }

    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let storage = self.device().storage(self.gathered()?)?;
        let op = BackpropOp::new(&[self], |_, _, grad| Ok(vec![Some(grad.clone())]));
        Ok(from_storage(storage, self.shape(), op, false))
    }

    pub fn reshape<S: ShapeWithOneHole>(&self, s: S) -> Result<Tensor> {
        let shape = s.into_shape(self.elem_count())?;
        let op = BackpropOp::new(&[self], |args, _, grad| {
            Ok(vec![Some(grad.reshape(args[0].shape())?)])
        });
        if self.is_contiguous() {
            return Ok(self.viewed(
                Layout::contiguous_with_offset(shape, self.layout().start_offset()),
                op,
            ));
        }
        let storage = self.device().storage(self.gathered()?)?;
        Ok(from_storage(storage, shape, op, false))
    }

    pub fn flatten_all(&self) -> Result<Tensor> {
        self.reshape(self.elem_count())
    }

    pub fn unsqueeze<D: Dim>(&self, dim: D) -> Result<Self> {
        let dim = dim.to_index_plus_one(self.shape(), "unsqueeze")?;
        let (mut dims, mut stride) = (self.dims().to_vec(), self.stride().to_vec());
        dims.insert(dim, 1);
        stride.insert(dim, 1);
        let op = BackpropOp::new(&[self], |args, _, grad| {
            Ok(vec![Some(grad.reshape(args[0].shape())?)])
        });
        Ok(self.viewed(Layout::new(dims.into(), stride, self.layout().start_offset()), op))
    }

    pub fn squeeze<D: Dim>(&self, dim: D) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "squeeze")?;
        if self.dims()[dim] != 1 {
            return Ok(self.clone());
        }
        let (mut dims, mut stride) = (self.dims().to_vec(), self.stride().to_vec());
        dims.remove(dim);
        stride.remove(dim);
        let op = BackpropOp::new(&[self], |args, _, grad| {
            Ok(vec![Some(grad.reshape(args[0].shape())?)])
        });
        Ok(self.viewed(Layout::new(dims.into(), stride, self.layout().start_offset()), op))
    }

    pub fn narrow<D: Dim>(&self, dim: D, start: usize, len: usize) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "narrow")?;
        let op = BackpropOp::new(&[self], move |args, _, grad| {
            let whole = Layout::contiguous(args[0].shape());
            let mut values = vec![0.0; args[0].elem_count()];
            for (at, value) in whole
                .narrow(dim, start, len)?
                .places()
                .into_iter()
                .zip(grad.values()?)
            {
                values[at] = value;
            }
            Ok(vec![Some(grad.computed(
                values,
                args[0].shape(),
                BackpropOp::none(),
            )?)])
        });
        Ok(self.viewed(self.layout().narrow(dim, start, len)?, op))
    }

    pub fn get(&self, i: usize) -> Result<Tensor> {
        self.narrow(0, i, 1)?.squeeze(0)
    }

    pub fn t(&self) -> Result<Tensor> {
        self.transpose(crate::D::Minus2, crate::D::Minus1)
    }

    pub fn transpose<D1: Dim, D2: Dim>(&self, dim1: D1, dim2: D2) -> Result<Tensor> {
        let dim1 = dim1.to_index(self.shape(), "transpose")?;
        let dim2 = dim2.to_index(self.shape(), "transpose")?;
        let op = BackpropOp::new(&[self], move |_, _, grad| {
            Ok(vec![Some(grad.transpose(dim1, dim2)?)])
        });
        Ok(self.viewed(self.layout().transpose(dim1, dim2)?, op))
    }

    pub fn permute<D: Dims>(&self, dims: D) -> Result<Tensor> {
        let dims = dims.to_indexes(self.shape(), "permute")?;
        let mut inverse = vec![0; dims.len()];
        dims.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
        let layout = self.layout().permute(&dims)?;
        let op = BackpropOp::new(&[self], move |_, _, grad| {
            Ok(vec![Some(grad.permute(inverse.clone())?)])
        });
        Ok(self.viewed(layout, op))
    }

    pub fn broadcast_as<S: Into<Shape>>(&self, shape: S) -> Result<Self> {
        let op = BackpropOp::new(&[self], |args, res, grad| {
            let mut grad = grad.clone();
            for _ in args[0].rank()..res.rank() {
                grad = grad.sum(0)?;
            }
            for (d, &extent) in args[0].dims().iter().enumerate() {
                if extent == 1 && grad.dims()[d] != 1 {
                    grad = grad.sum_keepdim(d)?;
                }
            }
            Ok(vec![Some(grad)])
        });
        Ok(self.viewed(self.layout().broadcast_as(shape)?, op))
    }

    pub fn cat<A: AsRef<Tensor>, D: Dim>(args: &[A], dim: D) -> Result<Self> {
        let Some(first) = args.first().map(AsRef::as_ref) else {
            bail!("cat needs a tensor")
        };
        let dim = dim.to_index(first.shape(), "cat")?;
        let mut dims = first.dims().to_vec();
        dims[dim] = args.iter().map(|arg| arg.as_ref().dims()[dim]).sum();
        let whole = Layout::contiguous(dims.clone());
        let mut values = vec![0.0; whole.shape().elem_count()];
        let mut start = 0;
        for arg in args.iter().map(AsRef::as_ref) {
            let part = whole.narrow(dim, start, arg.dims()[dim])?;
            if part.dims() != arg.dims() || arg.dtype() != first.dtype() {
                bail!("cat: {:?} among {:?}", arg.shape(), first.shape())
            }
            for (at, value) in part.places().into_iter().zip(arg.values()?) {
                values[at] = value;
            }
            start += arg.dims()[dim];
        }
        let tensors: Vec<&Tensor> = args.iter().map(AsRef::as_ref).collect();
        let op = BackpropOp::new(&tensors, move |args, _, grad| {
            let mut start = 0;
            let mut gradients = vec![];
            for arg in args {
                gradients.push(Some(grad.narrow(dim, start, arg.dims()[dim])?));
                start += arg.dims()[dim];
            }
            Ok(gradients)
        });
        first.computed(values, &dims.into(), op)
    }

    binary_op!(add, Add, |l, r| l + r, |_, _, grad| Ok((
        grad.clone(),
        grad.clone()
    )));
    binary_op!(sub, Sub, |l, r| l - r, |_, _, grad| Ok((
        grad.clone(),
        grad.neg()?
    )));
    binary_op!(mul, Mul, |l, r| l * r, |l, r, grad| Ok((
        grad.mul(&r.detach())?,
        grad.mul(&l.detach())?
    )));
    binary_op!(div, Div, |l, r| l / r, |l, r, grad| {
        let (l, r) = (l.detach(), r.detach());
        Ok((grad.div(&r)?, grad.mul(&l)?.div(&r.sqr()?)?.neg()?))
    });
    broadcast_binary_op!(broadcast_add, add);
    broadcast_binary_op!(broadcast_mul, mul);
    broadcast_binary_op!(broadcast_sub, sub);
    broadcast_binary_op!(broadcast_div, div);

    unary_op!(exp, Exp, f64::exp, |_, y| y);
    unary_op!(log, Log, f64::ln, |x, _| 1.0 / x);
    unary_op!(sin, Sin, f64::sin, |x, _| x.cos());
    unary_op!(cos, Cos, f64::cos, |x, _| -x.sin());
    unary_op!(tanh, Tanh, f64::tanh, |_, y| 1.0 - y * y);
    unary_op!(neg, Neg, |x| -x, |_, _| -1.0);
    unary_op!(recip, Recip, |x| 1.0 / x, |_, y| -y * y);
    unary_op!(sqr, Sqr, |x| x * x, |x, _| 2.0 * x);
    unary_op!(sqrt, Sqrt, f64::sqrt, |_, y| 0.5 / y);
    unary_op!(relu, Relu, |x| x.max(0.0), |x, _| f64::from(u8::from(x > 0.0)));
    unary_op!(silu, Silu, |x| x / (1.0 + (-x).exp()), |x, y| {
        let s = 1.0 / (1.0 + (-x).exp());
        s + y * (1.0 - s)
    });

    pub fn affine(&self, mul: f64, add: f64) -> Result<Self> {
        let op = BackpropOp::new(&[self], move |_, _, grad| Ok(vec![Some(grad.affine(mul, 0.0)?)]));
        self.computed(
            self.values()?.iter().map(|x| x * mul + add).collect(),
            self.shape(),
            op,
        )
    }

    fn reduced(&self, dim: usize, f: impl Fn(f64, f64) -> f64, start: f64) -> Result<(Vec<f64>, Vec<usize>)> {
        let mut dims = self.dims().to_vec();
        let extent = std::mem::replace(&mut dims[dim], 1);
        let inner: usize = dims[dim..].iter().product();
        let mut out = vec![start; dims.iter().product()];
        for (i, value) in self.values()?.into_iter().enumerate() {
            let at = i / (inner * extent) * inner + i % inner;
            out[at] = f(out[at], value);
        }
        Ok((out, dims))
    }

    pub fn sum_keepdim<D: Dims>(&self, sum_dims: D) -> Result<Self> {
        let mut out = self.clone();
        for dim in sum_dims.to_indexes(self.shape(), "sum")? {
            let (values, dims) = out.reduced(dim, |a, b| a + b, 0.0)?;
            let op = BackpropOp::new(&[&out], |args, _, grad| {
                Ok(vec![Some(grad.broadcast_as(args[0].shape())?)])
            });
            out = out.computed(values, &dims.into(), op)?;
        }
        Ok(out)
    }

    pub fn sum<D: Dims>(&self, sum_dims: D) -> Result<Self> {
        let mut dims = sum_dims.to_indexes(self.shape(), "sum")?;
        let mut out = self.sum_keepdim(dims.clone())?;
        dims.sort_unstable();
        for &dim in dims.iter().rev() {
            out = out.squeeze(dim)?;
        }
        Ok(out)
    }

    pub fn mean_keepdim<D: Dims>(&self, mean_dims: D) -> Result<Self> {
        let dims = mean_dims.to_indexes(self.shape(), "mean")?;
        let count: usize = dims.iter().map(|&d| self.dims()[d]).product();
        self.sum_keepdim(dims)?.affine(1.0 / count as f64, 0.0)
    }

    /// Has no gradient here; in candle it has.
    pub fn max_keepdim<D: Dim>(&self, dim: D) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "max")?;
        let (values, dims) = self.reduced(dim, f64::max, f64::NEG_INFINITY)?;
        self.computed(values, &dims.into(), BackpropOp::none())
    }

    pub fn sum_all(&self) -> Result<Tensor> {
        self.flatten_all()?.sum(0)
    }

    pub fn mean_all(&self) -> Result<Tensor> {
        self.sum_all()?.affine(1.0 / self.elem_count() as f64, 0.0)
    }

    pub fn matmul(&self, rhs: &Self) -> Result<Self> {
        let (a, b) = (self.dims(), rhs.dims());
        let rank = a.len();
        if rank < 2 || b.len() != rank || a[..rank - 2] != b[..rank - 2] || a[rank - 1] != b[rank - 2] {
            bail!(
                "shape mismatch in matmul, lhs: {:?}, rhs: {:?}",
                self.shape(),
                rhs.shape()
            )
        }
        if self.dtype() != rhs.dtype() {
            bail!(
                "dtype mismatch in matmul, lhs: {:?}, rhs: {:?}",
                self.dtype(),
                rhs.dtype()
            )
        }
        let (batch, m, k, n) = (
            a[..rank - 2].iter().product::<usize>(),
            a[rank - 2],
            a[rank - 1],
            b[rank - 1],
        );
        let (l, r) = (self.values()?, rhs.values()?);
        let mut values = vec![0.0; batch * m * n];
        for (at, value) in values.iter_mut().enumerate() {
            let (z, i, j) = (at / (m * n), at / n % m, at % n);
            *value = (0..k)
                .map(|s| l[(z * m + i) * k + s] * r[(z * k + s) * n + j])
                .sum();
        }
        let mut dims = a.to_vec();
        dims[rank - 1] = n;
        let op = BackpropOp::new(&[self, rhs], |args, _, grad| {
            Ok(vec![
                Some(grad.matmul(&args[1].detach().t()?)?),
                Some(args[0].detach().t()?.matmul(grad)?),
            ])
        });
        self.computed(values, &dims.into(), op)
    }

    pub fn index_select<D: Dim>(&self, indexes: &Self, dim: D) -> Result<Self> {
        let dim = dim.to_index(self.shape(), "index_select")?;
        let picked: Vec<usize> = indexes.values()?.iter().map(|&v| v as usize).collect();
        let mut parts = vec![];
        for &index in &picked {
            parts.push(self.narrow(dim, index, 1)?);
        }
        Self::cat(&parts, dim)
    }

    pub fn where_cond(&self, on_true: &Self, on_false: &Self) -> Result<Self> {
        let keep = self.to_dtype(on_true.dtype())?.affine(1.0, 0.0)?.detach();
        let values: Vec<f64> = keep
            .values()?
            .iter()
            .map(|&v| f64::from(u8::from(v != 0.0)))
            .collect();
        let keep = on_true.computed(values.clone(), on_true.shape(), BackpropOp::none())?;
        let op = BackpropOp::new(&[on_true, on_false], move |_, _, grad| {
            Ok(vec![
                Some(grad.mul(&keep)?),
                Some(grad.mul(&keep.affine(-1.0, 1.0)?)?),
            ])
        });
        let (t, f) = (on_true.values()?, on_false.values()?);
        let values = (0..values.len())
            .map(|i| if values[i] != 0.0 { t[i] } else { f[i] })
            .collect();
        on_true.computed(values, on_true.shape(), op)
    }

    pub fn to_scalar<S: crate::WithDType>(&self) -> Result<S> {
        if self.elem_count() != 1 {
            bail!(
                "unexpected rank, expected: 0, got: {} ({:?})",
                self.rank(),
                self.shape()
            )
        }
        Ok(self.flatten_all()?.to_vec1()?[0])
    }

    pub fn to_vec1<S: crate::WithDType>(&self) -> Result<Vec<S>> {
        self.dims1()?;
        S::cpu_storage_data(self.gathered()?)
    }

    pub fn to_vec2<S: crate::WithDType>(&self) -> Result<Vec<Vec<S>>> {
        let (rows, _) = self.dims2()?;
        (0..rows).map(|row| self.get(row)?.to_vec1()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_even_and_back() -> Result<()> {
        let x = Tensor::new_f32(&[1.0, 1.0 + 1.0 / 2048.0, 65519.0, 65520.0, 1e-8, -2.5])?;
        let y = x.to_dtype(DType::F16)?.to_dtype(DType::F32)?.to_vec1::<f32>()?;
        assert_eq!(y, [1.0, 1.0, 65504.0, f32::INFINITY, 0.0, -2.5]);
        let y = x
            .to_dtype(DType::F8E4M3)?
            .to_dtype(DType::F32)?
            .to_vec1::<f32>()?;
        assert_eq!(y, [1.0, 1.0, 448.0, 448.0, 0.0, -2.5]);
        Ok(())
    }

    #[test]
    fn gradients_of_views_and_products() -> Result<()> {
        let a = crate::Var::from_tensor(&Tensor::new_f32(&[1.0, 2.0, 3.0, 4.0])?.reshape((2, 2))?)?;
        let loss = a
            .t()?
            .matmul(&a.narrow(0, 1, 1)?.broadcast_as((2, 2))?)?
            .sum_all()?;
        let grads = loss.backward()?;
        // The loss is (3 + 4) * (1 + 2 + 3 + 4).
        assert_eq!(
            grads.get(&a).unwrap().to_vec2::<f32>()?,
            [[7.0, 7.0], [17.0, 17.0]]
        );
        Ok(())
    }

    impl Tensor {
        fn new_f32(values: &[f32]) -> Result<Self> {
            Self::from_slice(values, values.len(), &Device::Cpu)
        }
    }
}
