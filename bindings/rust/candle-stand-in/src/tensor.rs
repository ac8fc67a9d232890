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

pub(crate) fn make(
    storage: Arc<RwLock<Storage>>,
    layout: Layout,
    op: BackpropOp,
    is_variable: bool,
) -> Tensor {
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

impl Tensor {
    pub(crate) fn computed(&self, values: Vec<f64>, shape: &Shape, op: BackpropOp) -> Result<Self> {
        let storage = self
            .device()
            .storage(CpuStorage::from_values(&values, self.dtype()))?;
        Ok(from_storage(storage, shape, op, false))
    }

    pub(crate) fn viewed(&self, layout: Layout, op: BackpropOp) -> Self {
        make(self.0.storage.clone(), layout, op, false)
    }

    pub(crate) fn values(&self) -> Result<Vec<f64>> {
        Ok(self.storage().to_cpu()?.values(self.layout()))
    }

    pub(crate) fn gathered(&self) -> Result<CpuStorage> {
        Ok(self.storage().to_cpu()?.gathered(self.layout()))
    }

    pub(crate) fn zip(&self, rhs: &Self, f: impl Fn(f64, f64) -> f64) -> Result<Self> {
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
