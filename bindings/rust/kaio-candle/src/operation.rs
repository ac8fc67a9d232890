//! Operations of kaio as candle's custom operations: one forward pass for CPU and CUDA storage.

use crate::storage::{Input, Output, Place};
use crate::view::View;
use candle_core::{bail, CpuStorage, CudaStorage, CustomOp1, CustomOp2, CustomOp3, Error};
use candle_core::{Layout, Result, Shape, Storage, Tensor};
use kaio_sys::DLTensor;
use std::sync::RwLockReadGuard;

/// An operation with one result.
pub(crate) trait Operation: Send + Sync + 'static {
    const NAME: &'static str;

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output>;

    /// The gradients of the arguments; None for those that need none.
    fn backward(
        &self,
        _arguments: &[&Tensor],
        _result: &Tensor,
        _gradient: &Tensor,
    ) -> Result<Vec<Option<Tensor>>> {
        Err(Error::BackwardNotSupported { op: Self::NAME })
    }
}

/// Applies an operation to one, two or three tensors, and records it for gradients.
pub(crate) fn apply<T: Operation>(operation: T, tensors: &[&Tensor]) -> Result<Tensor> {
    match tensors {
        [a] => a.apply_op1(Custom(operation)),
        [a, b] => a.apply_op2(b, Custom(operation)),
        [a, b, c] => a.apply_op3(b, c, Custom(operation)),
        _ => bail!("kaio: {}: candle records operations of 1 to 3 tensors", T::NAME),
    }
}

struct Custom<T>(T);

impl<T: Operation> Custom<T> {
    fn cpu(&self, inputs: &[Input]) -> Result<(CpuStorage, Shape)> {
        self.0.forward(&inputs[0].place()?, inputs)?.cpu()
    }

    #[cfg(feature = "cuda")]
    fn cuda(&self, inputs: &[Input]) -> Result<(CudaStorage, Shape)> {
        self.0.forward(&inputs[0].place()?, inputs)?.gpu()
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(&self, _: &[Input]) -> Result<(CudaStorage, Shape)> {
        bail!(
            "kaio: {}: a CUDA tensor needs the feature cuda of kaio-candle",
            T::NAME
        )
    }
}

#[cfg(feature = "cuda")]
macro_rules! cuda_inputs {
    ($($storage:ident, $layout:ident);+) => { [$(Input::Gpu($storage, $layout)),+] };
}
#[cfg(not(feature = "cuda"))]
macro_rules! cuda_inputs {
    ($($storage:ident, $layout:ident);+) => {{
        $(let _ = ($storage, $layout);)+
        []
    }};
}

type Cpu = CpuStorage;
type Cuda = CudaStorage;

impl<T: Operation> CustomOp1 for Custom<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(&self, storage: &Cpu, layout: &Layout) -> Result<(Cpu, Shape)> {
        self.cpu(&[Input::Cpu(storage, layout)])
    }

    fn cuda_fwd(&self, storage: &Cuda, layout: &Layout) -> Result<(Cuda, Shape)> {
        self.cuda(&cuda_inputs!(storage, layout))
    }

    fn bwd(&self, arg: &Tensor, res: &Tensor, grad_res: &Tensor) -> Result<Option<Tensor>> {
        Ok(self.0.backward(&[arg], res, grad_res)?.swap_remove(0))
    }
}

impl<T: Operation> CustomOp2 for Custom<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(&self, s1: &Cpu, l1: &Layout, s2: &Cpu, l2: &Layout) -> Result<(Cpu, Shape)> {
        self.cpu(&[Input::Cpu(s1, l1), Input::Cpu(s2, l2)])
    }

    fn cuda_fwd(&self, s1: &Cuda, l1: &Layout, s2: &Cuda, l2: &Layout) -> Result<(Cuda, Shape)> {
        self.cuda(&cuda_inputs!(s1, l1; s2, l2))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        res: &Tensor,
        grad_res: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut gradients = self.0.backward(&[a, b], res, grad_res)?.into_iter();
        Ok((gradients.next().flatten(), gradients.next().flatten()))
    }
}

