#include <algorithm>
#include <utility>

#include "checked.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

using CompressCall = spec::Call<Op>;

Mutant with_checks(const std::string& name, std::string bug, const Checks<Op>& checks) {
  return checking<Kernel>(name, std::move(bug), device_like, checks);
}

bool has_no_empty_sequence(const CompressCall& c) {
  const auto& sums = c.parameters.act_seq_len;
  return !sums || sums->empty() ||
         (sums->front() > 0 && std::ranges::adjacent_find(*sums) == sums->end());
}

bool has_whole_granules(const CompressCall& c) {
  const spec::Shape& shape = c.parameters.input.shape;
  return shape.size() != 3 || shape[2] % 16 == 0;
}

bool has_whole_strides(const CompressCall& c) {
  return c.attributes.compress_stride == 0 ||
         c.attributes.compress_block_size % c.attributes.compress_stride == 0;
}

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {
      with_checks("compress_argument_checks", "checks its arguments itself", {}),
      with_checks("compress_strict_checks", "refuses what is open or disputed, too",
                  {.are_strict = true})};
  for (Mutant& mutant : all) mutant.healthy = true;
  std::ranges::move(careless<Kernel, Op>("compress_", device_like), std::back_inserter(all));
  const auto refusing = [&](const std::string& name, std::string bug, std::string demand,
                            Passes<Op> passes) {
    all.push_back(
        with_checks(name, std::move(bug), {.beyond = std::move(demand), .passes_beyond = passes}));
  };
  refusing("compress_refuses_empty", "refuses legal calls with an empty sequence",
           "sums rise strictly", has_no_empty_sequence);
  refusing("compress_refuses_rests", "refuses legal calls whose windows are not whole strides",
           "windows are whole strides", has_whole_strides);
  refusing("compress_refuses_head_sizes", "refuses legal calls whose D is not a multiple of 16",
           "D is a multiple of 16", has_whole_granules);
  return all;
}

}  // namespace assay::mutants::compress
