//! Variables: tensors whose gradients are computed, and whose values can be set.
use crate::{bail, DType, Device, Result, Shape, Tensor, WithDType};

#[derive(Clone, Debug)]
pub struct Var(Tensor);

impl std::ops::Deref for Var {
    type Target = Tensor;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Var {
    pub fn zeros<S: Into<Shape>>(shape: S, dtype: DType, device: &Device) -> Result<Self> {
        Self::from_tensor(&Tensor::zeros(shape, dtype, device)?)
    }

    pub fn from_tensor(t: &Tensor) -> Result<Self> {
        Ok(Self(t.make_var()?))
    }

    pub fn from_vec<S: Into<Shape>, D: WithDType>(data: Vec<D>, shape: S, device: &Device) -> Result<Self> {
        Self::from_tensor(&Tensor::from_vec(data, shape.into(), device)?)
    }

    pub fn as_detached_tensor(&self) -> Tensor {
        self.0.detach()
    }

    pub fn as_tensor(&self) -> &Tensor {
        &self.0
    }

    pub fn set(&self, src: &Tensor) -> Result<()> {
        if src.dims() != self.dims() || src.dtype() != self.dtype() {
            bail!(
                "set: {:?} {:?} into {:?} {:?}",
                src.dtype(),
                src.shape(),
                self.dtype(),
                self.shape()
            )
        }
        let source = src.gathered()?;
        *self.0.storage_mut() = self.device().storage(source)?;
        Ok(())
    }
}
