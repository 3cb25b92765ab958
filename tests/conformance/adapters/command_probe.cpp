// A program for "command:": its gradients are copies of query, key and value. Usage: command_probe
// [FILE [NUMBER]] Without a file it reads paths line by line, until their end or that of so many
// cases; with one it works on it and ends.
#include <cstdlib>
#include <iostream>
#include <string>

#include "assay/fixtures/file.hpp"

namespace {

using namespace assay;

/// Whether the file held a case; it gets outputs.
bool work_on(const std::string& path) {
  fixtures::CaseRecord record;
  {
    const fixtures::Reader reader(path);
    if (reader.ids().empty()) return false;
    record = reader.read(reader.ids().front());
  }
  for (const auto& [name, tensor] : record.inputs)
    for (const auto& [input, output] : {std::pair{"query", "dq"}, {"key", "dk"}, {"value", "dv"}})
      if (name == input) record.actual["probe"].outputs.push_back({output, tensor});
  fixtures::Writer writer(path);
  writer.write(record);
  writer.close(fixtures::Durability::renamed);
  return true;
}

int converse(int cases) {
  for (std::string path; cases > 0 && std::getline(std::cin, path);) {
    const bool worked = work_on(path);
    if (worked) --cases;
    std::cout << (worked ? "done" : "numerics: cuda_flash,order=fixed") << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "-";
  if (first == "-") return converse(argc > 2 ? std::atoi(argv[2]) : 1'000'000);
  work_on(first);
  return 0;
}
