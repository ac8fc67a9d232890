#pragma once
// What a launch does when all of its threads poll memory that none of them writes. Without a memory_wait that is
// a livelock, a fault. With one, the launch asks it: the host, or another launch, may still write.
//
//   launch l;
//   l.wait = &w;   // run(l, global) calls w.wait(...) from the thread that runs the grid

#include "emulator/program/scalar.hpp"

namespace kaio::emulator {

// What is known about a launch that polls.
enum class poll_state : u8 {
  timed,    // it reads a clock, so its waiting may end by itself
  quiet,    // it has written nothing for a while
  forever,  // its state repeats: it waits for ever, unless others write
};

// What it does next.
enum class poll_answer : u8 {
  again,  // reads the memory again
  prove,  // runs without pauses, to find out whether its state repeats
  fault,  // reports the livelock
};

class memory_wait {
 public:
  memory_wait() = default;
  memory_wait(const memory_wait&) = delete;
  memory_wait& operator=(const memory_wait&) = delete;
  virtual ~memory_wait() = default;

  // Called before the grid begins, from the thread that runs it.
  virtual void begin() {}
  // Called after each round of turns that wrote nothing. It may sleep until others write. `wrote`: the launch
  // has written memory, or one of its blocks has ended, since the last call.
  virtual poll_answer wait(poll_state state, bool wrote) = 0;
};

}  // namespace kaio::emulator
