# cmake -DFROM=... -DTO=... -P images.cmake: the images of a family (src/images/write_images.cpp) for an assembler that knows
# PE, the format of Windows, in place of ELF.
file(READ ${FROM} text)
string(REPLACE ".pushsection .rodata.kaio_images, \"a\"" ".section .rdata,\"dr\"" text "${text}")
string(REGEX REPLACE "\n *\\.hidden [A-Za-z0-9_]+" "" text "${text}")
string(REPLACE ".popsection" ".text" text "${text}")
string(REPLACE "[[gnu::visibility(\"hidden\")]] " "" text "${text}")
file(WRITE ${TO} "${text}")
