// The main function of a test program, for Catch2 2.x, which has no library to take it from.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
