// Made by bindings/rust/generate.py from src/c/operations/elementwise.json.
//! Activations and copies.

use super::*;
use crate::call::*;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Activation {
    /// silu.
    Silu = 0,
    /// By erf.
    Gelu = 1,
    /// Gelu tanh.
    GeluTanh = 2,
    /// x / (1 + e^(-1.702 x)).
    GeluSigmoid = 3,
    /// relu.
    Relu = 4,
    /// The square of relu.
    Relu2 = 5,
}

impl Activation {
    pub(crate) fn from_raw(raw: i32) -> Result<Activation> {
        match raw {
            0 => Ok(Activation::Silu),
            1 => Ok(Activation::Gelu),
            2 => Ok(Activation::GeluTanh),
            3 => Ok(Activation::GeluSigmoid),
            4 => Ok(Activation::Relu),
            5 => Ok(Activation::Relu2),
            other => Err(Error::internal(format!("kaio: {} is no Activation that this crate knows", other))),
        }
    }
}

/// Options of gates: y = f(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset).
#[derive(Clone, Debug)]
pub struct GatedOptions {
    limit: f32,
    up_offset: f32,
}

impl GatedOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        GatedOptions {
            limit: 0.0,
            up_offset: 0.0,
        }
    }

    setters! {
        /// Above 0 and finite, 0: none; 7 for gpt-oss.
        value limit(f32) => limit;
        /// Finite; 1 for gpt-oss.
        value up_offset(f32) => up_offset;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_gated_options> {
        Ok(sys::kaio_gated_options {
            limit: self.limit,
            up_offset: self.up_offset,
            ..Default::default()
        })
    }
}

impl Default for GatedOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// y = f(x).
///
/// # Arguments
///
/// - `kind`: A function of one number.
/// - `x`: (...); f32, f16 or bf16.
/// - `y`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`Activate`].
pub fn activate<'a>(kind: Activation, x: &TensorView<'a>, y: &TensorViewMut<'a>) -> Activate<'a> {
    Activate {
        kind,
        x: *x,
        y: **y,
    }
}

/// The operation `activate`: see the function [`activate`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Activate<'a> {
    kind: Activation,
    x: TensorView<'a>,
    y: TensorView<'a>,
}

impl<'a> Activate<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_activate(stream.handle(), self.kind as i32, hold.tensor(&self.x), hold.tensor(&self.y)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_activate_warmup(self.kind as i32, hold.tensor(&self.x), hold.tensor(&self.y)))
    }
}

/// dx = dy * f'(x).
///
/// # Arguments
///
/// - `kind`: A function of one number.
/// - `dy`: As x; elements of x.
/// - `x`: (...); f32, f16 or bf16.
/// - `dx`: written; as x; elements of x; may be dy or x itself.
///
/// Nothing happens before `run`. Options are methods of [`ActivateBackward`].
pub fn activate_backward<'a>(
    kind: Activation,
    dy: &TensorView<'a>,
    x: &TensorView<'a>,
    dx: &TensorViewMut<'a>,
) -> ActivateBackward<'a> {
    ActivateBackward {
        kind,
        dy: *dy,
        x: *x,
        dx: **dx,
    }
}

/// The operation `activate_backward`: see the function [`activate_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct ActivateBackward<'a> {
    kind: Activation,
    dy: TensorView<'a>,
    x: TensorView<'a>,
    dx: TensorView<'a>,
}

impl<'a> ActivateBackward<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_activate_backward(stream.handle(), self.kind as i32, hold.tensor(&self.dy),
            hold.tensor(&self.x), hold.tensor(&self.dx)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_activate_backward_warmup(self.kind as i32, hold.tensor(&self.dy), hold.tensor(&self.x),
            hold.tensor(&self.dx)))
    }
}

/// y = f(gate) * up.
///
/// A packed tensor (..., 2 n) is two views of its halves, or of its even and odd elements.
///
/// # Arguments
///
/// - `kind`: A function of one number.
/// - `gate`: (...); f32, f16 or bf16.
/// - `up`: As gate; elements of gate.
/// - `y`: written; as gate; elements of gate; may be gate or up itself.
///
/// Nothing happens before `run`. Options are methods of [`Gated`].
pub fn gated<'a>(
    kind: Activation,
    gate: &TensorView<'a>,
    up: &TensorView<'a>,
    y: &TensorViewMut<'a>,
) -> Gated<'a> {
    Gated {
        kind,
        gate: *gate,
        up: *up,
        y: **y,
        options: GatedOptions::new(),
    }
}

/// The operation `gated`: see the function [`gated`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Gated<'a> {
    kind: Activation,
    gate: TensorView<'a>,
    up: TensorView<'a>,
    y: TensorView<'a>,
    options: GatedOptions,
}

impl<'a> Gated<'a> {
    /// All options at once.
    pub fn options(mut self, options: &GatedOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Above 0 and finite, 0: none; 7 for gpt-oss.
        value limit(f32) => options.limit;
        /// Finite; 1 for gpt-oss.
        value up_offset(f32) => options.up_offset;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gated(stream.handle(), self.kind as i32, hold.tensor(&self.gate), hold.tensor(&self.up),
            hold.tensor(&self.y), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gated_warmup(self.kind as i32, hold.tensor(&self.gate), hold.tensor(&self.up),
            hold.tensor(&self.y), hold.keep(self.options.raw(&hold)?)))
    }
}

