#pragma once
// The terminal that a program writes to.

#include <cstddef>
#include <string_view>

namespace kaio::host {

enum class stream { output, error };

bool is_terminal(stream which);
// Whether the standard error stream is a terminal that knows escape sequences. On Windows this turns them on.
bool takes_escape_sequences();
// The width of the terminal of the standard error stream; 80 if it does not say.
std::size_t terminal_columns();
// Writes to the standard error stream, past its buffer. A stream that is closed takes nothing.
void write_to_error_stream(std::string_view text);

}  // namespace kaio::host
