// A test double of a vendor library: a shared object that exports the documented C API of one
// operator, aclnnNsaCompressGrad, and misbehaves as the test chooses. Its device memory is host
// memory. The signatures are copied from the documentation, independently of the code under test.
#include "acl_double.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using assay::adapters::tests::Conduct;
using assay::adapters::tests::Living;

Conduct conduct = Conduct::fills_outputs;
Living living = {};
bool deterministic = false;
int stream_and_context = 0;

constexpr int element_bytes = 2;
constexpr std::uint64_t workspace_bytes = 40;

}  // namespace

struct aclTensor {
  std::vector<std::int64_t> shape, strides, storage;
  std::int64_t offset;
  char* elements;
};
struct aclIntArray {
  std::vector<std::int64_t> values;
};
struct aclOpExecutor {
  const aclTensor *input, *input_grad, *weight_grad;
};

namespace {

void fill(const aclTensor& tensor, std::size_t axis, char* first) {
  if (axis == tensor.shape.size()) {
    std::memset(first, 0x3c, element_bytes);
    return;
  }
  for (std::int64_t k = 0; k < tensor.shape[axis]; ++k)
    fill(tensor, axis + 1, first + k * tensor.strides[axis] * element_bytes);
}

char* end_of(const aclTensor& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : tensor.storage) elements *= extent;
  return tensor.elements + elements * element_bytes;
}

int created(std::int64_t& count, void** handle) {
  ++count;
  *handle = &stream_and_context;
  return 0;
}

int destroyed(std::int64_t& count) {
  --count;
  return 0;
}

}  // namespace

extern "C" {

void double_set_conduct(Conduct wanted) { conduct = wanted; }
Living double_living() { return living; }
bool double_was_deterministic() { return deterministic; }

int aclInit(const char*) { return ++living.runtimes == 1 ? 0 : 100002; }
int aclFinalize() { return destroyed(living.runtimes); }
int aclrtSetDevice(std::int32_t device) { return device == 0 ? 0 : 107001; }
int aclrtResetDevice(std::int32_t) { return 0; }
int aclrtCreateContext(void** context, std::int32_t) { return created(living.contexts, context); }
int aclrtDestroyContext(void*) { return destroyed(living.contexts); }
int aclrtSetCurrentContext(void*) { return 0; }
int aclrtCreateStream(void** stream) { return created(living.streams, stream); }
int aclrtDestroyStream(void*) { return destroyed(living.streams); }
int aclrtSynchronizeStream(void*) { return conduct == Conduct::fails_on_device ? 507011 : 0; }

int aclrtCtxSetSysParamOpt(int option, std::int64_t value) {
  if (conduct == Conduct::cannot_fix_order || option != 0) return 100000;
  deterministic = value != 0;
  return 0;
}

int aclrtMalloc(void** address, std::size_t size, int) {
  if (conduct == Conduct::has_no_memory || size == 0) return 207001;
  ++living.allocations;
  *address = std::malloc(size);
  return 0;
}

int aclrtFree(void* address) {
  std::free(address);
  return destroyed(living.allocations);
}

int aclrtMemcpy(void* to, std::size_t room, const void* from, std::size_t count, int) {
  if (count > room) return 107000;
  std::memcpy(to, from, count);
  return 0;
}

aclTensor* aclCreateTensor(const std::int64_t* shape, std::uint64_t rank, int,
                           const std::int64_t* strides, std::int64_t offset, int,
                           const std::int64_t* storage, std::uint64_t storage_rank, void* address) {
  if (conduct == Conduct::makes_no_tensor) return nullptr;
  ++living.tensors;
  return new aclTensor{{shape, shape + rank},
                       {strides, strides + rank},
                       {storage, storage + storage_rank},
                       offset,
                       static_cast<char*>(address)};
}

int aclDestroyTensor(const aclTensor* tensor) {
  delete tensor;
  return destroyed(living.tensors);
}

aclIntArray* aclCreateIntArray(const std::int64_t* values, std::uint64_t size) {
  ++living.arrays;
  return new aclIntArray{{values, values + size}};
}

int aclDestroyIntArray(const aclIntArray* array) {
  delete array;
  return destroyed(living.arrays);
}

int aclSetAclOpExecutorRepeatable(aclOpExecutor*) { return 0; }

int aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  delete executor;
  return destroyed(living.executors);
}

const char* aclGetRecentErrMsg() {
  return conduct == Conduct::fills_outputs ? nullptr : "made to misbehave";
}

int aclnnNsaCompressGradGetWorkspaceSize(const aclTensor* output_grad, const aclTensor* input,
                                         const aclTensor* weight, const aclIntArray* ends,
                                         std::int64_t block_size, std::int64_t stride,
                                         std::int64_t type, char* layout,
                                         const aclTensor* input_grad, const aclTensor* weight_grad,
                                         std::uint64_t* workspace_size, aclOpExecutor** executor) {
  for (const void* needed :
       {static_cast<const void*>(output_grad), static_cast<const void*>(input),
        static_cast<const void*>(weight), static_cast<const void*>(ends),
        static_cast<const void*>(layout), static_cast<const void*>(input_grad),
        static_cast<const void*>(weight_grad), static_cast<const void*>(workspace_size),
        static_cast<const void*>(executor)})
    if (!needed) return 161001;
  const bool legal = std::strcmp(layout, "TND") == 0 && type == 0 && block_size > stride &&
                     weight->shape[0] == block_size && ends->values.back() == input->shape[0];
  if (!legal || conduct == Conduct::refuses) return 161002;
  *workspace_size = conduct == Conduct::wants_all_memory ? ~std::uint64_t{0} : workspace_bytes;
  *executor = new aclOpExecutor{input, input_grad, weight_grad};
  ++living.executors;
  return 0;
}

int aclnnNsaCompressGrad(void* workspace, std::uint64_t size, aclOpExecutor* executor,
                         void* stream) {
  const aclOpExecutor taken = *executor;
  aclDestroyAclOpExecutor(executor);
  if (conduct == Conduct::refuses_phase2 || size != workspace_bytes ||
      stream != &stream_and_context)
    return 361001;
  for (const aclTensor* gradient : {taken.input_grad, taken.weight_grad})
    fill(*gradient, 0, gradient->elements + gradient->offset * element_bytes);
  if (conduct == Conduct::writes_after) *end_of(*taken.weight_grad) ^= 1;
  if (conduct == Conduct::writes_before) taken.input_grad->elements[-1] ^= 1;
  if (conduct == Conduct::writes_inputs) end_of(*taken.input)[-1] ^= 1;
  if (conduct == Conduct::writes_workspace) static_cast<char*>(workspace)[size] ^= 1;
  return 0;
}

/// Exports another operator, which has only one entry point. No test calls it.
int aclnnFlashAttentionScoreGradGetWorkspaceSize() { return 161002; }
int aclnnFlashAttentionScoreGrad() { return 361001; }

}  // extern "C"
