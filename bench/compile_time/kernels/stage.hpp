#pragma once
// The end of a kernel's file: how far the compiler takes the kernel `measured`. With -DSTAGE=1 it is traced,
// with 2 checked too, with 3 rendered as text, with 4 made an image (private members: -fno-access-control).
// Without STAGE the program prints the text.

#ifdef STAGE
using compiled = decltype(measured)::result;
static_assert(compiled::trace.program.instruction_count > 0);
#if STAGE >= 2
static_assert(compiled::is_sound());
static_assert((kaio::dsl::require_wgmma_order<compiled::misuse>(), true));
#endif
#if STAGE >= 3
static_assert(!compiled::segments.data[0].empty());
#endif
#if STAGE >= 4
static_assert(compiled::image.line_count > 0);
#endif
#else
#include <cstdio>
int main() {
  for (const auto segment : measured.ptx()) std::fwrite(segment.data(), 1, segment.size(), stdout);
}
#endif
