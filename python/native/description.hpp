#pragma once
// What the module knows of the C interface: generated/operations.cpp has the tables, made from src/c/operations/*.json.

#include <kaio/c/kaio.h>

#include <cstdint>
#include <span>

namespace kaio::python {

enum class field_kind : std::uint8_t {
  tensor, workspace, tensors, count, record, enumeration, flag, i32, u32, i64, u64, f32, f64, byte, string, list_f64, list_u32,
  list_i64, device, text, peer_workspace, peer_buffer
};

struct enumeration {
  const char* name;
  bool is_set;  // values are added up
  struct value {
    const char* name;
    std::int32_t number;
  };
  std::span<const value> values;
};

struct record;

// A field of a struct, or an argument of a function.
struct field {
  const char* name;    // in Python
  const char* c_name;  // in messages of the C interface
  field_kind kind;
  bool is_optional, is_output;
  std::uint32_t offset = 0;        // in the struct; of an argument: its number
  std::uint32_t count_offset = 0;  // of the field with the length of a list
  const record* of = nullptr;
  const enumeration* values = nullptr;
};

struct record {
  const char* name;
  std::uint32_t bytes;
  void (*set_defaults)(void* memory);
  std::span<const field> fields;
};

// The values of the arguments in order: pointers for tensors, structs and strings, bits for numbers.
union argument_value {
  void* pointer;
  std::int64_t integer;
  float f32;
  double f64;
  DLDevice device;
};

// What a call does with its arguments.
enum class mode : std::uint8_t { run, warmup, workspace_bytes, choice, tune };

struct function {
  const char* name;
  std::span<const field> arguments;
  // Each null, if there is no such function. `result` is filled: bytes, or a struct.
  kaio_status (*run)(void* stream, const argument_value* arguments);
  kaio_status (*warmup)(const argument_value* arguments);
  kaio_status (*workspace_bytes)(const argument_value* arguments, std::uint64_t* result);
  kaio_status (*choice)(const argument_value* arguments, kaio_kernel_choice* result);
  kaio_status (*tune)(const argument_value* arguments, const kaio_tune_options* how, kaio_tune_report* result);
  // Where the workspace is: the argument with the struct, and the field's offset in it. -1: none.
  int workspace_argument = -1;
  std::uint32_t workspace_offset = 0;
};

std::span<const function> functions();
std::span<const record> records();

}  // namespace kaio::python
