// Part of a library that carries machine code.
int silu_code_version() { return 1; }
