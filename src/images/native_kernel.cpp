// The run-time half of kaio/dsl/kernel/compilation.hpp: trace, soundness, order of wgmma, text, image.
#include "images/native_kernel.hpp"

#include <kaio/ptx/analysis/definite_assignment.hpp>
#include <kaio/ptx/emit.hpp>

#include <cstdio>
#include <cstdlib>

namespace kaio::images {
namespace {

// The kernel that is traced, for the message of a rule that it breaks.
std::string current;

[[noreturn]] void refuse(const char* message, const char* file, std::uint32_t line) {
  if (file != nullptr && line != 0) std::fprintf(stderr, "%s:%u: ", file, line);
  std::fprintf(stderr, "error: %s (kernel %s)\n", message, current.c_str());
  std::_Exit(1);
}

void refuse(const dsl::kernel_fault& fault) {
  if (fault.message != nullptr) refuse(fault.message, fault.file, fault.line);
}

void follow(dsl::tracer& t, std::string_view name, const dsl::kernel_options& options,
            const std::function<void(dsl::tracer&)>& body) {
  prepare(t, name, options);
  body(t);
}

// Depth 0 leaves nothing out.
dsl::probe_result probe(std::string_view name, const dsl::kernel_options& options,
                        const std::function<void(dsl::tracer&)>& body, std::uint32_t depth,
                        std::uint32_t deepest) {
  const auto t = std::make_unique<dsl::tracer>();
  t->probe(depth);
  follow(*t, name, options, body);
  return result_of(*t, deepest);
}

}  // namespace

native_kernel trace_entry(std::string_view name, dsl::block_size block, const dsl::kernel_options& options,
                          std::vector<ptx::parameter> parameters,
                          const std::function<void(dsl::tracer&)>& body) {
  native_kernel result;
  auto& s = *result.storage_;
  s.name = name;
  current = name;
  dsl::broken_rule = [](const char* message) { refuse(message, nullptr, 0); };
  s.parameters = std::move(parameters);

  const auto recorded = std::make_unique<dsl::tracer>();
  follow(*recorded, s.name, options, body);
  refuse(recorded->fault());
  const std::uint32_t deepest = recorded->deepest();
  const std::unique_ptr<const ptx::program> program(new ptx::program(recorded->finish(block.dimensions())));
  if (deepest != 0) {
    const dsl::probe_result whole = probe(s.name, options, body, 0, deepest);
    refuse(whole.fault);
    for (std::uint32_t depth = 1; depth <= deepest; ++depth)
      if (!agree(whole, probe(s.name, options, body, depth, deepest), depth))
        refuse("kaio: a guarded body or a loop changes the rest of the kernel through a variable of the host",
               nullptr, 0);
  }
  dsl::kernel_fault misuse = dsl::fault_of(ptx::find_wgmma_fault(*program));
  for (std::uint32_t i = 0; misuse.line != 0 && i < program->statement_count; ++i)
    if (program->statements[i].line == misuse.line) misuse.file = program->statements[i].file;
  refuse(misuse);
  if (find_unassigned(*program) != ptx::assignment_fault{})
    refuse("kaio: a register is read that some path has not written", nullptr, 0);

  const ptx::needs needs = requirements(*program);
  std::uint32_t header_lines = 0;
  std::vector<std::size_t> sizes;
  for (std::uint32_t first = 0;;) {
    const auto part = std::make_unique<ptx::rendered>(
        render(*program, needs, s.name, s.parameters.data(), s.parameters.size(), first));
    if (first == 0) header_lines = part->header_lines;
    s.text.append(reinterpret_cast<const char*>(part->words), part->size);
    sizes.push_back(part->size);
    first = part->next;
    if (part->complete) break;
  }
  std::string_view rest = s.text;
  for (const std::size_t size : sizes) {
    s.segments.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }

  // The directives, an instruction a line, and the closing brace.
  s.statements.assign(program->statements, program->statements + program->statement_count);
  s.statement_of_line.assign(header_lines, ptx::no_statement);
  for (std::uint32_t i = 0; i < program->instruction_count; ++i)
    s.statement_of_line.push_back(program->instructions[i].statement);
  s.statement_of_line.push_back(ptx::no_statement);

  s.image.name = s.name;
  s.image.segments = s.segments.data();
  s.image.segment_count = s.segments.size();
  s.image.parameters = s.parameters.data();
  s.image.parameter_count = s.parameters.size();
  s.image.block = block.dimensions();
  s.image.needs = needs;
  s.image.statements = s.statements.data();
  s.image.statement_count = s.statements.size();
  s.image.statement_of_line = s.statement_of_line.data();
  s.image.line_count = s.statement_of_line.size();
  s.image = ptx::identified(s.image);
  return result;
}

}  // namespace kaio::images
