#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/spec/operators.hpp"
#include "filter/filter.hpp"
#include "flags/case_texts.hpp"
#include "flags/fresh_inputs.hpp"
#include "flags/values.hpp"
#include "gate/gate_texts.hpp"
#include "guide/guide.hpp"

namespace assay::cli {

/// Declares a flag that accepts only the words of an enumeration. The parser throws UsageError for
/// another word.
template <class Choice>
void add_choice(CLI::App& app, const std::string& flag, Choice& to, const std::string& help) {
  const auto read = [=](const std::string& word) {
    const auto& words = spec::spellings_of<Choice>;
    const auto value = words.parse(word);
    if (!value) throw UsageError(flag + " is '" + word + "'; expected one of " + words.choices());
    return *value;
  };
  add_value(app, flag, to, read, help);
}

/// Parses the value of --product. Errors: UsageError for a product that the documentation does not
/// mention.
inline spec::Product product_value(const std::string& word) {
  const auto& products = spec::spellings_of<spec::Product>;
  if (const auto product = products.parse(word)) return *product;
  throw UsageError("--product is '" + word + "'; expected one of " + products.choices() +
                   " (Atlas A2 and A3 training products), or no --product for both" +
                   meant(word, {"a2", "a3"}));
}

/// Returns the names of all fields that cases of any operator have.
inline std::vector<std::string> names_of_fields() {
  std::vector<std::string> names = {"operator", "violated"};
  const auto add = [&]<class Op>() {
    for (const auto& [name, value] : conformance::field_texts(conformance::Case<Op>()))
      names.push_back(name);
  };
  spec::for_each_operator(add);
  return names;
}

/// The flags that select which cases a command runs.
struct PlanFlags {
  std::uint64_t seed = 1;
  std::int64_t random = 60;
  std::optional<spec::Product> product;
  spec::Policy policy;
  Filter only;
  CaseFiles cases;  ///< in addition to the planned ones
  bool full = false;
  /// Seed of the fresh data, which one in ten cases of a sweep gets (see fresh_inputs.hpp). 0 means
  /// no fresh data.
  std::uint64_t fresh_seed = 0;
  CaseFiles lines;         ///< lines of cases that replace a plan, unchanged
  bool strongest = false;  ///< the cases of `assay gate` replace the plan

