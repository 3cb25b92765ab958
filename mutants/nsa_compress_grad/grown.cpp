#include "compression/grown_steps.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants {
namespace {

using namespace compress::grad;

struct GrownChannelSum : compress::Grown<Kernel> {
  using Grown::Grown;
  double channel_sum(const compress::WindowWork& w, const compress::TokenWindow& window,
                     std::int64_t k, std::int64_t n) const override {
    return grown_value(Step::channel_sum, w, window, k, n,
                       [&](const compress::TokenWindow& at, std::int64_t token, std::int64_t head) {
                         return Kernel::channel_sum(w, at, token, head);
                       });
  }
};

}  // namespace

template <>
std::vector<MutantOf<spec::NsaCompressGrad>> grown_mutants() {
  return planted_by_turns<spec::NsaCompressGrad, GrownChannelSum>(
      compress::grown_bugs(Step::channel_sum), {plant.plan});
}

}  // namespace assay::mutants
