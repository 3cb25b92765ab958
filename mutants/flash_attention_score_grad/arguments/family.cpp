#include <algorithm>
#include <iterator>
#include <string>

#include "checked.hpp"
#include "flash_attention_score_grad/families.hpp"
#include "work.hpp"

namespace assay::mutants {
namespace {

using FlashCall = spec::Call<Op>;

constexpr const char* compressed_mask = "FAG-C67b";

/// In sparse_mode 6 the mask is looked at as if the mode were 3.
bool has_square_mask(const FlashCall& call) {
  FlashCall other = call;
  spec::Shape& shape = other.parameters.atten_mask.shape;
  if (other.attributes.sparse_mode == 6 && shape == spec::Shape{2048, 2048}) shape[0] = 3072;
  for (const auto& requirement : Op::requirements())
    if (requirement.id == compressed_mask) return requirement.holds(other);
  return true;
}

/// Of legal calls: the axis of heads, or of heads and channels, is alike.
bool has_as_many_heads(const FlashCall& c) {
  const std::string& layout = *c.attributes.input_layout;
  const std::size_t heads = layout.find('N');
  const std::size_t axis = heads == std::string::npos ? layout.find('H') : heads;
  return c.parameters.query.shape[axis] == c.parameters.key.shape[axis];
}

Mutant with_checks(const std::string& name, std::string bug, const Checks<Op>& checks) {
  return checking<Kernel>(name, std::move(bug), flash_like, checks);
}

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {with_checks("argument_checks", "checks its arguments itself", {})};
  all.front().healthy = true;
  std::ranges::move(careless<Kernel, Op>("", flash_like), std::back_inserter(all));
  all.push_back(
      with_checks("prefix_mask_as_others", "takes a mask of 2048 rows in sparse_mode 6",
                  {.looked_at_otherwise = compressed_mask, .otherwise = has_square_mask}));
  all.push_back(
      with_checks("refuses_grouped_heads", "refuses legal calls with grouped heads",
                  {.beyond = "grouped heads are not taken", .passes_beyond = has_as_many_heads}));
  return all;
}

}  // namespace assay::mutants
