// Made by bindings/rust/generate.py from src/c/operations/peers.json.
use std::os::raw::c_char;
use crate::base::DLTensor;

/// Memory of a rank that operations of several ranks share. It belongs to one thread at a time.
#[repr(C)]
pub struct kaio_peer_workspace {
    opaque: [u8; 0],
}

/// Device memory that the kernels of all ranks can read and write.
#[repr(C)]
pub struct kaio_peer_buffer {
    opaque: [u8; 0],
}

// kaio_gather_schedule: How all_gather_matmul computes the products of the ranks' rows.
/// One product for each rank's rows.
pub const KAIO_GATHER_SCHEDULE_LAUNCHES: i32 = 0;
/// One persistent kernel, whose loads wait for the rows; sm_90a, f16 and bf16.
pub const KAIO_GATHER_SCHEDULE_ONE_LAUNCH: i32 = 1;

/// Options of a workspace.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_peer_workspace_options {
    /// `size_of::<kaio_peer_workspace_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default 8388608; the largest tensor that is added by peer memory.
    pub sum_bytes: u64,
    /// Default 524288; up to here every rank adds all.
    pub one_shot_bytes: u64,
    /// Memory for the parts of one product; a rank has twice as much.
    pub product_bytes: u64,
    /// Default 64; blocks of the kernels that add; 1 to 1024.
    pub blocks: u32,
    /// Default 1; 0: a call that was made before is not compared again.
    pub compares_repeated_calls: i32,
}

impl Default for kaio_peer_workspace_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            sum_bytes: 8388608,
            one_shot_bytes: 524288,
            product_bytes: 0,
            blocks: 64,
            compares_repeated_calls: 1,
        }
    }
}

/// Options of products whose sums are over ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_matmul_reduce_options {
    /// `size_of::<kaio_matmul_reduce_options>()`.
    pub size: u32,
    /// Default 1; multiplies the product.
    pub alpha: f32,
    /// 1: parts are sent as f32.
    pub f32_parts: i32,
    /// kaio_matmul_precision: how products of f32 are computed.
    pub precision: i32,
    /// The workspace of the product.
    pub workspace: *const DLTensor,
    /// kaio_constant_inputs.
    pub constant: i32,
    /// 0.
    pub reserved_28: i32,
    /// Name of the kernel; NULL: the best one.
    pub variant: *const c_char,
}

impl Default for kaio_matmul_reduce_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            alpha: 1.0,
            f32_parts: 0,
            precision: 0,
            workspace: core::ptr::null(),
            constant: 0,
            reserved_28: 0,
            variant: core::ptr::null(),
        }
    }
}
