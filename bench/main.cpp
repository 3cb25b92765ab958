#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks.hpp"

namespace {

using namespace assay::bench;

struct Choice {
  std::vector<std::string> groups = {"reference", "optimized", "selected", "judge", "modelled"};
  std::size_t runs = 7;
  bool table = false, sensitivity = false, turns = false;
};

void run(const Choice& choice, Recorder& recorder) {
  if (choice.sensitivity) return sensitivity(recorder);
  if (choice.turns) return take_turns(std::cin, std::cout);
  for (const std::string& group : choice.groups) {
    if (group == "reference") reference_speed(recorder, choice.runs);
    if (group == "optimized") {
      optimized_speed(recorder, choice.runs);
      compress_speed(recorder, choice.runs);
    }
    if (group == "selected") selected_speed(recorder, choice.runs);
    if (group == "judge") judge_speed(recorder, choice.runs);
    if (group == "validation") validation(std::cout);
    if (group == "modelled") {
      modelled_time(recorder);
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  Choice choice;
  CLI::App app("Host speed and modelled time of Assay, one JSON object a line.", "assay_bench");
  app.add_option("groups", choice.groups, "groups to measure; default: all but validation")
      ->check(
          CLI::IsMember({"reference", "optimized", "selected", "judge", "modelled", "validation"}));
  app.add_option("--runs", choice.runs, "timed runs of each workload")->check(CLI::Range(7, 1000));
  app.add_flag("--table", choice.table, "a table for people instead of JSON");
  app.add_flag("--sensitivity", choice.sensitivity,
               "move each assumed number of the device across its range instead");
  app.add_flag("--turns", choice.turns,
               "run the optimized gradient once for each input line, for beside_torch");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Recorder recorder(std::cout,
                    choice.table ? Recorder::Format::table : Recorder::Format::json_lines);
  run(choice, recorder);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "assay_bench: " << error.what() << '\n';
  return 3;
}