impl<T: Operation> CustomOp3 for Custom<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(
        &self,
        s1: &Cpu,
        l1: &Layout,
        s2: &Cpu,
        l2: &Layout,
        s3: &Cpu,
        l3: &Layout,
    ) -> Result<(Cpu, Shape)> {
        self.cpu(&[Input::Cpu(s1, l1), Input::Cpu(s2, l2), Input::Cpu(s3, l3)])
    }

    fn cuda_fwd(
        &self,
        s1: &Cuda,
        l1: &Layout,
        s2: &Cuda,
        l2: &Layout,
        s3: &Cuda,
        l3: &Layout,
    ) -> Result<(Cuda, Shape)> {
        self.cuda(&cuda_inputs!(s1, l1; s2, l2; s3, l3))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        c: &Tensor,
        res: &Tensor,
        grad_res: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut gradients = self.0.backward(&[a, b, c], res, grad_res)?.into_iter();
        Ok((
            gradients.next().flatten(),
            gradients.next().flatten(),
            gradients.next().flatten(),
        ))
    }
}

/// Calls `f` with tensors as inputs, in the stream of the first.
pub(crate) fn with_inputs<R>(
    tensors: &[&Tensor],
    f: impl FnOnce(&Place, &[Input]) -> Result<R>,
) -> Result<R> {
    let held: Vec<_> = tensors.iter().map(|tensor| tensor.storage_and_layout()).collect();
    let inputs = held
        .iter()
        .map(|(storage, layout)| Input::of(storage, layout))
        .collect::<Result<Vec<_>>>()?;
    let Some(first) = inputs.first() else {
        bail!("kaio: a call has no tensor")
    };
    f(&first.place()?, &inputs)
}

/// An optional tensor of a call, for as long as the call needs it.
pub(crate) struct Held<'a>(Option<(RwLockReadGuard<'a, Storage>, &'a Layout)>);

impl<'a> Held<'a> {
    pub(crate) fn of(tensor: Option<&'a Tensor>) -> Self {
        Self(tensor.map(Tensor::storage_and_layout))
    }

    pub(crate) fn view<'b>(&'b self, place: &'b Place) -> Result<Option<View<'b>>> {
        let Some((storage, layout)) = &self.0 else {
            return Ok(None);
        };
        place.view(&Input::of(storage, layout)?).map(Some)
    }
}

pub(crate) fn dl(view: &Option<View>) -> Option<DLTensor> {
    view.as_ref().map(View::dl)
}

pub(crate) fn pointer(tensor: &Option<DLTensor>) -> *const DLTensor {
    tensor.as_ref().map_or(std::ptr::null(), |tensor| tensor)
}

/// Refuses tensors whose gradients the operation would silently drop.
pub(crate) fn no_gradient(name: &str, tensors: &[Option<&Tensor>]) -> Result<()> {
    if tensors.iter().flatten().any(|tensor| tensor.track_op()) {
        bail!("kaio: {name}: a tensor is tracked, and this operation has no gradient for it: call detach() on it")
    }
    Ok(())
}

/// Refuses tensors in the memory of the one that a call writes: candle has locked it, and would wait for itself.
pub(crate) fn apart(name: &str, written: &Tensor, read: &[Option<&Tensor>]) -> Result<()> {
    let storage = |tensor: &Tensor| -> *const Storage { &*tensor.storage_and_layout().0 };
    let own = storage(written);
    if read.iter().flatten().any(|tensor| storage(tensor) == own) {
        bail!("kaio: {name}: a tensor is in the memory that the call writes: copy() it")
    }
    Ok(())
}

/// A tensor whose last elements are neighbours: itself, or a copy.
pub(crate) fn neighbours(tensor: &Tensor) -> Result<Tensor> {
    match (tensor.dims().last(), tensor.stride().last()) {
        (Some(&extent), Some(&stride)) if extent > 1 && stride != 1 => tensor.contiguous(),
        _ => Ok(tensor.clone()),
    }
}

/// Views as rows: all dimensions before the last joined into one, if that is possible for every view. Views of different
/// shapes stay as they are, so that kaio says which one is wrong.
pub(crate) fn as_rows<const N: usize>(views: [View<'_>; N]) -> [View<'_>; N] {
    let views = views.map(|view| view.as_matrix());
    let rank = views[0].rank();
    if rank == 0 || views.iter().any(|view| view.dims() != views[0].dims()) {
        return views;
    }
    let joined: Vec<_> = views.iter().filter_map(|view| view.joined(0, rank - 2)).collect();
    joined.try_into().unwrap_or(views)
}
