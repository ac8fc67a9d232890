#include "runtime/emulator/requirements.hpp"

#include <algorithm>
#include <iterator>

namespace kaio::runtime::emulator {
namespace {

// clang-format off
constexpr requirement requirements[] = {
    {".b128", {8, 3}, 70},
    {".nc", {3, 1}, 32},
    {"abs.f16", {6, 5}, 53},
    {"activemask", {6, 2}, 30},
    {"applypriority", {7, 4}, 80},
    {"add.bf16", {7, 8}, 90},
    {"add.f16", {4, 2}, 53},
    {"add.f32.f16", {8, 6}, 100},
    {"add.u16x2", {8, 0}, 90},
    {"atom.add.f64", {5, 0}, 60},
    {"atom.b128", {8, 3}, 90},
    {"atom.bf16", {7, 8}, 90},
    {"atom.cas.b16", {6, 3}, 70},
    {"atom.f16", {6, 3}, 70},
    {"atom.f16x2", {6, 2}, 60},
    {"atom.vector", {8, 1}, 90},
    {"bar.warp.sync", {6, 0}, 30},
    {"barrier", {6, 0}, 30},
    {"barrier.cluster", {7, 8}, 90},
    {"barrier.cluster.relaxed", {8, 0}, 90},
    {"bmsk", {7, 6}, 70},
    {"cache_hint", {7, 4}, 80},
    {"createpolicy", {7, 4}, 80},
    {"cvt.e2m1x2", {8, 6}, 100},
    {"cvt.e4m3x2", {7, 8}, 89},
    {"cvt.e4m3x2 on sm_89", {8, 1}, 89},
    {"cvt.f32.bf16", {7, 1}, 80},
    {"cvt.pack", {6, 5}, 72},
    {"cvt.pack.u4", {6, 5}, 75},
    {"cvt.satfinite", {8, 1}, 53},
    {"cvta.param", {7, 7}, 70},
    {"discard", {7, 4}, 80},
    {"dp2a", {5, 0}, 61},
    {"dp4a", {5, 0}, 61},
    {"elect.sync", {8, 0}, 90},
    {"ex2.bf16", {7, 8}, 90},
    {"ex2.f16", {7, 0}, 75},
    {"fence", {6, 0}, 70},
    {"fma.bf16", {7, 0}, 80},
    {"fma.relu", {7, 0}, 80},
    {"isspacep.param", {7, 7}, 70},
    {"ld.256B", {7, 4}, 80},
    {"ld.eviction", {7, 4}, 70},
    {"ld.mmio", {8, 2}, 70},
    {"ld.relaxed", {6, 0}, 70},
    {"lop3", {4, 3}, 50},
    {"lop3.bool", {8, 2}, 70},
    {"mapa", {7, 8}, 90},
    {"match.sync", {6, 0}, 70},
    {"min.f16", {7, 0}, 80},
    {"min.nan", {7, 0}, 80},
    {"min.xorsign", {7, 2}, 86},
    {"nanosleep", {6, 3}, 70},
    {"prefetch.eviction", {7, 4}, 80},
    {"neg.bf16", {7, 0}, 80},
    {"neg.f16", {6, 0}, 53},
    {"redux.sync", {7, 0}, 80},
    {"scope", {6, 0}, 70},
    {"scope.cluster", {7, 8}, 90},
    {"set.u16.f16", {6, 5}, 53},
    {"shf", {3, 1}, 32},
    {"shfl.sync", {6, 0}, 30},
    {"szext", {7, 6}, 70},
    {"tanh", {7, 0}, 75},
    {"vote.sync", {6, 0}, 30},
};
// clang-format on

// PTX ISA 9.0, "Instruction Set": what the emulator names instead of calling it unknown.
// clang-format off
constexpr std::string_view not_executed[] = {
    "alloca", "brx", "clusterlaunchcontrol", "cp",
    "fns", "griddepcontrol", "istypep", "ldmatrix", "ldu", "mbarrier", "mma",
    "movmatrix", "multimem", "pmevent", "setmaxnreg", "stackrestore", "stacksave", "stmatrix", "suld",
    "suq", "sured", "sust", "tcgen05", "tensormap", "tex", "tld4", "txq", "vabsdiff", "vabsdiff2",
    "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin",
    "vmin2", "vmin4", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma",
};
// clang-format on

}  // namespace

const requirement* find_requirement(std::string_view feature) {
  for (const requirement& row : requirements)
    if (row.feature == feature) return &row;
  return nullptr;
}

bool is_known_instruction(std::string_view opcode) {
  return std::find(std::begin(not_executed), std::end(not_executed), opcode) != std::end(not_executed);
}

}  // namespace kaio::runtime::emulator
