// Made by bindings/rust/generate.py from src/c/operations/norm.json.
//! Norms.

use super::*;
use crate::call::*;

/// Where a number of 16 bits is rounded before the weight multiplies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum NormCasting {
    /// Nowhere: all in f32, rounded once.
    Gemma = 0,
    /// The normalised number is rounded, and its product with the weight again.
    Llama = 1,
}

impl NormCasting {
    pub(crate) fn from_raw(raw: i32) -> Result<NormCasting> {
        match raw {
            0 => Ok(NormCasting::Gemma),
            1 => Ok(NormCasting::Llama),
            other => Err(Error::internal(format!("kaio: {} is no NormCasting that this crate knows", other))),
        }
    }
}

/// Options of rms_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row.
#[derive(Clone, Debug)]
pub struct RmsNormOptions<'a> {
    epsilon: f32,
    weight_offset: f32,
    residual: Option<TensorView<'a>>,
    residual_out: Option<TensorView<'a>>,
    casting: NormCasting,
    gate: Option<TensorView<'a>>,
    scale: Option<TensorView<'a>>,
    shift: Option<TensorView<'a>>,
    y_out: Option<TensorView<'a>>,
}

impl<'a> RmsNormOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RmsNormOptions {
            epsilon: 1e-06,
            weight_offset: 0.0,
            residual: None,
            residual_out: None,
            casting: NormCasting::Gemma,
            gate: None,
            scale: None,
            shift: None,
            y_out: None,
        }
    }

    setters! {
        /// Epsilon; default 1e-06.
        value epsilon(f32) => epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view scale(&TensorView<'a>) => scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => y_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_rms_norm_options> {
        Ok(sys::kaio_rms_norm_options {
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            residual: hold.optional(&self.residual),
            residual_out: hold.optional(&self.residual_out),
            casting: self.casting as i32,
            gate: hold.optional(&self.gate),
            scale: hold.optional(&self.scale),
            shift: hold.optional(&self.shift),
            y_out: hold.optional(&self.y_out),
            ..Default::default()
        })
    }
}

impl<'a> Default for RmsNormOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of layer_norm. Tensors have the extents and the element type of x; a stride of 0 repeats a row.
#[derive(Clone, Debug)]
pub struct LayerNormOptions<'a> {
    epsilon: f32,
    weight_offset: f32,
    residual: Option<TensorView<'a>>,
    residual_out: Option<TensorView<'a>>,
    casting: NormCasting,
    gate: Option<TensorView<'a>>,
    scale: Option<TensorView<'a>>,
    shift: Option<TensorView<'a>>,
    y_out: Option<TensorView<'a>>,
}

impl<'a> LayerNormOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        LayerNormOptions {
            epsilon: 1e-05,
            weight_offset: 0.0,
            residual: None,
            residual_out: None,
            casting: NormCasting::Gemma,
            gate: None,
            scale: None,
            shift: None,
            y_out: None,
        }
    }

    setters! {
        /// Epsilon; default 1e-05.
        value epsilon(f32) => epsilon;
        /// Added to the weight.
        value weight_offset(f32) => weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view scale(&TensorView<'a>) => scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => y_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_layer_norm_options> {
        Ok(sys::kaio_layer_norm_options {
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            residual: hold.optional(&self.residual),
            residual_out: hold.optional(&self.residual_out),
            casting: self.casting as i32,
            gate: hold.optional(&self.gate),
            scale: hold.optional(&self.scale),
            shift: hold.optional(&self.shift),
            y_out: hold.optional(&self.y_out),
            ..Default::default()
        })
    }
}

impl<'a> Default for LayerNormOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// out = h / rms(h) * (weight_offset + weight) along the last dimension, with h = x * gate + residual.
///
/// rms(h) = sqrt(mean of h^2 + epsilon), in f32. Rows have any strides, their elements are neighbours.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `weight`: (size); f32, f16 or bf16; elements of x, or f32.
/// - `out`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`RmsNorm`].
pub fn rms_norm<'a>(x: &TensorView<'a>, weight: &TensorView<'a>, out: &TensorViewMut<'a>) -> RmsNorm<'a> {
    RmsNorm {
        x: *x,
        weight: *weight,
        out: **out,
        options: RmsNormOptions::new(),
    }
}

/// The operation `rms_norm`: see the function [`rms_norm`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RmsNorm<'a> {
    x: TensorView<'a>,
    weight: TensorView<'a>,
    out: TensorView<'a>,
    options: RmsNormOptions<'a>,
}

impl<'a> RmsNorm<'a> {
    /// All options at once.
    pub fn options(mut self, options: &RmsNormOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Epsilon; default 1e-06.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => options.residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => options.residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => options.casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => options.gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view scale(&TensorView<'a>) => options.scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => options.shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => options.y_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm_warmup(hold.tensor(&self.x), hold.tensor(&self.weight), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// rms_norm into codes: out = codes * scale.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `weight`: (size); f32, f16 or bf16; elements of x, or f32.
/// - `codes`: written; as x; i8 or e4m3.
///
/// Nothing happens before `run`. Options are methods of [`RmsNormCodes`].
pub fn rms_norm_codes<'a>(
    x: &TensorView<'a>,
    weight: &TensorView<'a>,
    codes: &TensorViewMut<'a>,
) -> RmsNormCodes<'a> {
    RmsNormCodes {
        x: *x,
        weight: *weight,
        codes: **codes,
        scales: None,
        scale: 0.0,
        options: RmsNormOptions::new(),
    }
}

/// The operation `rms_norm_codes`: see the function [`rms_norm_codes`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RmsNormCodes<'a> {
    x: TensorView<'a>,
    weight: TensorView<'a>,
    codes: TensorView<'a>,
    scales: Option<TensorView<'a>>,
    scale: f32,
    options: RmsNormOptions<'a>,
}

