// Made by src/c/generate.py from src/c/operations/shared.json.
// clang-format off

#include <kaio/c/shared.h>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/kernel_choice.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/properties.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::constant_inputs::none) == KAIO_CONSTANT_INPUTS_NONE);
static_assert(static_cast<int>(ops::constant_inputs::a) == KAIO_CONSTANT_INPUTS_A);
static_assert(static_cast<int>(ops::constant_inputs::b) == KAIO_CONSTANT_INPUTS_B);
static_assert(static_cast<int>(ops::constant_inputs::weights) == KAIO_CONSTANT_INPUTS_WEIGHTS);
static_assert(static_cast<int>(ops::constant_inputs::both) == KAIO_CONSTANT_INPUTS_BOTH);
static_assert(static_cast<int>(ops::constant_inputs::indices) == KAIO_CONSTANT_INPUTS_INDICES);
static_assert(ops::tune_options{}.repetitions == 20);
static_assert(ops::tune_options{}.remember == true);
static_assert(ops::tune_options{}.use_files == true);

void give(const call& out, const char* name, const ops::kernel_choice& from, kaio_kernel_choice* given) {
  kaio_kernel_choice to = kaio_kernel_choice_default();
  to.splits = from.splits;
  to.in_cluster = from.in_cluster;
  out.give_text("name", from.name, to.name);
  out.give(name, given, &to, sizeof to);
}

void read(call& in, const char* name, const kaio_tune_options* given, ops::tune_options& to) {
  kaio_tune_options from = kaio_tune_options_default();
  in.take(name, given, &from, sizeof from);
  to.repetitions = from.repetitions;
  to.remember = in.flag("remember", from.remember);
  to.use_files = in.flag("use_files", from.use_files);
}

void give(const call& out, const char* name, const ops::tune_report& from, kaio_tune_report* given) {
  kaio_tune_report to = kaio_tune_report_default();
  to.saved = from.saved;
  to.seconds = from.seconds;
  to.seconds_before = from.seconds_before;
  out.give_text("variant", from.variant, to.variant);
  out.give_text("variant_before", from.variant_before, to.variant_before);
  out.give(name, given, &to, sizeof to);
}

void give(const call& out, const char* name, const runtime::device_properties& from, kaio_device_properties* given) {
  kaio_device_properties to = kaio_device_properties_default();
  to.ordinal = from.ordinal;
  to.emulator = from.emulator;
  to.sm = from.target.sm;
  to.arch_specific = from.target.arch_specific;
  to.multiprocessors = from.multiprocessors;
  to.max_threads_per_block = from.max_threads_per_block;
  to.max_blocks_per_cluster = from.max_blocks_per_cluster;
  to.shared_per_block_optin = from.shared_per_block_optin;
  to.shared_per_multiprocessor = from.shared_per_multiprocessor;
  to.l2_bytes = from.l2_bytes;
  to.driver_version = from.driver_version;
  to.total_memory = from.total_memory;
  out.give_text("name", from.name, to.name);
  out.give(name, given, &to, sizeof to);
}

}  // namespace kaio::c
