// The run-time half of kaio/dsl/kernel/compilation.hpp: trace, soundness, order of wgmma, text, image.
#include "tests/native/native_kernel.hpp"

namespace kaio::tests::native {
namespace {

void follow(dsl::tracer& t, std::string_view name, const dsl::kernel_options& options,
            const std::function<void(dsl::tracer&)>& body) {
  t.contract = options.contract;
  t.target = options.target;
  t.large_shared = options.large_shared;
  t.assertions = options.assertions;
  t.cluster = options.cluster.dimensions();
  t.min_blocks = options.min_blocks;
  t.kernel_name = name;
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
  s.parameters = std::move(parameters);

  const auto recorded = std::make_unique<dsl::tracer>();
  follow(*recorded, s.name, options, body);
  dsl::kernel_error(recorded->fault().message);
  const std::uint32_t deepest = recorded->deepest();
  const std::unique_ptr<const ptx::program> program(new ptx::program(recorded->finish(block.dimensions())));
  if (deepest != 0) {
    const dsl::probe_result whole = probe(s.name, options, body, 0, deepest);
    dsl::kernel_error(whole.fault.message);
    for (std::uint32_t depth = 1; depth <= deepest; ++depth)
      if (!agree(whole, probe(s.name, options, body, depth, deepest), depth))
        dsl::kernel_error("kaio: a body of a guard or a loop changes what follows it");
  }
  const ptx::wgmma_fault misuse = ptx::find_wgmma_fault(*program);
  if (misuse.accumulator != 0 || misuse.operand != 0 || misuse.unfenced != 0 || misuse.many_owners ||
      misuse.many_labels)
    dsl::kernel_error("kaio: wgmma is used in the wrong order; a constant expression shows the line");

  if (find_unassigned(*program) != ptx::assignment_fault{})
    dsl::kernel_error("kaio: a register is read that some path has not written");

  const ptx::needs needs = requirements(*program);
  std::uint32_t header_lines = 0;
  for (std::uint32_t first = 0;;) {
    const auto part = std::make_unique<ptx::rendered>(
        render(*program, needs, s.name, s.parameters.data(), s.parameters.size(), first));
    if (first == 0) header_lines = part->header_lines;
    s.text.append(reinterpret_cast<const char*>(part->words), part->size);
    first = part->next;
    if (part->complete) break;
  }
  s.segment = s.text;

  // The directives, an instruction a line, and the closing brace.
  s.statements.assign(program->statements, program->statements + program->statement_count);
  s.statement_of_line.assign(header_lines, ptx::no_statement);
  for (std::uint32_t i = 0; i < program->instruction_count; ++i)
    s.statement_of_line.push_back(program->instructions[i].statement);
  s.statement_of_line.push_back(ptx::no_statement);

  s.image.name = s.name;
  s.image.segments = &s.segment;
  s.image.segment_count = 1;
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

}  // namespace kaio::tests::native
