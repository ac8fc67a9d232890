#include "ranks.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "errors.hpp"

namespace nb = nanobind;

namespace kaio::python {

namespace {

// The lock of the interpreter is not held: the call waits for other ranks, which may be threads of this interpreter.
template <class Call>
kaio_status without_lock(const Call& call) {
  PyThreadState* const saved = PyEval_SaveThread();
  const kaio_status status = call();
  PyEval_RestoreThread(saved);
  return status;
}

// A rank's functions of Python, and its communicator. A workspace and its buffers share it.
class group {
 public:
  group(nb::object gather, nb::object allocate, nb::object release, int ranks)
      : gather_(std::move(gather)), allocate_(std::move(allocate)), release_(std::move(release)), ranks(ranks) {}
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() {
    without_lock([this] { return kaio_communicator_destroy(communicator); });
  }

  kaio_communicator_means means() {
    kaio_communicator_means m = kaio_communicator_means_default();
    m.data = this;
    m.gather = [](void* data, const void* mine, std::uint64_t bytes, void* all, double time_limit) {
      return called([&](group& g) {
        const nb::object got = g.gather_(nb::bytes(mine, static_cast<std::size_t>(bytes)), time_limit);
        const std::size_t expected = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(g.ranks);
        if (!nb::isinstance<nb::bytes>(got) || nb::cast<nb::bytes>(got).size() != expected)
          raise_type_error("kaio: gather returned no bytes of all ranks: " + std::to_string(expected) + " are needed");
        std::memcpy(all, nb::cast<nb::bytes>(got).data(), expected);
      }, data);
    };
    m.allocate = [](void* data, std::uint64_t bytes, void** memory, void** token) {
      return called([&](group& g) {
        const nb::tuple made = nb::cast<nb::tuple>(g.allocate_(bytes));
        const auto addresses = nb::cast<std::vector<std::uint64_t>>(made[0]);
        if (addresses.size() != static_cast<std::size_t>(g.ranks))
          raise_type_error("kaio: allocate returned " + std::to_string(addresses.size()) + " addresses, and there are " +
                           std::to_string(g.ranks) + " ranks");
        for (std::size_t r = 0; r < addresses.size(); ++r) memory[r] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(addresses[r]));
        *token = nb::object(made[1]).release().ptr();
      }, data);
    };
    m.release = [](void* data, void* token) {
      return called([&](group& g) { g.release_(nb::steal(static_cast<PyObject*>(token))); }, data);
    };
    return m;
  }

 private:
  // Runs a function of Python. What it raises is the cause of the call's exception.
  template <class Body>
  static std::int32_t called(const Body& body, void* data) noexcept {
    const nb::gil_scoped_acquire locked;
    try {
      body(*static_cast<group*>(data));
      return 0;
    } catch (nb::python_error& e) {
      set_cause(e.value());
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_TypeError, (std::string("kaio: a function of a group of ranks: ") + e.what()).c_str());
      const nb::python_error raised;
      set_cause(raised.value());
    }
    return 1;
  }

  nb::object gather_, allocate_, release_;

 public:
  const int ranks;
  kaio_communicator* communicator = nullptr;
};

struct peer_buffer {
  std::shared_ptr<group> of;
  kaio_peer_buffer* handle = nullptr;
  std::uint64_t bytes = 0;

  ~peer_buffer() {
    without_lock([this] { return kaio_peer_buffer_destroy(handle); });
  }
  std::uint64_t address(int rank) const {
    void* memory = nullptr;
    check(kaio_peer_buffer_pointer(handle, rank, &memory));
    return reinterpret_cast<std::uintptr_t>(memory);
  }
};

struct peer_workspace {
  std::shared_ptr<group> of;
  int rank = 0;
  kaio_peer_workspace* handle = nullptr;

  ~peer_workspace() {
    without_lock([this] { return kaio_peer_workspace_destroy(handle); });
  }
};

void make_workspace(peer_workspace* to, const char* device, int ranks, int rank, nb::object gather, nb::object allocate, nb::object release,
                    double time_limit, std::uint64_t staging_bytes, std::uint64_t sum_bytes, std::uint64_t one_shot_bytes,
                    std::uint64_t product_bytes, std::uint32_t blocks, bool compares_repeated_calls) {
  kaio_communicator_options c = kaio_communicator_options_default();
  c.time_limit = time_limit;
  c.staging_bytes = staging_bytes;
  kaio_peer_workspace_options w = kaio_peer_workspace_options_default();
  w.sum_bytes = sum_bytes;
  w.one_shot_bytes = one_shot_bytes;
  w.product_bytes = product_bytes;
  w.blocks = blocks;
  w.compares_repeated_calls = compares_repeated_calls ? 1 : 0;
  new (to) peer_workspace;
  try {
    to->rank = rank;
    to->of = std::make_shared<group>(std::move(gather), std::move(allocate), std::move(release), ranks);
    const kaio_communicator_means means = to->of->means();
    const DLDevice on = device_named(device);
    check(without_lock([&] { return kaio_communicator_create_program(on, &means, ranks, rank, &c, &to->of->communicator); }));
    check(without_lock([&] { return kaio_peer_workspace_create(to->of->communicator, &w, &to->handle); }));
  } catch (...) {
    to->~peer_workspace();
    throw;
  }
}

peer_buffer* make_buffer(const peer_workspace& w, std::uint64_t bytes) {
  auto made = std::make_unique<peer_buffer>();
  made->of = w.of;
  made->bytes = bytes;
  check(without_lock([&] { return kaio_peer_buffer_create(w.of->communicator, bytes, &made->handle); }));
  return made.release();
}

}  // namespace

const kaio_peer_workspace* workspace_of(nb::handle object) noexcept {
  return nb::isinstance<peer_workspace>(object) ? nb::inst_ptr<peer_workspace>(object)->handle : nullptr;
}
const kaio_peer_buffer* peer_buffer_of(nb::handle object) noexcept {
  return nb::isinstance<peer_buffer>(object) ? nb::inst_ptr<peer_buffer>(object)->handle : nullptr;
}

void bind_ranks(nb::module_& m) {
  const kaio_communicator_options c = kaio_communicator_options_default();
  const kaio_peer_workspace_options w = kaio_peer_workspace_options_default();
  nb::class_<peer_buffer>(m, "PeerBuffer", nb::is_final())
      .def_ro("nbytes", &peer_buffer::bytes)
      .def("address", &peer_buffer::address, nb::arg("rank"));
  nb::class_<peer_workspace>(m, "PeerWorkspace", nb::is_final())
      .def("__init__", &make_workspace, nb::arg("device"), nb::arg("ranks"), nb::arg("rank"), nb::kw_only(), nb::arg("gather"),
           nb::arg("allocate"), nb::arg("release"), nb::arg("time_limit") = c.time_limit, nb::arg("staging_bytes") = c.staging_bytes,
           nb::arg("sum_bytes") = w.sum_bytes, nb::arg("one_shot_bytes") = w.one_shot_bytes,
           nb::arg("product_bytes") = w.product_bytes, nb::arg("blocks") = w.blocks, nb::arg("compares_repeated_calls") = true)
      .def_prop_ro("ranks", [](const peer_workspace& p) { return p.of->ranks; })
      .def_ro("rank", &peer_workspace::rank)
      .def("buffer", &make_buffer, nb::arg("bytes"), nb::rv_policy::take_ownership)
      .def("abort", [](const peer_workspace& p, const std::string& why) { check(kaio_communicator_abort(p.of->communicator, why.c_str())); },
           nb::arg("why") = "");
}

}  // namespace kaio::python
