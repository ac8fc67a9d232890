#!/usr/bin/env python3
"""What kaio costs the compiler: the source file of one kernel, each further instruction, the largest kernel that the
default limits allow. Compared with `nvcc -ptx` of the same kernel where nvcc is installed.

  compile_time.py [--json] [--compilers g++-12,clang++-16] [--repeats 5]

Times are the least of the repeats (what else the machine does can only add), in seconds of wall clock at -O0."""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

SILU = """#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto fused_silu_gate = kernel<"fused_silu_gate", 256>(
    [](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val xi = x[i];
        y[i] = xi / (1.0f + exp(-xi)) * gate[i];
      }
    });
int main() {
  device gpu = device::open();
  const u32 n = 1024;
  auto x = gpu.allocate<f32>(n), gate = gpu.allocate<f32>(n), y = gpu.allocate<f32>(n);
  fused_silu_gate.launch(gpu.stream(), over(n), x, gate, y, n);
}
"""

SILU_CUDA = """extern "C" __global__ void __launch_bounds__(256)
fused_silu_gate(const float* __restrict__ x, const float* __restrict__ gate, float* __restrict__ y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float xi = x[i];
    y[i] = xi / (1.0f + expf(-xi)) * gate[i];
  }
}
"""


def statements(count):
    """A kernel of `count` different statements, none of which the compiler can share."""
    lines = ["  val v0 = x[i];", "  val v1 = v0 * a;"]
    forms = ["v{p} + v{q} * a", "max(v{p}, v{q}) - 1.0f", "v{p} * v{q}", "x[i + {k}] - v{p}"]
    for k in range(2, count):
        lines.append(f"  val v{k} = " + forms[k % 4].format(p=k - 1, q=k - 2, k=k) + ";")
    body = "\n".join(lines)
    return f"""#include <kaio/dsl/dsl.hpp>
using namespace kaio;
inline constexpr auto many = kernel<"many", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a) {{
  val i = t.global_id();
{body}
  y[i] = v{count - 1};
}});
template <unsigned N> struct instructions;
#ifdef COUNT
instructions<many.needs().instructions> shown;
#endif
int main() {{ return static_cast<int>(many.image().line_count % 7); }}
"""


def unrolled(rounds):
    """A kernel whose host loop unrolls: four instructions a round."""
    return f"""#include <kaio/dsl/dsl.hpp>
using namespace kaio;
inline constexpr auto many = kernel<"many", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a) {{
  val i = t.global_id();
  var acc = x[i];
  for (int k = 0; k < {rounds}; ++k) {{
    val scaled = acc * a + static_cast<f32>(k);
    acc = max(scaled, acc) - a * static_cast<f32>(k + 1);
    y[i] = acc;
  }}
}});
static_assert(many.needs().instructions > {4 * rounds});
int main() {{}}
"""


class workshop:
    def __init__(self, folder, repeats):
        self.folder = pathlib.Path(folder)
        self.repeats = repeats

    def run(self, command, source, suffix=".cpp", repeats=None):
        """Least wall time in seconds and the peak memory in KB, or None where it does not compile."""
        file = self.folder / f"source{suffix}"
        file.write_text(source)
        best, memory = None, 0
        for _ in range(repeats or self.repeats):
            begin = time.monotonic()
            child = subprocess.Popen(command + [str(file)], cwd=self.folder, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.monotonic() - begin
            child.returncode = status
            if status != 0:
                return None
            best = seconds if best is None else min(best, seconds)
            memory = max(memory, usage.ru_maxrss)
        return best, memory

    def instructions(self, command, source):
        file = self.folder / "count.cpp"
        file.write_text(source)
        output = subprocess.run(command + ["-DCOUNT", "-fsyntax-only", str(file)], cwd=self.folder, text=True,
                                stderr=subprocess.PIPE).stderr
        return int(re.search(r"instructions<(\d+)u?>", output).group(1))


def measure(compiler, shop):
    command = [compiler, "-std=c++20", "-O0", f"-I{ROOT / 'include'}", "-c", "-o", "out.o"]
    row = {"compiler": subprocess.run([compiler, "--version"], text=True, capture_output=True).stdout.splitlines()[0]}
    row["include_s"] = shop.run(command, "#include <kaio/kaio.hpp>\nint main() {}\n")[0]
    row["silu_s"], row["silu_kb"] = shop.run(command, SILU)
    small, large = statements(10), statements(1200)
    count = shop.instructions(command, large) - shop.instructions(command, small)
    (small_s, small_kb), (large_s, large_kb) = shop.run(command, small), shop.run(command, large)
    row["per_instruction_ms"] = (large_s - small_s) / count * 1e3
    row["per_instruction_kb"] = (large_kb - small_kb) / count
    low, high = 250, 4000  # the largest number of rounds that compiles
    while high - low > 50:
        middle = (low + high) // 2
        if shop.run(command, unrolled(middle), repeats=1):
            low = middle
        else:
            high = middle
    row["largest_kernel"] = 4 * low
    return row


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true", help="one JSON object a compiler")
    arguments.add_argument("--compilers", default="g++-12,clang++-16")
    arguments.add_argument("--repeats", type=int, default=5)
    given = arguments.parse_args()
    compilers = [c for c in given.compilers.split(",") if shutil.which(c)]
    if not compilers:
        sys.exit(f"compile_time.py: none of {given.compilers} is installed")
    with tempfile.TemporaryDirectory() as folder:
        shop = workshop(folder, given.repeats)
        nvcc = shutil.which("nvcc")
        nvcc_s = shop.run([nvcc, "-ptx", "-arch=sm_80", "-o", "out.ptx"], SILU_CUDA, ".cu")[0] if nvcc else None
        for compiler in compilers:
            row = {"benchmark": "compile_time", **measure(compiler, shop), "nvcc_ptx_s": nvcc_s}
            if given.json:
                print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
                continue
            print(f"{row['compiler']}\n  #include <kaio/kaio.hpp>   {row['include_s']:.2f} s"
                  f"\n  fused_silu_gate            {row['silu_s']:.2f} s"
                  + (f" ({row['silu_s'] / nvcc_s:.1f} x nvcc -ptx, {nvcc_s:.2f} s)" if nvcc_s else "")
                  + f"\n  a further instruction      {row['per_instruction_ms']:.2f} ms, {row['per_instruction_kb']:.0f} KB"
                  f"\n  largest kernel             {row['largest_kernel']} instructions at least", flush=True)


if __name__ == "__main__":
    main()
