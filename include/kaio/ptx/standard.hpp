#pragma once
// What kaio needs of the compiler. Every other header includes this one first, directly or through another, so that a
// compiler that was not asked for it prints one sentence and ends, rather than a hundred errors.

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error kaio: C++20 is needed; compile with -std=c++20 or newer
#include <kaio/cannot_be_compiled>  // a compiler ends at a file that is not there
#elif !defined(__cpp_exceptions)
#error kaio: exceptions are needed, with which it reports errors; compile without -fno-exceptions
#include <kaio/cannot_be_compiled>
#endif

// The macros of <windows.h> would take the place of min(x, y) in a kernel and of std::min. Define NOMINMAX where they are
// not wanted at all.
#undef min
#undef max
