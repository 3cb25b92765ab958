#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/results.hpp"

/// Reads a recorded sweep, and explains the failures among its first N cases for increasing N. An
/// explanation is called a cause. For each N the program prints a line about the first cause, with
/// fields that are separated by tabs: number of cases, failing cases of the cause, outputs, faulty
/// intermediate result, and conditions.
int main(int argc, char** argv) {
  using namespace assay::conformance;
  if (argc != 2) {
    std::fputs("usage: cause_prefixes REPORT\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::vector<CaseReport> all = results_from_json(text).cases;
  const auto joined = [](const std::vector<std::string>& parts) {
    std::string line;
    for (const std::string& part : parts) line += (line.empty() ? "" : " ") + part;
    return line;
  };
  for (const double share : std::array{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {
    const auto count = static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size()));
    const std::vector<CaseReport> part(all.begin(), all.begin() + count);
    const std::vector<Cause> causes = causes_of(part, {});
    if (causes.empty()) continue;
    const Cause& first = causes.front();
    std::printf("%td\t%zu\t%s\t%s\t%s\n", count, first.cases.size(), joined(first.outputs).c_str(),
                first.stage.c_str(), joined(term_texts(first)).c_str());
  }
}
