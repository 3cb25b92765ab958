#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace {

using namespace assay::aclnn;

template <class Body>
aclnnStatus operators(std::string_view function, const Body& body) noexcept {
  return answer(Family::operators, function, body);
}

void require(const void* pointer, std::string_view name) {
  assay::aclnn::require(Family::operators, pointer, name);
}

/// Returns `object`, which the registry found for `handle`. Errors: Failure if `object` is null,
/// because the handle is invalid.
template <class Object>
std::shared_ptr<Object> live(const void* handle, std::shared_ptr<Object> object,
                             std::string_view name) {
  require(handle, name);
  if (object == nullptr)
    throw Failure(ACLNN_ERR_PARAM_INVALID, std::string(name) + " was destroyed or never created");
  return object;
}

auto found(const aclTensor* tensor) {
  return live(tensor, Process::get().tensors.find(tensor), "tensor");
}

auto found(const aclIntArray* array) {
  return live(array, Process::get().int_arrays.find(array), "array");
}

auto found(const aclTensorList* list) {
  return live(list, Process::get().tensor_lists.find(list), "tensorList");
}

template <class Registry, class Handle>
aclnnStatus destroy(std::string_view function, Registry& registry, Handle* handle,
                    std::string_view name) noexcept {
  return operators(function, [&] { live(handle, registry.take(handle), name); });
}

/// Destroys an object; does nothing for null.
template <class Registry, class Handle>
aclnnStatus destroy_if_any(std::string_view function, Registry& registry, Handle* handle,
                           std::string_view name) noexcept {
  return handle == nullptr ? ACLNN_SUCCESS : destroy(function, registry, handle, name);
}

/// Copies `size` entries of the caller's array. Sizes above max_size are refused, because they
/// would overflow the address range.
template <class Entry>
std::vector<Entry> copied(const Entry* entries, uint64_t size) {
  if (size > 0) require(entries, "value");
  std::vector<Entry> copy;
  if (size > copy.max_size())
    throw Failure(ACLNN_ERR_PARAM_INVALID, "size is " + std::to_string(size) +
                                               "; it must be at most " +
                                               std::to_string(copy.max_size()));
  copy.assign(entries, entries + size);
  return copy;
}

/// Copies numbers to a new array, which the caller must release with delete[].
void hand_out(const assay::spec::Shape& numbers, int64_t** values, uint64_t* count) {
  require(values, "the array");
  require(count, "its size");
  *values = new int64_t[numbers.size()];
  std::ranges::copy(numbers, *values);
  *count = numbers.size();
}

template <class Value>
void hand_out(const Value& member, Value* value, std::string_view name) {
  require(value, name);
  *value = member;
}

Scalar scalar_of(const void* value, aclDataType dtype) {
  require(value, "value");
  const std::int64_t size = element_size(dtype);
  Scalar scalar = {.dtype = dtype, .bytes = {}};
  if (size == 0)
    throw Failure(ACLNN_ERR_PARAM_INVALID,
                  "dataType is " + text_of(dtype) +
                      "; it must be a type whose size is a whole number of bytes");
  std::memcpy(scalar.bytes.data(), value, static_cast<std::size_t>(size));
  return scalar;
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  aclTensor* tensor = nullptr;
  operators("aclCreateTensor", [&] {
    const TensorDescription description = {.dims = viewDims,
                                           .rank = viewDimsNum,
                                           .dtype = dataType,
                                           .strides = stride,
                                           .offset = offset,
                                           .format = format,
                                           .storage_dims = storageDims,
                                           .storage_rank = storageDimsNum,
                                           .start = tensorData};
    tensor =
        Process::get().tensors.add(std::make_shared<const TensorView>(tensor_view(description)));
  });
  return tensor;
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return destroy_if_any("aclDestroyTensor", Process::get().tensors, tensor, "tensor");
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return operators("aclGetViewShape",
                   [&] { hand_out(found(tensor)->shape, viewDims, viewDimsNum); });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return operators("aclGetStorageShape",
                   [&] { hand_out(found(tensor)->storage_shape, storageDims, storageDimsNum); });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return operators("aclGetViewStrides",
                   [&] { hand_out(found(tensor)->strides, stridesValue, stridesNum); });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return operators("aclGetViewOffset", [&] { hand_out(found(tensor)->offset, offset, "offset"); });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return operators("aclGetFormat", [&] { hand_out(found(tensor)->format, format, "format"); });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return operators("aclGetDataType", [&] { hand_out(found(tensor)->dtype, dataType, "dataType"); });
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  aclTensorList* list = nullptr;
  operators("aclCreateTensorList", [&] {
    TensorList tensors = {.tensors = copied(value, size)};
    for (const aclTensor* tensor : tensors.tensors)
      if (tensor != nullptr) found(tensor);
    list = Process::get().tensor_lists.add(std::make_shared<const TensorList>(std::move(tensors)));
  });
  return list;
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return operators("aclDestroyTensorList", [&] {
    if (array == nullptr) return;
    const auto list = live(array, Process::get().tensor_lists.take(array), "array");
    for (const aclTensor* tensor : list->tensors) Process::get().tensors.take(tensor);
  });
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return operators("aclGetTensorListSize",
                   [&] { hand_out<uint64_t>(found(tensorList)->tensors.size(), size, "size"); });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  aclIntArray* array = nullptr;
  operators("aclCreateIntArray", [&] {
    array = Process::get().int_arrays.add(
        std::make_shared<const IntArray>(IntArray{.values = copied(value, size)}));
  });
  return array;
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return destroy_if_any("aclDestroyIntArray", Process::get().int_arrays, array, "array");
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return operators("aclGetIntArraySize",
                   [&] { hand_out<uint64_t>(found(array)->values.size(), size, "size"); });
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* scalar = nullptr;
  operators("aclCreateScalar", [&] {
    scalar = Process::get().scalars.add(std::make_shared<const Scalar>(scalar_of(value, dataType)));
  });
  return scalar;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return destroy_if_any("aclDestroyScalar", Process::get().scalars, scalar, "scalar");
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return operators("aclSetAclOpExecutorRepeatable", [&] {
    live(executor, Process::get().executors.find(executor), "executor")->repeatable = true;
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return destroy("aclDestroyAclOpExecutor", Process::get().executors, executor, "executor");
}

}  // extern "C"
