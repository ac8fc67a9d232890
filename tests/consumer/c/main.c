/* Copies numbers to the device and back. */
#include <kaio/c/kaio.h>

#include <stdio.h>

static int failed(kaio_status status) {
  if (status != KAIO_OK) fprintf(stderr, "%s\n", kaio_last_error());
  return status != KAIO_OK;
}

int main(void) {
  const float numbers[3] = {1, 2, 3};
  float back[3] = {0, 0, 0};
  void* memory = NULL;
  DLDevice device;
  if (failed(kaio_device_open(NULL, &device)) || failed(kaio_allocate(device, sizeof numbers, &memory)) ||
      failed(kaio_copy_to_device(device, NULL, memory, numbers, sizeof numbers)) ||
      failed(kaio_copy_to_host(device, NULL, back, memory, sizeof back)) || failed(kaio_stream_synchronize(device, NULL)) ||
      failed(kaio_free(device, memory)))
    return 1;
  if (back[0] != 1 || back[1] != 2 || back[2] != 3) return 2;
  puts("right");
  return 0;
}
