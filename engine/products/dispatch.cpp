#include <stdexcept>
#include <string>

#include "products/kernels.hpp"

namespace assay::engine {
namespace {

bool executes(Instructions instructions) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (instructions == Instructions::avx2) return avx2;
  if (instructions == Instructions::avx512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return instructions == Instructions::portable;
}

}  // namespace

const ProductKernels& kernels(Instructions instructions) {
  if (instructions == Instructions::fastest) return kernels(fastest_instructions());
  if (!executes(instructions))
    throw std::invalid_argument("this machine does not support the instruction set with number " +
                                std::to_string(static_cast<int>(instructions)));
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return avx512_products;
  if (instructions == Instructions::avx2) return avx2_products;
#endif
  return portable_products;
}

std::vector<Instructions> available_instructions() {
  std::vector<Instructions> all = {Instructions::avx512, Instructions::avx2,
                                   Instructions::portable};
  std::erase_if(all, [](Instructions one) { return !executes(one); });
  return all;
}

Instructions fastest_instructions() {
  static const Instructions fastest = available_instructions().front();
  return fastest;
}

void multiply(const Product<double>& product, Instructions instructions) {
  kernels(instructions).in_double(product);
}
void multiply(const Product<float>& product, Instructions instructions) {
  kernels(instructions).in_float(product);
}

}  // namespace assay::engine
