// How long ops::rms_norm takes, next to torch's, on random numbers: with a residual that is added and written
// ("residual"), without ("plain"), and with one into codes with a scale of each row ("int8", "fp8").
//
//   rms_norm [--json] [--seconds S] [--type f16|bf16|f32] [--shape ROWSxSIZE]... [--no-peers]
//
// The rate is bytes of x, residuals and out over time. Outputs hold NaN before the first call; sampled rows are
// compared with double precision. The protocols, cold and burst, are those of bench/matmul/timing.hpp.

#include "bench/attention/measurement.hpp"
#include "bench/attention/report.hpp"
#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/clock_sampler.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct norm_problem {
  u32 rows = 0, size = 0;
  std::string shape() const { return std::to_string(rows) + "x" + std::to_string(size); }
  static std::optional<norm_problem> of(const std::string& shape) {
    norm_problem p;
    char more = 0;
    if (std::sscanf(shape.c_str(), "%ux%u%c", &p.rows, &p.size, &more) != 2) return std::nullopt;
    return p.rows != 0 && p.size != 0 ? std::optional(p) : std::nullopt;
  }
};

constexpr std::string_view works[] = {"residual", "plain", "int8", "fp8"};
constexpr bool has_residual(std::string_view work) { return work != "plain"; }
constexpr bool has_codes(std::string_view work) { return work == "int8" || work == "fp8"; }
// Bytes of all operands; `element`: bytes of an element of x.
constexpr u64 bytes_of(u64 elements, u64 element, std::string_view work) {
  return elements * (element * (has_residual(work) ? 3 : 1) + (has_codes(work) ? 1 : element));
}

template <class T>
class norm_bench : attention_measurement<T> {
  using base = attention_measurement<T>;
  using base::gpu_, base::normal, base::stream_;

 public:
  using base::base;

  measured measure(const norm_problem& p, std::string_view work) {
    const bool with_residual = has_residual(work);
    const u64 elements = u64{p.rows} * p.size, bytes = bytes_of(elements, sizeof(T), work);
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    std::vector<set> sets;
    for (u64 count = std::clamp<u64>((cache + bytes - 1) / bytes, 1, 16); count > 0; --count)
      sets.push_back({normal(elements), normal(elements), nothing(elements), nothing(elements),
                      gpu_.upload(std::vector<i8>(elements)), gpu_.upload(std::vector<e4m3>(elements)),
                      gpu_.upload(std::vector<f32>(p.rows, NAN))});
    const buffer<T> weight = normal(p.size);
    const auto view = [&](buffer<T>& of) { return tensor_view<T, 2>(of, p.rows, p.size); };
    contestant call{"kaio", [&](std::size_t i) {
                      rms_norm_options options;
                      if (with_residual) {
                        options.residual = view(sets[i].residual);
                        options.residual_out = view(sets[i].sum);
                      }
                      const auto norm = [&](const auto&... out) {
                        rms_norm(stream_, view(sets[i].x), tensor_view<const T, 1>(weight, p.size), out...,
                                 options);
                      };
                      const tensor_view<f32, 1> scales(sets[i].scales, p.rows);
                      if (work == "int8")
                        norm(tensor_view<i8, 2>(sets[i].codes, p.rows, p.size), scales);
                      else if (work == "fp8")
                        norm(tensor_view<e4m3, 2>(sets[i].floats, p.rows, p.size), scales);
                      else
                        norm(view(sets[i].out));
                    }};
    call.run(0);
    stream_.synchronize();
    measured result{.kernel = "rms_norm"};
    result.error = distance(p, sets[0], weight.download(), work);
    this->time(call, sets.size(), result);
    return result;
  }

 private:
  struct set {
    buffer<T> x, residual, sum, out;
    buffer<i8> codes;
    buffer<e4m3> floats;
    buffer<f32> scales;
  };
  buffer<T> nothing(u64 elements) {
    return gpu_.upload(std::vector<T>(elements, T(std::numeric_limits<float>::quiet_NaN())));
  }
  static double number(T x) { return static_cast<double>(static_cast<f32>(x)); }

