//! Kernels of a C++ program, by name: a shared object in which `KAIO_KERNEL_LIBRARY` names kernels that are written with kaio's
//! language.
//!
//! ```no_run
//! use kaio::kernels::{Grid, KernelLibrary};
//! use kaio::{Buffer, Device, Stream};
//! let device = Device::open_default()?;
//! let stream = Stream::new(&device)?;
//! let x = Buffer::from_slice(&device, &[1.0f32, 2.0])?;
//! let mut y = Buffer::from_slice(&device, &[10.0f32, 20.0])?;
//! // SAFETY: the file is our own.
//! let library = unsafe { KernelLibrary::open("./libmy_kernels.so")? };
//! let saxpy = library.find_with_signature("saxpy", "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)")?;
//! let (x, y) = (x.view(&[2])?, y.view_mut(&[2])?);
//! saxpy.launch(&stream, &Grid::over(2), &[(&x).into(), (&y).into(), 3.0f32.into(), 2u32.into()])?;
//! # Ok::<(), kaio::Error>(())
//! ```

use std::marker::PhantomData;
use std::path::Path;
use std::ptr::NonNull;

use kaio_sys as sys;

use crate::call::{call, check, functions, Hold};
use crate::error::{c_text, text};
use crate::{
    Bf16, Boolean, DataType, Device, E4m3, E5m2, E8m0, Element, Error, Result, Stream, TensorView,
    TensorViewMut, F16,
};

/// A shared object with kernels. It is closed when it is dropped; launches in flight and graphs keep what they need.
#[derive(Debug)]
pub struct KernelLibrary {
    raw: NonNull<sys::kaio_kernel_library>,
}

// SAFETY: several threads may use a library at once.
unsafe impl Send for KernelLibrary {}
// SAFETY: as above.
unsafe impl Sync for KernelLibrary {}

impl KernelLibrary {
    /// Opens a shared object. A name without `/` is searched as dlopen does.
    ///
    /// Fails with `UnreadableFile`, or with `UnsupportedFormat` if it is no kernel library, or one of another version of kaio.
    ///
    /// # Safety
    /// Opening runs code of the file, and its kernels keep to the memory of their arguments.
    pub unsafe fn open(file: impl AsRef<Path>) -> Result<KernelLibrary> {
        let file = file.as_ref();
        let name = file
            .to_str()
            .ok_or_else(|| Error::invalid(format!("kaio: the path {:?} is not UTF-8", file)))?;
        let name = c_text("the path", name)?;
        let mut raw = std::ptr::null_mut();
        call!(kaio_kernel_library_open(name.as_ptr(), &mut raw))?;
        let raw =
            NonNull::new(raw).ok_or_else(|| Error::internal("kaio: the kernel library has no handle"))?;
        Ok(KernelLibrary { raw })
    }

    /// The version of kaio that its kernels were written with.
    pub fn version(&self) -> Result<String> {
        let functions = functions()?;
        // SAFETY: a library that is open, and a text that lives as long.
        Ok(unsafe { text((functions.kaio_kernel_library_version)(self.raw.as_ptr())) })
    }

    /// The number of kernels.
    pub fn count(&self) -> Result<usize> {
        let mut count = 0;
        call!(kaio_kernel_library_count(self.raw.as_ptr(), &mut count))?;
        Ok(count as usize)
    }

    /// A kernel by its number, in the order of `KAIO_KERNEL_LIBRARY`.
    pub fn at(&self, index: usize) -> Result<Kernel<'_>> {
        let mut raw = std::ptr::null();
        call!(kaio_kernel_library_at(self.raw.as_ptr(), index as u64, &mut raw))?;
        Kernel::new(raw)
    }

    /// The kernel of a name: its PTX entry's (`saxpy`), its C++ object's (`filters::saxpy`, `scale<f32>`), or the latter without its
    /// namespaces.
    pub fn find(&self, name: &str) -> Result<Kernel<'_>> {
        let name = c_text("the name", name)?;
        let mut raw = std::ptr::null();
        call!(kaio_kernel_library_find(
            self.raw.as_ptr(),
            name.as_ptr(),
            &mut raw
        ))?;
        Kernel::new(raw)
    }

    /// The kernel of a name, if it has this signature: a library that has changed is found out before the first launch.
    pub fn find_with_signature(&self, name: &str, signature: &str) -> Result<Kernel<'_>> {
        let kernel = self.find(name)?;
        if kernel.signature == signature {
            return Ok(kernel);
        }
        Err(Error::invalid(format!(
            "kaio: kernel {} has the signature {}, and {} is expected; build the library and the program of one version",
            name, kernel.signature, signature
        )))
    }
}

impl Drop for KernelLibrary {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: a library that is open; kernels borrow it, so there are none.
            unsafe { (functions.kaio_kernel_library_close)(self.raw.as_ptr()) };
        }
    }
}

/// How a kernel uses a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// A number or a struct.
    Value,
    /// Memory that is read.
    In,
    /// Memory that is written.
    Out,
    /// Memory that is read and written.
    InOut,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// How the kernel uses it.
    pub access: Access,
    /// The type of the number or of the elements; None: a struct, or vectors of several lanes.
    pub dtype: Option<DataType>,
    /// Bytes of the value, or of one element.
    pub bytes: usize,
    /// As `in<f32>`.
    pub text: String,
}

