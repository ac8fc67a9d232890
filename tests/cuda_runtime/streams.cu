// Streams, events and graphs of the runtime.

#include "check.hpp"

__global__ void add(int* x, int value) { atomicAdd(x, value); }
__global__ void multiply(int* x, int value) { *x *= value; }

static void CUDART_CB raise(void* data) { ++*static_cast<int*>(data); }

static int value_of(const int* device) {
  int value = 0;
  CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

static void events(int* x) {
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMemset(x, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(begin, first));
  add<<<1, 32, 0, first>>>(x, 1);
  CHECK(cudaEventRecord(end, first));
  CHECK(cudaStreamWaitEvent(second, end));
  multiply<<<1, 1, 0, second>>>(x, 10);
  int calls = 0;
  CHECK(cudaLaunchHostFunc(second, raise, &calls));
  CHECK(cudaStreamSynchronize(second));
  EXPECT(calls == 1 && value_of(x) == 320);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  CHECK(cudaEventQuery(end));
  CHECK(cudaStreamQuery(first));
  int least = 0, greatest = 0, priority = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamGetPriority(first, &priority));
  EXPECT(greatest <= priority && priority <= least);
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}

static void captured(int* x) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(x, 0, sizeof(int), stream));
  add<<<1, 8, 0, stream>>>(x, 1);
  multiply<<<1, 1, 0, stream>>>(x, 3);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 3);
  cudaGraphExec_t program;
  CHECK(cudaGraphInstantiate(&program, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(program, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(value_of(x) == 24);
  CHECK(cudaGraphExecDestroy(program));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

static void built(int* x) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int five = 5, value = 2, out = 0;
  cudaGraphNode_t put, work, get;
  CHECK(cudaGraphAddMemcpyNode1D(&put, graph, nullptr, 0, x, &five, sizeof five, cudaMemcpyHostToDevice));
  void* arguments[] = {&x, &value};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(multiply);
  kernel.gridDim = kernel.blockDim = 1;
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&work, graph, &put, 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&get, graph, &work, 1, &out, x, sizeof out, cudaMemcpyDeviceToHost));
  cudaGraphExec_t program;
  CHECK(cudaGraphInstantiate(&program, graph, 0));
  CHECK(cudaGraphLaunch(program, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out == 10);
  value = 7;
  CHECK(cudaGraphExecKernelNodeSetParams(program, work, &kernel));
  CHECK(cudaGraphLaunch(program, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out == 35);
  CHECK(cudaGraphExecDestroy(program));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, sizeof(int)));
  events(x);
  captured(x);
  built(x);
  CHECK(cudaFree(x));
  std::puts("streams: fine");
}
