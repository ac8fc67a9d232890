// What a module that this machine's g++ compiled needs of libstdc++.so.6, and that of gcc 8 lacks (GLIBCXX_3.4.24 is the newest
// version that manylinux_2_28 allows). link.py adds this file to the module.

extern __attribute__((noreturn)) void __cxa_throw_bad_array_new_length(void);

// GLIBCXX_3.4.29: std::__throw_bad_array_new_length().
__attribute__((noreturn, visibility("hidden"))) void bad_array_new_length(void)
    __asm__("_ZSt28__throw_bad_array_new_lengthv");
void bad_array_new_length(void) { __cxa_throw_bad_array_new_length(); }
