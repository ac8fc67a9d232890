#include "ops/matmul/choice/cost.hpp"

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

namespace {

// Sources: NVIDIA's architecture papers for the rates of sm_70 to sm_90; L2 of sm_90 after DeepGEMM (64 bytes
// for one, 6154 a clock for 132); fixed costs measured with kernels that do nothing.
constexpr cost_machine machines[] = {
    {.sm = 70,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 1024,
     .mma_8 = 0,
     .mma_tf32 = 0,
     .fma_32 = 128,
     .l2_of_one = 64,
     .l2_of_all = 26,
     .shared = 128,
     .dram_share = 0.85,
     .dram_bytes_per_second = 0.9e12,
     .launch_seconds = 2.5e-6,
     .second_kernel_seconds = 2.5e-6,
     .start_clocks = 1500,
     .cluster_clocks = 0,
     .exchange_clocks = 0,
     .step_clocks = 60,
     .store_bytes = 32,
     .not_hidden = 0.15},
    {.sm = 75,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 1024,
     .mma_8 = 0,
     .mma_tf32 = 0,
     .fma_32 = 128,
     .l2_of_one = 64,
     .l2_of_all = 24,
     .shared = 64,
     .dram_share = 0.85,
     .dram_bytes_per_second = 0.3e12,
     .launch_seconds = 2.5e-6,
     .second_kernel_seconds = 2.5e-6,
     .start_clocks = 1500,
     .cluster_clocks = 0,
     .exchange_clocks = 0,
     .step_clocks = 60,
     .store_bytes = 32,
     .not_hidden = 0.15},
    {.sm = 80,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 2048,
     .mma_8 = 0,
     .mma_tf32 = 1024,
     .fma_32 = 128,
     .l2_of_one = 64,
     .l2_of_all = 47,
     .shared = 128,
     .dram_share = 0.88,
     .dram_bytes_per_second = 1.5e12,
     .launch_seconds = 2.2e-6,
     .second_kernel_seconds = 2.2e-6,
     .start_clocks = 1400,
     .cluster_clocks = 0,
     .exchange_clocks = 0,
     .step_clocks = 40,
     .store_bytes = 32,
     .not_hidden = 0.15},
    {.sm = 86,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 512,
     .mma_8 = 1024,
     .mma_tf32 = 256,
     .fma_32 = 256,
     .l2_of_one = 64,
     .l2_of_all = 32,
     .shared = 128,
     .dram_share = 0.88,
     .dram_bytes_per_second = 0.9e12,
     .launch_seconds = 2.2e-6,
     .second_kernel_seconds = 2.2e-6,
     .start_clocks = 1400,
     .cluster_clocks = 0,
     .exchange_clocks = 0,
     .step_clocks = 40,
     .store_bytes = 32,
     .not_hidden = 0.15},
    {.sm = 90,
     .tensor_16 = 4096,
     .tensor_8 = 8192,
     .mma_16 = 2500,
     .mma_8 = 4096,
     .mma_tf32 = 1100,
     .fma_32 = 256,
     .l2_of_one = 64,
     .l2_of_all = 46.6,
     .shared = 128,
     .dram_share = 0.87,
     .dram_bytes_per_second = 4.1e12,
     .launch_seconds = 1.2e-6,
     .second_kernel_seconds = 1.6e-6,
     .start_clocks = 1500,
     .cluster_clocks = 250,
     .exchange_clocks = 250,
     .step_clocks = 12,
     .store_bytes = 48,
     .not_hidden = 0.15},
};

double operations_in_clock(const matmul_variant& v, const cost_machine& machine) {
  const bool eight = v.operand >= matmul_type::e4m3;
  switch (v.family) {
    case matmul_family::sm90:
    case matmul_family::sm90_split: return eight ? machine.tensor_8 : machine.tensor_16;
    case matmul_family::mma_sync:
      // Half the depth of an instruction, and operands that threads stage.
      if (v.image->needs.target.sm < 80 && machine.sm >= 80) return machine.mma_16 / 3;
      if (v.operand != matmul_type::f32) return eight ? machine.mma_8 : machine.mma_16;
      return v.precision == matmul_precision::tf32x3 ? machine.mma_tf32 / 3 : machine.mma_tf32;
    case matmul_family::simt: return machine.fma_32;
  }
  return machine.fma_32;
}

double dram_bandwidth(const device_properties& device, const cost_machine& machine) {
  if (device.memory_clock_khz == 0 || device.memory_bus_bits == 0) return machine.dram_bytes_per_second;
  return 2.0 * device.memory_clock_khz * 1e3 * device.memory_bus_bits / 8 * machine.dram_share;
}

}  // namespace

const cost_machine& machine_of(const device_properties& device) {
  const cost_machine* found = &machines[0];
  for (const cost_machine& m : machines)
    if (m.sm <= device.target.sm) found = &m;
  return *found;
}

