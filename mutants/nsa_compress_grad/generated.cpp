#include "compression/generated_steps.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants {
namespace {

using namespace compress::grad;

struct GeneratedChannelSum : compress::Generated<Kernel> {
  using Generated::Generated;
  double channel_sum(const compress::WindowWork& w, const compress::TokenWindow& window,
                     std::int64_t k, std::int64_t n) const override {
    return generated_value(
        Step::channel_sum, w, window, k, n,
        [&](const compress::TokenWindow& at, std::int64_t token, std::int64_t head) {
          return Kernel::channel_sum(w, at, token, head);
        });
  }
};

}  // namespace

template <>
std::vector<MutantOf<spec::NsaCompressGrad>> generated_mutants() {
  return injected_by_turns<spec::NsaCompressGrad, GeneratedChannelSum>(
      compress::generated_faults(Step::channel_sum), {inject.plan});
}

}  // namespace assay::mutants
