#include "guide/examples.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace assay::cli {
namespace {

struct Example {
  std::string_view command, line;
};

constexpr Example of_commands[] = {
    {"", "assay sweep nsa_compress --budget=2s --implementation=optimized-a2"},
    {"", "assay help sweep"},
    {"new", "assay new python my_kernel"},
    {"new", "assay new plugin my_plugin"},
    {"list", "assay list operators"},
    {"list", "assay list --coverage"},
    {"explain", "assay explain NSAC-C10"},
    {"explain", "assay explain bound"},
    {"run", "assay run flash_attention_score_grad --heads_q=4 --heads_kv=2 --seq_q=129"},
    {"run", "assay run nsa_compress_grad --seq=65 --dtype=fp16 --implementation=optimized-a2"},
    {"dump", "assay dump nsa_compress_grad --seq=40 --npy=arrays"},
    {"dump",
     "assay dump flash_attention_score_grad --seq_q=5 --seq_kv=7 --npy=faulty "
     "--implementation=mutant-scale_missing_on_dk"},
    {"sweep", "assay sweep nsa_compress_grad --budget=2s --report=report.json --html=report.html"},
    {"sweep",
     "assay sweep --budget=2s --only='dtype=bf16 and head_dim>=64' --implementation=optimized-a2"},
    {"gate", "assay gate optimized-a2"},
    {"gate", "assay gate mutant-last_of_sequence nsa_compress --report=gate.json"},
    {"merge",
     "for i in 1 2; do assay sweep nsa_compress --only='track=exact' --random=0 --shard=$i/2 "
     "--store=part$i.h5; done"},
    {"merge", "assay merge part1.h5 part2.h5"},
    {"merge", "assay merge part1.h5 part2.h5 --report=merged.json --html=merged.html"},
    {"report", "assay report report.json"},
    {"report",
     "for when in before after; do assay sweep nsa_compress --only='track=exact' --seed=1 "
     "--report=$when.json; done"},
    {"report", "assay report before.json after.json"},
    {"shrink",
     "assay shrink flash_attention_score_grad --seq_q=65 "
     "--implementation=mutant-scale_missing_on_dk"},
    {"shrink",
     "assay shrink nsa_compress --seq=65 "
     "--implementation=mutant-last_of_sequence --json"},
    {"export", "assay export cases.h5 --implementation=optimized-a2 nsa_compress_grad --seq=40"},
    {"export",
     "assay export small.h5 --only='dtype=fp16 and track=bound' --random=0 --largest=2000"},
    {"golden", "assay golden golden.h5 nsa_compress_grad --seq=40"},
    {"golden",
     "assay golden goldens.h5 --only='dtype=fp16 and track=exact' --random=0 --largest=2000"},
    {"check", "assay check cases.h5"},
    {"check", "assay check cases.h5 --report=checked.json"},
    {"pack", "assay pack --list"},
    {"pack", "assay pack smoke --to smoke_pack"},
    {"pack", "assay pack --verify smoke_pack"},
    {"device", "assay device a2"},
    {"device", "assay device plan flash_attention_score_grad --seq_q=4096 --seq_kv=4096"},
    {"device plan", "assay device plan flash_attention_score_grad --seq_q=4096 --seq_kv=4096"},
    {"device plan", "assay device plan nsa_compress_grad --seq=4096 --device=a3"},
    {"device plan", "assay device plan flash_attention_score --seq_q=4096 --seq_kv=4096"},
    {"mutants", "assay mutants --list"},
    {"mutants", "assay mutants nsa_compress --only=last_of_sequence"},
    {"help", "assay help sweep"},
    {"help", "assay help --as=bash"},
};

/// Help examples for commands that run a single case of one operator. `filled` replaces the words
/// in capitals.
constexpr Example of_each_operator[] = {
    {"run", "assay run OPERATOR FIRST"},
    {"run", "assay run OPERATOR SECOND --implementation=optimized-a2"},
    {"dump", "assay dump OPERATOR FIRST --npy=first_OPERATOR"},
    {"dump", "assay dump OPERATOR SECOND --npy=second_OPERATOR"},
    {"shrink", "assay shrink OPERATOR FIRST --implementation=FAULT"},
    {"shrink", "assay shrink OPERATOR FIRST --implementation=FAULT --json"},
    {"export", "assay export OPERATOR.h5 OPERATOR FIRST"},
    {"export", "assay export judged_OPERATOR.h5 --implementation=optimized-a2 OPERATOR SECOND"},
    {"golden", "assay golden first_OPERATOR.h5 OPERATOR FIRST"},
    {"golden", "assay golden second_OPERATOR.h5 OPERATOR SECOND"},
    {"device plan", "assay device plan OPERATOR FIRST"},
    {"device plan", "assay device plan OPERATOR SECOND --device=a3"},
};

/// The values for the help examples of an operator: two small cases, and an injected fault that
/// fails on the first case. For an operator without an entry, both cases are the default case.
struct OperatorCases {
  std::string_view name, first, second, fault;
};

constexpr OperatorCases of_operators[] = {
    {.name = "flash_attention_score_grad",
     .first = "--seq_q=65",
     .second = "--heads_q=4 --heads_kv=2 --seq_q=33 --dtype=fp16",
     .fault = "mutant-scale_missing_on_dk"},
    {.name = "nsa_selected_attention_grad",
     .first = "--seq_q=20",
     .second = "--heads_q=4 --heads_kv=2 --selected_block_count=3 --dtype=fp16",
     .fault = "mutant-last_slot_dropped"},
    {.name = "nsa_compress_grad",
     .first = "--seq=65",
     .second = "--lengths=40,65 --heads=2 --dtype=fp16",
     .fault = "mutant-last_of_sequence"},
    {.name = "nsa_compress",
     .first = "--seq=65",
     .second = "--lengths=40,65 --heads=2 --dtype=fp16",
     .fault = "mutant-last_of_sequence"},
    {.name = "nsa_selected_attention",
     .first = "--seq_q=20",
     .second = "--heads_q=4 --heads_kv=2 --selected_block_count=3 --dtype=fp16",
     .fault = "mutant-last_slot_dropped"},
    {.name = "flash_attention_score",
     .first = "--seq_q=65 --seq_kv=65 --sparse_mode=2 --atten_mask=compressed",
     .second = "--heads_q=4 --heads_kv=2 --seq_q=33 --dtype=fp16",
     .fault = "mutant-causal_edge_right"},
};

void replace(std::string& text, std::string_view part, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
}

std::string filled(std::string_view line, const OperatorCases& cases) {
  std::string text(line);
  replace(text, "OPERATOR", cases.name);
  replace(text, "FIRST", cases.first);
  replace(text, "SECOND", cases.second);
  replace(text, "FAULT", cases.fault);
  return text;
}

}  // namespace

std::vector<std::string> examples_of(std::string_view command) {
  std::vector<std::string> found;
  for (const Example& example : of_commands)
    if (example.command == command) found.emplace_back(example.line);
  const std::size_t blank = std::min(command.rfind(' '), command.size());
  const std::string_view parent = command.substr(0, blank);
  const std::string_view last = command.substr(std::min(blank + 1, command.size()));
  const auto known = std::ranges::find(of_operators, last, &OperatorCases::name);
  const OperatorCases cases =
      known != std::end(of_operators)
          ? *known
          : OperatorCases{
                .name = last, .first = "--seed=1", .second = "--seed=2", .fault = "mutant-plain"};
  if (!found.empty()) return found;
  for (const Example& example : of_each_operator)
    if (example.command == parent) found.push_back(filled(example.line, cases));
  return found;
}

}  // namespace assay::cli
