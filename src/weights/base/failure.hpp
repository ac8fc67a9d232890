#pragma once
// How the readers fail: a file_error whose text names the file and, if one is concerned, the tensor.

#include <kaio/runtime/error.hpp>

#include <string_view>

namespace kaio::weights {

// "kaio: 'm.gguf' is damaged: tensor 'a' <what>; ...". Without a tensor, <what> is of the file.
[[noreturn]] void fail_damaged(std::string_view file, std::string_view tensor, std::string_view what);
// "kaio: 'm.bin' is <what>; ...", errc::damaged_file: a file of another kind, "no safetensors file: ...".
[[noreturn]] void fail_foreign(std::string_view file, std::string_view what);
// "kaio: 'm.gguf': tensor 'a' <what>".
[[noreturn]] void fail_unsupported(std::string_view file, std::string_view tensor, std::string_view what);
// "kaio: 'm.gguf' cannot be read: <why>".
[[noreturn]] void fail_unreadable(std::string_view file, std::string_view why);

}  // namespace kaio::weights
