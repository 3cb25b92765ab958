#include <gtest/gtest.h>

#include <memory>

#include "session.hpp"

namespace {

using namespace assay::test;
using Numbers = std::vector<std::int64_t>;

/// The arguments with which a caller creates a tensor.
struct Said {
  Numbers dims = {2, 3};
  aclDataType dtype = ACL_FLOAT16;
  Numbers strides = {3, 1};
  std::int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  Numbers storage = {2, 3};

  aclTensor* create() const {
    return aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), offset, format,
                           storage.data(), storage.size(), nullptr);
  }
};

std::string refusal(const Said& said) {
  EXPECT_EQ(said.create(), nullptr);
  return recent_message();
}

/// Returns the numbers that a getter of the C API returns for a tensor.
Numbers numbers(aclnnStatus (*get)(const aclTensor*, std::int64_t**, std::uint64_t*),
                const aclTensor* tensor) {
  std::int64_t* values = nullptr;
  std::uint64_t count = 0;
  EXPECT_EQ(get(tensor, &values, &count), ACLNN_SUCCESS);
  const std::unique_ptr<std::int64_t[]> owned(values);
  EXPECT_EQ(get(tensor, nullptr, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(get(nullptr, &values, &count), ACLNN_ERR_PARAM_NULLPTR);
  return {values, values + count};
}

TEST(Tensor, ReturnsItsArguments) {
  const aclTensor* const tensor = Said{
      .dims = {2, 0, 3},
      .dtype = ACL_BF16,
      .strides = {30, 10, 2},
      .offset = 5,
      .format = ACL_FORMAT_NCHW,
      .storage = {100}}.create();
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(numbers(aclGetViewShape, tensor), (Numbers{2, 0, 3}));
  EXPECT_EQ(numbers(aclGetViewStrides, tensor), (Numbers{30, 10, 2}));
  EXPECT_EQ(numbers(aclGetStorageShape, tensor), (Numbers{100}));
  std::int64_t offset = 0;
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), ACLNN_SUCCESS);
  EXPECT_EQ(offset, 5);
  aclFormat format = ACL_FORMAT_UNDEFINED;
  EXPECT_EQ(aclGetFormat(tensor, &format), ACLNN_SUCCESS);
  EXPECT_EQ(format, ACL_FORMAT_NCHW);
  aclDataType dtype = ACL_DT_UNDEFINED;
  EXPECT_EQ(aclGetDataType(tensor, &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(dtype, ACL_BF16);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclGetDataType(tensor, &dtype), ACLNN_ERR_PARAM_INVALID);
}

TEST(Tensor, IsRowMajorWithoutStrides) {
  const Numbers dims = {2, 3, 4};
  const aclTensor* const tensor =
      aclCreateTensor(dims.data(), 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  ASSERT_NE(tensor, nullptr) << recent_message();
  EXPECT_EQ(numbers(aclGetViewStrides, tensor), (Numbers{12, 4, 1}));
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
}

/// A tensor with too many elements: without given strides, the default strides do not fit in 64
/// bits.
TEST(Tensor, TensorOfTooManyElementsNeedsStrides) {
  constexpr std::int64_t many = std::int64_t{1} << 40;
  const std::int64_t dims[] = {2, many, many}, strides[] = {0, 0, 1};
  const auto create = [&](const std::int64_t* stride) {
    return aclCreateTensor(dims, 3, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, dims, 3, nullptr);
  };
  EXPECT_EQ(create(nullptr), nullptr);
  EXPECT_EQ(recent_message(),
            "aclCreateTensor: stride is null and viewDims[1] is 1099511627776; the previous stride "
            "must be at most 9223372036854775807");
  const aclTensor* const broadcast = create(strides);
  ASSERT_NE(broadcast, nullptr) << recent_message();
  EXPECT_EQ(aclDestroyTensor(broadcast), ACLNN_SUCCESS);
}

TEST(Tensor, MayHaveNoAxis) {
  const aclTensor* const tensor =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  ASSERT_NE(tensor, nullptr) << recent_message();
  EXPECT_EQ(numbers(aclGetViewShape, tensor), Numbers());
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
}

TEST(Tensor, MayHaveEightAxes) {
  const aclTensor* const tensor = Said{.dims = Numbers(8, 1), .strides = Numbers(8, 1)}.create();
  ASSERT_NE(tensor, nullptr) << recent_message();
  EXPECT_EQ(numbers(aclGetViewShape, tensor), Numbers(8, 1));
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
}

TEST(Tensor, ReportsInvalidDescriptions) {
  EXPECT_EQ(refusal({.dims = {2, -1}}),
            "aclCreateTensor: an entry of viewDims is -1; it must not be negative");
  EXPECT_EQ(refusal({.strides = {-3, 1}}),
            "aclCreateTensor: an entry of stride is -3; it must not be negative");
  EXPECT_EQ(refusal({.storage = {-2}}),
            "aclCreateTensor: an entry of storageDims is -2; it must not be negative");
  EXPECT_EQ(refusal({.offset = -1}), "aclCreateTensor: offset is -1; it must not be negative");
  EXPECT_EQ(refusal({.dtype = ACL_DT_UNDEFINED}),
            "aclCreateTensor: dataType is -1; it must be a value of aclDataType");
  EXPECT_EQ(refusal({.dtype = static_cast<aclDataType>(5)}),
            "aclCreateTensor: dataType is 5; it must be a value of aclDataType");
  EXPECT_EQ(refusal({.format = static_cast<aclFormat>(5)}),
            "aclCreateTensor: format is 5; it must be a value of aclFormat");
  EXPECT_EQ(refusal({.dims = Numbers(9, 1), .strides = Numbers(9, 1)}),
            "aclCreateTensor: viewDims has 9 entries; at most 8");
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
            nullptr);
  EXPECT_EQ(recent_message(), "aclCreateTensor: viewDims is null; it must have 2 entries");
}

TEST(IntArray, CopiesItsNumbers) {
  Numbers values = {3, 1, 4};
  const aclIntArray* const array = aclCreateIntArray(values.data(), 3);
  ASSERT_NE(array, nullptr);
  values.clear();
  std::uint64_t size = 0;
  EXPECT_EQ(aclGetIntArraySize(array, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 3U);
  EXPECT_EQ(aclGetIntArraySize(array, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
  EXPECT_EQ(aclCreateIntArray(nullptr, 1), nullptr);
  const aclIntArray* const none = aclCreateIntArray(nullptr, 0);
  EXPECT_NE(none, nullptr);
  EXPECT_EQ(aclDestroyIntArray(none), ACLNN_SUCCESS);
}

/// The array has 2^61 entries of 8 bytes, which are 2^64 bytes. In 64 bits this number wraps to 0.
TEST(IntArray, MoreEntriesThanMemoryCanHoldAreRefused) {
  const std::int64_t value = 7;
  for (const std::uint64_t size :
       {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, std::uint64_t{1} << 60, UINT64_MAX}) {
    EXPECT_EQ(aclCreateIntArray(&value, size), nullptr) << size;
    EXPECT_EQ(recent_message(), "aclCreateIntArray: size is " + std::to_string(size) +
                                    "; it must be at most 1152921504606846975");
  }
}

TEST(Objects, NullIsNothingToDestroy) {
  EXPECT_EQ(aclDestroyTensor(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(recent_message(), "");
}

TEST(TensorList, OwnsItsTensors) {
  const aclTensor* const first = Said{}.create();
  const aclTensor* const tensors[] = {first, nullptr, Said{}.create()};
  const aclTensorList* const list = aclCreateTensorList(tensors, 3);
  ASSERT_NE(list, nullptr) << recent_message();
  std::uint64_t size = 0;
  EXPECT_EQ(aclGetTensorListSize(list, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 3U);
  EXPECT_EQ(aclGetTensorListSize(list, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetTensorListSize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(first), ACLNN_ERR_PARAM_INVALID)
      << "the tensor was destroyed with the list";
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclGetTensorListSize(list, &size), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclCreateTensorList(&first, 1), nullptr);
  EXPECT_EQ(recent_message(), "aclCreateTensorList: tensor was destroyed or never created");
  EXPECT_EQ(aclCreateTensorList(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateTensorList(&first, std::uint64_t{1} << 61), nullptr);
  const aclTensorList* const none = aclCreateTensorList(nullptr, 0);
  EXPECT_NE(none, nullptr);
  EXPECT_EQ(aclDestroyTensorList(none), ACLNN_SUCCESS);
}

TEST(DataType, HasTheSizeOfItsElements) {
  for (const aclDataType type : {ACL_INT8, ACL_UINT8, ACL_BOOL, ACL_HIFLOAT8, ACL_FLOAT8_E5M2,
                                 ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0})
    EXPECT_EQ(aclDataTypeSize(type), 1U) << type;
  for (const aclDataType type : {ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_UINT16})
    EXPECT_EQ(aclDataTypeSize(type), 2U) << type;
  for (const aclDataType type : {ACL_FLOAT, ACL_INT32, ACL_UINT32, ACL_COMPLEX32})
    EXPECT_EQ(aclDataTypeSize(type), 4U) << type;
  for (const aclDataType type : {ACL_DOUBLE, ACL_INT64, ACL_UINT64, ACL_COMPLEX64})
    EXPECT_EQ(aclDataTypeSize(type), 8U) << type;
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16U);
  for (const aclDataType type :
       {ACL_INT4, ACL_UINT1, ACL_FLOAT6_E3M2, ACL_FLOAT6_E2M3, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2})
    EXPECT_EQ(aclDataTypeSize(type), 0U) << "the type is smaller than a byte: " << type;
  EXPECT_EQ(aclDataTypeSize(ACL_DT_UNDEFINED), 0U);
}

TEST(Scalar, CopiesItsElement) {
  float value = 2;
  const aclScalar* const scalar = aclCreateScalar(&value, ACL_FLOAT);
  ASSERT_NE(scalar, nullptr);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  EXPECT_EQ(aclCreateScalar(&value, ACL_STRING), nullptr);
}

}  // namespace
