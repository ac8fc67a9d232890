"""What kaio raises. Each class has the name of a status of the C interface."""

from __future__ import annotations


class Error(RuntimeError):
    """The base of all errors that kaio's library reports."""


class InvalidArgument(Error, ValueError):
    """The call itself is wrong; nothing has run."""


class UnsupportedDevice(Error):
    """The device has no kernel for the call."""


class DriverError(Error):
    """The CUDA driver reports a failure; the message has its name."""


class OutOfMemory(Error, MemoryError):
    """The device or the host has no memory left."""


class InternalError(Error):
    """A fault of kaio."""


class DriverMissing(DriverError):
    """There is no NVIDIA driver, or one that cannot be used."""


class NoDevice(Error):
    """There is a driver, but not this GPU."""


class JitFailed(DriverError):
    """The driver's compiler refused a kernel."""


class LaunchFailed(DriverError):
    """A kernel failed."""


class IllegalAccess(LaunchFailed):
    """A kernel touched memory that it does not own; the device is lost."""


class DeviceLost(DriverError):
    """An earlier failure has lost the device."""


class StreamCapturing(DriverError):
    """The call is not allowed while a stream is captured."""


class DeviceAssert(LaunchFailed):
    """An assertion in a kernel failed."""


class LaunchTimeout(LaunchFailed):
    """A kernel took longer than it may."""


class Cancelled(LaunchFailed):
    """A kernel was ended from outside."""


class UnreadableFile(Error, OSError):
    """A file cannot be opened or read."""


class DamagedFile(Error, ValueError):
    """A file contradicts its format."""


class UnsupportedFormat(Error, ValueError):
    """A file's format or version is not supported."""


class CommunicationFailed(Error):
    """A rank of a group is missing, has gone or has failed."""


class CompileError(Error):
    """The C++ compiler refuses a text of kernels, or there is none. `log` has all that it says."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class CheckFailed(Error):
    """The emulator's sanitizer has reports, or had nothing to check."""


by_status: dict[str, type[Error]] = {
    "invalid_argument": InvalidArgument,
    "unsupported_device": UnsupportedDevice,
    "driver": DriverError,
    "out_of_memory": OutOfMemory,
    "internal": InternalError,
    "driver_missing": DriverMissing,
    "no_device": NoDevice,
    "jit_failed": JitFailed,
    "launch_failed": LaunchFailed,
    "illegal_access": IllegalAccess,
    "device_lost": DeviceLost,
    "stream_capturing": StreamCapturing,
    "device_assert": DeviceAssert,
    "launch_timeout": LaunchTimeout,
    "cancelled": Cancelled,
    "unreadable_file": UnreadableFile,
    "damaged_file": DamagedFile,
    "unsupported_format": UnsupportedFormat,
    "communication_failed": CommunicationFailed,
}