  // The relative error of 64 rows against double precision.
  static double distance(const norm_problem& p, const set& one, const std::vector<T>& weight,
                         std::string_view work) {
    const bool with_residual = has_residual(work);
    const auto codes = one.codes.download();
    const auto floats = one.floats.download();
    const auto scales = one.scales.download();
    const auto x = one.x.download(), residual = one.residual.download(), out = one.out.download(),
               sum = one.sum.download();
    double difference = 0, all = 0;
    for (u32 i = 0; i < 64; ++i) {
      const u64 first = u64{i * 37 % p.rows} * p.size;
      std::vector<double> h;
      double squares = 0;
      for (u64 e = first; e < first + p.size; ++e) {
        const f32 both = static_cast<f32>(x[e]) + (with_residual ? static_cast<f32>(residual[e]) : 0.0f);
        h.push_back(number(T(both)));
        if (with_residual) difference += std::abs(number(sum[e]) - h.back());
        squares += h.back() * h.back();
      }
      const double rms = std::sqrt(squares / p.size + 1e-6);
      for (u32 e = 0; e < p.size; ++e) {
        const double want = h[e] / rms * number(weight[e]);
        const double code = work == "int8" ? static_cast<double>(codes[first + e])
                                           : static_cast<double>(static_cast<f32>(floats[first + e]));
        const double got =
            has_codes(work) ? code * static_cast<double>(scales[first / p.size]) : number(out[first + e]);
        difference += (want - got) * (want - got);
        all += want * want;
      }
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }
};

struct settings {
  bool json = false, no_peers = false;
  double seconds = 0.3;
  std::string type = "bf16";
  std::vector<std::string> shapes;
};

template <class T>
bool run(device& gpu, const settings& how, const std::vector<norm_problem>& problems, report& to) {
  clock_sampler clock(bus_id(gpu));
  norm_bench<T> each(gpu, clock, how.seconds);
  bool right = true;
  for (const norm_problem& p : problems)
    for (const std::string_view work : works) {
      const measured m = each.measure(p, work);
      to.add(p.shape(), std::string(work), "kaio", m.kernel, "cold", m.cold_us, m.error, m.cold_mhz);
      to.add(p.shape(), std::string(work), "kaio", m.kernel, "burst", m.burst_us, m.error, m.burst_mhz);
      const double of_type = sizeof(T) == 4 ? 1e-6 : std::is_same_v<T, f16> ? 1e-3 : 6e-3;
      if (m.error < (has_codes(work) ? 4e-2 : of_type)) continue;
      std::fprintf(stderr, "%s %s:%s: WRONG\n", how.type.c_str(), p.shape().c_str(), work.data());
      right = false;
    }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of rms_norm, and of its peers.");
  arguments.add_flag("--json", how.json, "a JSON object for each line");
  arguments.add_flag("--no-peers", how.no_peers, "kaio alone");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  arguments.add_option("--type", how.type, "of elements")->check(CLI::IsMember({"f16", "bf16", "f32"}));
  arguments.add_option("--shape", how.shapes, "ROWSxSIZE")->check([](const std::string& text) {
    return norm_problem::of(text) ? std::string() : text + " is not ROWSxSIZE";
  });
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    if (how.shapes.empty())
      how.shapes = gpu.is_emulator()
                       ? std::vector<std::string>{"3x256", "2x100"}
                       : std::vector<std::string>{"1x4096",     "64x4096",    "2048x4096", "2048x8192",
                                                  "16384x4096", "4096x16384", "131072x128"};
    std::vector<norm_problem> problems;
    for (const std::string& shape : how.shapes) problems.push_back(norm_problem::of(shape).value());
    report to{.benchmark = "rms_norm",
              .device = gpu.properties().name,
              .type = how.type,
              .json = how.json,
              .rate = "tbs"};
    const u64 bytes = how.type == "f32" ? 4 : 2;
    to.amount = [bytes](const std::string& shape, const std::string& work) -> std::optional<double> {
      const auto p = norm_problem::of(shape);
      if (!p) return std::nullopt;
      return static_cast<double>(bytes_of(u64{p->rows} * p->size, bytes, work));
    };
    const bool right = how.type == "f16"   ? run<f16>(gpu, how, problems, to)
                       : how.type == "f32" ? run<f32>(gpu, how, problems, to)
                                           : run<bf16>(gpu, how, problems, to);
    if (!how.no_peers && !gpu.is_emulator()) {
      std::vector<std::string> cases;
      for (const norm_problem& p : problems)
        for (const std::string_view work : works) cases.push_back(p.shape() + ":" + std::string(work));
      to.run_peers(std::filesystem::path(__FILE__).parent_path() / "peers.py",
                   "--seconds " + std::to_string(how.seconds), cases);
    }
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
