//! Weight files: GGUF and safetensors, and the quantised layers in them.
//!
//! ```no_run
//! # fn main() -> kaio::Result<()> {
//! // SAFETY: nobody shortens the file meanwhile.
//! let model = unsafe { kaio::weights::Weights::open("model.gguf")? };
//! for index in 0..model.info()?.tensors as usize {
//!     let tensor = model.tensor(index)?;
//!     println!("{} {:?} {}", tensor.name, tensor.shape, tensor.format_name);
//! }
//! # Ok(())
//! # }
//! ```

use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use kaio_sys as sys;

use crate::call::{call, check, functions};
use crate::error::{c_text, text};
use crate::ops::{
    WeightFormat, WeightPart, WeightsInfo, WeightsLayer, WeightsLayerPart, WeightsLayersInfo, WeightsType,
};
use crate::{DataType, Error, Result};

/// An open model: one file, or several. It does not change, so any threads may read it.
#[derive(Debug)]
pub struct Weights<'a> {
    raw: NonNull<sys::kaio_weights>,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: any threads may read a model.
unsafe impl Send for Weights<'_> {}
// SAFETY: as above.
unsafe impl Sync for Weights<'_> {}

/// A tensor of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WeightsTensor<'a> {
    /// The name.
    pub name: String,
    /// The format of the elements.
    pub format: WeightFormat,
    /// The format as its files spell it: Q4_K, BF16, F8_E4M3.
    pub format_name: String,
    /// The extents, outermost first, in GGUF too: a weight is (n, k).
    pub shape: Vec<usize>,
    /// The product of the extents.
    pub elements: u64,
    /// The bytes in the file, aligned to nothing in general.
    pub bytes: &'a [u8],
    /// The type of the elements, if the format is one of numbers that tensors have.
    pub dtype: Option<DataType>,
    /// Whether [`Weights::values`] decodes it.
    pub has_values: bool,
    /// kaio's operation that multiplies with it, after a step before; empty: none does.
    pub operation: String,
    /// Elements of a block.
    pub block_elements: u32,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// The path of the file that has it.
    pub file: String,
    /// The first byte in that file.
    pub offset: u64,
}

/// A value of the metadata.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WeightsValue<'a> {
    /// The key.
    pub key: String,
    /// The type.
    pub kind: WeightsType,
    /// The type of an array's elements.
    pub element: WeightsType,
    /// Elements of an array; else 1.
    pub count: u64,
    /// The text of a string.
    pub text: Option<String>,
    /// The value of type boolean.
    pub boolean: bool,
    /// The value in the file; strings of an array each with its length before it, a u64.
    pub bytes: &'a [u8],
    /// The number, if it is one.
    pub number: Option<f64>,
    /// The number, if it is an integer of that type.
    pub integer: Option<i64>,
    /// The number, if it is an integer of that type.
    pub natural: Option<u64>,
}

/// The bytes at an address; none for NULL.
///
/// # Safety
/// The memory lives and does not change as long as `'a`.
unsafe fn bytes_at<'a>(data: *const c_void, bytes: u64) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(data.cast(), bytes as usize) }
}

/// A text that has a length, since it may contain zeros.
///
/// # Safety
/// The text lives.
unsafe fn counted_text(data: *const c_char, bytes: u64) -> String {
    // SAFETY: as the caller promises.
    String::from_utf8_lossy(unsafe { bytes_at(data.cast(), bytes) }).into_owned()
}

fn path_text(what: &str, path: &Path) -> Result<std::ffi::CString> {
    let name = path
        .to_str()
        .ok_or_else(|| Error::invalid(format!("kaio: {} {:?} is not UTF-8", what, path)))?;
    c_text(what, name)
}

fn found(index: u64) -> Option<usize> {
    Some(index as usize).filter(|_| index != u64::MAX)
}

