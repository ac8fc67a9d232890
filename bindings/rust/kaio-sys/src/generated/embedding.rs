// Made by bindings/rust/generate.py from src/c/operations/embedding.json.
use crate::base::DLTensor;

/// Options of embedding.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_embedding_options {
    /// `size_of::<kaio_embedding_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// (1); u32; the number of indices outside of the vocabulary is added to it.
    pub errors: *const DLTensor,
}

impl Default for kaio_embedding_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            errors: core::ptr::null(),
        }
    }
}

/// Options of embedding_backward.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_embedding_backward_options {
    /// `size_of::<kaio_embedding_backward_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default -1; tokens with this index are left out; below 0: none.
    pub padding_index: i64,
    /// 1: adds to dweight; rows without tokens are then not written.
    pub accumulate: i32,
    /// 0.
    pub reserved_20: i32,
    /// kaio_embedding_backward_workspace_bytes, at a multiple of 16 bytes.
    pub workspace: *const DLTensor,
}

impl Default for kaio_embedding_backward_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            padding_index: -1,
            accumulate: 0,
            reserved_20: 0,
            workspace: core::ptr::null(),
        }
    }
}
