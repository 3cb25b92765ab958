#include "packs/sets.hpp"

#include "assay/cli/registry.hpp"

namespace assay::cli {

std::string set_of_model(const std::string& model) {
  if (model.empty()) return {};
  std::string name = "model";
  bool apart = true;
  for (const char letter : model) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) {
      apart = true;
      continue;
    }
    if (apart) name += '-';
    apart = false;
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

std::vector<PackSet> pack_sets() {
  std::vector<PackSet> sets = {
      {"smoke", "a small case of every operator, dtype and track (method of judging)"},
      {"profiles", "a case of every operator, dtype, track and input profile"},
      {"tier-1", "every case of the ordinary plan with up to 32768 elements"}};
  for_each_operator([&]<class Op> {
    sets.push_back({std::string(Op::name),
                    "every planned case of this operator with up to 131072 "
                    "elements"});
  });
  std::set<std::string> models;
  for (const conformance::CaseText& text : conformance::shipped_case_texts())
    for (const conformance::CaseLine& line : conformance::case_lines(text))
      if (const std::string name = set_of_model(line.model);
          line.in_ordinary_plan && !name.empty() && models.insert(name).second)
        sets.push_back({name, line.note});
  return sets;
}

}  // namespace assay::cli
