#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/suite.hpp"

using namespace assay;

/// The smallest operator for which the conformance suite compiles. One required member is missing
/// here, so the compiler must reject this file.
struct Toy {
  enum class EntryPoint {};
  struct Problem {};
  struct Inputs {};
  struct Outputs {};
};

template <>
struct conformance::Suite<Toy> : SuiteDefaults<Toy> {
  struct Basis {
    Basis(const Case<Toy>&, const Toy::Inputs&, const Arithmetic&);  // missing: Suite<Op>::Basis
    std::vector<Finding> check_structure(const Toy::Outputs&);  // missing: every element, judged
    std::vector<Expectation> expectations();  // missing: reference, radius and tolerances
  };
  static Toy::Inputs draw(const Case<Toy>&);          // missing: gives the input tensors
  static std::span<const InputProfile> profiles();    // missing: lists the input profiles
  static std::span<const FieldRange> field_ranges();  // missing: range of every integer field
  static double multiply_adds(const Toy::Problem&);   // missing: says what one run costs
  static void collect(const SamplingPlan&, CaseCollector<Toy>&);  // missing: adds the cases
};

static_assert(conformance::Judgeable<Toy>);
