// Reads the case lines of some files. For each way to shrink a failing case, prints the number of
// smaller cases and a digest of their lines.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/case_lines.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/spec/operators.hpp"
#include "case/reduction.hpp"

namespace {

using namespace assay;
using namespace assay::conformance;

struct Neighbours {
  std::size_t count = 0;
  std::string lines;
};

template <class Op>
void print_neighbours(const std::vector<CaseLine>& lines) {
  std::map<std::string, Neighbours> all;
  for (const CaseLine& line : lines) {
    if (line.words.front() != Op::name) continue;
    for (const Reduction<Op>& reduction : Suite<Op>::reductions())
      for (const Case<Op>& smaller : reduction.smaller(case_of<Op>(line))) {
        auto& [count, text] = all[std::string(reduction.name)];
        ++count;
        text += command_line(smaller) + '\n';
      }
  }
  for (const auto& [name, neighbours] : all)
    std::printf("%s, %s: %zu, %.16s\n", std::string(Op::name).c_str(), name.c_str(),
                neighbours.count,
                fixtures::digest(std::as_bytes(std::span(neighbours.lines))).c_str());
}

}  // namespace

int main(int count, char** arguments) {
  for (const char* const path : std::span(arguments, static_cast<std::size_t>(count)).subspan(1)) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto lines = case_lines({.name = path, .text = text});
    spec::for_each_operator([&]<class Op> { print_neighbours<Op>(lines); });
  }
}
