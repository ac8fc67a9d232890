// Made by bindings/rust/generate.py from src/c/operations/peers.json.
//! Operations of several ranks by peer memory.

use super::*;
use crate::call::*;

/// How all_gather_matmul computes the products of the ranks' rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum GatherSchedule {
    /// One product for each rank's rows.
    Launches = 0,
    /// One persistent kernel, whose loads wait for the rows; sm_90a, f16 and bf16.
    OneLaunch = 1,
}

impl GatherSchedule {
    pub(crate) fn from_raw(raw: i32) -> Result<GatherSchedule> {
        match raw {
            0 => Ok(GatherSchedule::Launches),
            1 => Ok(GatherSchedule::OneLaunch),
            other => Err(Error::internal(format!("kaio: {} is no GatherSchedule that this crate knows", other))),
        }
    }
}

/// Options of a workspace.
#[derive(Clone, Debug)]
pub struct PeerWorkspaceOptions {
    sum_bytes: u64,
    one_shot_bytes: u64,
    product_bytes: u64,
    blocks: u32,
    compares_repeated_calls: bool,
}

impl PeerWorkspaceOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        PeerWorkspaceOptions {
            sum_bytes: 8388608,
            one_shot_bytes: 524288,
            product_bytes: 0,
            blocks: 64,
            compares_repeated_calls: true,
        }
    }

    setters! {
        /// The largest tensor that is added by peer memory; default 8388608.
        value sum_bytes(u64) => sum_bytes;
        /// Up to here every rank adds all; default 524288.
        value one_shot_bytes(u64) => one_shot_bytes;
        /// Memory for the parts of one product; a rank has twice as much.
        value product_bytes(u64) => product_bytes;
        /// Blocks of the kernels that add; 1 to 1024; default 64.
        value blocks(u32) => blocks;
        /// False: a call that was made before is not compared again; default true.
        value compares_repeated_calls(bool) => compares_repeated_calls;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_peer_workspace_options> {
        Ok(sys::kaio_peer_workspace_options {
            sum_bytes: self.sum_bytes,
            one_shot_bytes: self.one_shot_bytes,
            product_bytes: self.product_bytes,
            blocks: self.blocks,
            compares_repeated_calls: i32::from(self.compares_repeated_calls),
            ..Default::default()
        })
    }
}

impl Default for PeerWorkspaceOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of products whose sums are over ranks.
#[derive(Clone, Debug)]
pub struct MatmulReduceOptions<'a> {
    alpha: f32,
    f32_parts: bool,
    precision: MatmulPrecision,
    workspace: Option<TensorView<'a>>,
    constant: ConstantInputs,
    variant: Option<String>,
}

impl<'a> MatmulReduceOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulReduceOptions {
            alpha: 1.0,
            f32_parts: false,
            precision: MatmulPrecision::Ieee,
            workspace: None,
            constant: ConstantInputs(0),
            variant: None,
        }
    }

    setters! {
        /// Multiplies the product; default 1.0.
        value alpha(f32) => alpha;
        /// True: parts are sent as f32.
        value f32_parts(bool) => f32_parts;
        /// How products of f32 are computed.
        value precision(MatmulPrecision) => precision;
        /// The workspace of the product.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// Inputs that no earlier work in the stream writes. A hint: a call may read them before that work
        /// has ended. They are added up.
        value constant(ConstantInputs) => constant;
        /// Name of the kernel; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_reduce_options> {
        Ok(sys::kaio_matmul_reduce_options {
            alpha: self.alpha,
            f32_parts: i32::from(self.f32_parts),
            precision: self.precision as i32,
            workspace: hold.optional(&self.workspace),
            constant: self.constant.0,
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulReduceOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}
