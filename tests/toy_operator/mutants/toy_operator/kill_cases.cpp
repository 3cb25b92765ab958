#include "assay/conformance/operators/toy_operator.hpp"
#include "small_cases.hpp"

namespace assay::mutants {

template <>
std::vector<conformance::Case<spec::ToyOperator>> kill_cases() {
  return small_cases_of_the_default_sweep<spec::ToyOperator>(3e5);
}

}  // namespace assay::mutants