/// A kernel of a library.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    raw: *const sys::kaio_kernel,
    name: String,
    signature: String,
    block: [u32; 3],
    parameters: Vec<Parameter>,
    library: PhantomData<&'a KernelLibrary>,
}

// SAFETY: several threads may use a kernel at once.
unsafe impl Send for Kernel<'_> {}
// SAFETY: as above.
unsafe impl Sync for Kernel<'_> {}

impl<'a> Kernel<'a> {
    fn new(raw: *const sys::kaio_kernel) -> Result<Kernel<'a>> {
        let mut info = sys::kaio_kernel_info::default();
        call!(kaio_kernel_info_of(raw, &mut info))?;
        let mut parameters = Vec::new();
        for index in 0..info.parameters {
            let mut parameter = sys::kaio_kernel_parameter::default();
            call!(kaio_kernel_parameter_of(raw, u64::from(index), &mut parameter))?;
            let access = match parameter.access {
                sys::KAIO_ACCESS_VALUE => Access::Value,
                sys::KAIO_ACCESS_IN => Access::In,
                sys::KAIO_ACCESS_OUT => Access::Out,
                _ => Access::InOut,
            };
            // SAFETY: the text lives as long as the library.
            let text = unsafe { text(parameter.text) };
            let dtype = DataType::from_raw(parameter.type_);
            parameters.push(Parameter {
                access,
                dtype,
                bytes: parameter.bytes as usize,
                text,
            });
        }
        // SAFETY: the texts live as long as the library.
        let (name, signature) = unsafe { (text(info.name), text(info.signature)) };
        Ok(Kernel {
            raw,
            name,
            signature,
            block: info.block,
            parameters,
            library: PhantomData,
        })
    }

    /// The PTX entry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As `saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)`.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Threads of a block.
    pub fn block(&self) -> [u32; 3] {
        self.block
    }

    /// The parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The text of the kernel's PTX module.
    pub fn ptx(&self) -> Result<String> {
        let mut ptx = std::ptr::null();
        call!(kaio_kernel_ptx(self.raw, &mut ptx))?;
        // SAFETY: the text lives as long as the library.
        Ok(unsafe { text(ptx) })
    }

    /// Loads the kernel on a device: its first launch then takes no longer than others, and may be captured into a graph.
    pub fn warmup(&self, device: &Device) -> Result<()> {
        call!(kaio_kernel_warmup(self.raw, device.raw()))
    }

    /// Queues the kernel. Arguments are checked by their number, kind, element type, alignment and device; a message names the kernel
    /// and the number of the argument, from 1.
    pub fn launch(&self, stream: &Stream, grid: &Grid, arguments: &[Argument<'_>]) -> Result<()> {
        for (number, (argument, parameter)) in arguments.iter().zip(&self.parameters).enumerate() {
            let writes = matches!(parameter.access, Access::Out | Access::InOut);
            if writes && matches!(argument.value, Value::Tensor { written: false, .. }) {
                return Err(Error::invalid(format!(
                    "kaio: kernel {}: argument {} is {}, which the kernel writes; give a TensorViewMut",
                    self.name,
                    number + 1,
                    parameter.text
                )));
            }
        }
        let hold = Hold::new();
        let raw: Vec<sys::kaio_kernel_argument> =
            arguments.iter().map(|argument| argument.raw(&hold)).collect();
        call!(kaio_kernel_launch(
            stream.handle(),
            self.raw,
            &grid.raw,
            raw.as_ptr(),
            raw.len() as u64
        ))
    }
}

/// The grid of a launch. If an extent is 0, nothing is launched.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    raw: sys::kaio_kernel_grid,
}

impl Grid {
    /// One thread for each of `elements` elements.
    pub fn over(elements: u64) -> Grid {
        let mut raw = sys::kaio_kernel_grid {
            x: elements,
            ..Default::default()
        };
        raw.unit = sys::KAIO_GRID_UNIT_ELEMENTS;
        Grid { raw }
    }

    /// That many blocks.
    pub fn blocks(x: u64, y: u64, z: u64) -> Grid {
        Grid {
            raw: sys::kaio_kernel_grid {
                x,
                y,
                z,
                ..Default::default()
            },
        }
    }

    /// Elements of each thread, if the grid counts elements.
    pub fn per_thread(mut self, elements: u32) -> Grid {
        self.raw.per_thread = elements;
        self
    }

    /// Dynamic shared memory of a block, beyond the kernel's own.
    pub fn shared_bytes(mut self, bytes: u32) -> Grid {
        self.raw.shared_bytes = bytes;
        self
    }

    /// Blocks of a cluster.
    pub fn cluster(mut self, blocks: [u32; 3]) -> Grid {
        self.raw.cluster = blocks;
        self
    }

    /// Whether the launch may begin before the one before it has ended.
    pub fn programmatic(mut self, programmatic: bool) -> Grid {
        self.raw.programmatic = i32::from(programmatic);
        self
    }

