//! What a tensor was computed from, and the gradients of that.
use crate::{Result, Tensor};
use std::sync::Arc;

type Backward = dyn Fn(&[Tensor], &Tensor, &Tensor) -> Result<Vec<Option<Tensor>>> + Send + Sync;

pub(crate) struct Op {
    pub(crate) args: Vec<Tensor>,
    pub(crate) backward: Box<Backward>,
}

#[derive(Clone)]
pub struct BackpropOp(pub(crate) Option<Arc<Op>>);

impl BackpropOp {
    pub fn none() -> Self {
        BackpropOp(None)
    }

    /// `backward(args, result, gradient of the result)` returns the gradients of the args.
    pub(crate) fn new<F>(args: &[&Tensor], backward: F) -> Self
    where
        F: Fn(&[Tensor], &Tensor, &Tensor) -> Result<Vec<Option<Tensor>>> + Send + Sync + 'static,
    {
        if !args.iter().any(|arg| arg.track_op()) {
            return Self(None);
        }
        let args = args.iter().map(|&arg| arg.clone()).collect();
        Self(Some(Arc::new(Op {
            args,
            backward: Box::new(backward),
        })))
    }
}
