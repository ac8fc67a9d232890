// How much of the device's copy bandwidth elementwise, copy and the activations reach: each run is timed next
// to a copy by the driver, in turn, in one program.
//
//   elementwise [--json] [--megabytes N] [--runs N] [NAME]
//
// Bandwidth counts the bytes that must move: inputs read once, outputs written once; a copy reads and writes.
// NAME: only the cases whose names contain it. Exits with 77 where there is no GPU.

#include "bench/median.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/activation.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/ops/elementwise.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;

namespace {

constexpr auto gate = [](thread, const val<f32>& x, const val<f32>& g) { return x * sigmoid(x) * g; };
constexpr auto fast_gate = [](thread, const val<f32>& x, const val<f32>& g) {
  return x * fast::ftz::sigmoid(x) * g;
};
constexpr auto biased_sum = [](const val<f32>& x, const val<f32>& y, const val<f32>& bias) {
  return x + y + bias;
};

struct settings {
  bool json = false;
  u64 megabytes = 512;  // of a tensor
  int runs = 50;
  std::string name;
};

class measurement {
 public:
  measurement(device& on, const settings& how)
      : gpu_(on),
        how_(how),
        s_(on.stream()),
        bytes_(how.megabytes << 20),
        memory_{make(), make(), make(), make(), make()},
        begin_(on.create_event()),
        end_(on.create_event()) {}

  template <class T>
  void all(const char* type) {
    const u64 side = side_of(sizeof(T)), elements = side * side;
    const double one = static_cast<double>(elements * sizeof(T));
    const auto named = [&](const char* name) { return std::string(name) + " " + type; };
    const tensor_view<T, 2> x = view<T>(0), y = view<T>(1), z = view<T>(2), u = view<T>(3), v = view<T>(4);
    const tensor_view<T, 1> bias(memory_[4].slice(0, side * sizeof(T)).template reinterpret<T>(),
                                 extents(side));
    compare(named("gate"), 3 * one, [&] { elementwise(s_, gate, z, x, y); });
    compare(named("fast gate"), 3 * one, [&] { elementwise(s_, fast_gate, z, x, y); });
    compare(named("broadcast and transposed"), 3 * one,
            [&] { elementwise(s_, biased_sum, z, x, y.transposed(), bias); });
    const i64 odd = static_cast<i64>(side) - 1;
    compare(named("broadcast, odd rows"), 3 * one, [&] {
      elementwise(s_, biased_sum, z.slice(1, 0, odd), x.slice(1, 1, odd), y.slice(1, 0, odd),
                  bias.slice(0, 0, odd));
    });
    compare(named("copy"), 2 * one, [&] { copy(s_, y, x); });
    compare(named("transpose"), 2 * one, [&] { copy(s_, y, x.transposed()); });
    const u64 heads = side * side / (64 * 128 * 32);
    const auto split = [&](u64 i, u64 a, u64 b) {
      return tensor_view<T, 4>(memory_[i].view().template reinterpret<T>(), extents(heads, a, b, 128));
    };
    compare(named("permute heads"), 2 * static_cast<double>(heads * 64 * 32 * 128 * sizeof(T)),
            [&] { copy(s_, split(1, 64, 32), split(0, 32, 64).exchanged(1, 2)); });
    compare(named("silu"), 2 * one, [&] { activate(s_, activation::silu, x, y); });
    compare(named("gelu"), 2 * one, [&] { activate(s_, activation::gelu, x, y); });
    compare(named("swiglu"), 3 * one, [&] { gated(s_, activation::silu, x, y, z); });
    compare(named("swiglu backward"), 5 * one, [&] { gated_backward(s_, activation::silu, x, y, z, u, v); });
  }
  void casts() {
    const u64 side = side_of(4);
    const tensor_view<f32, 2> x(memory_[0].slice(0, side * side * 4).reinterpret<f32>(), extents(side, side));
    const tensor_view<bf16, 2> y(memory_[1].slice(0, side * side * 2).reinterpret<bf16>(),
                                 extents(side, side));
    const double elements = static_cast<double>(side * side);
    compare("f32 to bf16", 6 * elements, [&] { copy(s_, y, x); });
    compare("bf16 to f32", 6 * elements, [&] { copy(s_, x, y); });
    compare("f32 to bf16, transposed", 6 * elements, [&] { copy(s_, y, x.transposed()); });
  }

 private:
  buffer<u8> make() const {
    buffer<u8> result = gpu_.allocate<u8>(bytes_);
    result.fill_zero(s_);
    return result;
  }
  // A square of `bytes` bytes an element, of a multiple of 256 rows.
  u64 side_of(u64 bytes) const {
    const auto root = static_cast<u64>(std::sqrt(static_cast<double>(bytes_ / bytes)));
    return root / 256 * 256;
  }
  template <class T>
  tensor_view<T, 2> view(std::size_t i) {
    const u64 side = side_of(sizeof(T));
    return tensor_view<T, 2>(memory_[i].slice(0, side * side * sizeof(T)).template reinterpret<T>(),
                             extents(side, side));
  }
  template <class Run>
  void compare(const std::string& name, double bytes, Run run) {
    if (name.find(how_.name) == std::string::npos) return;
    std::vector<double> copies, rates, ratios;
    for (int i = -5; i < how_.runs; ++i) {
      const double copied =
          2 * static_cast<double>(bytes_) / time([&] { memory_[1].copy_from(memory_[0], s_); }) * 1e-6;
      const double rate = bytes / time(run) * 1e-6;
      if (i < 0) continue;
      copies.push_back(copied);
      rates.push_back(rate);
      ratios.push_back(rate / copied);
    }
    std::printf(how_.json ? "{\"benchmark\": \"elementwise\", \"case\": \"%s\", \"runs\": %d, \"gbs\": %.1f, "
                            "\"copy_gbs\": %.1f, \"ratio\": %.4f}\n"
                          : "%s: %d runs: %.1f GB/s, copy %.1f GB/s, ratio %.4f\n",
                name.c_str(), how_.runs, kaio::bench::median(rates), kaio::bench::median(copies),
                kaio::bench::median(ratios));
  }
  template <class Run>
  double time(Run run) {
    s_.record(begin_);
    run();
    s_.record(end_);
    return elapsed_ms(begin_, end_);
  }

  device& gpu_;
  settings how_;
  const stream& s_;
  u64 bytes_;
  buffer<u8> memory_[5];
  event begin_, end_;
};

}  // namespace

int main(int argc, char** argv) {
  settings how;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json")
      how.json = true;
    else if (word == "--megabytes" && i + 1 < argc)
      how.megabytes = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--runs" && i + 1 < argc)
      how.runs = std::atoi(argv[++i]);
    else
      how.name = word;
  }
  device gpu = device::open();
  if (gpu.is_emulator() && how.megabytes > 4) {
    std::printf("no GPU\n");
    return 77;
  }
  measurement it(gpu, how);
  it.all<f32>("f32");
  it.all<bf16>("bf16");
  it.all<f16>("f16");
  it.casts();
}
