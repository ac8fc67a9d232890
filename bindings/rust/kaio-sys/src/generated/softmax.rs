// Made by bindings/rust/generate.py from src/c/operations/softmax.json.
use crate::base::DLTensor;

/// Options of softmax and log_softmax.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_softmax_options {
    /// `size_of::<kaio_softmax_options>()`.
    pub size: u32,
    /// Default 1; x is multiplied by it; finite.
    pub scale: f32,
    /// (...), one for each row; f32; gets the logarithms of the sums of exponentials.
    pub lse: *const DLTensor,
}

impl Default for kaio_softmax_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scale: 1.0,
            lse: core::ptr::null(),
        }
    }
}

/// Options of the gradients of softmax and log_softmax.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_softmax_backward_options {
    /// `size_of::<kaio_softmax_backward_options>()`.
    pub size: u32,
    /// Default 1; that of the forward call.
    pub scale: f32,
}

impl Default for kaio_softmax_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scale: 1.0,
        }
    }
}