impl<'a> Weights<'a> {
    /// Opens a model, and checks its structure. GGUF: of several files any. safetensors: a file, or the index of several.
    ///
    /// Fails with `UnreadableFile`, `DamagedFile` or `UnsupportedFormat`.
    ///
    /// # Safety
    /// The files are mapped: nobody changes or shortens them as long as the model is open.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Weights<'a>> {
        let path = path_text("the path", path.as_ref())?;
        let mut raw = std::ptr::null_mut();
        call!(kaio_weights_open(path.as_ptr(), &mut raw))?;
        Weights::new(raw)
    }

    /// Opens a model in memory. `name` is for messages.
    pub fn from_bytes(bytes: &'a [u8], name: &str) -> Result<Weights<'a>> {
        let name = c_text("the name", name)?;
        let mut raw = std::ptr::null_mut();
        call!(kaio_weights_view(
            bytes.as_ptr().cast(),
            bytes.len() as u64,
            name.as_ptr(),
            &mut raw
        ))?;
        Weights::new(raw)
    }

    fn new(raw: *mut sys::kaio_weights) -> Result<Weights<'a>> {
        let raw = NonNull::new(raw).ok_or_else(|| Error::internal("kaio: the model has no handle"))?;
        Ok(Weights {
            raw,
            memory: PhantomData,
        })
    }

    /// What the model is.
    pub fn info(&self) -> Result<WeightsInfo> {
        let mut raw = sys::kaio_weights_info::default();
        call!(kaio_weights_describe(self.raw.as_ptr(), &mut raw))?;
        WeightsInfo::from_raw(&raw)
    }

    /// A tensor by its index, in the order of the file, file by file.
    pub fn tensor(&self, index: usize) -> Result<WeightsTensor<'_>> {
        let mut raw = sys::kaio_weights_tensor::default();
        call!(kaio_weights_tensor_at(self.raw.as_ptr(), index as u64, &mut raw))?;
        let format = WeightFormat::from_raw(raw.format)?;
        // SAFETY: pointers of the library live as long as the model, and the shape has `rank` extents.
        unsafe {
            let extents: &[i64] = if raw.rank == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(raw.shape, raw.rank as usize)
            };
            let dtype = raw
                .tensor
                .as_ref()
                .and_then(|tensor| DataType::from_raw(tensor.dtype));
            Ok(WeightsTensor {
                name: counted_text(raw.name, raw.name_bytes),
                format,
                format_name: text(raw.format_name),
                shape: extents.iter().map(|extent| *extent as usize).collect(),
                elements: raw.elements,
                bytes: bytes_at(raw.data, raw.bytes),
                dtype: dtype.filter(|_| raw.block_elements == 1),
                has_values: raw.has_values != 0,
                operation: text(raw.operation),
                block_elements: raw.block_elements,
                block_bytes: raw.block_bytes,
                file: text(raw.file),
                offset: raw.offset,
            })
        }
    }

    /// The index of the tensor of a name.
    pub fn find(&self, name: &str) -> Result<Option<usize>> {
        let name = c_text("the name", name)?;
        let mut index = 0;
        call!(kaio_weights_find(self.raw.as_ptr(), name.as_ptr(), &mut index))?;
        Ok(found(index))
    }

    /// Decodes elements of a tensor from `first` on, row by row, into all of `to`.
    pub fn read_values(&self, index: usize, first: u64, to: &mut [f32]) -> Result<()> {
        call!(kaio_weights_read_values(
            self.raw.as_ptr(),
            index as u64,
            first,
            to.len() as u64,
            to.as_mut_ptr()
        ))
    }

    /// All elements of a tensor, decoded.
    pub fn values(&self, index: usize) -> Result<Vec<f32>> {
        let mut values = vec![0.0; self.tensor(index)?.elements as usize];
        self.read_values(index, 0, &mut values)?;
        Ok(values)
    }

    /// A value of the metadata by its index.
    pub fn value(&self, index: usize) -> Result<WeightsValue<'_>> {
        let mut raw = sys::kaio_weights_value::default();
        call!(kaio_weights_value_at(self.raw.as_ptr(), index as u64, &mut raw))?;
        // SAFETY: pointers of the library live as long as the model.
        unsafe {
            Ok(WeightsValue {
                key: counted_text(raw.key, raw.key_bytes),
                kind: WeightsType::from_raw(raw.type_)?,
                element: WeightsType::from_raw(raw.element)?,
                count: raw.count,
                text: Some(raw.text)
                    .filter(|text| !text.is_null())
                    .map(|text| counted_text(text, raw.text_bytes)),
                boolean: raw.boolean != 0,
                bytes: bytes_at(raw.data, raw.bytes),
                number: Some(raw.number).filter(|_| raw.has_number != 0),
                integer: Some(raw.integer).filter(|_| raw.has_integer != 0),
                natural: Some(raw.natural).filter(|_| raw.has_natural != 0),
            })
        }
    }

    /// The index of the value of a key.
    pub fn find_value(&self, key: &str) -> Result<Option<usize>> {
        let key = c_text("the key", key)?;
        let mut index = 0;
        call!(kaio_weights_find_value(
            self.raw.as_ptr(),
            key.as_ptr(),
            &mut index
        ))?;
        Ok(found(index))
    }

    /// Finds the quantised layers of a safetensors model, in the order of their names. `config` is the path of a config.json,
    /// quantize_config.json or hf_quant_config.json.
    pub fn layers(&self, config: Option<&Path>) -> Result<WeightsLayers<'_>> {
        let config = config.map(|path| path_text("the path", path)).transpose()?;
        let config = config.as_ref().map_or(std::ptr::null(), |config| config.as_ptr());
        let mut raw = std::ptr::null_mut();
        call!(kaio_weights_layers_open(self.raw.as_ptr(), config, &mut raw))?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::internal("kaio: the layers have no handle"))?;
        Ok(WeightsLayers {
            raw,
            model: PhantomData,
        })
    }
}

