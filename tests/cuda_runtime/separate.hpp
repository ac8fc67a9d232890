#pragma once
// A device function that another file defines.
__device__ int twice(int value);
