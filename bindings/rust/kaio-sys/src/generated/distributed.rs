// Made by bindings/rust/generate.py from src/c/operations/distributed.json.

use std::os::raw::c_void;
use crate::base::DLTensor;

/// A rank of a group. It belongs to one thread at a time; kaio_communicator_abort may be called by any
/// thread.
#[repr(C)]
pub struct kaio_communicator {
    opaque: [u8; 0],
}

/// Gathers bytes of the host: byte r * bytes of `all` and those after it get those of rank r. Every rank
/// calls it, with the same `bytes`. It waits for the others for `time_limit` seconds at most. 0: done;
/// another number: it failed.
pub type kaio_communicator_gather = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        mine: *const c_void,
        bytes: u64,
        all: *mut c_void,
        time_limit: f64,
    ) -> i32,
>;

/// Allocates `bytes` of device memory on each rank, at a multiple of 256, that the kernels of all can read
/// and write. memory\[r\] gets the address of rank r's memory in this process, `token` a name of it. Every
/// rank calls it. With an emulator it may be memory of the host, which processes share. 0: done; another
/// number: it failed.
pub type kaio_communicator_allocate = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        bytes: u64,
        memory: *mut *mut c_void,
        token: *mut *mut c_void,
    ) -> i32,
>;

/// This rank uses the memory no more; others may. Any thread calls it, when the last handle goes. 0: done;
/// another number: it failed.
pub type kaio_communicator_release =
    Option<unsafe extern "C" fn(data: *mut c_void, token: *mut c_void) -> i32>;

// kaio_context_layout: How the rows of a sequence are divided.
/// The r-th of as many pieces as there are ranks.
pub const KAIO_CONTEXT_LAYOUT_CONTIGUOUS: i32 = 0;
/// Rank r has pieces r and 2 x ranks - 1 - r of 2 x ranks pieces, of each packed sequence.
pub const KAIO_CONTEXT_LAYOUT_ZIGZAG: i32 = 1;

/// Options of a group of ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_communicator_options {
    /// `size_of::<kaio_communicator_options>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// Default 60; seconds that a call waits for the other ranks.
    pub time_limit: f64,
    /// Default 8388608; device memory of each rank that sums pass through.
    pub staging_bytes: u64,
    /// Default 1; NCCL: 1: the host compares each call with those of the other ranks.
    pub compare: i32,
    /// 0.
    pub reserved_28: i32,
}

impl Default for kaio_communicator_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            time_limit: 60.0,
            staging_bytes: 8388608,
            compare: 1,
            reserved_28: 0,
        }
    }
}

/// What a program does for its rank of a group. The thread of a call of the communicator calls these
/// functions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_communicator_means {
    /// `size_of::<kaio_communicator_means>()`.
    pub size: u32,
    /// 0.
    pub reserved_4: i32,
    /// The first argument of each function; lives as long as the communicator and its memory.
    pub data: *mut c_void,
    /// Never NULL.
    pub gather: kaio_communicator_gather,
    /// NULL: the group has no memory of all ranks, and moves no tensors.
    pub allocate: kaio_communicator_allocate,
    /// Given with allocate.
    pub release: kaio_communicator_release,
}

impl Default for kaio_communicator_means {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            reserved_4: 0,
            data: core::ptr::null_mut(),
            gather: None,
            allocate: None,
            release: None,
        }
    }
}

/// Options of an attention over ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct kaio_context_attention_options {
    /// `size_of::<kaio_context_attention_options>()`.
    pub size: u32,
    /// The factor of q . k; 0: 1 / sqrt(head size of q).
    pub scale: f32,
    /// Above 0: the score x becomes softcap * tanh(x / softcap).
    pub softcap: f32,
    /// kaio_causal_alignment: both alignments agree here.
    pub causal: i32,
    /// Default 1; kaio_context_layout.
    pub layout: i32,
    /// 0.
    pub reserved_20: i32,
    /// Default -1; keys before a query's own one that it attends to; -1: all.
    pub window_left: i64,
    /// Default -1; keys after its own one; -1: all; causal makes it 0.
    pub window_right: i64,
    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub sinks: *const DLTensor,
    /// (batches, heads, rows); f32; gets ln of the sum of exp(x); not written by gradients.
    pub lse: *const DLTensor,
    /// Default 1; ranks that exchange heads for rows; divides the ranks and the heads of k.
    pub head_ranks: i32,
    /// 0.
    pub reserved_60: i32,
    /// Needed: kaio_context_attention_workspace_bytes, or of the gradients, at a multiple of 256 bytes.
    pub workspace: *const DLTensor,
    /// Rows of packed sequences, host memory, equal on all ranks; batches is then 1; NULL: one sequence.
    pub lengths: *const i64,
    /// The number of packed sequences.
    pub length_count: u64,
    /// (heads); f32, f16 or bf16; written by the gradients, equal on all ranks; takes workspace; NULL: not
    /// wanted.
    pub dsinks: *const DLTensor,
}

impl Default for kaio_context_attention_options {
    fn default() -> Self {
        Self {
            size: core::mem::size_of::<Self>() as u32,
            scale: 0.0,
            softcap: 0.0,
            causal: 0,
            layout: 1,
            reserved_20: 0,
            window_left: -1,
            window_right: -1,
            sinks: core::ptr::null(),
            lse: core::ptr::null(),
            head_ranks: 1,
            reserved_60: 0,
            workspace: core::ptr::null(),
            lengths: core::ptr::null(),
            length_count: 0,
            dsinks: core::ptr::null(),
        }
    }
}
