// A test program for the adapter "command:", which runs a kernel as a separate program. The
// gradients that it returns are copies of query, key and value.
// Usage: command_probe [- [NUMBER]], command_probe FILE [MANNER]
// Without FILE the probe reads paths of case files, one per line, until the input ends or NUMBER
// cases are done. With FILE it works on that file only, changes the file as MANNER says, and exits.
#include <hdf5.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "assay/fixtures/file.hpp"

namespace {

using namespace assay;

spec::Tensor& input_of(fixtures::CaseRecord& record, const std::string& name) {
  for (fixtures::NamedTensor& named : record.inputs)
    if (named.name == name) return named.tensor;
  throw std::invalid_argument("the case has no input " + name);
}

void flatten(spec::Tensor& tensor) {
  tensor.shape = {spec::element_count(tensor.shape)};
  tensor.strides = {1};
}

/// Changes of the case in the file, by name. The probe makes one of them, and then writes the
/// outputs into the file.
const std::map<std::string, std::function<void(fixtures::CaseRecord&)>> changes = {
    {"leaves out an input",
     [](auto& record) {
       std::erase_if(record.inputs, [](const auto& named) { return named.name == "key"; });
     }},
    {"leaves out all inputs", [](auto& record) { record.inputs.clear(); }},
    {"changes the texts", [](auto& record) { record.command = record.operator_name = "other"; }},
    {"empties the problem", [](auto& record) { record.problem.clear(); }},
    {"changes an input", [](auto& record) { input_of(record, "key").store(1, 77); }},
    {"flattens an input", [](auto& record) { flatten(input_of(record, "key")); }},
    {"gives an input another type",
     [](auto& record) { input_of(record, "key").dtype = spec::DType::fp16; }},
    {"adds an input",
     [](auto& record) {
       record.inputs.push_back({"other", input_of(record, "key")});
     }},
    {"adds outputs of another",
     [](auto& record) { record.actual["other"] = record.actual["probe"]; }},
    {"renames the case", [](auto& record) { record.id = "other"; }}};

void add_foreign(hid_t file) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t data = H5Dcreate2(file, "/cases/case/foreign", H5T_NATIVE_INT, space, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT);
  H5Aclose(H5Acreate2(data, "foreign", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
  H5Dclose(data);
  H5Sclose(space);
}

/// Changes that the probe can make to the written HDF5 file, by name.
const std::map<std::string, std::function<void(hid_t)>> alterations = {
    {"adds what the schema does not know", add_foreign},
    {"removes an attribute",
     [](hid_t file) { H5Adelete_by_name(file, "/cases/case", "command", H5P_DEFAULT); }},
    {"removes the problem",
     [](hid_t file) { H5Ldelete(file, "/cases/case/problem", H5P_DEFAULT); }}};

constexpr const char* second_case = "adds a case";

void require_known(const std::string& manner) {
  if (!manner.empty() && manner != second_case && !changes.contains(manner) &&
      !alterations.contains(manner))
    throw std::invalid_argument("no manner '" + manner + "'");
}

void alter(const std::string& path, const std::function<void(hid_t)>& alteration) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  alteration(file);
  H5Fclose(file);
}

/// Adds the outputs to the case in the file. Returns false if the file contains no case.
bool work_on(const std::string& path, const std::string& manner = {}) {
  require_known(manner);
  fixtures::CaseRecord record;
  {
    const fixtures::Reader reader(path);
    if (reader.ids().empty()) return false;
    record = reader.read(reader.ids().front());
  }
  for (const auto& [name, tensor] : record.inputs)
    for (const auto& [input, output] : {std::pair{"query", "dq"}, {"key", "dk"}, {"value", "dv"}})
      if (name == input) record.actual["probe"].outputs.push_back({output, tensor});
  if (const auto change = changes.find(manner); change != changes.end()) change->second(record);
  fixtures::Writer writer(path);
  writer.write(record);
  if (manner == second_case) {
    record.id = "other";
    writer.write(record);
  }
  writer.close(fixtures::Durability::renamed);
  if (const auto found = alterations.find(manner); found != alterations.end())
    alter(path, found->second);
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

int main(int argc, char** argv) try {
  const std::string first = argc > 1 ? argv[1] : "-";
  if (first == "-") return converse(argc > 2 ? std::atoi(argv[2]) : 1'000'000);
  work_on(first, argc > 2 ? argv[2] : "");
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
