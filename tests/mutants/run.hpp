#pragma once
// Runs the text of a kernel on the emulator, under the sanitizer, on buffers that are the same each time. The
// contents of the buffers then distinguish a mutant from the kernel, if no report does.
//
//   const auto right = run(image, {{2, 1, 1}, {input{256}, output{256}, u32{256}}}, text_of(image));

#include "emulator/emulator.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

#include <kaio/dsl/dsl.hpp>

#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kaio::tests::mutants {

// A buffer, by its number of 32-bit words.
struct input {  // random numbers
  std::size_t words;
};
struct halves {  // random pairs of f16
  std::size_t words;
};
struct zeros {
  std::size_t words;
};
struct output {  // poisoned before the run
  std::size_t words;
};
// A tensor map of rows x columns numbers of f32, by boxes, and the buffer that it describes.
struct tensor {
  bool is_input;
  u32 rows, columns, box_rows, box_columns;
  emulator::tensor_swizzle swizzle = emulator::tensor_swizzle::none;
};
using parameter_value = std::variant<input, halves, zeros, output, tensor, u32, i32, f32>;

struct launch_shape {
  ptx::dim3 grid;
  std::vector<parameter_value> values;
  u32 dynamic_shared = 0;
};

// A kernel and launches of it in which each of its guards is met at its very end.
struct kernel_case {
  const ptx::kernel_image* image;
  std::vector<launch_shape> shapes;
};

// How a text runs: the order of its warps, with or without the sanitizer, and its observers.
struct run_mode {
  emulator::schedule order{};
  bool is_sanitized = true;
  emulator::grid_observer* also = nullptr;
};

inline constexpr std::uint64_t instruction_limit = 1u << 20;

// The contents of the buffers after a run; nothing if it was stopped.
inline std::optional<std::vector<u32>> run(const ptx::kernel_image& image, const launch_shape& shape,
                                           std::string_view text, const run_mode& mode = {}) {
  using namespace emulator;
  memory global;
  std::vector<std::pair<std::uint64_t, std::size_t>> buffers;
  try {
    const module mod = parse_module(text, architecture{});
    launch l;
    l.mod = &mod;
    l.kernel = mod.find(image.name);
    l.grid = shape.grid;
    l.block = image.block;
    l.image = &image;
    l.dynamic_shared = image.needs.dynamic_shared_bytes + shape.dynamic_shared;
    l.cooperative = image.needs.cooperative;
    l.order = mode.order;
    l.threads = 1;
    l.instruction_limit = instruction_limit;
    l.parameters.resize(l.kernel->parameter_bytes);
    std::mt19937 random(5);
    const auto number = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500; };
    const auto number_bits = [&] { return std::bit_cast<u32>(number()); };
    const auto poison = [] { return 0xdeadbeefu; };
    for (std::size_t i = 0; i < shape.values.size(); ++i) {
      std::byte* const to = l.parameters.data() + l.kernel->parameters[i].offset;
      const auto buffer = [&](std::size_t words, const auto& word_of) {
        std::vector<u32> content(words);
        for (u32& word : content) word = word_of();
        const std::uint64_t address = global.allocate(words * 4);
        global.write(address, content.data(), words * 4);
        buffers.emplace_back(address, words);
        return address;
      };
      std::visit(
          [&]<class T>(const T& value) {
            const auto pass = [&](const auto& argument) { std::memcpy(to, &argument, sizeof argument); };
            if constexpr (std::is_same_v<T, input>) {
              pass(buffer(value.words, number_bits));
            } else if constexpr (std::is_same_v<T, halves>) {
              pass(buffer(value.words, [&] {
                const u32 low = std::bit_cast<u16>(f16(number())), high = std::bit_cast<u16>(f16(number()));
                return low | high << 16;
              }));
            } else if constexpr (std::is_same_v<T, zeros>) {
              pass(buffer(value.words, [] { return 0u; }));
            } else if constexpr (std::is_same_v<T, output>) {
              pass(buffer(value.words, poison));
            } else if constexpr (std::is_same_v<T, tensor>) {
              const std::size_t words = std::size_t{value.rows} * value.columns;
              const u64 address = value.is_input ? buffer(words, number_bits) : buffer(words, poison);
              const u64 sizes[] = {value.columns, value.rows}, strides[] = {u64{value.columns} * 4};
              const u32 box[] = {value.box_columns, value.box_rows}, steps[] = {1, 1};
              emulator::tensor_map map;
              if (const auto failure =
                      encode_tiled(map, tensor_element::float32, 2, address, sizes, strides, box, steps,
                                   tensor_interleave::none, value.swizzle, 0, tensor_fill::zero))
                throw std::logic_error(failure->reason);
              pass(map);
            } else {
              pass(value);
            }
          },
          shape.values[i]);
    }
    sanitizer checks{sanitizer_options{}};
    if (mode.is_sanitized) l.observers.push_back(&checks);
    if (mode.also != nullptr) l.observers.push_back(mode.also);
    emulator::run(l, global);
  } catch (const fault&) {
    return {};
  } catch (const ptx_error&) {
    return {};
  }
  std::vector<u32> result;
  for (const auto& [address, words] : buffers) {
    result.resize(result.size() + words);
    global.read(result.data() + result.size() - words, address, words * 4);
  }
  return result;
}

inline std::string text_of(const ptx::kernel_image& image) {
  std::string text;
  ptx::with_text(image, [&](const ptx::kernel_image& whole) {
    for (std::size_t i = 0; i < whole.segment_count; ++i) text += whole.segments[i];
  });
  return text;
}

}  // namespace kaio::tests::mutants
