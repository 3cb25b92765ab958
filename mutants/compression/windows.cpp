#include "compression/windows.hpp"

#include <algorithm>

namespace assay::mutants::compress {
namespace {

std::vector<Sequence> sequences_of(const Problem& problem) {
  std::vector<Sequence> all;
  std::int64_t first = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    all.push_back({first, problem.length(b)});
    first += problem.length(b);
  }
  return all;
}

}  // namespace

bool is_covered(const WindowWork& w, std::int64_t token) {
  const Problem& p = w.problem;
  return std::ranges::any_of(sequences_of(p), [&](const Sequence& s) {
    const std::int64_t count =
        spec::window_count(s.length, p.compress_block_size, p.compress_stride);
    return count > 0 && s.first <= token &&
           token < s.first + (count - 1) * p.compress_stride + p.compress_block_size;
  });
}

std::vector<float> WindowSteps::read(const spec::Tensor& tensor) const {
  std::vector<float> values;
  for (const std::int64_t element : viewed_elements(tensor))
    values.push_back(static_cast<float>(tensor.load(element)));
  return values;
}

std::vector<Sequence> WindowSteps::sequences(const WindowWork& w) const {
  return sequences_of(w.problem);
}

std::int64_t WindowSteps::window_count(const WindowWork& w, std::int64_t length) const {
  return spec::window_count(length, w.problem.compress_block_size, w.problem.compress_stride);
}

std::vector<TokenWindow> WindowSteps::windows(const WindowWork& w) const {
  std::vector<TokenWindow> all;
  std::int64_t b = 0, row = 0;
  for (const Sequence& sequence : sequences(w)) {
    const std::int64_t count = window_count(w, sequence.length);
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back({b, i, sequence.first + i * w.problem.compress_stride, row++});
    ++b;
  }
  return all;
}

std::vector<TokenWindow> WindowSteps::windows_of_core(const WindowWork&,
                                                      const std::vector<TokenWindow>& all,
                                                      std::size_t first, std::size_t last) const {
  const auto begin = all.begin();
  return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace assay::mutants::compress
