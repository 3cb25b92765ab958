#include <algorithm>
#include <iterator>

#include "checked.hpp"
#include "nsa_selected_attention/families.hpp"

namespace assay::mutants {
namespace selected_forward {
namespace {

/// A correct variant: adds the weights and the products in double.
struct DoubleSums : Kernel {
  float sum_of(const ForwardWork&, const std::vector<float>& weights) const override {
    double sum = 0;
    for (const float one : weights) sum += one;
    return static_cast<float>(sum);
  }
};

Mutant healthy(const std::string& name, std::string choice, const Plan& plan) {
  return healthy_in<Op, Kernel>(name, std::move(choice), plan);
}

bool has_one_head_in_a_group(const spec::Call<Op>& c) {
  return c.parameters.query.shape[1] == c.parameters.key.shape[1];
}

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using enum TileOrder;
  const auto with = [](Plan plan, const auto& change) {
    change(plan);
    return plan;
  };
  const Plan device = ascend_like, plain = flash_like;
  return {
      healthy("device_like", "casts round half away from zero", device),
      healthy("plain", "P is rounded to the type of the tensors, ties to even", {}),
      healthy("fused_exp2", "computes exp as a power of two", plain),
      healthy("polynomial", "exponentials by a polynomial",
              with(plain, [](Plan& p) { p.exponential = Exponential::polynomial; })),
      healthy("fp32_weights", "P is not rounded",
              with(plain, [](Plan& p) { p.staging = Staging::fp32; })),
      healthy("bf16_weights", "P is rounded to bf16, as declared",
              with(plain, [](Plan& p) { p.staging = Staging::bf16; })),
      healthy("descending", "adds the last key first",
              with(plain, [](Plan& p) { p.tile_order = descending; })),
      healthy("shuffled", "adds in a different order in every run",
              with(device, [](Plan& p) { p.tile_order = shuffled; })),
      healthy("fixed", "always adds in the same order, as declared",
              with(device, [](Plan& p) { p.order = spec::Order::fixed; })),
      healthy("truncating", "the cast truncates, as declared",
              with(plain, [](Plan& p) { p.round_out = spec::Rounding::rtz; })),
      healthy_in<Op, DoubleSums>("double_sums", "adds weights in double", device),
  };
}

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {checking<Kernel, Op>(
      "argument_checks", "a correct kernel that checks its arguments", flash_like, {})};
  all.front().healthy = true;
  std::ranges::move(
      careless<Kernel, Op>(
          flash_like,
          {{"refuses_groups", "refuses legal calls with several query heads per key head",
            "query and key must have the same number of heads", has_one_head_in_a_group}}),
      std::back_inserter(all));
  // Removes the mutant "null_is_invalid". Its status code for a null pointer is correct here,
  // because this operator may return either of two codes.
  std::erase_if(all, [](const Mutant& one) { return one.name == "null_is_invalid"; });
  return all;
}

}  // namespace selected_forward

template <>
std::vector<MutantOf<spec::NsaSelectedAttention>> mutants() {
  std::vector<selected_forward::Mutant> all;
  for (std::vector<selected_forward::Mutant> (*family)() :
       {selected_forward::healthy_kernels, selected_forward::number_mutants,
        selected_forward::argument_mutants})
    std::ranges::move(family(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants
