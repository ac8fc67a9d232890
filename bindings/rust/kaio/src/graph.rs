use std::ptr::NonNull;

use crate::error::{check, functions};
use crate::{Error, Result, Stream};

/// Work of a stream that is being recorded. Calls on the stream do not run meanwhile, but become a [`Graph`].
///
/// Each call needs a first run or its `warmup` before, since kernels cannot be loaded meanwhile. If it is dropped without
/// [`Capture::end`], the work is dropped too.
#[derive(Debug)]
pub struct Capture<'a> {
    raw: Option<NonNull<kaio_sys::kaio_capture>>,
    stream: &'a Stream,
}

impl<'a> Capture<'a> {
    /// Begins recording the work of a stream.
    pub fn begin(stream: &'a Stream) -> Result<Capture<'a>> {
        let functions = functions()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a stream that lives, and a place for the result.
        check(functions, unsafe {
            (functions.kaio_capture_begin)(stream.device().raw(), stream.handle(), &mut raw)
        })?;
        Ok(Capture {
            raw: NonNull::new(raw),
            stream,
        })
    }

    /// The stream whose work is recorded.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// Ends recording.
    pub fn end(mut self) -> Result<Graph> {
        let functions = functions()?;
        let mut raw = std::ptr::null_mut();
        let capture = self.take();
        // SAFETY: a capture that has not ended; it is freed here, also if the call fails.
        check(functions, unsafe {
            (functions.kaio_capture_end)(capture, &mut raw)
        })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::internal("kaio: the capture has no graph"))?;
        Ok(Graph { raw })
    }

    fn take(&mut self) -> *mut kaio_sys::kaio_capture {
        self.raw.take().map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        let capture = self.take();
        if let (false, Ok(functions)) = (capture.is_null(), functions()) {
            // SAFETY: a capture that has not ended; NULL drops its work.
            unsafe { (functions.kaio_capture_end)(capture, std::ptr::null_mut()) };
        }
    }
}

/// Recorded work, which one call replays.
///
/// ```
/// use kaio::{ops, Buffer, Capture, Device, Stream};
/// let device = Device::open("emulator")?;
/// let stream = Stream::new(&device)?;
/// let x = Buffer::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0])?;
/// let mut total = Buffer::<f32>::zeros(&device, 1)?;
/// let (x, total_view) = (x.view(&[4])?, total.view_mut(&[1])?);
/// let sum = ops::reduce(ops::Reduction::Sum, &x, &total_view);
/// sum.warmup()?;
/// let capture = Capture::begin(&stream)?;
/// sum.run(&stream)?;
/// let graph = capture.end()?;
/// // SAFETY: `x` and `total` live until the stream is empty.
/// unsafe { graph.launch(&stream)? };
/// assert_eq!(total.to_vec(&stream)?, [10.0]);
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    raw: NonNull<kaio_sys::kaio_graph>,
}

// SAFETY: all functions of the C interface may be called from several threads at once.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Queues the recorded work.
    ///
    /// # Safety
    /// The memory that the recorded calls use lives until the work is done.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        // SAFETY: a graph and a stream that live; the caller vouches for the memory.
        check(functions, unsafe {
            (functions.kaio_graph_launch)(self.raw.as_ptr(), stream.handle())
        })
    }

    /// Moves what the first launch needs to the device ahead of it.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        // SAFETY: a graph and a stream that live.
        check(functions, unsafe {
            (functions.kaio_graph_upload)(self.raw.as_ptr(), stream.handle())
        })
    }

    /// Ends a capture, whose calls are those of the graph in their order, and takes their arguments: for instance other memory. If it has
    /// other calls, the graph stays as it was.
    pub fn update(&mut self, mut capture: Capture<'_>) -> Result<()> {
        let functions = functions()?;
        // SAFETY: a graph that lives, and a capture that has not ended; it is freed here, also if the call fails.
        check(functions, unsafe {
            (functions.kaio_graph_update)(self.raw.as_ptr(), capture.take())
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: a graph of ours that nothing uses any more. A replay in flight runs to its end.
            unsafe { (functions.kaio_graph_destroy)(self.raw.as_ptr()) };
        }
    }
}
