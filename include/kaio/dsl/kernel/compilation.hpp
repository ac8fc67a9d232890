#pragma once
// Turns a kernel's lambda into the constants that the runtime loads. The steps are the trace, the soundness check, the
// segments of text, and the image that points to them. Each step is a constant expression of its own, because compilers bound the
// work of one. The results are static members of a template, so a kernel that is not used costs nothing. The build of
// kaio's own libraries puts other files in place of this one (src/images/).

#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/kernel/options.hpp>
#include <kaio/dsl/kernel/report.hpp>
#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/dsl/trace/soundness.hpp>
#include <kaio/ptx/emit.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl {

// A text, as it was packed and as it is read.
template <std::size_t Words>
struct packed_words {
  std::uint64_t data[Words];
};
template <std::size_t Words>
struct characters {
  char data[8 * Words];
};

template <std::size_t N, class T>
struct elements {
  T data[N == 0 ? 1 : N] = {};
};

// The result of tracing: a constant of the kernel's type.
struct traced {
  ptx::program program;
  std::uint32_t deepest = 0;  // nesting of guards and loops
  kernel_fault fault;
};

template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
class tracing {
 public:
  static constexpr entry_parameters<sizeof...(P)> parameters = entry_parameters_of<P...>();
  static_assert(parameters.bytes <= max_parameter_bytes,
                "kaio: the parameters of a kernel take more than 4096 bytes together; pass a buffer");

 private:
  static constexpr indices<sizeof...(P)> numbers{};

  template <std::uint32_t... I>
  static constexpr void run(tracer& t, index_list<I...>) {
    Body{}(thread(t, Block.dimensions()), parameter_of<P>::make(t, parameters.number[I])...);
  }
  // A compiler that stops in the body shows `rule`; clang shows the line of the call too. The body is called right
  // here: each call between would add a line to the compiler's message.
  template <std::uint32_t... I>
  static constexpr traced record([[maybe_unused]] const char* rule, index_list<I...>) {
    tracer t;
    prepare(t, Name.view(), Options);
    Body{}(thread(t, Block.dimensions()), parameter_of<P>::make(t, parameters.number[I])...);
    if (t.fault().message != nullptr) return {ptx::program(), 0, t.fault()};
    const std::uint32_t deepest = t.deepest();
    return {t.finish(Block.dimensions()), deepest, kernel_fault()};
  }

 public:
  // clang-format off
#ifdef __clang__
  static constexpr traced trace = record("kaio: a kernel runs in the compiler, on what is constant; a large one needs -fconstexpr-steps=16777216", numbers);
#else
  static constexpr traced trace = record("kaio: a kernel runs in the compiler, on what is constant; a large one needs -fconstexpr-ops-limit=1000000000", numbers);
#endif
  // clang-format on

 private:
  // Depth 0 leaves nothing out. `refused`: the number of the body at that depth to report as an error.
  static constexpr probe_result run_probe(std::uint32_t depth, std::uint32_t count, std::uint32_t refused) {
    tracer t;
    t.probe(depth, count);
    t.refuse(refused);
    prepare(t, Name.view(), Options);
    run(t, numbers);
    return result_of(t, trace.deepest);
  }
  template <std::uint32_t Depth>
  static constexpr probe_result probe = run_probe(Depth, tracer::all_bodies, 0);

  // Bisects for the first body that changes the rest of the kernel. The probe agrees without the first Low bodies, and
  // disagrees without the first High.
  template <std::uint32_t Depth, std::uint32_t Low, std::uint32_t High>
  static constexpr std::uint32_t first_wrong_body() {
    if constexpr (High - Low <= 1) {
      return High;
    } else {
      constexpr std::uint32_t middle = Low + (High - Low) / 2;
      if constexpr (agree(probe<0>, run_probe(Depth, middle, 0), Depth))
        return first_wrong_body<Depth, middle, High>();
      else
        return first_wrong_body<Depth, Low, middle>();
    }
  }
  template <std::uint32_t Depth = 1>
  static constexpr kernel_fault control_fault() {
    if constexpr (Depth > trace.deepest) {
      return {};
    } else if constexpr (probe<0>.fault.message != nullptr) {
      return probe<0>.fault;
    } else if constexpr (probe<Depth>.fault.message != nullptr) {
      return probe<Depth>.fault;
    } else if constexpr (agree(probe<0>, probe<Depth>, Depth)) {
      return control_fault<Depth + 1>();
    } else {
      constexpr kernel_fault in_body =
          run_probe(Depth, tracer::all_bodies, first_wrong_body<Depth, 0, probe<Depth>.bodies>()).fault;
      if (in_body.message != nullptr) return in_body;
      return {"kaio: a guarded body or a loop changes the rest of the kernel through a variable of the host"};
    }
  }

