#include "assay/spec/dtype.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace assay::spec {
namespace {

template <class T>
double load_as(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void store_as(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

void no_number(DType dtype) {
  throw std::invalid_argument("elements of type " + std::string(to_string(dtype)) +
                              " cannot be read as numbers");
}

double round_to(double value, FloatFormat format) {
  return from_bits(round_to_bits(value, format), format);
}

double load(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::fp32:
      return load_as<float>(element);
    case DType::bf16: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    case DType::fp16: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return from_bits(bits, fp16_format);
    }
    case DType::fp64:
      return load_as<double>(element);
    case DType::int8:
      return load_as<std::int8_t>(element);
    case DType::int16:
      return load_as<std::int16_t>(element);
    case DType::int32:
      return load_as<std::int32_t>(element);
    case DType::int64:
      return load_as<std::int64_t>(element);
    case DType::uint8:
    case DType::boolean:
      return load_as<std::uint8_t>(element);
    case DType::uint16:
      return load_as<std::uint16_t>(element);
    case DType::uint32:
      return load_as<std::uint32_t>(element);
    case DType::uint64:
      return load_as<std::uint64_t>(element);
    default:
      no_number(dtype);
  }
}

void store(DType dtype, double value, std::byte* element) {
  switch (dtype) {
    case DType::fp32:
      return store_as(round_to_bits(value, fp32_format), element);
    case DType::bf16:
      return store_as(static_cast<std::uint16_t>(round_to_bits(value, bf16_format)), element);
    case DType::fp16:
      return store_as(static_cast<std::uint16_t>(round_to_bits(value, fp16_format)), element);
    case DType::fp64:
      return store_as(value, element);
    case DType::int8:
      return store_as(static_cast<std::int8_t>(value), element);
    case DType::int16:
      return store_as(static_cast<std::int16_t>(value), element);
    case DType::int32:
      return store_as(static_cast<std::int32_t>(value), element);
    case DType::int64:
      return store_as(static_cast<std::int64_t>(value), element);
    case DType::uint8:
    case DType::boolean:
      return store_as(static_cast<std::uint8_t>(value), element);
    case DType::uint16:
      return store_as(static_cast<std::uint16_t>(value), element);
    case DType::uint32:
      return store_as(static_cast<std::uint32_t>(value), element);
    case DType::uint64:
      return store_as(static_cast<std::uint64_t>(value), element);
    default:
      no_number(dtype);
  }
}

}  // namespace assay::spec