  void declare(CLI::App& app) {
    const auto read_seed = [](const std::string& text) { return seed_value("--seed", text); };
    add_value(app, "--seed", seed, read_seed, "seed from which the random cases are generated");
    add_integer(app, "--random", random, 0, 1'000'000, "number of random cases");
    add_value(app, "--product", product, product_value,
              "only calls on this Atlas product: a2 or a3");
    const auto read_only = [](const std::string& text) {
      return Filter("--only", text, names_of_fields());
    };
    add_value(
        app, "--only", only, read_only,
        "only cases that match: a condition on fields ('dtype=bf16 and seq_kv>=64', the syntax of "
        "the report's search), or a text that the replay line (with defaults) or the note "
        "contains. Combine with & | !: 'A & !(B | C)'");
    add_case_files(app, "--cases", cases,
                   "cases to add to the planned ones: a file of replay lines as "
                   "cases/README.md describes it, or a folder of .txt files");
    add_choice(app, "--upstream", policy.upstream,
               "off: a kernel may accept calls that only the vendor's code forbids, and no case "
               "tests them [on]");
    add_choice(app, "--documents", policy.documents,
               "strict: a kernel must refuse calls that a page forbids, even if the vendor's own "
               "code accepts them; lenient: a kernel may accept them [lenient]");
    app.add_flag("--full", full, "model shapes in full size, and more random cases");
  }
};

template <class Op>
struct Planned {
  std::vector<conformance::Case<Op>> cases;
  std::int64_t left_out = 0;  ///< number of cases that --only left out
};

/// If the user named one operator, prints how many lines of --cases and --lines belong to other
/// operators. Errors: UsageError if all lines of a file belong to other operators.
inline void tell_other_operators(const std::string& swept, const PlanFlags& flags,
                                 std::ostream& out) {
  if (swept.empty()) return;
  for (const CaseFiles* files : {&flags.cases, &flags.lines}) {
    std::int64_t others = 0, own = 0;
    for (const conformance::CaseText& text : files->texts)
      for (const conformance::CaseLine& line : conformance::case_lines(text))
        ++(line.words.front() == swept ? own : others);
    if (others > 0 && own == 0)
      throw UsageError(files->flag + " is '" + files->path + "': no line is one of " + swept);
    if (others > 0)
      out << files->flag << ": " << others << " of " << others + own << " lines do not belong to "
          << swept << " and left out\n";
  }
}

/// Prints how many cases --only left out. Prints nothing if it left out none.
inline void tell_left_out(std::int64_t cases, std::int64_t left_out, const PlanFlags& flags,
                          std::ostream& out) {
  if (left_out > 0)
    out << "--only=" << flags.only.text() << " leaves out " << left_out << " of "
        << left_out + cases << " cases\n";
}

/// Returns the data of a case that --only searches: the replay line, the default values, the note
/// and the fields.
template <class Op>
Searched searchable(const conformance::Case<Op>& c) {
  Searched searched{.text = conformance::command_line(c) + '\n' + c.note + '\n',
                    .fields = conformance::field_texts(c)};
  for (const auto& [name, value] : searched.fields) searched.text += " --" + name + "=" + value;
  searched.text += ' ';  // so that a text with a blank at its end can match the last value
  searched.fields.emplace_back("operator", std::string(Op::name));
  searched.fields.emplace_back("violated", c.violate.substr(0, c.violate.find(':')));
  return searched;
}

/// Checks that at least one case is left to run. Errors: UsageError, for example if --only selects
/// no case. `left_out` is the number of cases that --only left out.
inline void require_cases(std::int64_t cases, std::int64_t left_out, const PlanFlags& flags) {
  if (cases == 0 && left_out == 0 && !flags.lines.empty())
    throw UsageError(flags.lines.texts.front().name + " contains no line of the chosen operators");
  if (cases == 0 && left_out == 0)
    throw UsageError("--product is '" + std::string(spec::to_string(*flags.product)) +
                     "', but according to the documentation this Atlas product offers none of the "
                     "chosen operators: no case is planned");
  if (cases == 0)
    throw UsageError("--only is '" + conformance::excerpt(flags.only.text(), 200) +
                     "', which matches none of " + std::to_string(left_out) +
                     " planned cases; accepted: a condition that some case satisfies. Check its "
                     "values with 'assay run OPERATOR --help', or judge a case of your own with "
                     "--lines FILE");
}

/// Plans the cases of an operator. Errors: UsageError that names the file and the invalid line.
template <class Op>
std::vector<conformance::Case<Op>> sampled(const conformance::SamplingPlan& plan) {
  try {
    return conformance::sample<Op>(plan);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

/// Returns the cases that the replay lines describe, each case once, sorted by cost.
template <class Op>
std::vector<conformance::Case<Op>> cases_of_lines(const std::vector<conformance::CaseText>& texts) {
  std::vector<conformance::Case<Op>> cases;
  std::set<std::string> seen;
  for (const conformance::CaseText& text : texts)
    for (const conformance::CaseLine& line : conformance::case_lines(text)) {
      if (line.words.front() != Op::name) continue;
      auto c = conformance::case_of<Op>(line);
      if (seen.insert(conformance::command_line(c)).second) cases.push_back(std::move(c));
    }
  std::ranges::stable_sort(cases, {}, conformance::Suite<Op>::expected_cost);
  return cases;
}

/// Returns the cases of `assay gate`, starting with the case that detects most faults. If the
/// operator has no list of such cases, returns the planned cases.
template <class Op>
std::vector<conformance::Case<Op>> strongest_cases(const conformance::SamplingPlan& plan) {
  std::vector<conformance::Case<Op>> cases;
  for (const conformance::CaseText& text : gate_texts())
    if (std::filesystem::path(text.name).stem() == Op::name)
      for (const conformance::CaseLine& line : conformance::case_lines(text))
        cases.push_back(conformance::case_of<Op>(line));
  return cases.empty() ? sampled<Op>(plan) : cases;
}

/// Returns the selected cases of one operator. The list is empty if --only selects none of them.
/// Errors: UsageError for an invalid value of a flag.
template <class Op>
Planned<Op> planned_cases(const PlanFlags& flags) {
  conformance::SamplingPlan plan{
      .seed = flags.seed, .full = flags.full, .random_cases = flags.random};
  plan.policy = flags.policy;
  plan.product = flags.product;
  plan.own_cases = flags.cases.texts;
  const auto all = flags.strongest       ? strongest_cases<Op>(plan)
                   : flags.lines.empty() ? sampled<Op>(plan)
                                         : cases_of_lines<Op>(flags.lines.texts);
  Planned<Op> planned;
  auto& cases = planned.cases;
  std::ranges::copy_if(all, std::back_inserter(cases), [&](const conformance::Case<Op>& c) {
    return flags.only.holds(searchable(c));
  });
  planned.left_out = std::ssize(all) - std::ssize(cases);
  if (flags.fresh_seed != 0) take_fresh_data(cases, plan.own_cases, flags.fresh_seed);
  return planned;
}

}  // namespace assay::cli
