#include "model/alternatives.hpp"

#include <algorithm>

namespace assay::optimized {

std::string to_text(std::vector<Alternative> all, const device::Spec& device,
                    std::string_view utilised) {
  std::stable_sort(all.begin(), all.end(), [](const Alternative& x, const Alternative& y) {
    return x.estimate.seconds < y.estimate.seconds;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 2); ++i) {
    std::string figures = to_text(all[i].estimate, device, utilised);
    figures.erase(0, figures.find(": ") + 2);
    text += (i == 0 ? "fastest schedule of " + std::to_string(all.size()) + ": " : "next: ") +
            figures + "  " + all[i].text;
  }
  return text;
}

}  // namespace assay::optimized
