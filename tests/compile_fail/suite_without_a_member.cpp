#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/suite.hpp"

using namespace assay;

/// As little of an operator as a suite can be asked about.
struct Toy {
  enum class EntryPoint {};
  struct Problem {};
  struct Inputs {};
  struct Outputs {};
};

template <>
struct conformance::Suite<Toy> : SuiteDefaults<Toy> {
  struct Basis {
    Basis(const Case<Toy>&, const Toy::Inputs&, const Arithmetic&);  // owed: Suite<Op>::Basis
    std::vector<Finding> check_structure(const Toy::Outputs&);       // owed: every element, judged
    std::vector<Expectation> expectations();  // owed: reference, radius and tolerances
  };
  static Toy::Inputs draw(const Case<Toy>&);          // owed: gives the input tensors
  static std::span<const InputProfile> profiles();    // owed: lists the input profiles
  static std::span<const FieldRange> field_ranges();  // owed: range of every integer field
  static double multiply_adds(const Toy::Problem&);   // owed: says what one run costs
  static void collect(const SamplingPlan&, CaseCollector<Toy>&);  // owed: adds the cases
};

static_assert(conformance::Judgeable<Toy>);
