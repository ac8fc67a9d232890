#include <kaio/c/kaio.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "array.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "kernels.hpp"
#include "ranks.hpp"
#include "tensors.hpp"
#include "weights.hpp"

namespace nb = nanobind;
using namespace kaio::python;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // operators that torch has registered live until the process ends
  m.doc() = "kaio's C interface for Python: tensors in, calls out. Use the package kaio.";
  bind_arrays(m);
  bind_calls(m);
  bind_kernels(m);
  bind_ranks(m);
  bind_weights(m);
  m.def("empty", [](nb::handle like, const std::vector<std::int64_t>& shape, std::optional<const char*> type) {
    const DLDataType named = type ? type_named(*type) : DLDataType{};
    return empty(like, shape.data(), static_cast<int>(shape.size()), type ? &named : nullptr);
  }, nb::arg().none(), nb::arg(), nb::arg().none());
  m.def("empty_like", &empty_like, nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("empty_product", &empty_product, nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("describe", &describe, nb::arg().none());
  m.def("version", [] { return kaio_version(); });
  m.def("device_count", [] {
    std::int32_t count = 0;
    check(kaio_device_count(&count));
    return count;
  });
  m.def("open", [](std::optional<const char*> name) {
    DLDevice device;
    check(kaio_device_open(name.value_or(nullptr), &device));
    return name_of(device);
  }, nb::arg().none());
  m.def("properties", [](const char* name) {
    kaio_device_properties p = kaio_device_properties_default();
    check(kaio_device_properties_of(device_named(name), &p));
    nb::dict d;
    d["name"] = p.name;
    d["sm"] = p.sm;
    d["arch_specific"] = p.arch_specific != 0;
    d["multiprocessors"] = p.multiprocessors;
    d["max_threads_per_block"] = p.max_threads_per_block;
    d["max_blocks_per_cluster"] = p.max_blocks_per_cluster;
    d["shared_per_block_optin"] = p.shared_per_block_optin;
    d["shared_per_multiprocessor"] = p.shared_per_multiprocessor;
    d["l2_bytes"] = p.l2_bytes;
    d["driver_version"] = p.driver_version;
    d["total_memory"] = p.total_memory;
    return d;
  });
  m.def("memory_info", [](const char* name) {
    std::uint64_t left = 0, total = 0;
    check(kaio_memory_info(device_named(name), &left, &total));
    return nb::make_tuple(left, total);
  });
  m.def("synchronize", [](const char* name) {
    const DLDevice device = device_named(name);
    if (device.device_type == kDLCPU) return;
    PyThreadState* const saved = PyEval_SaveThread();
    const kaio_status status = kaio_device_synchronize(device);
    PyEval_RestoreThread(saved);
    check(status);
  });
}