  // The first rule that the kernel breaks.
  static constexpr kernel_fault find_fault() {
    if constexpr (trace.fault.message != nullptr) {
      return trace.fault;
    } else {
#ifdef KAIO_ASSUME_SOUND  // a build whose kernels are probed elsewhere, as the programs of src/images do for kaio's own
      constexpr kernel_fault in_control;
#else
      constexpr kernel_fault in_control = control_fault();
#endif
      if constexpr (in_control.message != nullptr) {
        return in_control;
      } else {
        kernel_fault result = fault_of(ptx::find_wgmma_fault(trace.program));
        for (std::uint32_t i = 0; result.line != 0 && i < trace.program.statement_count; ++i)
          if (trace.program.statements[i].line == result.line) result.file = trace.program.statements[i].file;
        return result;
      }
    }
  }

 public:
  static constexpr kernel_fault fault = find_fault();
};

// The constants made from a trace without fault.
template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
class compilation {
  using source = tracing<Name, Block, Options, Body, P...>;
  static constexpr const traced& trace = source::trace;
  static constexpr const auto& parameters = source::parameters;

  static constexpr ptx::needs needs = requirements(trace.program);

  template <std::uint32_t Segment>
  static constexpr std::uint32_t first_instruction() {
    if constexpr (Segment == 0)
      return 0;
    else
      return rendered<Segment - 1>.next;
  }
  template <std::uint32_t Segment>
  static constexpr ptx::rendered rendered = ptx::render(trace.program, needs, Name.view(), parameters.data,
                                                        parameters.count, first_instruction<Segment>());

  template <std::uint32_t Segment = 0>
  static constexpr std::uint32_t count_segments() {
    if constexpr (rendered<Segment>.complete)
      return Segment + 1;
    else
      return count_segments<Segment + 1>();
  }
  static constexpr std::uint32_t segment_count = count_segments();

  template <std::uint32_t Segment>
  static constexpr auto copy_text() {
    constexpr std::size_t count = rendered<Segment>.size / 8 + 1;
    packed_words<count> exact = {};
    for (std::size_t k = 0; k < count; ++k) exact.data[k] = rendered<Segment>.words[k];
    return __builtin_bit_cast(characters<count>, exact);
  }
  template <std::uint32_t Segment>
  static constexpr auto text = copy_text<Segment>();

  template <std::uint32_t... Segment>
  static constexpr elements<segment_count, std::string_view> list_segments(index_list<Segment...>) {
    return {{std::string_view(text<Segment>.data, rendered<Segment>.size)...}};
  }
  static constexpr elements<segment_count, std::string_view> segments =
      list_segments(indices<segment_count>{});

  // The hash of the text up to the end of a segment: a constant of its own for each, like the text.
  template <std::uint32_t Segment>
  static constexpr ptx::text_hash hash_up_to() {
    if constexpr (Segment == 0)
      return ptx::hash_segment({}, rendered<0>.words, rendered<0>.size);
    else
      return ptx::hash_segment(hash<Segment - 1>, rendered<Segment>.words, rendered<Segment>.size);
  }
  template <std::uint32_t Segment>
  static constexpr ptx::text_hash hash = hash_up_to<Segment>();

  using statement_list = elements<trace.program.statement_count, ptx::source_line>;
  static constexpr statement_list copy_statements() {
    statement_list exact;
    for (std::uint32_t i = 0; i < trace.program.statement_count; ++i)
      exact.data[i] = trace.program.statements[i];
    return exact;
  }
  static constexpr statement_list statements = copy_statements();

  // The directives, one instruction per line, and the closing brace.
  static constexpr std::uint32_t line_count = rendered<0>.header_lines + trace.program.instruction_count + 1;
  using line_map = elements<line_count, std::uint16_t>;
  static constexpr line_map map_lines() {
    line_map map;
    std::uint32_t line = 0;
    while (line < rendered<0>.header_lines) map.data[line++] = ptx::no_statement;
    for (std::uint32_t i = 0; i < trace.program.instruction_count; ++i)
      map.data[line++] = trace.program.instructions[i].statement;
    map.data[line] = ptx::no_statement;
    return map;
  }
  static constexpr line_map statement_of_line = map_lines();

  static constexpr ptx::kernel_image describe() {
    ptx::kernel_image result;
    result.name = Name.view();
    result.segments = segments.data;
    result.segment_count = segment_count;
    result.parameters = parameters.data;
    result.parameter_count = parameters.count;
    result.block = Block.dimensions();
    result.needs = needs;
    result.statements = statements.data;
    result.statement_count = trace.program.statement_count;
    result.statement_of_line = statement_of_line.data;
    result.line_count = line_count;
    result.identity = {segments.data, segment_count, hash<segment_count - 1>};
    return result;
  }

 public:
  static constexpr ptx::kernel_image image = describe();
};

}  // namespace kaio::dsl