impl Drop for Weights<'_> {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: a model that is open; what points into it borrows it, so there is nothing.
            unsafe { (functions.kaio_weights_close)(self.raw.as_ptr()) };
        }
    }
}

/// The quantised layers of a model.
#[derive(Debug)]
pub struct WeightsLayers<'a> {
    raw: NonNull<sys::kaio_weights_layers>,
    model: PhantomData<&'a ()>,
}

// SAFETY: any threads may read the layers.
unsafe impl Send for WeightsLayers<'_> {}
// SAFETY: as above.
unsafe impl Sync for WeightsLayers<'_> {}

impl WeightsLayers<'_> {
    /// The number of layers, and the configuration.
    pub fn info(&self) -> Result<WeightsLayersInfo> {
        let mut raw = sys::kaio_weights_layers_info::default();
        call!(kaio_weights_layers_describe(self.raw.as_ptr(), &mut raw))?;
        WeightsLayersInfo::from_raw(&raw)
    }

    /// A layer by its index.
    pub fn layer(&self, index: usize) -> Result<WeightsLayer> {
        let mut raw = sys::kaio_weights_layer::default();
        call!(kaio_weights_layer_at(self.raw.as_ptr(), index as u64, &mut raw))?;
        WeightsLayer::from_raw(&raw)
    }

    /// A tensor of a layer by its index in the layer.
    pub fn part(&self, layer: usize, index: usize) -> Result<WeightsLayerPart> {
        let mut raw = sys::kaio_weights_layer_part::default();
        call!(kaio_weights_part_at(
            self.raw.as_ptr(),
            layer as u64,
            index as u64,
            &mut raw
        ))?;
        WeightsLayerPart::from_raw(&raw)
    }

    /// The bytes of a part in the type and order that operations named `repack_...` and `dequantise_...` take; empty: the layer has no
    /// such part.
    pub fn part_bytes(&self, layer: usize, part: WeightPart) -> Result<Vec<u8>> {
        let mut bytes = 0;
        let ask = |to: *mut c_void, room: u64, bytes: &mut u64| {
            call!(kaio_weights_part_bytes(
                self.raw.as_ptr(),
                layer as u64,
                part as i32,
                to,
                room,
                bytes
            ))
        };
        ask(std::ptr::null_mut(), 0, &mut bytes)?;
        let mut result = vec![0u8; bytes as usize];
        if bytes != 0 {
            ask(result.as_mut_ptr().cast(), bytes, &mut bytes)?;
        }
        Ok(result)
    }
}

impl Drop for WeightsLayers<'_> {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: layers that are open.
            unsafe { (functions.kaio_weights_layers_close)(self.raw.as_ptr()) };
        }
    }
}
