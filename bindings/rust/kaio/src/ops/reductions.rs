// Made by bindings/rust/generate.py from src/c/operations/reductions.json.
//! Reductions.

use super::*;
use crate::call::*;

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Reduction {
    /// sum.
    Sum = 0,
    /// mean.
    Mean = 1,
    /// NaN, if an element is NaN.
    Max = 2,
    /// NaN, if an element is NaN.
    Min = 3,
}

impl Reduction {
    pub(crate) fn from_raw(raw: i32) -> Result<Reduction> {
        match raw {
            0 => Ok(Reduction::Sum),
            1 => Ok(Reduction::Mean),
            2 => Ok(Reduction::Max),
            3 => Ok(Reduction::Min),
            other => Err(Error::internal(format!("kaio: {} is no Reduction that this crate knows", other))),
        }
    }
}

/// Options of reduce.
#[derive(Clone, Debug)]
pub struct ReduceOptions<'a> {
    axis: i64,
    all: bool,
    workspace: Option<TensorView<'a>>,
}

impl<'a> ReduceOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        ReduceOptions {
            axis: -1,
            all: false,
            workspace: None,
        }
    }

    setters! {
        /// Below 0: counted from the last dimension; default -1.
        value axis(i64) => axis;
        /// True: reduces all dimensions.
        value all(bool) => all;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_reduce_options> {
        Ok(sys::kaio_reduce_options {
            axis: self.axis,
            all: i32::from(self.all),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for ReduceOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of scan.
#[derive(Clone, Debug)]
pub struct ScanOptions<'a> {
    exclusive: bool,
    workspace: Option<TensorView<'a>>,
}

impl<'a> ScanOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        ScanOptions {
            exclusive: false,
            workspace: None,
        }
    }

    setters! {
        /// True: each sum is of the elements before its own.
        value exclusive(bool) => exclusive;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_scan_options> {
        Ok(sys::kaio_scan_options {
            exclusive: i32::from(self.exclusive),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for ScanOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of histogram.
#[derive(Clone, Debug)]
pub struct HistogramOptions<'a> {
    first: i64,
    low: f32,
    high: f32,
    accumulate: bool,
    outside: Option<TensorView<'a>>,
}

impl<'a> HistogramOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        HistogramOptions {
            first: 0,
            low: 0.0,
            high: 0.0,
            accumulate: false,
            outside: None,
        }
    }

    setters! {
        /// Integers: the value of the first bin.
        value first(i64) => first;
        /// f32: the lower edge of the first bin.
        value low(f32) => low;
        /// f32: the upper edge of the last bin, which includes it.
        value high(f32) => high;
        /// True: adds to the counts.
        value accumulate(bool) => accumulate;
        /// (3); u32; gets the number of elements below, above, and of NaN.
        written outside(&TensorViewMut<'a>) => outside;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_histogram_options> {
        Ok(sys::kaio_histogram_options {
            first: self.first,
            low: self.low,
            high: self.high,
            accumulate: i32::from(self.accumulate),
            outside: hold.optional(&self.outside),
            ..Default::default()
        })
    }
}

impl<'a> Default for HistogramOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// out = the sum, mean, largest or smallest element of x along one dimension, or along all.
///
/// Accumulators are f32. Equal calls give equal bits.
///
/// # Arguments
///
/// - `how`: How elements are combined.
/// - `x`: Any; f32, f16 or bf16.
/// - `out`: written; x without the axis, or with 1 in its place; f32, f16 or bf16; the type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`Reduce`].
pub fn reduce<'a>(how: Reduction, x: &TensorView<'a>, out: &TensorViewMut<'a>) -> Reduce<'a> {
    Reduce {
        how,
        x: *x,
        out: **out,
        options: ReduceOptions::new(),
    }
}

/// The operation `reduce`: see the function [`reduce`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Reduce<'a> {
    how: Reduction,
    x: TensorView<'a>,
    out: TensorView<'a>,
    options: ReduceOptions<'a>,
}

impl<'a> Reduce<'a> {
    /// All options at once.
    pub fn options(mut self, options: &ReduceOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Below 0: counted from the last dimension; default -1.
        value axis(i64) => options.axis;
        /// True: reduces all dimensions.
        value all(bool) => options.all;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_reduce(stream.handle(), self.how as i32, hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_reduce_warmup(self.how as i32, hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call needs; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_reduce_workspace_bytes(self.how as i32, hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }
}

/// Sums along the last dimension: out\[..., i\] = x\[..., 0\] + ... + x\[..., i\].
///
/// In the type of the elements; integers wrap. Equal calls give equal bits.
///
/// # Arguments
///
/// - `x`: (..., size); f32, i32, u32, i64 or u64.
/// - `out`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`Scan`].
pub fn scan<'a>(x: &TensorView<'a>, out: &TensorViewMut<'a>) -> Scan<'a> {
    Scan {
        x: *x,
        out: **out,
        options: ScanOptions::new(),
    }
}

/// The operation `scan`: see the function [`scan`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    x: TensorView<'a>,
    out: TensorView<'a>,
    options: ScanOptions<'a>,
}

impl<'a> Scan<'a> {
    /// All options at once.
    pub fn options(mut self, options: &ScanOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// True: each sum is of the elements before its own.
        value exclusive(bool) => options.exclusive;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_scan(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_scan_warmup(hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call needs; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_scan_workspace_bytes(hold.tensor(&self.x), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }
}

/// Counts the elements of x in bins: integers by value, f32 in bins of equal width.
///
/// Elements outside of the bins are not counted in them. Counts wrap at 2^32.
///
/// # Arguments
///
/// - `x`: Any; u8, i32, u32 or f32.
/// - `counts`: written; (bins); u32.
///
/// Nothing happens before `run`. Options are methods of [`Histogram`].
pub fn histogram<'a>(x: &TensorView<'a>, counts: &TensorViewMut<'a>) -> Histogram<'a> {
    Histogram {
        x: *x,
        counts: **counts,
        options: HistogramOptions::new(),
    }
}

/// The operation `histogram`: see the function [`histogram`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Histogram<'a> {
    x: TensorView<'a>,
    counts: TensorView<'a>,
    options: HistogramOptions<'a>,
}

impl<'a> Histogram<'a> {
    /// All options at once.
    pub fn options(mut self, options: &HistogramOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Integers: the value of the first bin.
        value first(i64) => options.first;
        /// f32: the lower edge of the first bin.
        value low(f32) => options.low;
        /// f32: the upper edge of the last bin, which includes it.
        value high(f32) => options.high;
        /// True: adds to the counts.
        value accumulate(bool) => options.accumulate;
        /// (3); u32; gets the number of elements below, above, and of NaN.
        written outside(&TensorViewMut<'a>) => options.outside;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_histogram(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.counts),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_histogram_warmup(hold.tensor(&self.x), hold.tensor(&self.counts),
            hold.keep(self.options.raw(&hold)?)))
    }
}
