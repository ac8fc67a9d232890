#pragma once
// Calls that every device takes. On the emulator, KAIO_STRICT names architectures; a call that one of them would refuse is
// refused, and the workspace that is asked for suffices on all of them.
//
//   check_strictly(s, [&](const device_properties& device) { plan(device, arguments); });

#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kaio::ops {

namespace detail {

inline std::vector<device_properties> strict_devices(const device_properties& device) {
  return device.is_emulator() ? device::strict() : std::vector<device_properties>();
}
std::string refused_strictly(const runtime::error& e, const device_properties& by);

}  // namespace detail

// Calls check(properties) for each device that KAIO_STRICT names. If it throws, throws that error with the device's
// architecture in its text.
template <class Check>
void check_strictly(const stream& s, const Check& check) {
  for (const device_properties& device : detail::strict_devices(s.properties())) {
    try {
      check(device);
    } catch (const runtime::invalid_argument& e) {
      throw runtime::invalid_argument(detail::refused_strictly(e, device));
    } catch (const runtime::unsupported_device& e) {
      throw runtime::unsupported_device(detail::refused_strictly(e, device));
    }
  }
}

// The largest bytes(properties) of the stream's device and of those that KAIO_STRICT names.
template <class Bytes>
std::uint64_t bytes_for_all(const stream& s, const Bytes& bytes) {
  std::uint64_t most = bytes(s.properties());
  for (const device_properties& device : detail::strict_devices(s.properties()))
    most = std::max(most, bytes(device));
  return most;
}

}  // namespace kaio::ops
