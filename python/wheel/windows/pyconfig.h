#pragma once
// The settings of Python's headers for Windows on x86-64. CPython's other headers are the same on all systems, so a module for Windows
// compiles with those of Linux. The stable interface needs no more.

#include <stdio.h>  // as CPython's own file does

#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define Py_ENABLE_SHARED 1  // functions and objects are imported from python3.dll
#define HAVE_DECLSPEC_DLL
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_TIME_T 8
#define SIZEOF_OFF_T 4
#define SIZEOF_FPOS_T 8
