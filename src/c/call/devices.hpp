#pragma once
// The open devices of the C interface, by DLPack's names for them. This is the only place that opens one.

#include <kaio/c/base.h>
#include <kaio/runtime/device.hpp>

namespace kaio::c {

// Opens the device on its first use. Later uses take no lock. `what` names the argument in an error. The reference lives
// until kaio_device_close.
const runtime::device& device_of(const char* operation, const char* what, const DLDevice& device);

// The device that a name means (kaio_device_open).
DLDevice device_named(const char* operation, const char* name);
// Closes the device. The next use opens it anew.
void forget(const char* operation, const DLDevice& device);

// Whether two names are those of one device: page-locked and managed memory belong to the GPU that they name.
bool same_device(const DLDevice& a, const DLDevice& b) noexcept;

}  // namespace kaio::c