    /// Where a kernel without tensors runs.
    pub fn on(mut self, device: &Device) -> Grid {
        self.raw.device = device.raw();
        self
    }
}

/// An argument of a kernel. Numbers of the parameter's own type come `From` it; [`Argument::number`] and [`Argument::integer`] fit
/// several types.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    value: Value<'a>,
}

#[derive(Clone, Debug)]
enum Value<'a> {
    Tensor {
        view: TensorView<'a>,
        written: bool,
        strided: bool,
    },
    Scalar(DataType, u64),
    Integer(i64),
    Unsigned(u64),
    Number(f64),
    Struct(&'a [u8]),
}

impl<'a> Argument<'a> {
    /// A tensor whose strides the kernel knows.
    pub fn strided(view: &TensorView<'a>) -> Argument<'a> {
        Argument {
            value: Value::Tensor {
                view: *view,
                written: false,
                strided: true,
            },
        }
    }

    /// A tensor that the kernel writes, and whose strides it knows.
    pub fn strided_mut(view: &TensorViewMut<'a>) -> Argument<'a> {
        Argument {
            value: Value::Tensor {
                view: **view,
                written: true,
                strided: true,
            },
        }
    }

    /// A number that the parameter's type holds; a floating type rounds it.
    pub fn integer(value: i64) -> Argument<'a> {
        Argument {
            value: Value::Integer(value),
        }
    }

    /// A number that is not negative, likewise.
    pub fn unsigned(value: u64) -> Argument<'a> {
        Argument {
            value: Value::Unsigned(value),
        }
    }

    /// A number for a parameter of a floating type, which rounds it.
    pub fn number(value: f64) -> Argument<'a> {
        Argument {
            value: Value::Number(value),
        }
    }

    /// The bytes of a struct.
    pub fn bytes(value: &'a [u8]) -> Argument<'a> {
        Argument {
            value: Value::Struct(value),
        }
    }

    fn raw(&self, hold: &Hold) -> sys::kaio_kernel_argument {
        let mut raw = sys::kaio_kernel_argument {
            kind: sys::KAIO_ARGUMENT_KIND_TENSOR,
            type_: sys::DLDataType {
                code: 0,
                bits: 0,
                lanes: 1,
            },
            data: std::ptr::null(),
            value: 0,
            number: 0.0,
        };
        match &self.value {
            Value::Tensor { view, strided, .. } => {
                raw.data = hold.tensor(view).cast();
                if *strided {
                    raw.kind = sys::KAIO_ARGUMENT_KIND_STRIDED;
                }
            }
            Value::Scalar(dtype, bits) => {
                raw.kind = sys::KAIO_ARGUMENT_KIND_SCALAR;
                raw.type_ = dtype.raw();
                raw.value = *bits;
            }
            Value::Integer(value) => {
                raw.kind = sys::KAIO_ARGUMENT_KIND_INTEGER;
                raw.value = *value as u64;
            }
            Value::Unsigned(value) => {
                raw.kind = sys::KAIO_ARGUMENT_KIND_UNSIGNED;
                raw.value = *value;
            }
            Value::Number(value) => {
                raw.kind = sys::KAIO_ARGUMENT_KIND_NUMBER;
                raw.number = *value;
            }
            Value::Struct(bytes) => {
                raw.kind = sys::KAIO_ARGUMENT_KIND_STRUCT;
                raw.data = bytes.as_ptr().cast();
                raw.value = bytes.len() as u64;
            }
        }
        raw
    }
}

impl<'a> From<&TensorView<'a>> for Argument<'a> {
    fn from(view: &TensorView<'a>) -> Argument<'a> {
        Argument {
            value: Value::Tensor {
                view: *view,
                written: false,
                strided: false,
            },
        }
    }
}

impl<'a> From<&TensorViewMut<'a>> for Argument<'a> {
    fn from(view: &TensorViewMut<'a>) -> Argument<'a> {
        Argument {
            value: Value::Tensor {
                view: **view,
                written: true,
                strided: false,
            },
        }
    }
}

macro_rules! scalars {
    ($($type:ty: $value:ident => $bits:expr;)*) => {$(
        impl From<$type> for Argument<'_> {
            fn from($value: $type) -> Self {
                Argument { value: Value::Scalar(<$type>::DTYPE, $bits) }
            }
        }
    )*};
}
scalars! {
    f32: x => u64::from(x.to_bits());
    f64: x => x.to_bits();
    i8: x => u64::from(x as u8);
    i16: x => u64::from(x as u16);
    i32: x => u64::from(x as u32);
    i64: x => x as u64;
    u8: x => u64::from(x);
    u16: x => u64::from(x);
    u32: x => u64::from(x);
    u64: x => x;
    F16: x => u64::from(x.0);
    Bf16: x => u64::from(x.0);
    E4m3: x => u64::from(x.0);
    E5m2: x => u64::from(x.0);
    E8m0: x => u64::from(x.0);
    Boolean: x => u64::from(x.0);
}

impl From<bool> for Argument<'_> {
    fn from(value: bool) -> Self {
        Argument::from(Boolean(u8::from(value)))
    }
}
