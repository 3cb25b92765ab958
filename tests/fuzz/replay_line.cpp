#include <stdexcept>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/spec/operators.hpp"
#include "fuzz.hpp"

namespace {

using namespace assay;

/// Parses a line. The line must give a case or throw std::invalid_argument, which also happens for
/// a line of another operator. The line that is printed for the case must give the same case again,
/// and the case must have a call.
template <class Op>
void parse(const std::string& line) {
  try {
    const auto c = conformance::parse_case<Op>(conformance::case_words(line, Op::name));
    const std::string own = conformance::command_line(c);
    const auto again = conformance::parse_case<Op>(conformance::case_words(own, Op::name));
    fuzz::require(conformance::command_line(again) == own);
    conformance::call_of(c);
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(bytes), size);
  spec::for_each_operator([&]<class Op> { parse<Op>(line); });
  return 0;
}