double cost(const matmul_variant& v, const matmul_call& call, const device_properties& device) {
  const cost_machine& machine = machine_of(device);
  const double clock = device.clock_khz != 0 ? device.clock_khz * 1e3 : 1.5e9;
  const auto multiprocessors = static_cast<double>(device.multiprocessors == 0 ? 1 : device.multiprocessors);
  const double size = bytes_of(call.operand), c_size = bytes_of(call.output);
  const double batches = static_cast<double>(call.batches);

  const std::uint64_t rows = quotient_up(call.m, tile_rows(v)),
                      columns = quotient_up(call.n, tile_columns(v));
  const std::uint64_t along_m = v.across ? columns : rows, along_n = v.across ? rows : columns;
  // Of clusters, whole ones run.
  const double tiles = static_cast<double>(quotient_up(along_m, v.cluster_m) * v.cluster_m) *
                       static_cast<double>(quotient_up(along_n, v.cluster_n) * v.cluster_n) * batches *
                       v.splits;
  const double blocks = tiles * v.cluster_splits;
  const std::uint64_t together = std::uint64_t{v.cluster_m} * v.cluster_n * v.cluster_splits;
  const auto slots = static_cast<std::uint64_t>(multiprocessors) * v.resident / together * together;
  const std::uint64_t at_once = std::max<std::uint64_t>(slots, together);
  const auto waves = static_cast<double>(quotient_up(static_cast<std::uint64_t>(blocks), at_once));
  const double running = std::min(blocks, static_cast<double>(at_once));
  // Blocks on one multiprocessor share its resources.
  const double sharing = std::max(1.0, running / multiprocessors);

  const double m = v.m, n = v.n, k = v.k;
  const double tensor = 2 * m * n * k / operations_in_clock(v, machine) * sharing;
  const bool by_warps = v.family == matmul_family::mma_sync || v.family == matmul_family::simt;
  // wgmma reads A for each 64 rows once and B for each of them again; warps read both for each warp's part.
  const double reads = by_warps ? (m * std::max(1.0, n / 64) + n * std::max(1.0, m / 64)) * k * size
                                : (m + n * std::max(1.0, m / 64)) * k * size;
  const double shared = reads / machine.shared * sharing;
  const double loads = (m / v.cluster_n + n / v.cluster_m) * k * size;
  const double of_one = machine.l2_of_one / sharing;
  const double of_all = machine.l2_of_all * multiprocessors / running;
  const double l2 = loads / std::min(of_one, of_all);
  // Copies of single elements take instructions where others take none.
  const double copies = v.slow_copies ? (m + n) * k / 8 * sharing : 0;
  const double step = std::max({tensor, shared, l2}) + copies + machine.step_clocks;

  const auto k_steps =
      static_cast<double>(quotient_up(quotient_up(call.k, v.k), std::uint64_t{v.cluster_splits} * v.splits));
  const double stored = v.splits == 1 ? c_size : sizeof(f32);
  // A persistent kernel stores while it loads the next tile; the last store is not hidden.
  // An epilogue with tensors, and a sum of splits, takes the longer way.
  const bool finishes = v.general && !by_warps;
  const double store = m * n / v.cluster_splits * stored / machine.store_bytes * (finishes ? 2 : 1) * sharing;
  const double hidden_store =
      v.family == matmul_family::sm90 ? std::max(0.0, store - 0.5 * k_steps * step) : store;
  const double start =
      machine.start_clocks + (together > 1 ? machine.cluster_clocks : 0) +
      (v.family == matmul_family::sm90_split ? machine.exchange_clocks * v.cluster_splits : 0);
  const double clocks = v.family == matmul_family::sm90
                            ? start + waves * (k_steps * step + hidden_store) + store
                            : waves * (start + k_steps * step + store);

  const double a_bytes =
      static_cast<double>(call.m * call.k) * (call.a.batch_pitch == 0 ? 1 : batches) * size;
  const double b_bytes =
      static_cast<double>(call.n * call.k) * (call.b.batch_pitch == 0 ? 1 : batches) * size;
  const double c_bytes = static_cast<double>(call.m * call.n) * batches * c_size;
  const double sums = v.splits == 1 ? 0 : static_cast<double>(v.workspace_bytes(call));
  const double dram = (a_bytes + b_bytes + c_bytes) / dram_bandwidth(device, machine);
  // Parts are written and read again, by L2 where they fit.
  const double second = v.splits == 1 ? 0
                                      : machine.second_kernel_seconds +
                                            2 * sums / (machine.l2_of_all * multiprocessors * clock);
  const double computing = clocks / clock;
  return machine.launch_seconds + std::max(computing, dram) + machine.not_hidden * std::min(computing, dram) +
         second;
}

}  // namespace kaio::ops