impl<'a> RmsNormCodes<'a> {
    /// All options at once.
    pub fn options(mut self, options: &RmsNormOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a row; f32;
        /// gets the scales; none: `scale` is the scale of all rows.
        written scales(&TensorViewMut<'a>) => scales;
        /// Above 0 and finite; not read if scales are given.
        value scale(f32) => scale;
        /// Epsilon; default 1e-06.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => options.residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => options.residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => options.casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => options.gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view norm_scale(&TensorView<'a>) => options.scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => options.shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => options.y_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm_codes(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.codes), hold.optional(&self.scales), self.scale,
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm_codes_warmup(hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.codes), hold.optional(&self.scales), self.scale,
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// out = (h - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension, with h = x * gate
/// \+ residual.
///
/// The variance is the mean square of h - mean, in f32. Rows have any strides, their elements are
/// neighbours.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `out`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`LayerNorm`].
pub fn layer_norm<'a>(x: &TensorView<'a>, out: &TensorViewMut<'a>) -> LayerNorm<'a> {
    LayerNorm {
        x: *x,
        out: **out,
        weight: None,
        bias: None,
        options: LayerNormOptions::new(),
    }
}

/// The operation `layer_norm`: see the function [`layer_norm`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LayerNorm<'a> {
    x: TensorView<'a>,
    out: TensorView<'a>,
    weight: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    options: LayerNormOptions<'a>,
}

impl<'a> LayerNorm<'a> {
    /// All options at once.
    pub fn options(mut self, options: &LayerNormOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (size); f32, f16 or bf16; elements of x, or f32; none: none.
        view weight(&TensorView<'a>) => weight;
        /// (size); f32, f16 or bf16; elements of the weight; none: none.
        view bias(&TensorView<'a>) => bias;
        /// Epsilon; default 1e-05.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => options.residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => options.residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => options.casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => options.gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view scale(&TensorView<'a>) => options.scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => options.shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => options.y_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm(stream.handle(), hold.tensor(&self.x), hold.optional(&self.weight),
            hold.optional(&self.bias), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm_warmup(hold.tensor(&self.x), hold.optional(&self.weight),
            hold.optional(&self.bias), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }
}

/// layer_norm into codes: out = codes * scale.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `codes`: written; as x; i8 or e4m3.
///
/// Nothing happens before `run`. Options are methods of [`LayerNormCodes`].
pub fn layer_norm_codes<'a>(x: &TensorView<'a>, codes: &TensorViewMut<'a>) -> LayerNormCodes<'a> {
    LayerNormCodes {
        x: *x,
        codes: **codes,
        weight: None,
        bias: None,
        scales: None,
        scale: 0.0,
        options: LayerNormOptions::new(),
    }
}

/// The operation `layer_norm_codes`: see the function [`layer_norm_codes`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LayerNormCodes<'a> {
    x: TensorView<'a>,
    codes: TensorView<'a>,
    weight: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    scales: Option<TensorView<'a>>,
    scale: f32,
    options: LayerNormOptions<'a>,
}

impl<'a> LayerNormCodes<'a> {
    /// All options at once.
    pub fn options(mut self, options: &LayerNormOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (size); f32, f16 or bf16; elements of x, or f32; none: none.
        view weight(&TensorView<'a>) => weight;
        /// (size); f32, f16 or bf16; elements of the weight; none: none.
        view bias(&TensorView<'a>) => bias;
        /// (...), one for each row, or (..., ceil(size / 128)), one for each 128 neighbours of a row; f32;
        /// gets the scales; none: `scale` is the scale of all rows.
        written scales(&TensorViewMut<'a>) => scales;
        /// Above 0 and finite; not read if scales are given.
        value scale(f32) => scale;
        /// Epsilon; default 1e-05.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to x.
        view residual(&TensorView<'a>) => options.residual;
        /// As x; f32, f16 or bf16; gets x * gate + residual; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => options.residual_out;
        /// Where numbers of 16 bits are rounded.
        value casting(NormCasting) => options.casting;
        /// As x; f32, f16 or bf16; multiplies x first.
        view gate(&TensorView<'a>) => options.gate;
        /// As x; f32, f16 or bf16; 1 + it multiplies the norm.
        view norm_scale(&TensorView<'a>) => options.scale;
        /// As x; f32, f16 or bf16; is added to that product.
        view shift(&TensorView<'a>) => options.shift;
        /// As x; f32, f16 or bf16; a call into codes writes the norm before it is rounded here.
        written y_out(&TensorViewMut<'a>) => options.y_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm_codes(stream.handle(), hold.tensor(&self.x), hold.optional(&self.weight),
            hold.optional(&self.bias), hold.tensor(&self.codes), hold.optional(&self.scales), self.scale,
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm_codes_warmup(hold.tensor(&self.x), hold.optional(&self.weight),
            hold.optional(&self.bias), hold.tensor(&self.codes), hold.optional(&self.scales), self.scale,
            hold.keep(self.options.raw(&hold)?)))
    }
}