/// dgate = dy * up * f'(gate), dup = dy * f(gate).
///
/// # Arguments
///
/// - `kind`: A function of one number.
/// - `dy`: (...); f32, f16 or bf16.
/// - `gate`: As dy; elements of dy.
/// - `up`: As dy; elements of dy.
/// - `dgate`: written; as dy; elements of dy; may be an input itself.
/// - `dup`: written; as dy; elements of dy; may be an input itself.
///
/// Nothing happens before `run`. Options are methods of [`GatedBackward`].
pub fn gated_backward<'a>(
    kind: Activation,
    dy: &TensorView<'a>,
    gate: &TensorView<'a>,
    up: &TensorView<'a>,
    dgate: &TensorViewMut<'a>,
    dup: &TensorViewMut<'a>,
) -> GatedBackward<'a> {
    GatedBackward {
        kind,
        dy: *dy,
        gate: *gate,
        up: *up,
        dgate: **dgate,
        dup: **dup,
        options: GatedOptions::new(),
    }
}

/// The operation `gated_backward`: see the function [`gated_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct GatedBackward<'a> {
    kind: Activation,
    dy: TensorView<'a>,
    gate: TensorView<'a>,
    up: TensorView<'a>,
    dgate: TensorView<'a>,
    dup: TensorView<'a>,
    options: GatedOptions,
}

impl<'a> GatedBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &GatedOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Above 0 and finite, 0: none; 7 for gpt-oss.
        value limit(f32) => options.limit;
        /// Finite; 1 for gpt-oss.
        value up_offset(f32) => options.up_offset;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gated_backward(stream.handle(), self.kind as i32, hold.tensor(&self.dy),
            hold.tensor(&self.gate), hold.tensor(&self.up), hold.tensor(&self.dgate), hold.tensor(&self.dup),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gated_backward_warmup(self.kind as i32, hold.tensor(&self.dy), hold.tensor(&self.gate),
            hold.tensor(&self.up), hold.tensor(&self.dgate), hold.tensor(&self.dup),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// Copies a tensor into another one of any strides; f32, f16 and bf16 are converted.
///
/// # Arguments
///
/// - `to`: written; (...); f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32, i64, u64 or
///   f64.
/// - `from`: As to, or broadcast to it; f32, f16, bf16, e4m3, e5m2, e8m0, bool, i8, u8, i16, u16, i32, u32,
///   i64, u64 or f64; the type of to, or f32, f16 and bf16 into each other.
///
/// Nothing happens before `run`. Options are methods of [`CopyTensor`].
pub fn copy_tensor<'a>(to: &TensorViewMut<'a>, from: &TensorView<'a>) -> CopyTensor<'a> {
    CopyTensor {
        to: **to,
        from: *from,
    }
}

/// The operation `copy_tensor`: see the function [`copy_tensor`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct CopyTensor<'a> {
    to: TensorView<'a>,
    from: TensorView<'a>,
}

impl<'a> CopyTensor<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_copy_tensor(stream.handle(), hold.tensor(&self.to), hold.tensor(&self.from)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_copy_tensor_warmup(hold.tensor(&self.to), hold.tensor(&self.from)))
    }
}

/// x = codes * scale.
///
/// # Arguments
///
/// - `codes`: (...); i8.
/// - `scale`: finite.
/// - `x`: written; as codes; f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`Int8Dequant`].
pub fn int8_dequant<'a>(codes: &TensorView<'a>, scale: f32, x: &TensorViewMut<'a>) -> Int8Dequant<'a> {
    Int8Dequant {
        codes: *codes,
        scale,
        x: **x,
    }
}

/// The operation `int8_dequant`: see the function [`int8_dequant`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Int8Dequant<'a> {
    codes: TensorView<'a>,
    scale: f32,
    x: TensorView<'a>,
}

impl<'a> Int8Dequant<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_dequant(stream.handle(), hold.tensor(&self.codes), self.scale, hold.tensor(&self.x)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_dequant_warmup(hold.tensor(&self.codes), self.scale, hold.tensor(&self.x)))
    }
}

/// x\[r, c\] = codes\[r, c\] * scales\[r, c / group\].
///
/// A group has columns / groups columns, rounded up. Neighbours of a row are adjacent.
///
/// # Arguments
///
/// - `codes`: (rows, columns); i8.
/// - `scales`: (rows or 1, groups); f32, f16 or bf16.
/// - `x`: written; as codes; f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`Int8DequantGroups`].
pub fn int8_dequant_groups<'a>(
    codes: &TensorView<'a>,
    scales: &TensorView<'a>,
    x: &TensorViewMut<'a>,
) -> Int8DequantGroups<'a> {
    Int8DequantGroups {
        codes: *codes,
        scales: *scales,
        x: **x,
    }
}

/// The operation `int8_dequant_groups`: see the function [`int8_dequant_groups`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Int8DequantGroups<'a> {
    codes: TensorView<'a>,
    scales: TensorView<'a>,
    x: TensorView<'a>,
}

impl<'a> Int8DequantGroups<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_dequant_groups(stream.handle(), hold.tensor(&self.codes), hold.tensor(&self.scales),
            hold.tensor(&self.x)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_dequant_groups_warmup(hold.tensor(&self.codes), hold.tensor(&self.scales),
            hold.tensor(&self.x)))
    }
}
