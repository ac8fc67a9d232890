// Made by bindings/rust/generate.py from src/c/operations/attention_backward.json.
use crate::base::DLTensor;
use crate::generated::attention::kaio_attention_options;

/// Options of the gradients of an attention.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_attention_backward_options {
    /// `size_of::<kaio_attention_backward_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// The options of the attention that is differentiated, without blocks and variant; its lse is not
    /// written; NULL: all defaults.
    pub forward: *const kaio_attention_options,
    /// As lse; f32; the gradient of lse.
    pub dlse: *const DLTensor,
    /// As bias; f32, f16 or bf16; f32, or elements of q; summed along extents of 1.
    pub dbias: *const DLTensor,
    /// (heads); f32, f16 or bf16.
    pub dsinks: *const DLTensor,
    /// Needed: kaio_attention_backward_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_attention_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            forward: core::ptr::null(),
            dlse: core::ptr::null(),
            dbias: core::ptr::null(),
            dsinks: core::ptr::null(),
            workspace: core::ptr::null(),
        }
    }
}
