use std::fmt;

use kaio_sys::DLDevice;

use crate::error::{c_text, check, functions};
use crate::ops::DeviceProperties;
use crate::{Error, Result};

/// A GPU, or an emulator of one, which runs kernels on the CPU. It is a name: copies are the same device.
///
/// ```
/// let device = kaio::Device::open("emulator")?;
/// assert!(device.is_emulator());
/// println!("{}: {} multiprocessors", device.properties()?.name, device.properties()?.multiprocessors);
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    raw: DLDevice,
}

impl Device {
    /// Opens `cuda:N`, `emulator:N` with N from 0 to 15, or `emulator` for emulator 0. `KAIO_EMULATOR_ARCH` in the environment sets the
    /// architecture of emulators that are opened later.
    pub fn open(name: &str) -> Result<Device> {
        let name = c_text("the device", name)?;
        Device::open_named(name.as_ptr())
    }

    /// Opens the device that `KAIO_DEVICE` in the environment names, else the first GPU, else emulator 0.
    pub fn open_default() -> Result<Device> {
        Device::open_named(std::ptr::null())
    }

    fn open_named(name: *const std::os::raw::c_char) -> Result<Device> {
        let functions = functions()?;
        let mut raw = DLDevice {
            device_type: 0,
            device_id: 0,
        };
        // SAFETY: a text or NULL, and a place for the result.
        check(functions, unsafe { (functions.kaio_device_open)(name, &mut raw) })?;
        Ok(Device { raw })
    }

    /// GPU `number`.
    pub fn cuda(number: u32) -> Result<Device> {
        Device::open(&format!("cuda:{}", number))
    }

    /// Emulator `number`, from 0 to 15.
    pub fn emulator(number: u32) -> Result<Device> {
        Device::open(&format!("emulator:{}", number))
    }

    /// The number of GPUs: 0 without a driver.
    pub fn cuda_count() -> Result<usize> {
        let functions = functions()?;
        let mut count = 0;
        // SAFETY: a place for the result.
        check(functions, unsafe { (functions.kaio_device_count)(&mut count) })?;
        usize::try_from(count).map_err(|_| Error::internal("kaio: the number of GPUs is below 0"))
    }

    /// Whether this is an emulator.
    pub fn is_emulator(&self) -> bool {
        self.raw.device_type == kaio_sys::kDLExtDev
    }

    /// The number of the GPU or of the emulator.
    pub fn number(&self) -> usize {
        self.raw.device_id as usize
    }

    /// What the device is and can do.
    pub fn properties(&self) -> Result<DeviceProperties> {
        let functions = functions()?;
        let mut raw = kaio_sys::kaio_device_properties::default();
        // SAFETY: a place for the result, with its size.
        check(functions, unsafe {
            (functions.kaio_device_properties_of)(self.raw, &mut raw)
        })?;
        DeviceProperties::from_raw(&raw)
    }

    /// Waits for all work on the device, also that of other users of its context.
    pub fn synchronize(&self) -> Result<()> {
        let functions = functions()?;
        // SAFETY: no pointers.
        check(functions, unsafe {
            (functions.kaio_device_synchronize)(self.raw)
        })
    }

    /// Free and total bytes of memory at this moment.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let functions = functions()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: places for the results.
        check(functions, unsafe {
            (functions.kaio_memory_info)(self.raw, &mut free, &mut total)
        })?;
        Ok((free, total))
    }

    /// Whether kernels of the device can read and write memory of the other.
    pub fn can_access(&self, other: &Device) -> Result<bool> {
        let functions = functions()?;
        let mut can = 0;
        // SAFETY: a place for the result.
        check(functions, unsafe {
            (functions.kaio_device_can_access)(self.raw, other.raw, &mut can)
        })?;
        Ok(can != 0)
    }

    /// From here on, kernels of the device take memory of the other. `UnsupportedDevice` if they cannot.
    pub fn enable_access(&self, other: &Device) -> Result<()> {
        let functions = functions()?;
        // SAFETY: no pointers.
        check(functions, unsafe {
            (functions.kaio_device_enable_access)(self.raw, other.raw)
        })
    }

    /// Forgets the device, for instance an emulator that a failed kernel has lost: its next use opens it anew.
    ///
    /// # Safety
    /// No other thread uses the device meanwhile.
    pub unsafe fn close(self) -> Result<()> {
        let functions = functions()?;
        // SAFETY: the caller promises that there are no other users.
        check(functions, unsafe { (functions.kaio_device_close)(self.raw) })
    }

    /// The device as the C interface has it.
    pub fn raw(&self) -> DLDevice {
        self.raw
    }

    /// A device of the C interface. It is opened when it is first used; if there is none, that use fails.
    pub fn from_raw(raw: DLDevice) -> Device {
        Device { raw }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.raw.device_type {
            kaio_sys::kDLExtDev => write!(to, "emulator:{}", self.raw.device_id),
            kaio_sys::kDLCUDA => write!(to, "cuda:{}", self.raw.device_id),
            kind => write!(to, "device {}:{}", kind, self.raw.device_id),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}
