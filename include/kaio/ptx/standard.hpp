#pragma once
// The language standard and mode that kaio needs. Every other header includes this one first, directly or
// not: a compiler in another mode prints one sentence and ends, rather than a hundred errors.

#if defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16
#error kaio: this clang is too old; install clang 16 or newer (Debian 12: apt install clang-16), or g++ 12 or newer
#include <kaio/cannot_be_compiled>  // a compiler ends at a file that is not there
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error kaio: this g++ is too old; install g++ 12 or newer (Debian 12: apt install g++), or clang 16 or newer
#include <kaio/cannot_be_compiled>
#elif defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error kaio: C++20 is needed; compile with -std=c++20 or newer
#include <kaio/cannot_be_compiled>
#elif !defined(__cpp_exceptions)
#error kaio: errors are exceptions; compile without -fno-exceptions
#include <kaio/cannot_be_compiled>
#endif

// The macros of <windows.h> would replace min(x, y) in a kernel and std::min. Define NOMINMAX if they are not
// wanted at all.
#undef min
#undef max
